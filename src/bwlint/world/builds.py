"""Which builds of the tree compile a source file, and for which targets."""

# Paths are plain strings here, as in `sources.tree`.
# ruff: noqa: PTH118, PTH120

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from bwlint.chips import NONE, ChipSet, Target, TargetSet, all_chips, group, known_targets, siblings, spelling, words
from bwlint.chips.frameworks import refuses_family
from bwlint.model.facts import Carry, Module
from bwlint.sources import disk
from bwlint.sources.read import read_bytes
from bwlint.sources.recorder import memory, read
from bwlint.sources.tree import KERNEL_PACKAGE, checkout_folder, folder_root, project_folder
from bwlint.world.headers import Headers

_MAKEFILES = frozenset({"Makefile", "makefile", "GNUmakefile"})
_BUILD_FILES = _MAKEFILES | {"CMakeLists.txt", "setup.py", KERNEL_PACKAGE}
_WORD_END = re.compile(r"[._-]")
_RETIRED = re.compile(rf"\b[Tt]his (?:{words.said('retired')})")
_LONGEST_README = 64 * 1024
_MOST_FOLDERS = 30
_MOST_FILES = 50

Load = Callable[[str], Module | None]
"""Reads a build file by its real path; None where it cannot."""


class Builds:
    """The carries of build files by the sources that they name; those above a source are read when it is asked for."""

    def __init__(self, modules: Iterable[Module], load: Load = lambda path: None) -> None:
        self.load = load
        self._by_name: dict[str, list[tuple[str, str, Carry]]] = defaultdict(list)
        self._patterns: list[tuple[str, str, str, Carry]] = []
        self._read: set[str] = set()
        self._folders: dict[str, None] = memory()
        self._including: dict[str, tuple[tuple[Module, tuple[Carry, ...]], ...]] = memory()
        self._found: dict[str, tuple[tuple[str, Carry], ...]] = memory()
        self._waiting = iter(modules)

    def of(self, module: Module) -> tuple[Carry, ...]:
        """The carries that compile a file: those of build files above it that name it by the end of its path."""
        return tuple(carry for _, carry in self.placed(module.path))

    def including(self, module: Module, headers: Headers) -> tuple[tuple[Module, tuple[Carry, ...]], ...]:
        """The files that builds above a file compile and that include it, each with its carries."""
        if module.path not in self._including:
            self._look_above(module.path)
            found: dict[str, dict[Carry, None]] = defaultdict(dict)
            named = ((origin, source, carry) for entries in self._by_name.values() for origin, source, carry in entries)
            patterns = ((origin, source, carry) for _, source, origin, carry in self._patterns)
            for origin, source, carry in (*named, *patterns):
                folder = os.path.dirname(origin)
                if source.endswith(".cu") and module.path.startswith(f"{folder}{os.sep}"):
                    for path in files(os.path.normpath(os.path.join(folder, source))):
                        found[path][carry] = None
            read = ((headers.at(path), tuple(carries)) for path, carries in islice(found.items(), _MOST_FILES))
            self._including[module.path] = tuple(
                (code, carries) for code, carries in read if code and module in headers.included(code)
            )
        return self._including[module.path]

    def placed(self, real: str) -> tuple[tuple[str, Carry], ...]:
        """The carries that compile the file at a real path, each with the path of its build file."""
        if real not in self._found:
            self._look_above(real)
            self._found[real] = tuple(dict.fromkeys(self._matching(real.replace(os.sep, "/"))))
        return self._found[real]

    def above(self, real: str) -> Iterator[Module]:
        """The build files in the folders above a file, up to that of its project."""
        for folder in _folders_above(real, project_folder(folder_root(os.path.dirname(real)))):
            for name in _build_files(folder):
                found = self.load(os.path.join(folder, name))
                if found is not None:
                    yield found

    def beside(self, real: str, called: re.Pattern[str]) -> Iterator[Module]:
        """The files beside a build file whose names begin like its own and have a word besides: build_5090.sh."""
        folder, own = os.path.split(real)
        names = (name for name in names_in(folder) if name != own and _first_word(name) == _first_word(own))
        for name in islice(filter(called.search, names), _MOST_FILES):
            module = self.load(os.path.join(folder, name))
            if module is not None:
                yield module

    def _matching(self, path: str) -> Iterable[tuple[str, Carry]]:
        for origin, source, carry in self._by_name.get(path.rpartition("/")[2], ()):
            folder = os.path.dirname(origin)
            if path.startswith(f"{folder}/") and path.endswith(f"/{source.lstrip('./')}"):
                exact = os.path.join(folder, source)
                if (path == exact or not disk.exists(exact)) and self._decides(origin, path):
                    yield origin, carry
        for folder, source, origin, carry in self._patterns:
            below = path.removeprefix(f"{folder}/")
            if below == path or below.count("/") != source.count("/") or not ends_in(below, source):
                continue
            if self._decides(origin, path):
                yield origin, carry

    def _decides(self, origin: str, real: str) -> bool:
        """Whether a build file ships a source: a makefile or script beside other builds may only try it."""
        name = origin.rpartition(os.sep)[2]
        if name not in _MAKEFILES and _ships(name):
            return True
        folders = _folders_above(real, project_folder(folder_root(os.path.dirname(real))))
        lesser = _MAKEFILES if name in _MAKEFILES else frozenset[str]()
        return all(lesser.issuperset(_build_files(folder)) for folder in folders)

    def named_besides(self, real: str, origin: str) -> bool:
        """Whether another build file above a source than `origin` names it: who of them builds it is not known then."""
        for folder in _folders_above(real, checkout_folder(folder_root(os.path.dirname(real)))):
            named = os.path.relpath(real, folder).replace(os.sep, "/").encode()
            for path in (os.path.join(folder, name) for name in _build_files(folder)):
                data = read_bytes(path) if path != origin else b""
                if isinstance(data, bytes) and named in data:
                    return True
        return False

    def retired(self, real: str) -> bool:
        """Whether the README in the folder of a build file says that what is built there is no longer used."""
        data = read_bytes(os.path.join(os.path.dirname(real), "README.md"), _LONGEST_README)
        return isinstance(data, bytes) and _RETIRED.search(data.decode("utf-8", "replace")) is not None

    def _look_above(self, real: str) -> None:
        """Read the build files between a file and its project's folder."""
        read("builds")
        for module in self._waiting:
            self._add(module)
        self._look_into(_folders_above(real, project_folder(folder_root(os.path.dirname(real)))))

    def _look_into(self, folders: Iterator[str]) -> None:
        folder = next(folders, None)
        if folder is None or folder in self._folders:
            return
        for name in _build_files(folder):
            path = os.path.join(folder, name)
            found = self.load(path) if path not in self._read else None
            if found is not None:
                self._add(found)
        self._look_into(folders)
        self._folders[folder] = None

    def _add(self, module: Module) -> None:
        self._read.add(module.path)
        for carry in module.carries:
            origin, listed = self.list_of(module, carry) if carry.sources else (module.path, carry)
            below = os.path.relpath(os.path.dirname(module.path), os.path.dirname(origin)).replace(os.sep, "/")
            for source in () if carry.is_a("match", "asked") or not (listed.sass or listed.ptx) else carry.sources:
                place = source if below == "." else f"{below}/{source.removeprefix('./')}"
                if "*" in source:
                    folder = os.path.dirname(origin).replace(os.sep, "/")
                    self._patterns.append((folder, place.removeprefix("./"), origin, listed))
                else:
                    self._by_name[source.rpartition("/")[2]].append((origin, place, listed))

    def list_of(self, module: Module, carry: Carry) -> tuple[str, Carry]:
        """The list that the sources of a carry are compiled for, with the path of the file that has it."""
        if carry.kind != "inherited":
            return module.path, carry
        own = [one for one in module.carries if one.name == carry.name and one.kind == "request"]
        if own:
            return module.path, own[0] if len(own) == 1 else carry
        folders = _folders_above(module.path, project_folder(folder_root(os.path.dirname(module.path))))
        for folder in islice(folders, 1, None):
            above = self.load(os.path.join(folder, "CMakeLists.txt"))
            lists = [one for one in above.carries if one.name == carry.name] if above is not None else []
            if above is not None and lists:
                handed = (one for one in lists if one.kind == "inherited" and one.sass)
                return above.path, next(handed, carry)
        return module.path, carry


