"""Changes of a file as lines, and those as a unified diff that `git apply` takes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from bwlint.repair.changes import TextChange
from bwlint.repair.source import EditedFile
from bwlint.sources.read import Unread

CONTEXT = 3
_NO_NEWLINE = b"\n\\ No newline at end of file\n"
_ESCAPES = {"\t": "\\t", "\n": "\\n", "\r": "\\r", '"': '\\"', "\\": "\\\\"}


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


def blocks(source: EditedFile) -> list[Block]:
    """What the changes of a file do to its lines, in order; those of one line are one block."""
    after = source.after
    if isinstance(after, Unread):
        return []
    old, new = lines_of(source.data), lines_of(after)
    found: list[Block] = []
    growth = 0
    for start, end, grows in _stretches(source.text, source.changes):
        block = _trimmed(old, start, end, new[start + growth : end + growth + grows])
        growth += grows
        if block is not None:
            found.append(block)
    return found


def _stretches(text: str, changes: Sequence[TextChange]) -> Iterator[tuple[int, int, int]]:
    """The lines that changes touch, and how many lines these become more."""
    position, line = 0, 0
    start, end, grows = -1, -1, 0
    for change in changes:
        line += text.count("\n", position, change.start)
        last = line + text.count("\n", change.start, change.end)
        if line >= end:
            if end >= 0:
                yield start, end, grows
            start, grows = line, 0
        end = last + 1
        grows += change.text.count("\n") - (last - line)
        position, line = change.end, last
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


def near(found: Iterable[Block]) -> list[list[Block]]:
    """Blocks in groups that share their context, so that one cannot be applied after the other."""
    groups: list[list[Block]] = []
    for block in found:
        if groups and block.start - groups[-1][-1].end <= 2 * CONTEXT:
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


def unified(name: str, old: Sequence[bytes], found: Sequence[Block], index: str = "") -> bytes:
    """A unified diff of a file with the path `name`, b"" if nothing differs. Its first line makes git take paths from
    the top of its tree, wherever the user stands. `index` is a line to follow it."""
    if not found:
        return b""
    before, after = _quoted("a", name), _quoted("b", name)
    # a tab ends a name with a space in it
    rows = [f"diff --git {before} {after}", *([index] if index else [])]
    rows += [f"{mark} {side}" + "\t" * (" " in side) for mark, side in (("---", before), ("+++", after))]
    hunks, growth = ["".join(f"{row}\n" for row in rows).encode("utf-8", "surrogateescape")], 0
    for group in near(found):
        start, end = max(group[0].start - CONTEXT, 0), min(group[-1].end + CONTEXT, len(old))
        grows = sum(len(block.new) - (block.end - block.start) for block in group)
        first, second = _range(start, end - start), _range(start + growth, end - start + grows)
        hunks += [f"@@ -{first} +{second} @@\n".encode(), *_body(old, group, start, end)]
        growth += grows
    return b"".join(hunks)


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


def _quoted(side: str, path: str) -> str:
    """The path of a file as a diff names it."""
    name = f"{side}/{path.replace(os.sep, '/')}"
    if any(character in _ESCAPES or not character.isprintable() for character in name):
        return '"' + "".join(_escaped(character) for character in name) + '"'
    return name


def _escaped(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character.isprintable():
        return character
    return "".join(f"\\{byte:03o}" for byte in character.encode("utf-8", "surrogateescape"))
