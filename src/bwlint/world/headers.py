"""Headers of the tree: which file an include names, which macros it defines, and the device queries it brings in."""

# Paths are plain strings here, as in `sources.tree`.
# ruff: noqa: PTH117, PTH118, PTH120

from __future__ import annotations

import os
import re
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from bwlint.chips.frameworks import headers
from bwlint.model.facts import Module
from bwlint.sources import disk
from bwlint.sources.read import Unread, read_bytes
from bwlint.sources.recorder import give, memory, read
from bwlint.sources.tree import folder_root, project_folder

MAX_FILES = 2000
"""How many headers one file may reach by its includes."""
MAX_READ = 80
"""How many of them may be read for it that are not part of the run."""
_INCLUDE_FOLDERS = ("", "include", "csrc", "src")
_OUTSIDE = ("cuda", "cu", "hip", "std", "torch", "c10", "at::")
_IMPLEMENTING = (".cpp", ".cc", ".cu")
_DEVICE_HEADER = re.compile(rf"\.(?:cuh|hpp|inl)$|^{headers(defining_macros=True)}/")

Load = Callable[[str], Module | None]
"""Reads a header by its real path; None where it cannot."""
MAX_DEPTH = 3
"""Headers from the file that asks to the one that says."""
MAX_BODY = 800
"""Bytes of a function that may be a question; a longer one is nobody's predicate."""
_INCLUDE = re.compile(rb'#[ \t]*include[ \t]*"([^"\n]{1,200})"')
"""In angle brackets are what other projects give, at most files, and each costs a look into every folder above."""
_HEAD = re.compile(rb"\b(?:bool|auto)\s+(?:\w+::)*(\w{4,})\s*\([^(){};]{0,300}\)\s*(?:const\s*)?(?:noexcept\s*)?\{")
_NOTHING = frozenset[str]()