def _folders_above(real: str, last: str) -> Iterator[str]:
    """The folders of a file, innermost first, up to the `last` one."""
    folder = os.path.dirname(real)
    for _ in range(_MOST_FOLDERS):
        yield folder
        parent = os.path.dirname(folder)
        if folder == last or parent == folder:
            return
        folder = parent


def _build_files(folder: str) -> list[str]:
    """The names of the build files of a folder that may name sources."""
    return list(filter(_ships, names_in(folder)))[:_MOST_FILES]


def _ships(name: str) -> bool:
    return name in _BUILD_FILES or name.endswith(".cmake")


def names_in(folder: str) -> list[str]:
    """The names in a folder, in order; none where it cannot be read."""
    try:
        return sorted(disk.names(folder))
    except OSError:
        return []


def _first_word(name: str) -> str:
    """What a file's name begins with: "build" of build_5090.sh."""
    return _WORD_END.split(name, maxsplit=1)[0]


def files(path: str) -> Iterable[str]:
    """The files that a path with stars may name, or the one that it names."""
    return disk.matching(path)[:_MOST_FILES] if "*" in path else (path,)


def fits(name: str, pattern: str) -> bool:
    """Whether one part of a path is what a pattern says, in which a star stands for anything."""
    first, *rest = pattern.split("*")
    if not rest:
        return name == pattern
    last = rest.pop()
    if not name.startswith(first) or len(name) < len(first) + len(last) or not name.endswith(last):
        return False
    at, stop = len(first), len(name) - len(last)
    for part in rest:
        at = name.find(part, at, stop)
        if at < 0:
            return False
        at += len(part)
    return True


