"""What edits make of files: hunks of a unified diff as git takes them, and the lines that they change."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from io import StringIO

from bwlint.model.findings import Edit, Finding
from bwlint.report import Lines
from bwlint.sources.read import SourceText, replaced

_CONTEXT = 3
"""Lines before and after a change."""
_NO_NEWLINE = b"\n\\ No newline at end of file\n"
_HEAD = re.compile(r"@@ -(\d+),\d+ \+(\d+),\d+ @@")


def patches(findings: Iterable[Finding], lines: Lines) -> list[list[tuple[str, str]]]:
    """For each finding the files that its fix changes, with hunks as `git apply` takes them; "" where that fails."""
    sources: dict[str, tuple[SourceText, list[bytes]]] = {}
    found = []
    for finding in findings:
        files: dict[str, list[Edit]] = defaultdict(list)
        for edit in finding.fix.edits if finding.fix else ():
            files[edit.path].append(edit)
            if edit.path not in sources:
                text = "".join(lines(edit.path) or ())
                sources[edit.path] = SourceText(text), _encoded(text)
        found.append([(path, hunks_of(*sources[path], edits)) for path, edits in sorted(files.items())])
    return found


def changed_lines(hunks: str) -> Iterator[tuple[str, int, str]]:
    """The lines that hunks take away ("-") or add ("+"): the sign, the line's number before or after, its text."""
    before = after = 0
    for row in StringIO(hunks, newline="\n"):
        text = row[1:].rstrip("\r\n")
        if found := _HEAD.match(row):
            before, after = int(found[1]), int(found[2])
        elif row.startswith("-"):
            yield "-", before, text
            before += 1
        elif row.startswith("+"):
            yield "+", after, text
            after += 1
        elif row.startswith(" "):
            before, after = before + 1, after + 1


def hunks_of(source: SourceText, old: Sequence[bytes], edits: Sequence[Edit]) -> str:
    """What edits make of a text with some lines; "" where it has no such lines any more."""
    if not old or max(edit.region.end_line for edit in edits) > len(source.lines):
        return ""
    text, changes = source.source, sorted((*source.bounds(edit.region), edit.text) for edit in edits)
    begin, stop = text.rfind("\n", 0, changes[0][0]) + 1, text.find("\n", changes[-1][1]) + 1 or len(text)
    first, count = text.count("\n", 0, begin), len(_encoded(text[begin:stop]))
    new = [*old[:first], *_encoded(replaced(text[:stop], changes)[begin:]), *old[first + count :]]
    found = [part for group in near(blocks(old, new, text, changes)) for part in _parted(old, group)]
    return b"".join(hunks(old, found)).decode("utf-8", "surrogatepass")


def _encoded(text: str) -> list[bytes]:
    return lines_of(text.encode("utf-8", "surrogatepass"))


@dataclass(frozen=True, slots=True, order=True)
class Block:
    """Put `new` in place of the lines from `start` up to `end` (from 0, half open), all with their ends."""

    start: int
    end: int
    new: tuple[bytes, ...]


def lines_of(data: bytes) -> list[bytes]:
    """Lines as git has them: a line feed ends them and nothing else does."""
    *whole, last = data.split(b"\n")
    return [line + b"\n" for line in whole] + [last] * bool(last)


def blocks(
    old: Sequence[bytes], new: Sequence[bytes], text: str, changes: Iterable[tuple[int, int, str]]
) -> Iterator[Block]:
    """What changes of a text (from, to, what is there then) do to its lines, in order; those of one line are one."""
    growth = 0
    for start, end, grows in _stretches(text, changes):
        block = _trimmed(old, start, end, new[start + growth : end + growth + grows])
        growth += grows
        if block is not None:
            yield block


def _stretches(text: str, changes: Iterable[tuple[int, int, str]]) -> Iterator[tuple[int, int, int]]:
    """The lines that changes touch, and how many lines these become more."""
    position, line = 0, 0
    start, end, grows = -1, -1, 0
    for first, stop, new in changes:
        line += text.count("\n", position, first)
        last = line + text.count("\n", first, stop)
        if line >= end:
            if end >= 0:
                yield start, end, grows
            start, grows = line, 0
        end = last + 1
        grows += new.count("\n") - (last - line)
        position, line = stop, last
    if end >= 0:
        yield start, end, grows


def _trimmed(old: Sequence[bytes], start: int, end: int, new: Sequence[bytes]) -> Block | None:
    """The lines that really differ."""
    end = min(end, len(old))
    head = 0
    while start + head < end and head < len(new) and old[start + head] == new[head]:
        head += 1
    tail = 0
    while end - tail > start + head and len(new) - tail > head and old[end - tail - 1] == new[len(new) - tail - 1]:
        tail += 1
    block = Block(start + head, end - tail, tuple(new[head : len(new) - tail]))
    return block if block.new or block.start < block.end else None


def _parted(old: Sequence[bytes], group: Sequence[Block]) -> Iterator[Block]:
    """Blocks that share their context, without the lines among them that stay."""
    at, stop = group[0].start, group[-1].end
    before, here = old[at:stop], [Block(one.start - at, one.end - at, one.new) for one in group]
    after = lines_of(spliced(before, here))
    for kind, first, last, start, end in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind != "equal":
            yield Block(at + first, at + last, tuple(after[start:end]))


def near(found: Iterable[Block]) -> list[list[Block]]:
    """Blocks in groups that share their context, so that one cannot be applied after the other."""
    groups: list[list[Block]] = []
    for block in found:
        if groups and block.start - groups[-1][-1].end <= 2 * _CONTEXT:
            groups[-1].append(block)
        else:
            groups.append([block])
    return groups


def spliced(old: Sequence[bytes], found: Iterable[Block]) -> bytes:
    """The content after some of the blocks."""
    pieces: list[bytes] = []
    position = 0
    for block in found:
        pieces += [*old[position : block.start], *block.new]
        position = block.end
    return b"".join([*pieces, *old[position:]])


def hunks(old: Sequence[bytes], found: Iterable[Block]) -> Iterator[bytes]:
    """The hunks of some blocks."""
    growth = 0
    for group in near(found):
        start, end = max(group[0].start - _CONTEXT, 0), min(group[-1].end + _CONTEXT, len(old))
        grows = sum(len(block.new) - (block.end - block.start) for block in group)
        first, second = _range(start, end - start), _range(start + growth, end - start + grows)
        yield f"@@ -{first} +{second} @@\n".encode()
        yield from _body(old, group, start, end)
        growth += grows


def _range(start: int, length: int) -> str:
    return f"{start + 1 if length else start},{length}"


def _body(old: Sequence[bytes], group: Sequence[Block], start: int, end: int) -> Iterator[bytes]:
    position = start
    for block in _touching(group):
        yield from _marked(b" ", old[position : block.start])
        yield from _marked(b"-", old[block.start : block.end])
        yield from _marked(b"+", block.new)
        position = block.end
    yield from _marked(b" ", old[position:end])


def _touching(group: Iterable[Block]) -> list[Block]:
    """Blocks with those that begin where another ends as one, so that all old lines stand before the new ones."""
    joined: list[Block] = []
    for block in group:
        if joined and joined[-1].end == block.start:
            last = joined.pop()
            block = Block(last.start, block.end, last.new + block.new)
        joined.append(block)
    return joined


def _marked(mark: bytes, lines: Iterable[bytes]) -> Iterator[bytes]:
    for line in lines:
        yield mark + line if line.endswith(b"\n") else mark + line + _NO_NEWLINE