class Headers:
    def __init__(self, load: Load) -> None:
        self._load = load
        self._by_path: dict[str, Module | None] = memory()
        self._definers: dict[str, list[Module]] = defaultdict(list)
        self._members: dict[str, list[tuple[Module, str]]] = defaultdict(list)
        self._reached: dict[str, frozenset[str]] = memory()
        self._direct: dict[str, tuple[str, ...]] = memory()
        self._sure: dict[str, frozenset[str]] = memory()
        self._named: dict[str, list[Module]] = defaultdict(list)
        self._meanings: dict[tuple[str, str], Module | None] = memory()
        self._beside: dict[str, tuple[str, ...]] = memory()
        self._implementing: dict[str, Module | None] = memory()

    def add(self, module: Module) -> None:
        """A file of the run."""
        if module.path not in self._by_path:
            give(self._by_path, module.path, module, "facts", module.path)
            self._enter(module)

    def _enter(self, module: Module) -> None:
        for name in module.names:
            self._named[name].append(module)
        for name, function in module.functions.items():
            if function.kind == "macro":
                self._definers[name].append(module)
                if "::" in name and not function.params:
                    self._members["::" + name.rpartition("::")[2]].append((module, name))

    def edited(self, module: Module) -> Headers:
        """The same files with one of them in another state; the includes stay as they were."""
        other = Headers(self._load)
        other._by_path = {path: module if path == module.path else known for path, known in self._by_path.items()}
        for mine, copied in ((self._definers, other._definers), (self._named, other._named)):
            for name, found in mine.items():
                copied[name] = [module if known.path == module.path else known for known in found]
        for name in (name for name, one in module.functions.items() if one.kind == "macro"):
            other._definers[name] = other._definers[name] or [module]
        other._reached, other._direct, other._sure = self._reached, self._direct, self._sure
        other._members = self._members
        return other

    def definers(self, module: Module, macro: str) -> Sequence[Module]:
        """Files that define a macro: those that `module` includes, else the only one there is."""
        reached = self._closure(module)
        read("names")
        known = self._definers.get(macro, ())
        found = [other for other in known if other.path in reached]
        return found or (known if len(known) == 1 else ())

    def having(self, module: Module, member: str) -> tuple[Module, str] | None:
        """The one type without open parameters that has a static member, of those that `module` includes."""
        reached = self._closure(module)
        read("names")
        found = {name: (home, name) for home, name in self._members.get(member, ()) if home.path in reached}
        return next(iter(found.values())) if len(found) == 1 else None

    def reached(self, module: Module) -> Sequence[str]:
        """The headers of the tree that a file includes, in itself or in others of them."""
        return sorted(self._closure(module) - {module.path})

    def included(self, module: Module) -> Sequence[Module]:
        """The headers of the tree that a file reaches, those without facts left out."""
        return [header for path in self.reached(module) if (header := self._by_path[path]) is not None]

    def meaning(self, module: Module, name: str) -> Module | None:
        """The file of the tree whose definition of a C++ name another file means: a header, or what implements one."""
        word = name.lstrip(".").partition("&")[0]
        if module.language != "cuda" or len(word) < 3 or word.startswith(_OUTSIDE):
            return None
        key = (module.path, name)
        if key not in self._meanings:
            reached = self._closure(module)
            read("names")
            own = (other for other in self._named.get(name, ()) if other.path in reached)
            self._meanings[key] = next(own, None) or self._implemented(module, name, word.encode())
        return self._meanings[key]

    def _implemented(self, module: Module, name: str, word: bytes) -> Module | None:
        """A file beside a header, of the header's name, that names and defines something."""
        if module.path not in self._beside:
            beside = (path for header in sorted(self._closure(module)) for path in implementing(header))
            self._beside[module.path] = tuple(path for path in beside if path != module.path)
        for path in self._beside[module.path]:
            if word in _bytes_of(path):
                other = self._implementation(path)
                if other is not None and name in other.names:
                    return other
        return None

    def _implementation(self, path: str) -> Module | None:
        if path not in self._implementing:
            self._implementing[path] = self.at(path)
        return self._implementing[path]

    def outside(self, module: Module) -> str | None:
        """A header of device code that a file reaches by its includes and that is not in the tree."""
        for one in (module, *self.included(module)):
            folder = os.path.dirname(one.path)
            for include in one.includes:
                if _DEVICE_HEADER.search(include.text) and resolve(folder, include.text) is None:
                    return include.text
        return None

    def at(self, path: str) -> Module | None:
        """The facts of a C++ file by its real path, nobody's header yet; None where it cannot be read."""
        known = self._by_path.get(path)
        return known if known is not None else self._load(path)

    def known(self) -> Sequence[Module]:
        """Every file read so far."""
        read("cuda")
        return [module for module in self._by_path.values() if module is not None]

    def _closure(self, module: Module) -> frozenset[str]:
        if module.path not in self._reached:
            self._reached[module.path] = self._walk(module)
        return self._reached[module.path]

    def _walk(self, module: Module) -> frozenset[str]:
        """Everything that a file includes, nearest first; so many of them may be read that the run has not."""
        seen: dict[str, None] = {module.path: None}
        queue, budget = deque([module]), MAX_READ
        while queue and len(seen) < MAX_FILES:
            for path in self.direct(queue.popleft()):
                if path in seen or (path not in self._by_path and budget == 0):
                    continue
                if path not in self._by_path:
                    budget -= 1
                    self._read(path)
                seen[path] = None
                header = self._by_path[path]
                if header is not None:
                    queue.append(header)
        return frozenset(seen)

    def direct(self, module: Module) -> tuple[str, ...]:
        """The headers of the tree that a file includes itself."""
        if module.path not in self._direct:
            folder = os.path.dirname(module.path)
            found = (resolve(folder, include.text) for include in module.includes)
            self._direct[module.path] = tuple(path for path in found if path is not None)
        return self._direct[module.path]

    def surely(self, module: Module) -> frozenset[str]:
        """The files that a file is compiled with whatever macros the preprocessor gets, itself among them."""
        if module.path not in self._sure:
            self._sure[module.path] = self._untested(module)
        return self._sure[module.path]

    def _untested(self, module: Module) -> frozenset[str]:
        found, waiting = {module.path}, [module]
        while waiting:
            one = waiting.pop()
            folder = os.path.dirname(one.path)
            for include in one.includes:
                path = resolve(folder, include.text) if not include.tests else None
                header = self._by_path[path] if path in self._by_path and path not in found else None
                if header is not None:
                    found.add(header.path)
                    waiting.append(header)
        return frozenset(found)

    def _read(self, path: str) -> None:
        header = self._load(path)
        self._by_path[path] = header
        if header is not None:
            self._enter(header)


