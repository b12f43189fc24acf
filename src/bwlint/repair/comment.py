"""A comment that suppresses a finding, put where `suppress` reads it as meant."""

# Real paths are plain strings throughout, as `walk` gives them.
# ruff: noqa: PTH119

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from bwlint.model.findings import Finding
from bwlint.readers.comments import Comments, comments_of
from bwlint.repair.changes import TextChange, changed
from bwlint.settings import catalog
from bwlint.settings.suppress import scan
from bwlint.sources.read import SourceText
from bwlint.sources.walk import SourceFile

_LONGEST_LINE = 120


@dataclass(frozen=True, slots=True)
class CommentPlace:
    """Where a comment may go, and the line of the finding afterwards."""

    change: TextChange
    line: int


def comment(file: SourceFile, text: SourceText, findings: Sequence[Finding], reason: str) -> TextChange | None:
    """A comment for findings of one line as a change of the text; None where no place is fit for one, or the reason for
    no comment."""
    language = comments_of(file.kind, os.path.basename(file.real))
    words = " ".join(reason.split())
    # a comment that goes on would swallow the next line, and what is not printable comes from a slip of the hand
    if not language.mark or not words or words.endswith("\\") or not words.isprintable():
        return None
    before, faults = scan(text.source, catalog.known_ids(), language)
    codes, names = (tuple(dict.fromkeys(one)) for one in zip(*((f.rule, f.name) for f in findings), strict=True))
    for place in _places(text, findings[0].region.line, f"bwlint: ignore[{', '.join(names)}] {words}", language):
        after, new_faults = scan(changed(text.source, [place.change]), catalog.known_ids(), language)
        meant = (place.line, codes, words)
        is_read = any((entry.target, entry.rules, entry.reason) == meant for entry in after)
        is_all = len(after) == len(before) + 1 and len(new_faults) == len(faults)
        if is_read and is_all and _same_program(file, text.source, place.change):
            return place.change
    return None


def _places(text: SourceText, number: int, directive: str, language: Comments) -> Iterator[CommentPlace]:
    """At the end of the line if it is not too long, else above it; before the backslash of a line that goes on."""
    line, start = text.line(number), text.offset(number, 1)
    end = start + len(line.rstrip())
    note = f"  {language.mark} {directive}"
    goes_on = line.rstrip().endswith("\\")
    if goes_on and language.mark == "//":
        at = start + len(line.rstrip()[:-1].rstrip())
        yield CommentPlace(TextChange(at, at, f" /* {directive} */"), number)
    if text.line(number - 1).rstrip().endswith("\\") and not language.between:
        return
    above = CommentPlace(TextChange(start, start, _above(line, language, directive, text)), number + 1)
    if goes_on or not language.beside:
        yield above
        return
    beside = CommentPlace(TextChange(end, end, note), number)
    yield from (beside, above) if len(line.rstrip()) + len(note) <= _LONGEST_LINE else (above, beside)


def _above(line: str, language: Comments, directive: str, text: SourceText) -> str:
    indent = line[: len(line) - len(line.lstrip())]
    newline = "\r\n" if "\r\n" in text.source else "\n"
    return f"{indent}{language.mark} {directive}{newline}"


def _same_program(file: SourceFile, source: str, change: TextChange) -> bool:
    """Whether nothing but comments differs, as far as the language can be asked."""
    after = changed(source, [change])
    try:
        if file.kind == "python":
            return ast.dump(ast.parse(after)) == ast.dump(ast.parse(source))
        if file.real.endswith((".yml", ".yaml")):
            return _same_yaml(source, after, change.text.strip())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


_SHELL_KEYS = frozenset({"run", "script", "before_script", "after_script", "command", "commands", "build_command"})
"""What CI hands to a shell, which knows comments; other blocks of text are values."""


def _same_yaml(source: str, after: str, comment: str) -> bool:
    """Whether YAML holds the same, but for the comment on a line of a block of shell commands."""
    import yaml

    try:
        before = [*_texts(yaml.compose_all(source), "")]
    except yaml.YAMLError:  # a template of YAML: what it becomes is not known
        return True
    left = re.compile(rf"^[ \t]*{re.escape(comment)}(?:\n|\Z)|[ \t]*{re.escape(comment)}[ \t]*$", re.MULTILINE)
    try:
        shown = [
            (key, left.sub("", text) if key in _SHELL_KEYS else text)
            for key, text in _texts(yaml.compose_all(after), "")
        ]
    except yaml.YAMLError:
        return False
    return before == shown


def _texts(nodes: Iterable[Any], key: str) -> Iterator[tuple[str, str]]:
    """The scalars below YAML nodes in order, each with the key that it, or its list, stands at."""
    for node in nodes:
        if isinstance(node.value, str):
            yield key, node.value
        elif node.id == "mapping":
            for name, value in node.value:
                yield from _texts([name], "")
                yield from _texts([value], str(name.value))
        else:
            yield from _texts(node.value, key)
