"""build.toml of a package of kernels: each table lists capabilities and the sources that are compiled for them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import dropwhile

from bwlint.model.facts import Carry

CAPABILITIES = frozenset({"cuda-capabilities"})
_NAME = re.compile(r"(?:^|/)build\.toml$")
_TABLE = re.compile(r"\[[\w.-]{1,200}\]")
_SOURCES = re.compile(r"src\s{0,20}=\s{0,20}\[")
_COMPILED = re.compile(r"\"([^\"]{1,300}\.(?:cu|cpp|cc|cxx|c))\"")


@dataclass(frozen=True, slots=True)
class _Table:
    """The lines of a table, and the sources that it lists."""

    lines: range
    sources: tuple[str, ...]


def is_kernel_package(path: str) -> bool:
    return _NAME.search(path) is not None


def with_sources(source: str, carries: Sequence[Carry]) -> tuple[Carry, ...]:
    """The lists of capabilities of a file with what their tables compile; without one, for all chips that are known."""
    lines = source.splitlines()
    starts = [index for index, line in enumerate(lines) if _TABLE.match(line)]
    tables = [
        _Table(range(start + 1, stop + 1), tuple(dict.fromkeys(_sources(lines[start:stop]))))
        for start, stop in zip(starts, (*starts[1:], len(lines)), strict=False)
    ]
    of_cuda = (table for table in tables if any(name.endswith(".cu") for name in table.sources))
    listed = {carry.at[0] for carry in carries}
    if any(listed.isdisjoint(table.lines) for table in of_cuda):
        return tuple(carries)
    sources = {line: table.sources for table in tables for line in listed.intersection(table.lines)}
    return tuple(replace(carry, sources=sources.get(carry.at[0], ())) for carry in carries)


def _sources(table: Iterable[str]) -> Iterator[str]:
    for line in dropwhile(lambda line: not _SOURCES.match(line), table):
        code = line.partition("#")[0]
        yield from _COMPILED.findall(code)
        if "]" in code:
            return
