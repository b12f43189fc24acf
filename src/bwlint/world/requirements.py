"""Package versions that a project requires, from a lock file first. Nothing is executed."""

# Paths are plain strings here, as in `sources.tree`.
# ruff: noqa: PTH118, PTH120

from __future__ import annotations

import ast
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from bwlint.data import parsed_toml
from bwlint.readers.python.sides import dotted
from bwlint.sources import disk
from bwlint.sources.read import Unread, read_bytes
from bwlint.world.builds import names_in

MAX_FILES = 60
"""How many requirements files of a project are read, included ones too."""
MAX_BYTES = 1024 * 1024
MAX_LINE = 400
MAX_RANGES = 20
"""How many different ranges of one package are kept: what is asked for in more ways is not known."""

_LISTS = re.compile(r"requirements[\w.-]*\.(?:txt|in)|constraints[\w.-]*\.txt")
_LOCKS = ("uv.lock", "poetry.lock", "pdm.lock")
_LOCKED = re.compile(r'^\[\[package\]\]\r?\nname = "([^"\n]+)"\r?\nversion = "([^"\n]+)"', re.MULTILINE)
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
_WRITTEN = re.compile(r"""^__version__ = (?:version = )?["']([^"'\n]+)["']""", re.MULTILINE)
_INCLUDE = re.compile(r"(?:-r|-c|--requirement|--constraint)[ =]*(\S+)")
_NEWEST = Version("1000000")


@dataclass(frozen=True, slots=True)
class Pins:
    """The ranges of versions that a project may run with, by the canonical name of the distribution."""

    ranges: Mapping[str, tuple[SpecifierSet, ...]] = field(default_factory=dict)

    def knows(self, distribution: str) -> bool:
        """Whether the project says which versions of a distribution it may run with."""
        return canonicalize_name(distribution) in self.ranges

    def admit(self, distribution: str, versions: str) -> bool:
        """Whether a version in the range may be used; of a package that is not pinned, only the newest one is."""
        range_ = _range(versions)
        asked = self.ranges.get(canonicalize_name(distribution))
        # What has no upper bound is as good as unknown: an installer takes the newest.
        newest = range_.contains(_NEWEST)
        return any(newest if each.contains(_NEWEST) else meet(range_, each) for each in asked or (SpecifierSet(),))


@cache
def _range(text: str) -> SpecifierSet:
    return SpecifierSet(text)


def meet(first: SpecifierSet, second: SpecifierSet) -> bool:
    """Whether some version is in both: where two ranges overlap, they do so at an end of one or just above it."""
    ends = [Version("0"), _NEWEST]
    for specifier in (*first, *second):
        end = Version(specifier.version.removesuffix(".*"))
        ends += [end, _after(end)]
    return any(first.contains(end, prereleases=True) and second.contains(end, prereleases=True) for end in ends)


def _after(version: Version) -> Version:
    """A version so little above that nobody means one in between."""
    release = ".".join(map(str, version.release))
    return Version(f"{version.epoch}!{release}.0.1")


def pins(folder: str, wanted: frozenset[str]) -> Pins:
    """What the project in `folder` pins of the `wanted` distributions; what cannot be read pins nothing."""
    project = _Project.read(folder)
    asked, locked, itself = _Ranges(wanted), _Ranges(wanted), _Ranges(wanted)
    for requirement in _asked(project):
        asked.add(requirement)
    for lock in _LOCKS:
        for package, exact in _LOCKED.findall(_text(os.path.join(folder, lock), limit=8 * MAX_BYTES)):
            locked.add(f"{package}=={exact}")
    names, versions = zip(*_own(project), strict=True)
    itself.add(f"{next(filter(None, names), '')}=={next(filter(None, versions), '')}")
    return Pins({**asked.known(), **locked.known(), **itself.known()})


