"""One reader for each language: bytes in, `facts.Module` out. A reader knows its language and no rules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from bwlint.sources.errors import ReadError

if TYPE_CHECKING:
    from bwlint.model.facts import Module

__all__ = ["KINDS", "ReadError", "Reader", "again", "reader"]


@dataclass(frozen=True, slots=True)
class Reader:
    """`may_matter` passes over files without a word of interest; `read` gives the facts or raises `ReadError`."""

    may_matter: Callable[[bytes, frozenset[str]], bool]
    read: Callable[[str, str, str, bool, frozenset[str]], Module]


KINDS = {"cuda": "cuda", "build": "buildfiles", "python": "python", "ptx": "ptx"}
"""Kinds of text (`sources.kinds`), each with the module that reads it."""


@cache
def reader(kind: str) -> Reader:
    """The reader of a kind in `KINDS`, its module loaded now."""
    module = import_module(f"{__name__}.{KINDS[kind]}")
    return Reader(module.may_matter, module.read)


def again(module: Module, source: str) -> Module:
    """The facts of a file in another state, read as they were read before. Raises `ReadError`."""
    if module.language == "python":
        from bwlint.readers import python

        return python.read(module.path, source, module.name, module.is_package, module.own, module.carried)
    return reader(module.language).read(module.path, source, module.name, module.is_package, module.own)