def ends_in(path: str, source: str) -> bool:
    """Whether a path ends in a source's, in which a star stands for an unknown part of a name."""
    named = source.lstrip("./").split("/")
    parts = path.replace(os.sep, "/").split("/")[-len(named) :]
    return len(parts) == len(named) and all(map(fits, parts, named))


def runs_on(carries: Iterable[Carry]) -> ChipSet:
    """The chips that load what builds compile, or whose driver compiles the PTX in it."""
    return loads(pair for carry in carries for pair in pairs_of(carry))


def exactly_one_of(carries: Iterable[Carry]) -> ChipSet:
    """The families for one part of which builds compile: the build that leaves out the others is reported itself."""
    exact = (target for carry in carries for target in known_targets(carry.sass) if target.suffix == "a")
    return ChipSet.joining(chip for target in exact for chip in siblings(target.chip))


def built(carry: Carry) -> TargetSet:
    """The targets that a build compiles device code for: those of its cubins, and of its PTX."""
    return TargetSet.joining(known_targets((*carry.sass, *carry.ptx)))


def of_framework(carry: Carry) -> bool:
    """Whether a list is for a framework's own reader, which has a grammar of its own."""
    return refuses_family(carry.name) or refuses_family(carry.handed)


def takes_family(module: Module, carry: Carry) -> bool:
    """Whether a list may name a family target: one of the framework's that has some is read by another program."""
    lists = (one for one in module.carries if one.name == carry.name)
    return not of_framework(carry) or any(name.endswith("f") for one in lists for name in (*one.sass, *one.ptx))


def named_for(carry: Carry) -> ChipSet:
    """The chips of the data centre for which the sources of a carry are named, where all of them are."""
    numbers = [spelling.numbers(source.rpartition("/")[2]) for source in carry.sources]
    meant = [ChipSet.joining(chip for chip in all_chips() if chip.joined in named) for named in numbers]
    found = ChipSet.joining(chip for chips in meant for chip in chips)
    return found if all(meant) and found <= group("datacenter-blackwell") else NONE


def pairs_of(carry: Carry, *, ptx: bool = True) -> Iterator[str]:
    """What a build asks nvcc for, of known targets: "compute_90,sm_90", of its PTX "compute_90,compute_90"."""
    arch = next(known_targets([carry.text]), None) if carry.kind == "gencode" else None
    for target in known_targets(carry.sass):
        yield pair_of(arch or target, target)
    for target in known_targets(carry.ptx) if ptx else ():
        name = target.name.replace("sm_", "compute_")
        yield f"{name},{name}"


def loads(pairs: Iterable[str]) -> ChipSet:
    """The chips that load what nvcc makes of pairs such as "compute_90,sm_90", or whose driver compiles its PTX."""
    codes = [pair.rpartition(",")[2] for pair in pairs]
    ready = (target.loads_on() for target in known_targets(code for code in codes if code.startswith("sm_")))
    texts = (code.replace("compute_", "sm_") for code in codes if code.startswith("compute_"))
    return ChipSet.union((*ready, *(target.jits_on() for target in known_targets(texts))))


def pair_of(arch: Target, code: Target) -> str:
    """The pair of PTX for `arch` that is assembled for `code`."""
    return f"{arch.name.replace('sm_', 'compute_')},{code.name}"
