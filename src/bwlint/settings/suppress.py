"""Suppression comments: ``# bwlint: ignore[rule, rule2] reason``, in C++ and PTX ``//`` or ``/* */``.

One stands at the end of a finding's first line, or alone on the line above (several may be stacked there).
Only real comments count, never the text of a string.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from bwlint.model.findings import Finding, Region, Suppressed
from bwlint.readers.buildfiles.places import Places
from bwlint.readers.comments import PYTHON, Comments, Unreadable
from bwlint.settings.catalog import BEGINNING, did_you_mean
from bwlint.sources.read import SourceText

MARK = "bwlint:"
"""Without this literal a file has no suppression; `scan` then costs one search."""

_START = {"#": re.compile(r"#[ \t]*bwlint:"), "/": re.compile(r"(?://|/\*)[ \t]*bwlint:")}
"""By the first character of a comment."""
_LINE_END = re.compile(r"\r\n|\r|\n")
_IGNORE = re.compile(r"[ \t]*ignore[ \t]*\[([^\]]*)\](.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Suppression:
    """One comment. `rules` are the values of `known`; it acts on findings whose first line is `target`."""

    region: Region
    target: int
    rules: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class BadSuppression:
    """A comment, or a part of one, that suppresses nothing, and why."""

    region: Region
    message: str


class _Comment(NamedTuple):
    """What follows ``bwlint:`` in a comment that ends on line `last`; `alone`: nothing else is on its lines."""

    region: Region
    body: str
    last: int
    alone: bool


def scan(
    source: str, known: Mapping[str, str], language: Comments = PYTHON
) -> tuple[list[Suppression], list[BadSuppression]]:
    """The suppressions in `source`, in order, and the faulty ones. `known` maps every accepted id, codes and names
    alike, to what `Finding.rule` holds, and `language` says how the source writes comments. Source whose comments
    cannot be told from its strings gives a BadSuppression and what stands above the fault. Never raises."""
    if MARK not in source:
        return [], []
    comments, bad = _comments(SourceText(source), language)
    targets = _targets(comments)
    suppressions: list[Suppression] = []
    for comment in comments:
        ids, reason, faults = _parse(comment.body, known, f"Write `{language.mark} bwlint: ignore[rule] reason`.")
        bad += [BadSuppression(comment.region, fault) for fault in faults]
        if ids:
            line = comment.region.line
            suppressions.append(Suppression(comment.region, targets[line], ids, reason))
    return suppressions, bad


def apply(
    findings: Sequence[Finding], suppressions: Sequence[Suppression]
) -> tuple[list[Finding], list[Suppressed], list[Suppression]]:
    """The findings of one file that stay, those that its suppressions silence, and what suppresses nothing. A
    suppression of which only some rules are of no use is returned with just these."""
    at: dict[tuple[int, str], list[Suppression]] = defaultdict(list)
    for suppression in suppressions:
        for rule in suppression.rules:
            at[suppression.target, rule].append(suppression)
    kept: list[Finding] = []
    silenced: list[Suppressed] = []
    used: set[tuple[int, str]] = set()
    for finding in findings:
        key = (finding.region.line, finding.rule)
        if key in at:
            used.add(key)
            silenced.append(Suppressed(finding, at[key][0].reason))
        else:
            kept.append(finding)
    return kept, silenced, _unused(suppressions, used)


def _unused(suppressions: Sequence[Suppression], used: set[tuple[int, str]]) -> list[Suppression]:
    # Of two comments that say the same, the second one is of no use.
    left = set(used)
    unused: list[Suppression] = []
    for suppression in suppressions:
        keys = {(suppression.target, rule) for rule in suppression.rules}
        idle = tuple(rule for rule in suppression.rules if (suppression.target, rule) not in left)
        left -= keys
        if idle:
            unused.append(replace(suppression, rules=idle))
    return unused


def _comments(text: SourceText, language: Comments) -> tuple[list[_Comment], list[BadSuppression]]:
    found: list[_Comment] = []
    bad: list[BadSuppression] = []
    places = Places(text.source)
    try:
        for start, end in language.find(text.source):
            if MARK in text.source[start:end]:
                found += _directives(text, places, start, end)
    except Unreadable as error:
        line, why = error.args
        region = text.region(line, 0, line, len(text.line(line).encode("utf-8", "surrogatepass")))
        bad.append(BadSuppression(region, f"comments after this line could not be read: {why}"))
    return found, bad


def _directives(text: SourceText, places: Places, start: int, end: int) -> Iterator[_Comment]:
    """Each ``# bwlint:`` of one comment, which may hold others (``# noqa  # bwlint: ...``)."""
    comment = text.source[start:end]
    begins = [match.start() for match in _START[comment[0]].finditer(comment)]
    ends = [*begins[1:], len(comment)]
    line_start = places.line_start(start)
    after = _LINE_END.search(text.source, end)
    alone = not (text.source[line_start:start] + text.source[end : after.start() if after else None]).strip()
    for begin, stop in zip(begins, ends, strict=False):
        written = _LINE_END.split(comment[begin:stop], maxsplit=1)[0].rstrip()
        place = start + begin
        region = text.region(*places.span(place, place + len(written)))
        body = written.partition(MARK)[2].removesuffix("*/").rstrip()
        yield _Comment(region, body, places.line(end), alone)


def _targets(comments: Sequence[_Comment]) -> dict[int, int]:
    """The line that the comments of each line act on."""
    alone = {comment.region.line: comment.last for comment in comments if comment.alone}
    targets = {comment.region.line: comment.region.line for comment in comments}
    for line in sorted(alone, reverse=True):
        below = alone[line] + 1
        targets[line] = targets[below] if below in alone else below
    return targets


def _parse(body: str, known: Mapping[str, str], form: str) -> tuple[tuple[str, ...], str, list[str]]:
    """The rules, the reason and the faults of what follows ``bwlint:``."""
    match = _IGNORE.match(body)
    if match is None:
        is_ignore = body.strip().startswith("ignore")
        return (), "", [f"This names no rule in brackets. {form}" if is_ignore else f"This is not understood. {form}"]
    ids = [word for part in match.group(1).split(",") if (word := part.strip())]
    if not ids:
        return (), "", [f"The brackets are empty. {form}"]
    whole = ": comments take whole codes, such as BW101."
    unknown = [word for word in ids if word not in known]
    hints = [whole if BEGINNING.fullmatch(word) else did_you_mean(word, known) or "." for word in unknown]
    faults = [f"Unknown rule `{word}`{hint}" for word, hint in zip(unknown, hints, strict=True)]
    rules = dict.fromkeys(known[word] for word in ids if word in known)
    return tuple(rules), match.group(2).strip(), faults
