"""File names of CUDA libraries, and environment variables that tools read (toolkits.toml)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from bwlint.data import table


@dataclass(frozen=True, slots=True)
class ToolVariable:
    """A variable of the environment. `instead` is the one that counts on Blackwell and newer chips from `since` of its
    package on; `is_target` says that its value names what kernels are made for.
    """

    name: str
    package: str
    since: str
    instead: str
    is_target: bool


@cache
def sonames() -> frozenset[str]:
    """Libraries whose soname has the major version of CUDA: "cudart"."""
    return frozenset(str(row["library"]) for row in table("toolkits")["soname"])


@cache
def variables() -> dict[str, ToolVariable]:
    return {
        row["name"]: ToolVariable(
            row["name"], row["package"], row.get("since", ""), row.get("instead", ""), row.get("target", False)
        )
        for row in table("toolkits")["variable"]
    }


@dataclass(frozen=True, slots=True)
class PackageFloor:
    """The first version of a package in which something works on a chip."""

    chip: str
    first: str
    what: str


@cache
def packages() -> dict[str, PackageFloor]:
    return {row["name"]: PackageFloor(row["chip"], row["first"], row["what"]) for row in table("toolkits")["package"]}


@dataclass(frozen=True, slots=True)
class ShippedCode:
    """Releases of a package from `first` on have what runs on `chips`, or makes code for them, or calls it.

    `index` is the first of them on PyPI, `older` a symbol that only earlier ones have ("" where none is known).
    """

    name: str
    chips: tuple[str, ...]
    first: str
    what: str
    called: bool
    index: str
    older: str


@cache
def shipped() -> tuple[ShippedCode, ...]:
    rows = table("toolkits")["shipped"]
    return tuple(
        ShippedCode(
            name=row["name"],
            chips=tuple(row["chips"]),
            first=row["first"],
            what=row["what"],
            called=row.get("called", False),
            index=row.get("index", row["first"]),
            older=row.get("older", ""),
        )
        for row in rows
    )
