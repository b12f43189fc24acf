"""Suppression comments: ``# bwlint: ignore[rule, rule2] reason``.

One stands at the end of a finding's first line, or alone on the line above (several may be stacked there).
Only real comments count, never the text of a string.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from bwlint.findings import Finding, Region, Suppressed
from bwlint.sources.read import Text

MARK = "bwlint:"
"""Without this literal a file has no suppression; `scan` then costs one search."""

_START = re.compile(r"#[ \t]*bwlint:")
_IGNORE = re.compile(r"[ \t]*ignore[ \t]*\[([^\]]*)\](.*)", re.DOTALL)
_FORM = "write `# bwlint: ignore[rule] reason`"


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
    """What follows ``bwlint:`` in a comment; `alone` says that nothing but the comment is on its line."""

    region: Region
    body: str
    alone: bool


def scan(source: str, known: Mapping[str, str]) -> tuple[list[Suppression], list[BadSuppression]]:
    """The suppressions in Python `source`, in order, and the faulty ones.

    `known` maps every accepted id, codes and names alike, to what `Finding.rule` holds. Source whose comments
    cannot be told from its strings gives a BadSuppression and what stands above the fault. Never raises.
    """
    if MARK not in source:
        return [], []
    comments, bad = _comments(Text(source))
    targets = _targets(comments)
    suppressions: list[Suppression] = []
    for comment in comments:
        ids, reason, faults = _parse(comment.body, known)
        bad += [BadSuppression(comment.region, fault) for fault in faults]
        if ids:
            line = comment.region.line
            suppressions.append(Suppression(comment.region, targets[line], ids, reason))
    return suppressions, bad


def apply(
    findings: Sequence[Finding], suppressions: Sequence[Suppression]
) -> tuple[list[Finding], list[Suppressed], list[Suppression]]:
    """The findings of one file that stay, those that its suppressions silence, and what suppresses nothing.

    A suppression of which only some rules are of no use is returned with just these.
    """
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


def _comments(text: Text) -> tuple[list[_Comment], list[BadSuppression]]:
    import io
    import tokenize

    marked: list[tuple[int, int, str]] = []
    bad: list[BadSuppression] = []
    # tokenize ends lines at \n only.
    reader = io.StringIO("\n".join(text.lines)).readline
    line = 1
    try:
        for token in tokenize.generate_tokens(reader):
            line = token.start[0]
            if token.type == tokenize.COMMENT and MARK in token.string:
                marked.append((*token.start, token.string))
    except (tokenize.TokenError, SyntaxError, ValueError, RecursionError, MemoryError) as error:
        why = error.args[0] if error.args else type(error).__name__
        region = _region(text, line, 0, len(text.line(line)))
        bad.append(BadSuppression(region, f"comments from here on could not be read: {why}"))
    return [comment for place in marked for comment in _directives(text, *place)], bad


def _directives(text: Text, line: int, start: int, comment: str) -> list[_Comment]:
    """Each ``# bwlint:`` of one comment, which may hold others (``# noqa  # bwlint: ...``)."""
    begins = [match.start() for match in _START.finditer(comment)]
    ends = [*begins[1:], len(comment)]
    alone = not text.line(line)[:start].strip()
    found: list[_Comment] = []
    for begin, end in zip(begins, ends, strict=False):
        directive = comment[begin:end].rstrip()
        region = _region(text, line, start + begin, start + begin + len(directive))
        found.append(_Comment(region, directive.partition(MARK)[2], alone))
    return found


def _region(text: Text, line: int, start: int, end: int) -> Region:
    return Region(line, text.column_of_character(line, start), line, text.column_of_character(line, end))


def _targets(comments: Sequence[_Comment]) -> dict[int, int]:
    """The line that the comments of each line act on."""
    alone = {comment.region.line for comment in comments if comment.alone}
    targets = {comment.region.line: comment.region.line for comment in comments}
    for line in sorted(alone, reverse=True):
        targets[line] = targets[line + 1] if line + 1 in alone else line + 1
    return targets


def _parse(body: str, known: Mapping[str, str]) -> tuple[tuple[str, ...], str, list[str]]:
    """The rules, the reason and the faults of what follows ``bwlint:``."""
    match = _IGNORE.match(body)
    if match is None:
        is_ignore = body.strip().startswith("ignore")
        return (), "", [f"no rule in brackets; {_FORM}" if is_ignore else f"not understood; {_FORM}"]
    ids = [word for part in match.group(1).split(",") if (word := part.strip())]
    if not ids:
        return (), "", [f"empty brackets; {_FORM}"]
    faults = [f"unknown rule `{word}`{_did_you_mean(word, known)}" for word in ids if word not in known]
    rules = dict.fromkeys(known[word] for word in ids if word in known)
    return tuple(rules), match.group(2).strip(), faults


def _did_you_mean(word: str, known: Mapping[str, str]) -> str:
    import difflib

    close = difflib.get_close_matches(word.lower(), [k.lower() for k in known], n=1)
    same = [k for k in known if close and k.lower() == close[0]]
    return f"; did you mean `{same[0]}`?" if same else ""
