"""Sources that no build of their project compiles, though it names its sources one by one, and headers of other
projects that nothing includes: what stands in them is dead.

Where nothing is known a file is compiled: without a build, beside a build that cannot be read, where a folder may be
walked or a name put together, and where nothing that is like it is named.
"""

# Paths are plain strings here, as in `sources.tree`.
# ruff: noqa: PTH118, PTH119, PTH120, PTH122, PTH206

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby, islice, takewhile
from operator import itemgetter

from bwlint.sources import disk
from bwlint.sources.read import Unread, read_bytes
from bwlint.sources.recorder import Read, memory, once
from bwlint.sources.search import Search, search_of
from bwlint.sources.tree import KERNEL_PACKAGE, checkout_folder, is_project, package_root, project_folder
from bwlint.world.builds import fits

COMPILED = (".cu", ".cpp", ".cc", ".cxx")
"""What a compiler is given, unlike headers."""
HEADERS = (".h", ".hh", ".hpp", ".hxx", ".cuh", ".inl", ".ipp")
"""What others include."""
_IN_THEIR_FOLDER = ("CMakeLists.txt", "BUILD", "Makefile", "makefile", "GNUmakefile", "meson.build")
_LONGEST = 300
_HOLE = "\0"
_INCLUDES = re.compile(r"#[ \t]{0,20}include[ \t]{0,20}<?")
_BREAK = re.compile(r"[\s\"'`;,()=|&#]")
_HERE = re.compile(r"\$\{CMAKE_CURRENT_(?:SOURCE|LIST)_DIR\}")
_COMPUTED = re.compile(r"\$?\{[^{}]*\}|^[^{}]*\}|\$\w+|%[sd]?|@\w+@|<\w*>?")
_DATA = (".json", ".yml", ".yaml", ".toml", ".bazelrc")
_OTHER_BUILDS = ("build.rs", "BUCK", "TARGETS", "wscript", "SConstruct", "SConscript", "build.zig")
_OTHER_ENDINGS = (".gn", ".lua", ".vcxproj", ".pro", ".ninja", ".cabal", ".in", ".bat", ".cmd", ".ps1")
_MOST = 50_000
_SUFFIXES = (re.compile(rb"\.c(?:u|pp|c|xx)(?!\w)"), re.compile(rb"\*\.(?:c\w?\w?[*?\[]|\{c)"))
"""Each begins with plain characters: both together are found five times as fast as in one expression."""
_LISTS_FOLDERS = re.compile(rb"\b(?:listdir|scandir|iterdir|walk|r?glob)\(")
_COMPILES = re.compile(rb"cpp_extension|(?:CUDA|Cpp)Extension|\b(?:sources|srcs)\b|nvrtc|nvcc|hipcc|ninja")
_PROGRAMS = (".py", ".sh", ".bash")
_WALKS = re.compile(rb"aux_source_directory|\$\(shell")
_MAIN = re.compile(rb"\bmain\s*\(")
_OTHERS = re.compile(
    r"third[_-]?part(?:y|ies)|3rd(?:[_-]?part(?:y|ies))?|external(?:s|_libs)?|extern|vendor(?:ed)?|deps|dependencies"
    r"|submodules?"
)
"""Names of folders for what others have written."""
_ENDING = re.compile(rb"\.(?:cuh|hh|hpp|hxx|h|inl|ipp)(?!\w)")
_MOST_COMPARED = 2_000_000
"""How often a name is compared with a header in one checkout."""


@dataclass(frozen=True, slots=True)
class NamedSource:
    """Where a text names a source or a header. What is computed in its path, or a pattern, is a star."""

    origin: str
    folders: tuple[str, ...]
    name: str
    anywhere: bool
    """Whether its folder may be any: its path begins with something that is computed, or is given elsewhere."""

    @property
    def is_pattern(self) -> bool:
        return "*" in self.name

    @property
    def is_of_a_build(self) -> bool:
        """Whether a build says it, not a program."""
        return not self.origin.endswith(".py") or os.path.basename(self.origin) == "setup.py"

    def means(self, real: str) -> bool:
        """Whether it may mean the file at a real path."""
        folder, _, name = real.replace(os.sep, "/").rpartition("/")
        if not fits(name, self.name):
            return False
        within = f"/{'/'.join((*self.folders, ''))}"
        if self.is_pattern:
            return within in f"{folder}/" and (self.anywhere or real.startswith(os.path.dirname(self.origin) + os.sep))
        exact = os.path.join(os.path.dirname(self.origin), *self.folders, self.name)
        return real == exact or (f"{folder}/".endswith(within) and (self.anywhere or not disk.is_file(exact)))


