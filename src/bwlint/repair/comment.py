"""A comment that suppresses a finding, put where `suppress` reads it as meant."""

# Real paths are plain strings throughout, as `walk` gives them.
# ruff: noqa: PTH119

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from dataclasses import dataclass

from bwlint.model.findings import Finding
from bwlint.readers.comments import Comments, comments_of
from bwlint.repair.changes import Change, changed
from bwlint.settings import catalog
from bwlint.settings.suppress import scan
from bwlint.sources.read import Text
from bwlint.sources.walk import SourceFile

_LONGEST_LINE = 120


@dataclass(frozen=True, slots=True)
class Place:
    """Where a comment may go, and the line of the finding afterwards."""

    change: Change
    line: int


def comment(file: SourceFile, text: Text, finding: Finding, reason: str) -> Change | None:
    """The comment as a change of the text; None where no place is fit for one, or the reason for no comment."""
    language = comments_of(file.kind, os.path.basename(file.real))
    words = " ".join(reason.split())
    # a comment that goes on would swallow the next line
    if not language.mark or not words or words.endswith("\\"):
        return None
    before, faults = scan(text.source, catalog.known_ids(), language)
    for place in _places(text, finding, words, language):
        after, new_faults = scan(changed(text.source, [place.change]), catalog.known_ids(), language)
        meant = (place.line, (finding.rule,), words)
        is_read = any((entry.target, entry.rules, entry.reason) == meant for entry in after)
        is_all = len(after) == len(before) + 1 and len(new_faults) == len(faults)
        if is_read and is_all and _same_program(file, text.source, place.change):
            return place.change
    return None


def _places(text: Text, finding: Finding, reason: str, language: Comments) -> Iterator[Place]:
    """At the end of the line if it is not too long, else above it; before the backslash of a line that goes on."""
    number = finding.region.line
    line, start = text.line(number), text.offset(number, 1)
    directive = f"bwlint: ignore[{finding.name}] {reason}"
    end = start + len(line.rstrip())
    note = f"  {language.mark} {directive}"
    goes_on = line.rstrip().endswith("\\")
    if goes_on and language.mark == "//":
        at = start + len(line.rstrip()[:-1].rstrip())
        yield Place(Change(at, at, f" /* {directive} */"), number)
    if goes_on or text.line(number - 1).rstrip().endswith("\\"):
        return
    above = Place(Change(start, start, _above(line, language, directive, text)), number + 1)
    beside = Place(Change(end, end, note), number)
    yield from (beside, above) if len(line.rstrip()) + len(note) <= _LONGEST_LINE else (above, beside)


def _above(line: str, language: Comments, directive: str, text: Text) -> str:
    indent = line[: len(line) - len(line.lstrip())]
    newline = "\r\n" if "\r\n" in text.source else "\n"
    return f"{indent}{language.mark} {directive}{newline}"


def _same_program(file: SourceFile, source: str, change: Change) -> bool:
    if file.kind != "python":
        return True
    try:
        return ast.dump(ast.parse(changed(source, [change]))) == ast.dump(ast.parse(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
