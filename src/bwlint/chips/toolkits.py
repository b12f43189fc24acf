"""CUDA toolkit releases: which one a build file names, and the first one that knows a target (toolkits.toml)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache

from bwlint.chips.chipset import ChipSet
from bwlint.chips.devices import all_chips
from bwlint.chips.targets import Target
from bwlint.data import table

Toolkits = frozenset[str]
"""Releases such as "12.9"."""

Bounds = tuple[str, str]
"""At least, and below; "" is without a bound."""


@lru_cache(maxsize=1024)
def version(text: str) -> tuple[int, ...]:
    """ "12.8.1" as numbers, for comparison; raises ValueError for anything else."""
    return tuple(int(part) for part in text.split("."))


@cache
def releases() -> tuple[str, ...]:
    """The known releases, ascending."""
    return tuple(table("toolkits")["releases"])


@cache
def _release() -> re.Pattern[str]:
    names = "|".join(name for row in table("toolkits")["released"] for name in row["names"])
    return re.compile(rf"(?:{names})_?(?:ver|version|runtime)?_?(?:major|minor|ver|version)", re.IGNORECASE)


def names_release(name: str) -> bool:
    """Whether a variable or macro is called after a release of a library or toolkit: `NV_TENSORRT_MAJOR`."""
    return _release().search(name) is not None


def where_header_is(header: str) -> str:
    """What brings a header that a compiler misses: a command, or an option for a checkout; "" where nobody says."""
    row = next((row for row in table("toolkits")["header"] if re.fullmatch(row["names"], header)), None)
    if row is None:
        return ""
    package = row.get("package")
    return f"pip install {package}" if package else f"--nvcc-args -I.../include of a {row['checkout']} checkout"


def in_container(month: str) -> str:
    """The CUDA in NVIDIA's containers of frameworks with a tag such as "24.08"; "" where it is older than is known."""
    months: dict[str, str] = table("toolkits")["containers"]["cuda"]
    return next((months[first] for first in reversed(months) if version(first) <= version(month)), "")


@cache
def every_toolkit() -> Toolkits:
    return frozenset(releases())


def toolkits_where(predicate: Callable[[tuple[int, ...]], bool]) -> Toolkits:
    """The releases for whose version the predicate holds."""
    return frozenset(release for release in releases() if predicate(version(release)))


def bounds(toolkits: Toolkits) -> Bounds:
    """The narrowest bounds that hold all of the releases, "" at an end of what is known."""
    places = [place for place, release in enumerate(releases()) if release in toolkits]
    if not places:
        return releases()[0], releases()[0]
    low = releases()[places[0]] if places[0] else ""
    after = places[-1] + 1
    return low, releases()[after] if after < len(releases()) else ""


def runs(toolkits: Toolkits) -> tuple[Bounds, ...]:
    """Bounds of each unbroken run of releases, ascending."""
    found: list[list[str]] = []
    for place, release in enumerate(releases()):
        if release not in toolkits:
            continue
        if found and place and found[-1][-1] == releases()[place - 1]:
            found[-1].append(release)
        else:
            found.append([release])
    return tuple(bounds(frozenset(run)) for run in found)


def within(limits: Bounds) -> Toolkits:
    """The releases between the bounds."""
    low, high = limits
    return toolkits_where(
        lambda release: (not low or release >= version(low)) and (not high or release < version(high))
    )


def known_chips(release: tuple[int, ...]) -> ChipSet:
    """The chips that the compilers of a release know."""
    gone = {name for row in table("toolkits")["dropped"] if version(row["first"]) <= release for name in row["chips"]}
    first = {chip.name: version(chip.min_cuda) for chip in all_chips() if chip.min_cuda and chip.name not in gone}
    return ChipSet.where(lambda chip: chip.name in first and first[chip.name] <= release)


@dataclass(frozen=True, slots=True)
class AssemblerMarks:
    """How a compiler of device code is known: file name or mark, text before its release, `fronts` and `linker`."""

    program: str
    release: bytes
    marks: tuple[bytes, ...]
    fronts: tuple[bytes, ...]
    linker: bytes


@cache
def assembler_marks() -> AssemblerMarks:
    row = table("toolkits")["assembler"]
    marks, fronts = (tuple(mark.encode() for mark in row[key]) for key in ("marks", "fronts"))
    return AssemblerMarks(row["program"], row["release"].encode(), marks, fronts, row["linker"].encode())


def first_release(chips: ChipSet) -> str:
    """The first release that knows one of the chips, "" where that is not known of any."""
    return min((chip.min_cuda for chip in chips if chip.min_cuda), key=version, default="")


def first_toolkit(target: Target) -> str | None:
    """The first release that knows the target, or None where that is not known."""
    own = target.chip.min_cuda
    row = table("toolkits")["suffix"].get(target.suffix)
    if own is None or row is None:
        return own
    return max(own, str(row["min_cuda"]), key=version)
