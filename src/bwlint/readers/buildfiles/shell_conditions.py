"""Shell's tests of the compute capability, `[ "$cap" = "12.0" ]` or `case`, and make's `filter`, tried on all chips."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import islice

from bwlint.chips import Chip, all_chips
from bwlint.readers.buildfiles.patterns import compiled

_ASKED = re.compile(r"(\w{1,60})=[^\n]{0,200}compute_cap")
_CALLED = re.compile(r"(?i)\w*(?:compute_?cap|gpu_?arch|cuda_?arch|sm_?arch|sm_?version)\w*")
_TEST = re.compile(
    r"[\"']?\$\{?(?P<name>\w{1,60})\}?[\"']?[ \t]*(?P<test>==|=~|!=|=|-(?:eq|ne|ge|gt|le|lt)\b)[ \t]*"
    r"[\"']?(?P<value>[^\s\"';&|\]]{1,60}\]?[^\s\"';&|\]]{0,40})"
)
_IF = re.compile(
    r"\b(?:el)?if[ \t]+(?P<condition>[^\n;]{1,400}?)(?:;|\n)\s{0,40}then\b(?P<body>.{0,1500}?)(?=\b(?:elif|else|fi)\b)",
    re.S,
)
_GREPPED = re.compile(
    r"\$\{?(?P<name>\w{1,60})\}?[\"']?[ \t]*\|[ \t]*grep[ \t]+-\w*q\w*[ \t]+[\"']?(?P<value>[\w.]{2,20})"
)
_IN_MAKE = re.compile(
    r"\bifneq[ \t]*\((?:,[ \t]*)?\$[({](?P<how>findstring|filter)[ \t]+(?P<words>[^,()]{2,100}),[ \t]*"
    r"\$[({](?P<name>\w{1,60})[)}]{2}(?:,[ \t]*)?\)"
)
_CASE = re.compile(r"\bcase[ \t]+[\"']?\$\{?(?P<name>\w{1,60})\}?[\"']?[ \t]+in\b(?P<arms>.{0,4000}?)\besac\b", re.S)
_ARM = re.compile(
    r"(?:^|;;)(?:\s|#[^\n]{0,400}\n){0,99}\(?(?P<patterns>[^()\n;]{1,200}?)\)(?P<body>.{0,1500}?)(?=;;|$)", re.S
)
_REFUSES = re.compile(r"\bexit[ \t]+[1-9]|\breturn[ \t]+[1-9]|\bdie\b|unsupported|not supported", re.I)
_REST = 1500
_MOST = 200
_ORDERS = {"-eq": (0,), "-ne": (-1, 1), "-ge": (0, 1), "-gt": (1,), "-le": (-1, 0), "-lt": (-1,)}

_EVERY = frozenset(chip.joined for chip in all_chips())


@dataclass(frozen=True, slots=True)
class ShellTest:
    """A test at `start:end`, the chips that it is for, whether the others are refused, and where those go."""

    start: int
    end: int
    chips: frozenset[int]
    refuses: bool
    arm: tuple[int, int] | None = None


def shell_conditions(source: str) -> Iterator[ShellTest]:
    """The tests of a capability that tell chips apart."""
    asked = set(islice((match[1] for match in _ASKED.finditer(source)), _MOST))
    for match in islice(_IF.finditer(source), _MOST):
        chips = _passing(match["condition"], asked)
        if chips is None:
            continue
        rest = source[match.end("body") : match.end("body") + _REST].partition("\nfi")[0]
        denies = _REFUSES.search(match["body"]) is not None
        for_whom = _EVERY - chips if denies else chips
        arm = (match.end(), len(source)) if denies else match.span("body")
        yield ShellTest(*match.span("condition"), for_whom, denies or _REFUSES.search(rest) is not None, arm)
    for match in islice(_CASE.finditer(source), _MOST):
        if match["name"] in asked or _CALLED.fullmatch(match["name"]):
            yield from _arms(match)
    for match in islice(_IN_MAKE.finditer(source), _MOST):
        star = "*" if match["how"] == "findstring" else ""
        patterns = "|".join(f"{star}{word.replace('%', '*')}{star}" for word in match["words"].split())
        chips = _fitting(patterns)
        if chips and _CALLED.fullmatch(match["name"]):
            yield ShellTest(*match.span(), chips, refuses=False)


def _arms(case: re.Match[str]) -> Iterator[ShellTest]:
    arms = list(islice(_ARM.finditer(case["arms"].rstrip(" \t\n;")), _MOST))
    offset, left = case.start("arms"), _EVERY
    refuses = any(_REFUSES.search(arm["body"]) for arm in arms)
    for arm in arms:
        chips = _fitting(arm["patterns"])
        mine, left = chips & left, left - chips
        if mine and "*" not in arm["patterns"].split() and not _REFUSES.search(arm["body"]):
            (start, end), (first, last) = arm.span("patterns"), arm.span("body")
            yield ShellTest(offset + start, offset + end, mine, refuses, (offset + first, offset + last))


def _passing(condition: str, asked: set[str]) -> frozenset[int] | None:
    """The chips that pass a condition; None where it asks for nothing such, or for more."""
    tests = [(test["name"], test["test"], test["value"]) for test in _TEST.finditer(condition)]
    tests += [(test["name"], "==", f"*{test['value']}*") for test in _GREPPED.finditer(condition)]
    found = [
        frozenset(chip.joined for chip in all_chips() if _holds(chip, test, value))
        for name, test, value in tests
        if name in asked or _CALLED.fullmatch(name)
    ]
    if not found or ("&&" in condition and "||" in condition):
        return None
    whole = frozenset[int]().union(*found) if "||" in condition else _EVERY.intersection(*found)
    return whole if 0 < len(whole) < len(_EVERY) else None


def _holds(chip: Chip, test: str, value: str) -> bool:
    if test in _ORDERS:
        number = value.replace(".", "")
        order = (chip.joined > int(number)) - (chip.joined < int(number)) if number.isdigit() else None
        return order in _ORDERS[test]
    if test == "=~":
        regex = compiled(value.replace("\\.", "[.]"))
        return regex is not None and any(map(regex.search, _forms(chip)))
    return _fits(chip, value) != (test == "!=")


def _fitting(patterns: str) -> frozenset[int]:
    return frozenset(chip.joined for chip in all_chips() if _fits(chip, patterns))


def _fits(chip: Chip, patterns: str) -> bool:
    alternatives = [part.strip(" \t\"'") for part in patterns.split("|")]
    return any(fnmatchcase(form, pattern) for form in _forms(chip) for pattern in alternatives)


def _forms(chip: Chip) -> tuple[str, ...]:
    plain = (chip.name, str(chip.joined), f"sm_{chip.joined}")
    return (*plain, *(f"{name}{suffix}" for name in plain for suffix in chip.suffixes))
