"""Choose what to compile for a claim about a C++ file: the file, a file that includes it, or the header alone."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from pathlib import Path

from bwlint.confirm.compiling.compiler import including
from bwlint.confirm.compiling.includes import UNITS, IncludeTree
from bwlint.confirm.compiling.options import Commands, Options, commands, guessed, with_own
from bwlint.confirm.compiling.paths import is_file
from bwlint.confirm.workbench import Subject, Workbench

SOURCES = (*UNITS, ".cpp", ".cc", ".cxx")
HEADERS = (".cuh", ".h", ".hpp", ".hh", ".hxx", ".inl")
_SYSTEM = ("/usr/include", "/usr/local/include")
_NEAR = 200
_MOST = 2
"""Files that include a header, of which one may not compile."""


@dataclass(frozen=True, slots=True)
class TranslationUnit:
    """A file to be compiled, the text of ours that includes it, and the options for it."""

    path: str
    source: str
    options: Options


def is_source(path: str) -> bool:
    """Whether a file is C++ by its name."""
    return path.endswith((*SOURCES, *HEADERS))


def units(subject: Subject, world: Workbench) -> Iterator[TranslationUnit]:
    """What can be compiled for a claim, the best first; nothing for a file that is no C++."""
    real = subject.real
    if not is_file(real) or including(real) is None:
        return
    known = _commands(subject.root, world.commands)
    if real.endswith(SOURCES):
        yield _unit(real, subject, world, known)
    elif real.endswith(HEADERS):
        for path in _including(real, subject.root, _system(world), known):
            yield _unit(path, subject, world, known)
        yield _unit(real, subject, world, known)


def _including(header: str, root: str, system: tuple[str, ...], known: Commands) -> list[str]:
    """Files that include a header: those that a build compiles first, then those that lack no other header."""
    near = [path for path in islice(_tree(root).including(header), _NEAR) if including(path) is not None]
    # A header that is included under a condition may be missing everywhere.
    own = _missing(root, header, system)

    def rank(path: str) -> tuple[bool, int]:
        return os.path.realpath(path) not in known.by_file, len(_missing(root, path, system) - own)

    return sorted(near, key=rank)[:_MOST]


@lru_cache(maxsize=1024)
def _missing(root: str, path: str, system: tuple[str, ...]) -> frozenset[str]:
    return _tree(root).missing(path, system)


def _system(world: Workbench) -> tuple[str, ...]:
    """Folders in which headers of toolkits and of the system lie."""
    homes = [toolkit.nvcc.resolve().parents[1] for toolkit in world.toolkits if toolkit.nvcc is not None]
    own = [option.removeprefix("-I") for option in world.nvcc_args if option.startswith("-I")]
    return (*own, *(str(home / name) for home in homes for name in ("include", "include/cccl")), *_SYSTEM)


def _unit(path: str, subject: Subject, world: Workbench, known: Commands) -> TranslationUnit:
    options = known.options(path, subject.root)
    if options is None:
        options = guessed(_tree(subject.root).folders(path))
        if known.trouble:
            options = replace(options, origin=f"{options.origin} ({known.path or 'compile commands'}: {known.trouble})")
    return TranslationUnit(path, including(path) or "", with_own(options, world.nvcc_args))


@lru_cache(maxsize=4)
def _tree(root: str) -> IncludeTree:
    return IncludeTree.at(root)


@lru_cache(maxsize=4)
def _commands(root: str, given: Path | None) -> Commands:
    return commands(root, given)
