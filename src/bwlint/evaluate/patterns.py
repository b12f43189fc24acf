"""Python's `re` on short texts, with patterns that cannot take long."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any

from bwlint.chips.digits import Misread, misread
from bwlint.evaluate.values import ProductName, Unknown, Vec, lift

MAX_TEXT = 80
MAX_PATTERN = 200
_CALLS = frozenset({"match", "search", "fullmatch", "sub", "findall", "split"})
_REPEATED_GROUP = re.compile(r"\)[*+{]")
_REPEAT = re.compile(r"(?<!\\)[*+]|\{\d*,\d*\}")
_LONG = ("sm_120", "compute_120")
_MAX_REPEATS = 4
"""Repeats beside each other in one pattern: the work grows with the length of the text to this power."""


def call(name: str, args: Sequence[Vec], keywords: Mapping[str, Vec]) -> Vec:
    """`re.match(pattern, text)` and the like."""
    if keywords or not args:
        return Vec((Unknown(),), any(arg.device for arg in args))
    if name == "compile":
        return lift(lambda text, *_: compiled(text) or Unknown(), *args)
    return lift(lambda text, *rest: method(compiled(text), name, rest), *args)


def method(pattern: re.Pattern[str] | re.Match[str] | None, name: str, args: Sequence[Any]) -> Any:
    """`pattern.match(text)` and the like, and what can be asked of the match."""
    if isinstance(pattern, re.Match):
        return getattr(pattern, name)(*args) if name in ("group", "groups", "start", "end") else Unknown()
    if args and isinstance(args[-1], ProductName) and name in ("match", "search", "fullmatch"):
        return next((found for text in args[-1].texts if (found := method(pattern, name, [text]))), None)
    texts = all(isinstance(arg, str) and len(arg) <= MAX_TEXT for arg in args)
    if pattern is None or name not in _CALLS or not texts or len(args) != (2 if name == "sub" else 1):
        return Unknown()
    found = getattr(pattern, name)(*args)
    return Unknown() if isinstance(found, str) and len(found) > MAX_TEXT * MAX_TEXT else found


@cache
def compiled(text: Any) -> re.Pattern[str] | None:
    """A pattern, None where it may take long: repeated groups, many repeats."""
    if isinstance(text, re.Pattern):
        return text
    if not isinstance(text, str) or len(text) > MAX_PATTERN or _REPEATED_GROUP.search(text):
        return None
    if len(_REPEAT.findall(text)) > _MAX_REPEATS:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what it may mean one day is nobody's business who scans it
            return re.compile(text)
    except (re.error, RecursionError, OverflowError):
        return None


def misread_by(pattern: str) -> Misread | None:
    """Whether an expression takes names of targets apart as if all had two digits."""
    found = compiled(pattern)
    wrong = misread(partial(_digits, found.search), old_too=True) if found else None
    right = found is not None and any(_digits(found.fullmatch, name) in ("120", name) for name in _LONG)
    return None if right else wrong


def misread_with(pattern: str, new: str) -> Misread | None:
    """The same of `re.sub(pattern, new, name)`."""
    found = compiled(pattern)
    try:
        return misread(partial(found.sub, new)) if found else None
    except (re.error, IndexError):
        return None


def _digits(find: Callable[[str], re.Match[str] | None], name: str) -> str | None:
    """What an expression takes out of a name: its groups, each once, or else all of it."""
    found = find(name)
    groups = dict.fromkeys(filter(None, found.groups())) if found else {}
    return "".join(group for group in groups if group.isdigit()) or (found[0] if found else None)
