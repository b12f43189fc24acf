"""Comments that suppress findings, put where `suppress` reads them as meant."""

# Real paths are plain strings throughout, as `walk` gives them.
# ruff: noqa: PTH119

from __future__ import annotations

import ast
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from bwlint.model.findings import Finding
from bwlint.readers.comments import Comments, comments_of
from bwlint.repair.changes import TextChange, changed
from bwlint.repair.source import EditedFile
from bwlint.repair.write import Replacement
from bwlint.run.request import Outcome
from bwlint.settings import catalog
from bwlint.settings.catalog import BAD, UNUSED
from bwlint.settings.suppress import scan
from bwlint.sources.read import SourceText, Unread
from bwlint.sources.walk import SourceFile

_LONGEST_LINE = 120


@dataclass(frozen=True, slots=True)
class CommentPlace:
    """Where a comment may go, and the line of the finding afterwards."""

    change: TextChange
    line: int


def comment(file: SourceFile, text: SourceText, findings: Sequence[Finding], reason: str) -> TextChange | None:
    """A comment for findings of one line as a change of the text; None where nothing fits."""
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


@dataclass(slots=True)
class Silencing:
    """What to write, how many findings that silences by real path, and those that take no comment, and why."""

    replacements: list[Replacement] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    refused: list[tuple[Finding, str]] = field(default_factory=list)


def silencing(outcome: Outcome, findings: Iterable[Finding], reason: str, named: Sequence[str]) -> Silencing:
    """Comments with a reason at findings of an outcome, in memory. `named` are the paths that were asked for."""
    found = Silencing()
    by_file = defaultdict[str, list[Finding]](list)
    for finding in findings:
        if finding.name in (UNUSED, BAD):
            found.refused.append((finding, "this is a comment of bwlint: correct or delete it"))
        else:
            by_file[outcome.names.real(finding.path)].append(finding)
    for real, there in sorted(by_file.items()):
        file, text = outcome.names.files.get(real), outcome.texts.of(real)
        source: EditedFile | str = "not a text file"
        if file is not None and text is not None:
            is_unpacked = os.path.realpath(file.path) != real
            source = "in an archive" if is_unpacked else EditedFile.of(file, text.source, named)
        if isinstance(source, str) or text is None:
            found.refused += [(finding, str(source)) for finding in there]
        else:
            _of_file(source, text, there, reason, found)
    return found


def _of_file(source: EditedFile, text: SourceText, there: Sequence[Finding], reason: str, found: Silencing) -> None:
    by_line = defaultdict[int, list[Finding]](list)
    for finding in there:
        by_line[finding.region.line].append(finding)
    changes: list[TextChange] = []
    silenced: list[Finding] = []
    for _, findings in sorted(by_line.items()):
        change = comment(source.file, text, findings, reason)
        if change is None:
            why = "JSON has no comments" if source.file.real.endswith(".json") else "no comment can stand there"
            found.refused += [(finding, f"{why}; a baseline or `per-file-ignores` hides it") for finding in findings]
            continue
        changes.append(change)
        silenced += findings
    edited = source.then(sorted(changes))
    fault = edited.fault(frozenset())
    if fault or isinstance(edited.after, Unread):
        found.refused += [(finding, fault or "no longer readable") for finding in silenced]
    elif changes:
        found.counts[source.file.real] = len(silenced)
        found.replacements.append(Replacement(source.file.real, source.data, edited.after))