def implementing(header: str) -> Iterator[str]:
    """The files beside a header, of its name, that may define what it declares."""
    stem = header.rpartition(".")[0]
    return (path for ending in _IMPLEMENTING if _is_file(path := f"{stem}{ending}"))


@disk.remembered
def _is_file(path: str) -> bool:
    return disk.is_file(path)


@disk.remembered
def _bytes_of(path: str) -> bytes:
    data = read_bytes(path)
    return b"" if isinstance(data, Unread) else data


@disk.remembered
def resolve(folder: str, text: str) -> str | None:
    """The file of the tree that `#include "text"` names in a folder, or None."""
    if os.path.isabs(text) or len(text) > 300 or "\0" in text:
        return None
    project = project_folder(folder_root(folder))
    beside = os.path.normpath(os.path.join(folder, text))
    if project == folder and text.startswith("../") and disk.is_file(beside):
        return beside  # nothing marks a project, and the compiler takes what stands there
    base, first = folder, text.partition("/")[0]
    while True:
        for name in (*_INCLUDE_FOLDERS, os.path.join(first, "include")):  # `kernels/include/kernels/gemm.h`
            path = os.path.normpath(os.path.join(base, name, text))
            if path.startswith(project) and disk.is_file(path):
                return path
        parent = os.path.dirname(base)
        if base == project or parent == base or not base.startswith(project):
            return None
        base = parent


@dataclass(frozen=True, slots=True)
class _IncludedFile:
    """What a header, or what implements one, says by itself."""

    includes: tuple[bytes, ...]
    questions: frozenset[str]

    @classmethod
    def of(cls, data: bytes) -> _IncludedFile:
        from bwlint.readers.cuda import may_matter

        return cls(_includes(data), frozenset(_questions(data)) if may_matter(data) else _NOTHING)


@dataclass(slots=True)
class _Included:
    """What is known in one run."""

    read: dict[str, _IncludedFile] = field(default_factory=memory)
    brought: dict[tuple[str, int], frozenset[str]] = field(default_factory=memory)

    def of(self, folder: str, includes: Iterable[bytes], depth: int) -> frozenset[str]:
        """The functions that some includes of a file bring."""
        found = _NOTHING
        for text in includes:
            header = resolve(folder, text.decode("utf-8", "replace"))
            if header is not None:
                found |= self._of_header(header, depth)
        return found

    def _of_header(self, path: str, depth: int) -> frozenset[str]:
        key = (path, depth)
        if key not in self.brought:
            header = self._read(path)
            further = self.of(os.path.dirname(path), header.includes, depth - 1) if depth > 1 else _NOTHING
            own = (self._read(one).questions for one in (path, *implementing(path)))
            self.brought[key] = further.union(*own)
        return self.brought[key]

    def _read(self, path: str) -> _IncludedFile:
        if path not in self.read:
            data = read_bytes(path)
            self.read[path] = _IncludedFile.of(b"" if isinstance(data, Unread) else data)
        return self.read[path]


_known = _Included()


def forget() -> None:
    """Begin a run: files may have changed since the last one."""
    global _known
    _known = _Included()


def included(real: str, data: bytes) -> frozenset[str]:
    """The functions of other files that ask the device and that a C++ file names."""
    found = _known.of(os.path.dirname(real), _includes(data), MAX_DEPTH)
    return frozenset(name for name in found if name.encode() in data)


def _includes(data: bytes) -> tuple[bytes, ...]:
    return tuple(dict.fromkeys(_INCLUDE.findall(data)))


def _questions(data: bytes) -> Iterator[str]:
    """The short functions that answer yes or no by the device."""
    from bwlint.readers.cuda.given import asks_device

    for match in _HEAD.finditer(data):
        body = _body(data[match.end() : match.end() + MAX_BODY])
        if b"return" in body and asks_device(body.decode("utf-8", "replace")):
            yield match[1].decode()


def _body(text: bytes) -> bytes:
    """What stands before the brace that closes the one in front of a text; nothing where that is too far."""
    depth = 1
    for brace in re.finditer(rb"[{}]", text):
        depth += 1 if brace[0] == b"{" else -1
        if not depth:
            return text[: brace.start()]
    return b""
