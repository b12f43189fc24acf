"""Estimate a line's truth table from its spelling, where the interpreter cannot evaluate it.

Comparisons with numbers that chips have are taken each by itself and joined by the line's `and` or `or`; negations,
arithmetic and what stands on other lines are left out. Whoever shows such a table says that it is rough.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import reduce

from bwlint.chips import EVERY, Chip, ChipSet
from bwlint.chips.toolkits import names_release

_VALUE = (
    r"(?:\(\s*(?P<major>\d{1,2})\s*,\s*(?P<minor>\d)\s*\)|0x(?P<hex>[0-9a-f]{2})\b"
    r"|[\"']?(?:_?k?sm_?|compute_?)?(?P<whole>\d{1,4})(?:\.(?P<tenth>\d))?[af]?(?![\w.]|\s*[>*]))"
)
"""(12, 0), 0x78, 120, "12.0", sm_120a."""
_LEFT = r"(?P<left>[\w.]*(?:\[[^\]]{0,12}\]|\(\w{0,12}\))*)\)*"
_OP = r"(?P<op>==|!=|>=|<=|<|>|(?:version_)?(?:less|greater)(?:_equal)?|(?:version_|str)?equal)"
_COMPARED = re.compile(rf"{_LEFT}\s*{_OP}\s*{_VALUE}", re.I)
_TURNED = re.compile(rf"(?<![\w.]){_VALUE}\s*(?P<op>==|!=|>=|<=|<|>)\s*(?P<left>[\w.]*[a-z_][\w.]*)", re.I)
_MEMBER = re.compile(
    r"(?P<no>not\s+)?\bin\b\s*(?:\w+\()?\s*[\[({](?P<list>[^\n]{1,120})"
    r"|(?:elem|one_of|contains|any_of)\s*\(\s*[\w.]+\s*,\s*\{?(?P<set>[^\n}]{1,120})",
    re.I,
)
_LOOP = re.compile(r"\bfor [\w, ()*]{1,80}? in\b")
_ANY = re.compile(r"\b(?:any|all)\(")
"""What makes a test of the values that it goes through."""
_CASE = re.compile(r"\bcase\s+(?:sm_?)?(?P<whole>\d{2,4})\s*:", re.I)
_ITEM = re.compile(rf"(?<![\w.]){_VALUE}", re.I)
_FLIPPED = {">=": "<=", "<=": ">=", "<": ">", ">": "<"}
_NAMED = {"less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">=", "equal": "=="}
_WORDS = {
    **{f"{kind}{word}": op for kind in ("", "version_") for word, op in _NAMED.items()},
    "strequal": "==",
}
_OPS: dict[str, Callable[[int, int], bool]] = {
    "==": int.__eq__,
    "!=": int.__ne__,
    ">=": int.__ge__,
    "<=": int.__le__,
    "<": int.__lt__,
    ">": int.__gt__,
}
_KNOWN = frozenset(chip.joined for chip in EVERY)
_MAJORS, _JOINED, _ARCHS = range(3, 16), range(30, 131), range(300, 1301)


def admitted(text: str) -> ChipSet | None:
    """The chips for which a line seems to hold; None where nothing in it is a comparison with a chip's number."""
    found = [*_comparisons(text), *_members(text)]
    if not found:
        return None
    either = " or " in text or "||" in text or " OR " in text
    return reduce(ChipSet.__or__ if either else ChipSet.__and__, found)


def _comparisons(text: str) -> list[ChipSet]:
    """What the comparisons of a line admit; a minor number says nothing without another one."""
    matches = [match for match in _COMPARED.finditer(text) if not names_release(match["left"])]
    minors = [_minor(match) for match in matches if _asks_minor(match)]
    found = [_value(_op(match["op"]), match) for match in matches if not _asks_minor(match)]
    found += [
        _value(_FLIPPED.get(match["op"], match["op"]), match)
        for match in _TURNED.finditer(text)
        if match["major"] or len(match["whole"] or "") > 1
    ]
    found += [_numbers("==", int(match["whole"])) for match in _CASE.finditer(text)]
    known = [one for one in found if one is not None]
    return known and [*known, *(one for one in minors if one is not None)]


def _members(text: str) -> list[ChipSet]:
    found = []
    told = text if _ANY.search(text) else _LOOP.sub("", text)
    for match in _MEMBER.finditer(told):
        items = _within(match["list"] or match["set"])
        chips = [one for item in _ITEM.finditer(items) if (one := _value("==", item)) is not None]
        if chips:
            whole = reduce(ChipSet.__or__, chips)
            found.append(~whole if match["no"] else whole)
    return found


def _within(text: str) -> str:
    """A text up to the bracket that closes what it stands in."""
    depth = 0
    for at, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        if depth < 0:
            return text[:at]
    return text


def _asks_minor(match: re.Match[str]) -> bool:
    return bool(match["left"].lower().endswith("minor"))


def _minor(match: re.Match[str]) -> ChipSet | None:
    number = match["whole"]
    return _where(_op(match["op"]), int(number), lambda chip: chip.minor) if number and len(number) == 1 else None


def _op(written: str) -> str:
    return _WORDS.get(written.lower(), written)


def _value(op: str, match: re.Match[str]) -> ChipSet | None:
    groups = match.groupdict()
    if groups.get("major"):
        return _pairs(op, int(groups["major"]), int(groups["minor"]))
    if groups.get("hex"):
        return _numbers(op, int(groups["hex"], 16))
    whole, tenth = int(groups["whole"]), groups.get("tenth")
    if not tenth:
        return _numbers(op, whole)
    return _pairs(op, whole, int(tenth)) if whole * 10 + int(tenth) in _KNOWN else None


def _pairs(op: str, major: int, minor: int) -> ChipSet | None:
    if major not in _MAJORS:
        return None
    return _where(op, major * 10 + minor, lambda chip: chip.joined)


def _numbers(op: str, number: int) -> ChipSet | None:
    if number in _JOINED:
        return _where(op, number, lambda chip: chip.joined)
    if number in _MAJORS:
        return _where(op, number, lambda chip: chip.major)
    if number in _ARCHS and number % 10 == 0:
        return _where(op, number, lambda chip: chip.joined * 10)
    return None


def _where(op: str, number: int, of: Callable[[Chip], int]) -> ChipSet:
    compare = _OPS[op]
    return ChipSet.where(lambda chip: compare(of(chip), number))
