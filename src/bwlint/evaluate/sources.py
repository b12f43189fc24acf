"""Capability sources: what calls and attributes of outside packages give on each chip, by chips/sources.toml."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from bwlint.chips import Chip, queries
from bwlint.data import table
from bwlint.evaluate.values import (
    CHIPS,
    ArchMember,
    Capability,
    DeviceProperties,
    DriverTarget,
    Guess,
    ProductName,
    Ref,
    ReleaseNumber,
    Unknown,
    Vec,
    lift,
    native_suffix,
)

Form = Callable[[Chip], Any]


def _product(chip: Chip) -> ProductName | None:
    names = queries.products().get(chip.name)
    return ProductName(names) if names else None


KINDS: dict[str, Form] = {
    "tuple": lambda chip: (chip.major, chip.minor),
    "named": lambda chip: Capability((chip.major, chip.minor)),
    "joined": lambda chip: chip.joined,
    "major": lambda chip: chip.major,
    "minor": lambda chip: chip.minor,
    "version": lambda chip: f"{chip.major}.{chip.minor}",
    "digits": lambda chip: f"{chip.major}{chip.minor}",
    "sm": lambda chip: f"sm_{chip.major}{chip.minor}",
    "sm-suffixed": lambda chip: f"sm_{chip.major}{chip.minor}{native_suffix(chip.major)}",
    "arch": lambda chip: ArchMember(chip.major, chip.minor, native_suffix(chip.major)),
    "properties": lambda chip: DeviceProperties(chip.major, chip.minor, chip.smem_per_block_optin, _product(chip)),
    "driver-target": lambda chip: DriverTarget(chip.joined),
    "product": lambda chip: _product(chip) or Unknown(),
    "smem-optin": lambda chip: chip.smem_per_block_optin if chip.smem_per_block_optin is not None else Unknown(),
    "guess": lambda chip: Guess(chip.major, chip.minor, "capability"),
}
_NO_DEVICE = ("true", "false", "none", "text")
_CONSTANTS: dict[str, Any] = {"true": True, "false": False, "none": None}


@dataclass(frozen=True, slots=True)
class CapabilitySource:
    """One row: `returns` is a key of `KINDS`, of `_CONSTANTS`, "text", or one of the tests of `call`."""

    returns: str
    text: str
    chips: frozenset[str] | None
    assumed: bool
    source: str
    value: bool = False


@cache
def _table() -> dict[str, CapabilitySource]:
    rows: dict[str, CapabilitySource] = {}
    for row in table("sources")["source"]:
        chips = frozenset(row["chips"]) if "chips" in row else None
        entry = CapabilitySource(
            row.get("returns", "chips"),
            row.get("text", ""),
            chips,
            row.get("assumed", False),
            row["source"],
            row.get("value", False),
        )
        for name in row["names"]:
            rows[name] = entry
    return rows


_TOO_COMMON = ".arch"
"""The end of names that means nothing without what stands in front of it."""


@cache
def asking_names() -> frozenset[str]:
    """The last parts of the table's names that read the device."""
    asks = (name for name, row in _table().items() if row.chips is not None or row.returns not in _NO_DEVICE)
    attributes = (name for name in queries.attributes() if "&" not in name)
    return frozenset(
        (*(name.removesuffix(_TOO_COMMON).rpartition(".")[2] for name in asks), *attributes, "compute_cap")
    )


class Sources:
    """The table, a user's rows in front; `release`: the toolkit assumed ("": current), `prints`: a command's output."""

    def __init__(
        self,
        own: Mapping[str, str] | None = None,
        release: str = "",
        prints: Callable[[str], Vec | None] | None = None,
    ) -> None:
        self._prints = prints or _capability
        self._own = {
            name: CapabilitySource(kind, "", None, False, "configuration") for name, kind in (own or {}).items()
        }
        self._release = release
        self._rows: dict[str, CapabilitySource | None] = {}

    def at(self, release: str) -> Sources:
        """The same rows, where the toolkit is of one release."""
        sources = Sources(release=release)
        sources._own = self._own
        return sources

    def printed(self, args: Sequence[Vec]) -> Vec | None:
        """What a program prints that is called with some words; None of one that nobody knows."""
        given = args[0].only() if args else None
        words = given if isinstance(given, (list, tuple)) else [given]
        return self._prints(" ".join(word for word in words if isinstance(word, str)))

    def find(self, dotted: str) -> CapabilitySource | None:
        """The row for a dotted name: the whole name, then ever shorter tails of it."""
        if dotted not in self._rows:
            self._rows[dotted] = self._find(dotted)
        found = self._rows[dotted]
        if found is None or not found.assumed or not self._release:
            return found
        asks = found.returns in _CONSTANTS
        return replace(found, returns="release-at-least" if asks else found.returns, text=self._release)

    def _find(self, dotted: str) -> CapabilitySource | None:
        table = _table()
        found = self._own.get(dotted) or table.get(dotted)
        if found:
            return found
        tail = dotted
        while "." in tail:
            tail = tail.partition(".")[2]
            found = self._own.get(tail) or table.get("*." + tail)
            if found:
                return found
        return table.get("*." + dotted)