def named(origin: str, match: re.Match[bytes], *, compiles: bool = True, walks: bool = False) -> Iterator[NamedSource]:
    """The source whose name ends at a place of a text; any for a mere ending in what walks or compiles folders."""
    line = match.string[max(0, match.end() - _LONGEST) : match.end()].decode("utf-8", "replace").rpartition("\n")[2]
    line, includes = _INCLUDES.subn('"', line)
    path = _COMPUTED.sub(_HOLE, _HERE.sub(".", _BREAK.split(line)[-1])).rpartition(":")[2].replace("\\", "")
    *folders, name = (part for part in path.split("/") if part not in ("", "."))
    stem, _, ending = name.rpartition(".")
    known = f".{ending}".endswith((*COMPILED, *HEADERS))
    if not stem.strip(_HOLE) and not (stem and includes):
        if not walks or stem:
            return  # a name that is put together is looked for without its ending
        stem = "*"
    name = f"{stem}.{ending}".replace(_HOLE, "*") if known else "*"
    is_pattern = "*" in name
    if is_pattern and "#" in line:
        return  # in a comment
    begin = max((index for index, part in enumerate(folders, 1) if _is_open(part, is_pattern)), default=0)
    named = tuple(takewhile(lambda part: "*" not in part, folders[begin:]))
    if is_pattern:
        given = not os.path.basename(origin).startswith(_IN_THEIR_FOLDER) and (compiles or stem.strip("*") != "")
    else:
        given = origin.endswith(".py")  # which joins paths of parts
    yield NamedSource(origin, named, name, anywhere=begin > 0 or given)


def _is_open(folder: str, is_pattern: bool) -> bool:
    """Whether a part of a path may stand for any folder, so that nothing in front of it counts."""
    return folder == ".." or _HOLE in folder or ("*" in folder and not is_pattern)


def _look_for_abilities(real: str) -> tuple[bool, bool]:
    """Whether a Python file compiles, and whether it lists folders."""
    text = read_bytes(real)
    compiles, walks = (
        not isinstance(text, Unread) and said.search(text) is not None for said in (_COMPILES, _LISTS_FOLDERS)
    )
    return compiles, walks


_abilities, _ = once(_look_for_abilities, "abilities")


def _look_for_names(real: str) -> tuple[NamedSource, ...]:
    """What a build names."""
    data = read_bytes(real)
    if isinstance(data, Unread):
        return ()
    compiles = not real.endswith(_PROGRAMS) or _COMPILES.search(data) is not None
    matches = (match for suffix in _SUFFIXES for match in suffix.finditer(data))
    found = [one for match in matches for one in named(real, match, compiles=compiles)]
    return (*found, NamedSource(real, (), "*", anywhere=False)) if _WALKS.search(data) else tuple(found)


_named_in_build, _ = once(_look_for_names, "named sources", disk.digest_of)


def again(said: Read) -> str | None:
    """What an answer about a Python file or a build comes to now; None of any other."""
    kind, real, *_ = said
    if kind == "abilities":
        return str(_abilities(real))
    return disk.digest_of(_named_in_build(real)) if kind == "named sources" else None


