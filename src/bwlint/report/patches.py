"""What fixes make of files, as a page and a terminal show it: hunks of a unified diff, or the changed lines alone."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from io import StringIO
from itertools import accumulate

from bwlint.model.findings import Edit, Finding
from bwlint.report import Lines
from bwlint.sources.read import SourceText

CONTEXT = 3
"""Lines before and after a change."""
_HEAD = re.compile(r"@@ -(\d+),\d+ \+(\d+),\d+ @@")


def patches(findings: Iterable[Finding], lines: Lines) -> list[list[tuple[str, str]]]:
    """For each finding the files that its fix changes, with the hunks as `git apply` takes them; "" where the file
    cannot be read or has no such lines any more."""
    sources: dict[str, PatchedFile] = {}
    found = []
    for finding in findings:
        files: dict[str, list[Edit]] = defaultdict(list)
        for edit in finding.fix.edits if finding.fix else ():
            files[edit.path].append(edit)
            if edit.path not in sources:
                sources[edit.path] = PatchedFile("".join(lines(edit.path) or ()))
        found.append([(path, sources[path].hunks(edits)) for path, edits in sorted(files.items())])
    return found


def changed_lines(hunks: str) -> Iterator[tuple[str, int, str]]:
    """The lines that hunks take away ("-") or add ("+"): the sign, the line's number before or after, its text."""
    before = after = 0
    for row in _lines(hunks):
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


class PatchedFile:
    """A file, with its lines as git has them: a line feed ends them and nothing else does."""

    def __init__(self, text: str) -> None:
        self.source = SourceText(text)
        self.lines = _lines(text)
        self.starts = [0, *accumulate(map(len, self.lines))]

    def hunks(self, edits: Sequence[Edit]) -> str:
        if not self.lines or max(edit.region.end_line for edit in edits) > len(self.source.lines):
            return ""
        shown, grown = [], 0
        for group in self._near(sorted((*self.source.bounds(edit.region), edit.text) for edit in edits)):
            first, last = self._line(group[0][0]), self._line(group[-1][1]) + 1
            above = self.lines[max(first - CONTEXT, 0) : first]
            below = self.lines[last : last + CONTEXT]
            old = self.lines[first:last]
            new = _lines(self._edited(self.starts[first], self.starts[last], group))
            before, after = (len(above) + len(some) + len(below) for some in (old, new))
            at = first - len(above)
            head = f"@@ -{at + bool(before)},{before} +{at + grown + bool(after)},{after} @@\n"
            rows = (*_marked(" ", above), *_changed(old, new), *_marked(" ", below))
            shown.append(head + "".join(rows))
            grown += after - before
        return "".join(shown)

    def _line(self, offset: int) -> int:
        return min(bisect_right(self.starts, offset), len(self.lines)) - 1

    def _near(self, places: Iterable[tuple[int, int, str]]) -> list[list[tuple[int, int, str]]]:
        """Places in groups whose context would meet."""
        groups: list[list[tuple[int, int, str]]] = []
        for place in places:
            if groups and self._line(place[0]) - self._line(groups[-1][-1][1]) <= 2 * CONTEXT:
                groups[-1].append(place)
            else:
                groups.append([place])
        return groups

    def _edited(self, start: int, end: int, places: Iterable[tuple[int, int, str]]) -> str:
        pieces = []
        for first, last, text in places:
            pieces += [self.source.source[start:first], text]
            start = last
        return "".join((*pieces, self.source.source[start:end]))


def _lines(text: str) -> list[str]:
    return list(StringIO(text, newline="\n"))


def _changed(old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    for kind, first, last, start, end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            yield from _marked(" ", old[first:last])
        else:
            yield from (*_marked("-", old[first:last]), *_marked("+", new[start:end]))


def _marked(sign: str, lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        yield f"{sign}{line}" if line.endswith("\n") else f"{sign}{line}\n\\ No newline at end of file\n"
