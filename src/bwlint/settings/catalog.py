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

_TEXTS = ("code", "name", "category", "severity", "summary", "why", "example", "instead", "fix")


class UnknownRule(ValueError):
    """An id that is no rule; the message names it and what comes closest."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. `severity` is its level without further evidence, `fix` one sentence on what is repaired."""

    code: str
    name: str
    category: Category
    severity: Severity
    summary: str
    why: str
    example: str
    instead: str
    fix: str
    sources: tuple[str, ...] = ()


@cache
def rules() -> tuple[Rule, ...]:
    """Every rule, by code. Raises ValueError, which names the file, for a TOML that is no rule."""
    return tuple(sorted((_rule(path) for path in rules_folder().glob("*.toml")), key=lambda rule: rule.code))


def lookup(text: str) -> Rule:
    """The rule of a code or a name, in any case. Raises UnknownRule."""
    found = _by_id().get(text.strip().lower())
    if found is None:
        raise UnknownRule(f"unknown rule `{text}`{_did_you_mean(text)}")
    return found


def resolve(ids: Iterable[str]) -> frozenset[Rule]:
    """The rules of codes, beginnings of codes (`BW1`) and names, commas between them allowed. Raises UnknownRule."""
    parts = [part.strip() for text in ids for part in text.split(",") if part.strip()]
    return frozenset(rule for part in parts for rule in _group(part) or (lookup(part),))


def _group(text: str) -> tuple[Rule, ...]:
    """The rules whose codes begin with a text, where that is the beginning of a code."""
    if not re.fullmatch(r"BW\d{0,2}", text, re.IGNORECASE):
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
    sources = row.pop("sources", None)
    wrong = [key for key, value in texts.items() if not isinstance(value, str) or not value.strip()]
    wrong += row.keys()
    if not isinstance(sources, list) or wrong:
        raise ValueError(f"{path}: not a rule: {', '.join(wrong) or 'sources'}")
    if texts["severity"] not in SEVERITIES or texts["category"] not in CATEGORIES or texts["name"] != path.stem:
        raise ValueError(f"{path}: not a rule: severity, category or name")
    return Rule(**{key: cast(Any, value).strip() for key, value in texts.items()}, sources=tuple(sources))


def _did_you_mean(text: str) -> str:
    import difflib

    close = difflib.get_close_matches(text.strip().lower(), _by_id(), n=1)
    return f"; did you mean `{close[0]}`?" if close else f" (known: {', '.join(rule.name for rule in rules())})"
