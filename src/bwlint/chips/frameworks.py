"""Libraries that code is written with, by the names that decide how it is read (frameworks.toml)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from bwlint.data import table


@cache
def namespaces() -> frozenset[str]:
    """Namespaces of C++ in which nothing is the tree's own."""
    return frozenset(_all("namespaces"))


@cache
def headers(*, defining_macros: bool = False) -> str:
    """A piece of a regular expression for the folders of their headers; those that define what guards ask for alone."""
    rows = (row for row in _rows() if "headers" in row and (row.get("defines_macros") or not defining_macros))
    return _any(folder for row in rows for folder in row["headers"])


@cache
def device_code() -> str:
    """A piece for what only code for devices names."""
    return _any(_all("device_code"))


@cache
def registers() -> str:
    """A piece for the macros that open a block of registered functions."""
    return _any(_all("registers"))


@cache
def registers_typed() -> str:
    """A piece for the macros that register one function."""
    return _any(_all("registers_typed"))


@cache
def boxes() -> str:
    """A piece for what a registered function is wrapped in."""
    return _any(_all("boxes"))


@cache
def operations() -> str:
    """A piece for the packages through which registered functions are called from Python."""
    return _any(row["operations"] for row in _rows() if "operations" in row)


@cache
def releases() -> tuple[tuple[str, str, str], ...]:
    """What reads a release number: the module, the name to import from it, and what to call then."""
    return tuple((module, name, call) for module, name, call in _all("releases"))


@cache
def tests() -> str:
    """A piece for the macros that open a test, which is named by its suite and a name of its own."""
    return _any(_all("tests"))


@cache
def skips() -> str:
    """A piece for what skips the test that comes to it."""
    return _any(_all("skips"))


@cache
def ends() -> str:
    """A piece for functions that end the program with an error."""
    return _any(_all("ends"))


@cache
def finds() -> frozenset[str]:
    """Functions of Python that say whether a module can be imported."""
    return frozenset(_all("finds"))


@cache
def compiles() -> frozenset[str]:
    """Functions of Python that compile the kernels of the function or object that they are handed."""
    return frozenset(_all("compiles"))


@cache
def awaits() -> str:
    """A piece for what is handed something to see it fail."""
    return _any(_all("awaits"))


@cache
def converts() -> str:
    """A piece for functions that convert a number, with an instruction of the target or without."""
    return _any(_all("converts"))


@cache
def fails() -> frozenset[str]:
    """Functions that make the answer of one who does not do what was asked for."""
    return frozenset(_all("fails"))


@cache
def sets_up() -> frozenset[str]:
    """Methods of a class of tests that run before each of them."""
    return frozenset(_all("sets_up"))


@cache
def prepares() -> frozenset[str]:
    """Functions and methods of Python that run before the tests of their file or class."""
    return frozenset(_all("prepares"))


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