@dataclass(slots=True)
class _Ranges:
    """Requirements by package; one without a version, from an address or with a text that is none says nothing."""

    wanted: frozenset[str]
    _found: defaultdict[str, dict[str, SpecifierSet]] = field(default_factory=lambda: defaultdict(dict))

    def add(self, text: str) -> None:
        begins = _NAME.match(text)
        if begins is None or len(text) > MAX_LINE or canonicalize_name(begins[0]) not in self.wanted:
            return
        try:
            requirement = Requirement(text)
            # A local version names a build, and `==` would ask for that very build.
            range_ = SpecifierSet(re.sub(r"\+[\w.]+", "", str(requirement.specifier)))
            for specifier in range_:
                Version(specifier.version.removesuffix(".*"))
        except (InvalidRequirement, InvalidSpecifier, InvalidVersion, RecursionError):
            return
        if len(range_) and not requirement.url:
            self._found[canonicalize_name(requirement.name)][str(range_)] = range_

    def known(self) -> dict[str, tuple[SpecifierSet, ...]]:
        return {name: tuple(found.values()) for name, found in self._found.items() if len(found) <= MAX_RANGES}


@dataclass(frozen=True, slots=True)
class _Project:
    """The files at the head of a project, or empty; `metadata` is PKG-INFO or a wheel's, `sections` setup.cfg's."""

    folder: str
    document: dict[str, Any]
    metadata: str
    sections: dict[str, dict[str, str]]
    setup: ast.Module

    @classmethod
    def read(cls, folder: str) -> _Project:
        return cls(folder, _pyproject(folder), _metadata(folder), _sections(folder), _setup(folder))


def _own(project: _Project) -> Iterator[tuple[str, str]]:
    """What the project is called and its version, "" where a file does not say it; the surest first."""
    table = _table(project.document, "project")
    yield _string(table.get("name")), _version(_string(table.get("version")))
    yield _header(project.metadata, "Name"), _version(_header(project.metadata, "Version"))
    section = project.sections.get("metadata", {})
    yield section.get("name", ""), _version(section.get("version", ""))
    yield _constant(project.setup, "name"), _version(_constant(project.setup, "version"))
    for file in ("version.txt", "VERSION"):
        yield "", _version(_text(os.path.join(project.folder, file)).strip()[:MAX_LINE])
    yield _package(project.folder)


def _package(folder: str) -> tuple[str, str]:
    """The one package in a folder and the version that its build wrote into it; "" for both where there are more."""
    packages = [name for name in names_in(folder) if disk.is_file(os.path.join(folder, name, "__init__.py"))]
    if len(packages) != 1:
        return "", ""
    written = _WRITTEN.search(_text(os.path.join(folder, packages[0], "_version.py")))
    return (packages[0], _version(written[1])) if written else ("", "")


def _asked(project: _Project) -> Iterator[str]:
    table = _table(project.document, "project")
    yield from _strings(table.get("dependencies"))
    groups = (_table(table, "optional-dependencies"), _table(project.document, "dependency-groups"))
    for group in (group for each in groups for group in each.values()):
        yield from _strings(group)
    for match in re.finditer(r"^Requires-Dist: (.+)$", project.metadata, re.MULTILINE):
        yield match[1].strip()
    yield from project.sections.get("options", {}).get("install_requires", "").splitlines()
    for lines in project.sections.get("options.extras_require", {}).values():
        yield from lines.splitlines()
    for keyword in ("install_requires", "extras_require"):
        yield from _literals(project.setup, keyword)
    yield from _listed(project.folder)


def _listed(folder: str) -> Iterator[str]:
    """Lines of the requirements files beside a project's files, in its folder for them, and of what they include."""
    waiting = [
        os.path.join(place, file)
        for place, known in ((folder, _LISTS), (os.path.join(folder, "requirements"), re.compile(r".+\.(?:txt|in)")))
        for file in names_in(place)
        if known.fullmatch(file)
    ]
    done: set[str] = set()
    while waiting and len(done) < MAX_FILES:
        file = disk.real(waiting.pop(0))
        if file in done or not file.startswith(folder.rstrip(os.sep) + os.sep):
            continue
        done.add(file)
        for line in _lines(_text(file)):
            include = _INCLUDE.match(line)
            if include:
                waiting.append(os.path.join(os.path.dirname(file), include[1]))
            elif not line.startswith("-"):
                yield line