@cache
def read(kind: str) -> Vec:
    """A source of `kind` on every chip."""
    return Vec(tuple(KINDS[kind](chip) for chip in CHIPS), device=True, guessed=kind == "guess")


def call(source: CapabilitySource, arguments: Sequence[Vec], keywords: Mapping[str, Vec]) -> Vec:
    if source.chips is not None:
        return Vec(tuple(chip.name in source.chips for chip in CHIPS), device=True)
    if source.returns in _CONSTANTS:
        return Vec((_CONSTANTS[source.returns],))
    if source.returns == "text" and source.text:
        return Vec((source.text,))
    if source.returns == "version" and source.text:
        return Vec((ReleaseNumber(int(part) for part in source.text.split(".")),))
    operands = [*arguments, *keywords.values()]
    if source.returns == "named" and len(operands) == 2:  # made of two numbers
        return lift(Capability.made, *operands)
    if source.returns == "release-at-least":
        return lift(lambda asked: _released(source.text, asked), operands[-1]) if operands else Vec((Unknown(),))
    test = _TESTS.get(source.returns)
    if test is None:
        return read(source.returns)
    if not operands:
        return Vec((Unknown(),), device=True)
    here = Vec(CHIPS, device=True)
    if source.returns == "at-least-parts":
        return lift(_at_least_parts, here, *operands[:2])
    return lift(test, here, operands[0])


PRINTING_CALLS = frozenset({"check_output", "run", "getoutput", "popen", "Popen"})
"""Calls that give back what a program prints."""
_COLUMNS = re.compile(r"--query-gpu=([\w.,]+)")


def asks_smi(text: object) -> bool:
    """Whether a text asks `nvidia-smi` for the capability."""
    return isinstance(text, str) and "compute_cap" in text and _COLUMNS.search(text) is not None


def _capability(command: str) -> Vec | None:
    return printed_columns(command, {"compute_cap": read("version")}) if asks_smi(command) else None


def printed_columns(command: str, known: Mapping[str, Vec]) -> Vec | None:
    """What `nvidia-smi --query-gpu=...` prints for one GPU where it is asked for a column that is known, else None."""
    found = _COLUMNS.search(command)
    columns = found[1].split(",") if found else []
    if known.keys().isdisjoint(columns):
        return None
    head = "" if "noheader" in command else ", ".join(columns) + "\n"
    return lift(lambda *texts: head + ", ".join(texts) + "\n", *(known.get(one, Vec(("0",))) for one in columns))


ATTRIBUTE_CALLS = {"cudaDeviceGetAttribute": True, "cuDeviceGetAttribute": True, "deviceGetAttribute": False}
"""Calls that take the name of an attribute of the device, and whether they return an error beside its value."""


def attribute_of_device(args: Sequence[Vec], in_pair: bool) -> Vec:
    asked = next((lane.name.rpartition(".")[2] for arg in args if isinstance(lane := arg.lanes[0], Ref)), "")
    kind = queries.attributes().get(asked)
    if kind is None:
        return Vec((Unknown(),))
    value = read(kind)
    return lift(lambda lane: (Unknown("error"), lane), value) if in_pair else value


def _released(release: str, asked: object) -> object:
    """Whether a toolkit's release is at least the one asked for, in text or as numbers."""
    parts = asked.split(".") if isinstance(asked, str) else asked
    if not isinstance(parts, (list, tuple)) or not all(str(part).isdecimal() for part in parts):
        return Unknown()
    return [int(part) for part in release.split(".")] >= [int(part) for part in parts]


def _as_pair(value: object) -> tuple[int, int] | None:
    """A capability given as a tuple or as joined digits."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return divmod(value, 10)
    if isinstance(value, tuple) and len(value) == 2 and all(isinstance(part, int) for part in value):
        return (value[0], value[1])
    return None


def _of_pair(holds: Callable[[Chip, tuple[int, int]], bool]) -> Callable[[Chip, object], object]:
    """A test of a capability that is given as a pair or as joined digits."""

    def test(chip: Chip, wanted: object) -> object:
        pair = _as_pair(wanted)
        return Unknown() if pair is None else holds(chip, pair)

    return test


def _at_least_parts(chip: Chip, major: object, minor: object = 0) -> object:
    if not isinstance(major, int) or not isinstance(minor, int):
        return Unknown()
    return (chip.major, chip.minor) >= (major, minor)


def _in_joined(chip: Chip, wanted: object) -> object:
    if not isinstance(wanted, (list, tuple, set, frozenset)):
        return Unknown()
    return chip.joined in wanted


_TESTS: dict[str, Callable[..., object]] = {
    "equals": _of_pair(lambda chip, pair: pair == (chip.major, chip.minor)),
    "at-least": _of_pair(lambda chip, pair: (chip.major, chip.minor) >= pair),
    "at-least-parts": _at_least_parts,
    "family": _of_pair(lambda chip, pair: pair[0] == chip.major),
    "in-joined": _in_joined,
}
