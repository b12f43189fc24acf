"""File names of CUDA libraries, and environment variables that tools read (toolkits.toml)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from bwlint.data import made, table


@dataclass(frozen=True, slots=True)
class ToolVariable:
    """A variable of the environment. `instead` is the one that counts on Blackwell and newer chips from `since` of its
    package on; `is_target` says that its value names what kernels are made for.
    """

    name: str
    package: str
    since: str = ""
    instead: str = ""
    is_target: bool = False


@cache
def sonames() -> frozenset[str]:
    """Libraries whose soname has the major version of CUDA: "cudart"."""
    return frozenset(str(row["library"]) for row in table("toolkits")["soname"])


@cache
def variables() -> dict[str, ToolVariable]:
    return {row["name"]: made(ToolVariable, row) for row in table("toolkits")["variable"]}


@dataclass(frozen=True, slots=True)
class PackageFloor:
    """The first version of a package in which something works on a chip."""

    chip: str
    first: str
    what: str


@cache
def packages() -> dict[str, PackageFloor]:
    return {row["name"]: made(PackageFloor, row) for row in table("toolkits")["package"]}


@dataclass(frozen=True, slots=True)
class ShippedCode:
    """Releases of a package from `first` on have what runs on `chips`, or makes code for them, or calls it.

    `index` is the first of them on PyPI, `older` a symbol that only earlier ones have ("" where none is known).
    """

    name: str
    chips: tuple[str, ...]
    first: str
    what: str
    index: str
    called: bool = False
    older: str = ""


@cache
def shipped() -> tuple[ShippedCode, ...]:
    return tuple(made(ShippedCode, {"index": row["first"], **row}) for row in table("toolkits")["shipped"])