def _lines(text: str) -> Iterator[str]:
    """Lines of a requirements file: continued ones joined, without comments and options."""
    for line in text.replace("\\\r\n", " ").replace("\\\n", " ").splitlines():
        bare = re.split(r"(?:^|\s)#", line, maxsplit=1)[0]
        bare = re.split(r"\s--", bare, maxsplit=1)[0].strip()
        if bare:
            yield bare


def _text(path: str, limit: int = MAX_BYTES) -> str:
    data = read_bytes(path, limit)
    return "" if isinstance(data, Unread) else data.decode("utf-8", "replace")


def _pyproject(folder: str) -> dict[str, Any]:
    try:
        return parsed_toml(_text(os.path.join(folder, "pyproject.toml")))
    except (ValueError, RecursionError):
        return {}


def _metadata(folder: str) -> str:
    """The headers that a source distribution has in PKG-INFO and an unpacked wheel in its one folder of metadata."""
    inside = [name for name in names_in(folder) if name.endswith(".dist-info")]
    file = os.path.join(inside[0], "METADATA") if len(inside) == 1 else "PKG-INFO"
    return re.split(r"\r?\n\r?\n", _text(os.path.join(folder, file)), maxsplit=1)[0]


def _header(metadata: str, name: str) -> str:
    found = re.search(rf"^{name}: (.+)$", metadata, re.MULTILINE)
    return found[1].strip() if found else ""


def _sections(folder: str) -> dict[str, dict[str, str]]:
    """The sections of a project's setup.cfg."""
    import configparser

    parser = configparser.RawConfigParser()
    try:
        parser.read_string(_text(os.path.join(folder, "setup.cfg")))
    except configparser.Error:
        return {}
    return {name: dict(parser.items(name)) for name in parser.sections()}


def _setup(folder: str) -> ast.Module:
    try:
        return ast.parse(_text(os.path.join(folder, "setup.py")))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module([], [])


def _keyword(setup: ast.Module, name: str) -> Iterator[ast.expr]:
    """What `setup(...)` is given for a keyword; of a variable, all that it is assigned."""
    for call in ast.walk(setup):
        if not isinstance(call, ast.Call) or dotted(call.func).rpartition(".")[2] != "setup":
            continue
        for keyword in call.keywords:
            if keyword.arg == name and isinstance(keyword.value, ast.Name):
                yield from _assigned(setup, keyword.value.id)
            elif keyword.arg == name:
                yield keyword.value


def _assigned(setup: ast.Module, name: str) -> Iterator[ast.expr]:
    for node in ast.walk(setup):
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in node.targets):
            yield node.value


def _constant(setup: ast.Module, name: str) -> str:
    return next((_string(v.value) for v in _keyword(setup, name) if isinstance(v, ast.Constant)), "")


def _literals(setup: ast.Module, name: str) -> Iterator[str]:
    """Strings in a literal list, or in a literal table of lists."""
    for value in _keyword(setup, name):
        lists = value.values if isinstance(value, ast.Dict) else [value]
        for found in lists:
            if isinstance(found, (ast.List, ast.Tuple)):
                yield from (_string(item.value) for item in found.elts if isinstance(item, ast.Constant))


def _version(text: str) -> str:
    """A text that is a version, else ""."""
    try:
        return str(Version(text))
    except InvalidVersion:
        return ""


def _table(document: dict[str, Any], key: str) -> dict[str, Any]:
    found = document.get(key)
    return found if isinstance(found, dict) else {}


def _strings(value: object) -> Iterable[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""
