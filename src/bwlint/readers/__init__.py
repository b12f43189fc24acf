"""One reader a language: bytes in, `facts.Module` out. A reader knows its language and no rules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bwlint.facts import Module
from bwlint.readers import buildfiles, cuda, ptx, python
from bwlint.readers.errors import ReadError

__all__ = ["READERS", "ReadError", "Reader"]


@dataclass(frozen=True, slots=True)
class Reader:
    """`may_matter` passes over files without a word of interest; `read` gives the facts or raises `ReadError`.

    Both take the names that a configuration adds; `read` takes path, source, dotted name, is it a package.
    """

    may_matter: Callable[[bytes, frozenset[str]], bool]
    read: Callable[[str, str, str, bool, frozenset[str]], Module]


READERS: dict[str, Reader] = {
    "cuda": Reader(cuda.may_matter, cuda.read),
    "build": Reader(buildfiles.may_name_target, buildfiles.read),
    "python": Reader(python.may_matter, python.read),
    "ptx": Reader(ptx.may_matter, ptx.read),
}
"""By kind of file, see `sources.kinds`."""
