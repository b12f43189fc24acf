"""Libraries that code is written with, by the names that decide how it is read (frameworks.toml)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, Literal

from bwlint.data import table

_Names = Literal["compiles", "fails", "finds", "namespaces", "prepares", "sets_up"]
_Piece = Literal[
    "awaits", "boxes", "converts", "device_code", "ends", "operations", "registers", "registers_typed", "skips", "tests"
]
"""Fields of the table, whose head says what they hold."""


@cache
def names(field: _Names) -> frozenset[str]:
    """All that the libraries have in a field."""
    return frozenset(_all(field))


@cache
def piece(field: _Piece) -> str:
    """A piece of a regular expression for all that the libraries have in a field."""
    return _any(_all(field))


@cache
def headers(*, defining_macros: bool = False) -> str:
    """A piece of a regular expression for the folders of their headers; those that define what guards ask for alone."""
    rows = (row for row in _rows() if "headers" in row and (row.get("defines_macros") or not defining_macros))
    return _any(folder for row in rows for folder in row["headers"])


@cache
def releases() -> tuple[tuple[str, str, str], ...]:
    """What reads a release number: the module, the name to import from it, and what to call then."""
    return tuple((module, name, call) for module, name, call in _all("releases"))


@cache
def arch_list() -> str:
    """The variable from which builds of extensions take their list, where they name no targets of their own."""
    return str(next(row["arch_list"] for row in _rows() if "arch_list" in row))


def refuses_family(variable: str) -> bool:
    """Whether what reads a list of targets from a variable of this name takes no family target."""
    return any(row["refuses_family"] in variable.upper() for row in _rows() if "refuses_family" in row)


def _rows() -> list[dict[str, Any]]:
    return list(table("frameworks")["framework"])


def _all(field: str) -> Iterator[Any]:
    for row in _rows():
        yield from row.get(field, ())


def _any(pieces: Iterator[str]) -> str:
    return f"(?:{'|'.join(pieces)})"