@dataclass(slots=True)
class _NamingTexts:
    """What the builds and the Python of a project name."""

    search: Search
    literal: dict[str, list[NamedSource]]
    patterns: list[NamedSource]
    _built: dict[str, list[str]] = field(default_factory=dict)
    """The folders of the builds that name a source by itself."""
    _explicit: dict[str, bool] = field(default_factory=dict)

    @classmethod
    def of(cls, search: Search) -> _NamingTexts | None:
        """None where they name more than a project has."""
        found = cls(search, defaultdict(list), [])
        named_here = list(islice(found._read(), _MOST + 1))
        for one in named_here:
            (found.patterns if one.is_pattern else found.literal[one.name]).append(one)
        for file in search.files("cuda"):
            if file.real.endswith(COMPILED):
                named_by = found.literal.get(os.path.basename(file.real), ())
                of_builds = (one for one in named_by if one.is_of_a_build and one.means(file.real))
                found._built[file.real] = [os.path.dirname(one.origin) for one in of_builds]
        return found if len(named_here) <= _MOST else None

    def _read(self) -> Iterator[NamedSource]:
        for file in self.search.files("build"):
            if not _is_data(file.real):
                yield from _named_in_build(file.real)
        in_python = (found for suffix in _SUFFIXES for found in self.search.matches("python", suffix))
        for file, matches in groupby(in_python, key=itemgetter(0)):
            compiles, walks = _abilities(file.real)
            for _, match in matches:
                yield from named(file.real, match, compiles=compiles, walks=walks)

    def name(self, real: str) -> bool:
        """Whether something may name a file."""
        return any(one.means(real) for one in (*self.literal.get(os.path.basename(real), ()), *self.patterns))

    def should_name(self, real: str) -> bool:
        """Whether a build names another file of its name, or one by one those around it."""
        name = os.sep + os.path.basename(real)
        return any(path.endswith(name) for path, found in self._built.items() if found) or self._names_around(
            os.path.dirname(real)
        )

    def _names_around(self, folder: str) -> bool:
        if folder not in self._explicit:
            above = os.path.dirname(folder)
            around = (above if above != self.search.folder else folder) + os.sep
            origins = (one for path, found in self._built.items() if path.startswith(around) for one in found)
            self._explicit[folder] = any(f"{folder}{os.sep}".startswith(f"{one}{os.sep}") for one in origins)
        return self._explicit[folder]

    def say(self, real: str) -> bool:
        """Whether the name of a file stands somewhere without its ending, so that it may be put together."""
        stem, ending = (part.encode() for part in os.path.splitext(os.path.basename(real)))
        word = re.compile(re.escape(stem) + rb"(?!\w|" + re.escape(ending) + rb"\b)")
        found = (one for kind in ("build", "python") for one in self.search.matches(kind, word, (stem,)))
        return any(_begins_a_word(match) for file, match in found if not _is_data(file.real))

    def include(self, real: str) -> bool:
        """Whether another file of C++ includes a file, or names it in a text."""
        quoted = re.compile(re.escape(os.path.basename(real).encode()) + rb"(?=[\">])")
        found = self.search.matches("cuda", quoted, (os.path.basename(real).encode(),))
        others = (one for file, match in found if file.real != real for one in named(file.real, match))
        return any(one.means(real) for one in others)


@dataclass(slots=True)
class Unbuilt:
    """Tells which files are compiled by nobody. It looks at the disk, whatever the run was given."""

    searches: dict[str, Search]
    _projects: dict[str, _NamingTexts | None] = field(default_factory=memory)
    _headers: dict[str, frozenset[str] | None] = field(default_factory=memory)
    _known: dict[str, bool] = field(default_factory=memory)

    def holds(self, real: str) -> bool:
        """Whether no build compiles the file at a real path, as far as can be known."""
        if not real.endswith(COMPILED):
            return self.includes_none(real)
        if real not in self._known:
            self._known[real] = self._is_dead(real)
        return self._known[real]

    def includes_none(self, real: str) -> bool:
        """Whether a file is a header of another project, and nothing that may be compiled here includes it."""
        if not real.endswith(HEADERS) or not is_of_others(real):
            return False
        root = package_root(real)
        folder = checkout_folder(root)
        if folder not in self._headers:
            self._headers[folder] = _unincluded(search_of(folder, self.searches)) if is_project(real, root) else None
        found = self._headers[folder]
        return found is not None and real in found and not _has_another_build(os.path.dirname(real), folder)

    def beside_another(self, real: str) -> bool:
        """Whether a build that bwlint does not read may compile a file."""
        return _has_another_build(os.path.dirname(real), checkout_folder(package_root(real)))

    def live(self, paths: Iterable[str], near: str) -> tuple[str, ...]:
        """Those of some files that a file may have to do with: all, where it is compiled by nobody itself."""
        found = tuple(paths)
        return found if self.holds(near) else tuple(path for path in found if not self.holds(path))

    def _is_dead(self, real: str) -> bool:
        texts = self._texts(real)
        if texts is None or texts.name(real) or not texts.should_name(real):
            return False
        return not (
            _has_another_build(os.path.dirname(real), texts.search.folder)
            or _stands_alone(real)
            or texts.include(real)
            or texts.say(real)
        )

    def _texts(self, real: str) -> _NamingTexts | None:
        root = package_root(real)
        folder = project_folder(root)
        if folder not in self._projects:
            whole = checkout_folder(root) == folder or disk.is_file(os.path.join(folder, KERNEL_PACKAGE))
            alone = is_project(real, root) and whole  # else others may build it
            search = search_of(folder, self.searches) if alone else None
            known = search is not None and all(map(search.complete, ("cuda", "python", "build")))
            self._projects[folder] = _NamingTexts.of(search) if search is not None and known else None
        return self._projects[folder]


