"""The rules as users see them: one TOML a rule, by code and by name."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, cast

from bwlint.data import read_toml, rules_folder
from bwlint.model.findings import CATEGORIES, SEVERITIES, Category, Severity

UNUSED = "unused-suppression"
BAD = "bad-suppression"

EVIDENCE = ("assembled", "run", "read", "documented", "reported", "evaluated")
"""On what a rule rests: ptxas or nvcc said it, a GPU did it, source was read, a document says it, others saw it; or
bwlint evaluates what is scanned, and no outside fact is needed.
"""
BEGINNING = re.compile(r"BW\d{0,2}", re.IGNORECASE)
"""Of codes."""
FIXES = ("safe", "unsafe", "none")

_TEXTS = ("code", "name", "category", "severity", "summary", "why", "example", "instead", "confirm", "fix")
_LISTS = ("reported", "note", "silent", "evidence", "sources")


class UnknownRule(ValueError):
    """An id that is no rule; the message names it and what comes closest."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. `severity` is its level without further evidence; `reported`, `note` and `silent` say in lines what is
    told at that level, what as a note alone, and what looks like it and is not told; `confirm` how to test a finding;
    `fix` what is repaired, the best that can come first (safe, unsafe, none); `evidence` are words of `EVIDENCE`."""

    code: str
    name: str
    category: Category
    severity: Severity
    summary: str
    why: str
    reported: tuple[str, ...]
    note: tuple[str, ...]
    silent: tuple[str, ...]
    example: str
    instead: str
    confirm: str
    fix: str
    evidence: tuple[str, ...]
    sources: tuple[str, ...] = ()

    @property
    def safety(self) -> str:
        """The best fix that can come, of `FIXES`."""
        return next(word for word in FIXES if self.fix.startswith(word))


@cache
def rules() -> tuple[Rule, ...]:
    """Every rule, by code. Raises ValueError, which names the file, for a TOML that is no rule."""
    return tuple(sorted((_rule(path) for path in rules_folder().glob("*.toml")), key=lambda rule: rule.code))


def lookup(text: str) -> Rule:
    """The rule of a code or a name, in any case. Raises UnknownRule."""
    found = _by_id().get(text.strip().lower())
    if found is None:
        every = f" (known: {', '.join(rule.name for rule in rules())})"
        # No code is near another one of which only the first digits are told.
        near = "" if BEGINNING.fullmatch(text.strip()) else did_you_mean(text.strip(), known_ids())
        raise UnknownRule(f"unknown rule `{text}`{near or every}")
    return found


def resolve(ids: Iterable[str]) -> frozenset[Rule]:
    """The rules of codes, beginnings of codes (`BW1`) and names, commas between them allowed. Raises UnknownRule."""
    parts = [part.strip() for text in ids for part in text.split(",") if part.strip()]
    return frozenset(rule for part in parts for rule in _group(part) or (lookup(part),))


def _group(text: str) -> tuple[Rule, ...]:
    """The rules whose codes begin with a text, where that is the beginning of a code."""
    if not BEGINNING.fullmatch(text):
        return ()
    return tuple(rule for rule in rules() if rule.code.startswith(text.upper()))


def known_ids() -> dict[str, str]:
    """Every code and name, each with the code that findings carry."""
    return {text: rule.code for rule in rules() for text in (rule.code, rule.name)}


@cache
def _by_id() -> dict[str, Rule]:
    return {text.lower(): rule for rule in rules() for text in (rule.code, rule.name)}


def _rule(path: Path) -> Rule:
    row: dict[str, Any] = read_toml(path)
    texts = {key: row.pop(key, None) for key in _TEXTS}
    lists: dict[str, Any] = {key: row.pop(key, None) for key in _LISTS}
    wrong = [key for key, value in texts.items() if not isinstance(value, str) or not value.strip()]
    wrong += [key for key, value in lists.items() if not _is_lines(value)]
    wrong += row.keys()
    if wrong:
        raise ValueError(f"{path}: not a rule: {', '.join(wrong)}")
    if texts["severity"] not in SEVERITIES or texts["category"] not in CATEGORIES or texts["name"] != path.stem:
        raise ValueError(f"{path}: not a rule: severity, category or name")
    if not lists["reported"] + lists["note"] or not lists["silent"]:
        raise ValueError(f"{path}: not a rule: what is reported and what is silent")
    if not set(lists["evidence"]) <= set(EVIDENCE) or not texts["fix"].startswith(FIXES):
        raise ValueError(f"{path}: not a rule: evidence or fix")
    values: dict[str, Any] = {key: cast(str, value).strip() for key, value in texts.items()}
    return Rule(**values | {key: tuple(value) for key, value in lists.items()})


def _is_lines(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(line, str) and line and "\n" not in line for line in value)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """What follows in a message the word that is not among those known; "" where none is like it."""
    import difflib

    as_written = {one.lower(): one for one in known}
    close = difflib.get_close_matches(word.lower().replace("_", "-"), as_written, n=1)
    return f"; did you mean `{as_written[close[0]]}`?" if close else ""
