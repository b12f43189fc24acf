"""Headers of other projects, in a folder for such, that no file of a checkout includes, directly or through others.

Any text that names a header counts as one that includes it: another file of C++, a program that makes one at run time
(`"#include <impls/{}.cuh>"`), a build.
"""

# Paths are plain strings here, as in `sources.tree`.
# ruff: noqa: PTH119, PTH120, PTH206

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from bwlint.sources.read import Unread, read_bytes
from bwlint.sources.search import Search
from bwlint.sources.tree import checkout_folder, package_root
from bwlint.world.named_sources import HEADERS, NamedSource, named

_OTHERS = re.compile(
    r"third[_-]?part(?:y|ies)|3rd(?:[_-]?part(?:y|ies))?|external(?:s|_libs)?|extern|vendor(?:ed)?|deps|dependencies"
    r"|submodules?"
)
"""Names of folders for what others have written."""
_ENDING = re.compile(rb"\.(?:cuh|hh|hpp|hxx|h|inl|ipp)(?!\w)")
_MOST = 2_000_000
"""How often a name is compared with a header in one checkout."""


def is_of_others(real: str) -> bool:
    """Whether a file lies in a folder for what others have written, within its checkout."""
    return _is_below(os.path.dirname(real), checkout_folder(package_root(real)))


def _is_below(folder: str, checkout: str) -> bool:
    parts = folder.removeprefix(checkout).lower().split(os.sep)
    return any(map(_OTHERS.fullmatch, parts))


@dataclass(frozen=True, slots=True)
class Unincluded:
    """The `headers` of a checkout (real paths) that are of others and that nothing includes."""

    headers: frozenset[str]

    @classmethod
    def of(cls, search: Search) -> Unincluded | None:
        """None where the checkout is too large to know."""
        if not search.complete("cuda") or not search.complete("python"):
            return None
        files = [file.real for file in search.files("cuda")]
        headers = {real for real in files if real.endswith(HEADERS) and _is_below(os.path.dirname(real), search.folder)}
        named_by = _named_by(search, _ByName.of(headers))
        if named_by is None:
            return None
        reached: set[str] = set()
        queue = [real for origin, found in named_by.items() if origin not in headers for real in found]
        while queue:
            real = queue.pop()
            if real not in reached:
                reached.add(real)
                queue += named_by.get(real, ())
        return cls(frozenset(headers - reached))


@dataclass(frozen=True, slots=True)
class _ByName:
    """Headers by their names without folders."""

    paths: Mapping[str, list[str]]

    @classmethod
    def of(cls, headers: Iterable[str]) -> _ByName:
        found = defaultdict(list)
        for real in headers:
            found[os.path.basename(real)].append(real)
        return cls(found)

    def like(self, one: NamedSource) -> list[str]:
        """Those that a text may mean by their last names."""
        if one.is_pattern:
            return [path for found in self.paths.values() for path in found]
        return self.paths.get(one.name, [])


def _named_by(search: Search, headers: _ByName) -> Mapping[str, set[str]] | None:
    """The headers that each file of a checkout names; None where there are too many names."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    compared = 0
    for origin, match in _names(search):
        for one in named(origin, match):
            if one.is_pattern and not _is_included(match):
                continue
            like = headers.like(one)
            compared += len(like)
            if compared > _MOST:
                return None
            found[origin].update(filter(one.means, like))
    return found


def _names(search: Search) -> Iterator[tuple[str, re.Match[bytes]]]:
    """Where the files of a checkout name headers."""
    for kind in ("cuda", "python"):
        for file, match in search.matches(kind, _ENDING):
            yield file.real, match
    for file in search.files("build"):
        data = read_bytes(file.real)
        for match in () if isinstance(data, Unread) else _ENDING.finditer(data):
            yield file.real, match


def _is_included(match: re.Match[bytes]) -> bool:
    """Whether a pattern stands in an include that a program puts together, and not where files are copied."""
    line = match.string[match.string.rfind(b"\n", 0, match.start()) + 1 : match.start()]
    return b"include" in line
