"""Conditions on the CUDA version in shell and in workflow expressions: which toolkits may and must pass them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from operator import eq, ge, gt, le, lt

from bwlint.chips.toolkits import Toolkits, every_toolkit, releases, version

_Order = Callable[[tuple[int, ...], tuple[int, ...]], bool]

_TEST = re.compile(
    r"[\"']?\$?[{(]?(?P<name>\w*cuda[\w.]{0,40}|\bcu_[\w.]{0,40})(?P<cut>%%[^}]{0,10})?[})]?[\"']?[ \t]*"
    r"(?P<operator>==|!=|<=|>=|=|<|>|-eq|-ne|-ge|-gt|-le|-lt)[ \t]*(?P<value>[\w.*\[\]\"'-]{1,30})",
    re.I,
)
_ORDERS: dict[str, _Order] = {"<": lt, "<=": le, ">": gt, ">=": ge}
_ORDERS |= {"-lt": lt, "-le": le, "-gt": gt, "-ge": ge, "-eq": eq}
_STREAM = re.compile(r"cu(?:da)?[-_]?(\d{2})(\d)\d?", re.I)
_BANNER = re.compile(r"^\*V?")
"""What stands before the number in the output of `nvcc --version`: *V12.8*."""
_IMAGE = re.compile(r"cuda[:_-]?v?(\d{2}\.\d)(?!\d)", re.I)
_JOINED = re.compile(r"(\d{2})(\d)")
_OTHER_TEST = re.compile(r"&&|\|\||\s-[ao]\s")
_STRING = re.compile(r"'([^']*)'")
_BEFORE = re.compile(r"(?P<name>[\w.]*cuda[\w.]*)\s*(?P<operator><=|>=|==|!=|<|>)\s*$", re.I)


def of_condition(text: str) -> tuple[Toolkits, Toolkits]:
    """The toolkits for which a shell condition may hold, and those for which it must."""
    tests = list(_TEST.finditer(text))
    apart = "||" in text or " -o " in text  # then a minor is not that of the major beside it
    found = [passing for test in tests[:8] if (passing := _passing(test, apart=apart)) is not None]
    if not found:
        return every_toolkit(), frozenset()
    others = len(_OTHER_TEST.findall(text)) + 1 - len(found)
    if "||" in text:
        union = frozenset[str]().union(*found)
        return (union if others <= 0 else every_toolkit()), union
    common = frozenset[str](every_toolkit()).intersection(*found)
    return common, (common if others <= 0 else frozenset())


def of_image(name: str) -> Toolkits:
    """The toolkit in the name of a container's image: `nvidia/cuda:12.8.1-devel`, `builder:cuda13.0`."""
    found = _IMAGE.search(name)
    return (frozenset({found[1]}) & every_toolkit() if found else frozenset()) or every_toolkit()


def of_patterns(text: str) -> Toolkits:
    """The toolkits that one of the patterns of a shell's `case` names: `12.9.1|13.0.1`, `12.*`, `cu126`."""
    patterns = [_STREAM.sub(r"\1.\2", part.strip(" \t\"'")) for part in text.split("|")]
    return frozenset(release for release in releases() for pattern in patterns if _is(release, pattern))


def _passing(test: re.Match[str], *, apart: bool) -> Toolkits | None:
    """The toolkits that pass one test, or None where it is no version that is tested."""
    operator, value = test["operator"], re.sub(r"[\"']", "", test["value"])
    value = _BANNER.sub("", value)
    if "minor" in test["name"].lower():
        return None if apart or not value.isdigit() or operator not in _ORDERS else _of_minor(_ORDERS[operator], value)
    stream = _STREAM.fullmatch(value)
    value = f"{stream[1]}.{stream[2]}" if stream else value
    if operator in ("==", "=", "!="):
        equal = frozenset(release for release in releases() if _is(release, value))
        return (every_toolkit() - equal if operator == "!=" else equal) if equal else None
    return _ordered(operator, value)


def _of_minor(order: _Order, value: str) -> Toolkits:
    """The toolkits whose second number passes: `"$CUDA_MAJOR" -eq 12 -a "$CUDA_MINOR" -ge 8` begins with 12.8."""
    return frozenset(release for release in releases() if order(version(release)[1:2], (int(value),)))


def _ordered(operator: str, value: str) -> Toolkits | None:
    if not re.fullmatch(r"\d+(?:\.\d+){0,3}", value) or operator not in _ORDERS:
        return None
    joined = _JOINED.fullmatch(value)
    wanted = version(f"{joined[1]}.{joined[2]}" if joined else value)[:2]
    order = _ORDERS[operator]
    return frozenset(release for release in releases() if order(version(release)[: len(wanted)], wanted)) or None


def _is(release: str, pattern: str) -> bool:
    """Whether a release, or a patch of it, fits what a shell compares with."""
    return any(fnmatchcase(text, pattern) for text in (release, f"{release}.0", f"{release}.1", f"{release}.2"))


@dataclass(frozen=True, slots=True)
class StringChoice:
    """One string that an expression may give, where it starts, and under which toolkits."""

    text: str
    start: int
    toolkits: Toolkits


def choices(line: str, place: int, asked: Toolkits | None = None) -> Iterator[StringChoice]:
    """The strings of a workflow expression `test && 'this' || 'that'`, as GitHub evaluates it under some toolkits."""
    left = asked or every_toolkit()
    here = left
    for match in _STRING.finditer(line, place):
        before = _BEFORE.search(line[max(place, match.start() - 100) : match.start()])
        after = line[match.end() : match.end() + 10].lstrip()
        if before:
            passing = _ordered(before["operator"], match[1]) or every_toolkit()
            if before["operator"] == "==":
                passing = frozenset(release for release in releases() if _is(release, match[1])) or every_toolkit()
            if after.startswith("&&"):
                here = left & passing
                left = left - passing if passing != every_toolkit() else left
            continue
        yield StringChoice(match[1], match.start(1), here)
        if after.startswith("||"):
            here = left
