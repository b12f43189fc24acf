"""Choose what to compile for a claim about a C++ file: the file, a file that includes it, or the header alone. Which
files reach a header, and in which folders includes are found, is read from the tree."""

# Paths are plain strings here, as in `sources.tree`.
# ruff: noqa: PTH117, PTH118, PTH119, PTH120, PTH206

from __future__ import annotations

import os
import re
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import islice, takewhile

from bwlint.confirm.compiling.compiler import beginning, including, is_file
from bwlint.confirm.compiling.options import Commands, Options, commands, guessed, with_own
from bwlint.confirm.workbench import Subject, Workbench

UNITS = (".cu",)
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


_commands = lru_cache(maxsize=4)(commands)


_HEADERS = (".h", ".hpp", ".hh", ".hxx", ".cuh", ".inl", ".inc", ".ipp", ".tcc", ".def", ".cu", ".cpp", ".cc", ".cxx")
_DEVICE_HEADERS = (".cuh", ".hpp", ".inl", ".cu")
_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\r\n]{1,300})[>"]', re.MULTILINE)
_WORD = re.compile(r"[A-Za-z]+\d*")
_NAMED = re.compile(rb"[A-Za-z]{2,20}\d{2,4}")
_NUMBERED = 4
_SKIPPED = frozenset({".git", ".hg", "node_modules", "__pycache__", ".venv", "venv"})
_MOST_ENTRIES = 300_000
_MOST_READ = 1 << 20
_MOST_FILES = 3000
_MOST_CANDIDATES = 2000
_MOST_UNITS = 400


@dataclass(slots=True)
class IncludeTree:
    """The C++ files of a tree by their names, and what each includes; read once, as it is asked for."""

    root: str
    by_name: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    units: list[str] = field(default_factory=list)
    _included: dict[str, tuple[tuple[str, str | None], ...]] = field(default_factory=dict)
    _lacking: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def at(cls, root: str) -> IncludeTree:
        tree = cls(os.path.realpath(root))
        seen = 0
        for folder, folders, files in os.walk(tree.root):
            folders[:] = sorted(name for name in folders if name not in _SKIPPED)
            seen += len(files) + len(folders)
            if seen > _MOST_ENTRIES:
                break
            for name in sorted(files):
                if name.endswith(_HEADERS):
                    tree.by_name[name].append(os.path.join(folder, name))
                if name.endswith(UNITS):
                    tree.units.append(os.path.join(folder, name))
        return tree

    def folders(self, unit: str) -> tuple[str, ...]:
        """The folders that a compiler has to look in to find what a file includes, directly or not."""
        return tuple(dict.fromkeys(folder for _, folder in self._walk(unit) if folder is not None))

    def including(self, header: str) -> Iterator[str]:
        """The files to be compiled that reach a header, the nearest first; of these, those with a name like its own."""
        real = os.path.realpath(header)
        words = _words_of(real)
        nearest = sorted(
            self.units,
            key=lambda unit: (
                -_common(unit, real),
                # A word with a number says more of what a file is about.
                -sum(_NUMBERED if word[-1].isdigit() else 1 for word in words & (_words_of(unit) | _numbered(unit))),
                len(unit),
                unit,
            ),
        )
        for unit in nearest[:_MOST_UNITS]:
            if any(path == real for path, _ in self._walk(unit)):
                yield unit

    def missing(self, unit: str, known: Sequence[str]) -> frozenset[str]:
        """The headers that a file reaches and that are neither in the tree nor in some folders."""
        reached = [os.path.realpath(unit), *(path for path, _ in self._walk(unit))]
        names = {text for path in reached for text in self._lacking.get(path, ())}
        return frozenset(text for text in names if not any(is_file(os.path.join(folder, text)) for folder in known))

    def _walk(self, unit: str) -> Iterator[tuple[str, str | None]]:
        """Files that a file reaches, with the folder that each was found in (None: beside the one that includes it)."""
        seen = {os.path.realpath(unit)}
        queue = deque(seen)
        while queue and len(seen) < _MOST_FILES:
            for path, folder in self._direct(queue.popleft()):
                if path not in seen:
                    seen.add(path)
                    queue.append(path)
                    yield path, folder

    def _direct(self, path: str) -> tuple[tuple[str, str | None], ...]:
        if path not in self._included:
            found = {text: self._resolve(path, quote, text) for quote, text in _texts(path)}
            self._included[path] = tuple(one for one in found.values() if one is not None)
            # Without an ending it is one of the language's.
            self._lacking[path] = tuple(text for text, one in found.items() if one is None and "." in text)
        return self._included[path]

    def _resolve(self, includer: str, quote: str, text: str) -> tuple[str, str | None] | None:
        if os.path.isabs(text):
            return None
        beside = os.path.normpath(os.path.join(os.path.dirname(includer), text))
        if quote == '"' and is_file(beside):
            return os.path.realpath(beside), None
        ending = os.path.normpath(text)
        # Without a folder `<math.h>` is the system's.
        may_be_own = os.sep in ending or quote == '"' or ending.endswith(_DEVICE_HEADERS)
        if ending.startswith("..") or not may_be_own:
            return None
        named = self.by_name.get(os.path.basename(ending), ())[:_MOST_CANDIDATES]
        near = [one for one in named if one.endswith(os.sep + ending) and is_file(one)]
        if not near:
            return None
        best = max(near, key=lambda one: (_common(one, includer), -len(one)))
        return os.path.realpath(best), best[: -len(ending) - 1]


def _common(one: str, other: str) -> int:
    """How many folders two paths share from the root on."""
    pairs = zip(one.split(os.sep), other.split(os.sep), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _words_of(path: str) -> frozenset[str]:
    """The words of a path: a test of sm120_mma_tma.hpp is one of sm120, too."""
    return frozenset(word.lower() for word in _WORD.findall(path))


@lru_cache(maxsize=4096)
def _numbered(path: str) -> frozenset[str]:
    """The words with a number in a text: what names Sm120 has to do with sm120_mma_tma.hpp."""
    return frozenset(word.lower().decode() for word in _NAMED.findall(beginning(path, _MOST_READ)))


def _texts(path: str) -> Iterator[tuple[str, str]]:
    for quote, text in dict.fromkeys(_INCLUDE.findall(beginning(path, _MOST_READ))):
        name = text.decode("utf-8", "replace").strip()
        if name and "\0" not in name:
            yield quote.decode(), name


_tree = lru_cache(maxsize=4)(IncludeTree.at)