def _is_data(real: str) -> bool:
    return real.endswith(_DATA) and os.path.basename(real) != KERNEL_PACKAGE


def _begins_a_word(match: re.Match[bytes]) -> bool:
    before = match.string[max(0, match.start() - 1) : match.start()]
    return not (before.isalnum() or before == b"_")


def _stands_alone(real: str) -> bool:
    """Whether a file is a program by itself, which anybody may compile by hand."""
    data = read_bytes(real)
    return isinstance(data, Unread) or _MAIN.search(data) is not None


@disk.remembered
def _has_another_build(folder: str, project: str) -> bool:
    """Whether a build that bwlint does not read stands in a folder or in one above it."""
    names = disk.names(folder)
    if any(name in _OTHER_BUILDS or name.endswith(_OTHER_ENDINGS) for name in names if name != "MANIFEST.in"):
        return True
    return folder != project and folder.startswith(project) and _has_another_build(os.path.dirname(folder), project)


def is_of_others(real: str) -> bool:
    """Whether a file lies in a folder for what others have written, within its checkout."""
    return _is_below(os.path.dirname(real), checkout_folder(package_root(real)))


def _is_below(folder: str, checkout: str) -> bool:
    parts = folder.removeprefix(checkout).lower().split(os.sep)
    return any(map(_OTHERS.fullmatch, parts))


def _unincluded(search: Search) -> frozenset[str] | None:
    """The headers of a checkout (real paths) that are of others and that no file of it includes, directly or through
    others; None where it is too large to know.

    Any text that names a header counts as one that includes it: another file of C++, a program that makes one at run
    time (`"#include <impls/{}.cuh>"`), a build.
    """
    if not search.complete("cuda") or not search.complete("python"):
        return None
    files = [file.real for file in search.files("cuda")]
    headers = {real for real in files if real.endswith(HEADERS) and _is_below(os.path.dirname(real), search.folder)}
    named_by = _named_by(search, headers)
    if named_by is None:
        return None
    reached: set[str] = set()
    queue = [real for origin, found in named_by.items() if origin not in headers for real in found]
    while queue:
        real = queue.pop()
        if real not in reached:
            reached.add(real)
            queue += named_by.get(real, ())
    return frozenset(headers - reached)


def _named_by(search: Search, headers: set[str]) -> Mapping[str, set[str]] | None:
    """The headers that each file of a checkout names; None where there are too many names."""
    by_name: defaultdict[str, list[str]] = defaultdict(list)
    for real in headers:
        by_name[os.path.basename(real)].append(real)
    found: defaultdict[str, set[str]] = defaultdict(set)
    compared = 0
    for origin, match in _names(search):
        for one in named(origin, match):
            if one.is_pattern and not _is_included(match):
                continue
            like = headers if one.is_pattern else by_name.get(one.name, ())
            compared += len(like)
            if compared > _MOST_COMPARED:
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
