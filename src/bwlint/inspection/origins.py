"""Turn the arguments of `inspect` into packages and libraries with their files.

Those of an installed distribution are found by its records. Nothing of it is imported.
"""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import Distribution, distributions
from pathlib import Path
from urllib.parse import unquote, urlsplit

from bwlint.inspection.run_time import is_assembler, is_program, is_source
from bwlint.model.findings import Skipped
from bwlint.sources.archives import is_archive
from bwlint.sources.kinds import BINARY, PTX, kind_of
from bwlint.sources.pypi import PREFIX, SourceError, Spec, is_package, parse_spec, plain
from bwlint.sources.walk import VENV_MARK, discover, is_unread

_WHEEL = ".whl"
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
# Where a prefix keeps packages: PREFIX/lib/python3.12/site-packages, PREFIX/Lib/site-packages, Debian's dist-packages.
_PACKAGES = (
    "lib/python*/site-packages",
    "lib64/python*/site-packages",
    "Lib/site-packages",
)
_BELOW_PREFIX = re.compile(r"(.*)/(?:lib|lib64|local/lib)/python[0-9.]*/(?:site|dist)-packages|(.*)/Lib/site-packages")


def _is_wanted(name: str) -> bool:
    """Whether a file of this name may hold device code, or text that is compiled to it where it runs, or compiles."""
    return kind_of(name) in (BINARY, PTX) or is_source(name) or is_assembler(name) or is_program(name)


@dataclass(frozen=True, slots=True)
class Origin:
    """A shipment to be. `files` are paths for reports with the real ones, `skipped` what is known not to be read.

    `missing` says why there are no files, `built` that these are sources for the lack of a wheel, `elsewhere` which
    packages have the content of one that has none; `machine` is that of a wheel's tag, "" where nothing says so.
    `is_named` is false for what was found by walking: a file that is broken is then passed over. `wanted` says by its
    name whether a member of an archive is read.
    """

    name: str
    files: tuple[tuple[str, str], ...] = ()
    tag: str = ""
    machine: str = ""
    missing: str = ""
    skipped: tuple[Skipped, ...] = ()
    is_named: bool = True
    built: str = ""
    elsewhere: tuple[str, ...] = ()
    wanted: Callable[[str], bool] = _is_wanted

    @property
    def is_package(self) -> bool:
        """Whether it is one wheel or one source distribution."""
        return len(self.files) == 1 and is_package(self.files[0][1])


def origins(
    things: Sequence[str], installed: Sequence[str], platforms: Sequence[str], scratch: Path
) -> Iterator[Origin]:
    """What the arguments name, one after another: a wheel of PyPI is deleted when the next is asked for. Raises
    SourceError for what cannot be had."""
    for thing in things:
        if thing.startswith(PREFIX):
            yield from _fetched(thing, platforms, scratch)
        else:
            yield from _local(thing)
    for name in installed:
        found = files_of(name)
        pairs = tuple((reported, str(real)) for reported, real in found.files if _is_wanted(real.name))
        yield Origin(f"{name}=={found.version}", pairs, skipped=found.skipped)


def _fetched(thing: str, platforms: Sequence[str], scratch: Path, *, follows: bool = True) -> Iterator[Origin]:
    from bwlint.sources.wheels import LINUX, FetchedSources, NotThere, contents, fetch

    for row in fetch(parse_spec(thing), platforms, scratch):
        if isinstance(row, NotThere):
            machine = row.machine if row.machine in LINUX else ""
            yield Origin(thing, tag=row.machine, machine=machine, missing=row.reason)
            continue
        name, files = row.path.name, ((row.path.name, str(row.path)),)
        others: tuple[Spec, ...] = ()
        try:
            if isinstance(row, FetchedSources):
                yield Origin(name, files, built=row.lacks)
                continue
            others = contents(row.path, row.asked if row.asked in LINUX else LINUX[0]) if follows else ()
            asked = tuple(other.requirement for other in others)
            yield Origin(name, files, row.tag.platform, _machine(row.tag.machine), elsewhere=asked)
        finally:
            shutil.rmtree(row.path.parent, ignore_errors=True)
        for other in others:
            yield from _fetched(f"{PREFIX}{other.requirement}", platforms, scratch, follows=False)


def _local(thing: str) -> Iterator[Origin]:
    """A file, or a folder: what lies loose in it together, and each wheel in it by itself."""
    if not Path(thing).is_dir():
        yield _file(thing, is_named=True)
        return
    found = discover([thing], use_gitignore=False)
    if found.errors:
        raise SourceError(found.errors[0].reason)
    loose = tuple((file.path, file.real) for file in found.files if file.kind in (BINARY, PTX))
    if loose or found.skipped:
        yield Origin(thing, loose, skipped=found.skipped, is_named=False)
    for path in _archives(thing):
        yield _file(path, is_named=False)


def _archives(folder: str) -> Iterator[str]:
    """The archives in a folder at any depth, but for those in folders that no walk reads."""
    for path, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not (is_unread(name) or Path(path, name, VENV_MARK).exists()))
        for name in sorted(filter(is_archive, names)):
            one = Path(path, name)
            if one.is_file() and not one.is_symlink():
                yield str(one)


def _file(path: str, *, is_named: bool) -> Origin:
    files = ((path, path),)
    if not path.endswith(_WHEEL):
        return Origin(path, files, is_named=is_named, built="a source distribution" if is_package(path) else "")
    from bwlint.sources.wheels import parse_tag

    try:
        tag = parse_tag(Path(path).name)
    except SourceError:
        return Origin(path, files, is_named=is_named)  # renamed by somebody: what is in it has a machine too
    return Origin(path, files, tag.platform, _machine(tag.machine), is_named=is_named)


def _machine(tagged: str) -> str:
    return "" if tagged == "any" else tagged


@dataclass(frozen=True, slots=True)
class Installed:
    """`files` are pairs of a path for reports and the real one; `skipped` are those of the record that are refused."""

    name: str
    version: str
    files: tuple[tuple[str, Path], ...]
    skipped: tuple[Skipped, ...] = ()


def files_of(name: str) -> Installed:
    """The files of the distribution `name` in $VIRTUAL_ENV, $CONDA_PREFIX or on the path of this Python.

    The first of them that has it counts. Files are reported as `name`/path. Raises SourceError when none has it,
    when it is an editable install, or when it has no record of its files.
    """
    if not _NAME.fullmatch(name):
        raise SourceError(f"{plain(name)!r} is not the name of a distribution")
    unrecorded = ""
    for folder in _folders():
        for found in distributions(name=name, path=[folder]):
            _refuse_editable(found, name)
            record = found.read_text("RECORD")
            if record is not None:
                return _read_record(found, name, record, folder)
            unrecorded = unrecorded or f"{name} {found.version} in {folder} has no RECORD of its files"
    raise SourceError(plain(unrecorded or f"no distribution named {name} is installed here"))


def _folders() -> Iterator[str]:
    """The folders that distributions are installed in, each once."""
    seen: set[str] = set()
    for folder in (*_of_prefix("VIRTUAL_ENV"), *_of_prefix("CONDA_PREFIX"), *sys.path):
        # Also an entry for the working folder, "", and archives on the path: nothing is installed there.
        real = os.path.realpath(folder) if folder else ""
        if real and real not in seen and Path(real).is_dir():
            seen.add(real)
            yield real


def _of_prefix(variable: str) -> Iterator[str]:
    prefix = os.environ.get(variable)
    if not prefix or not Path(prefix).is_dir():
        return
    for pattern in _PACKAGES:
        yield from (str(folder) for folder in sorted(Path(prefix).glob(pattern)))


def _refuse_editable(found: Distribution, name: str) -> None:
    try:
        origin = json.loads(found.read_text("direct_url.json") or "{}")
        editable = origin["dir_info"]["editable"]
        where = unquote(urlsplit(origin["url"]).path)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return
    if editable is True:
        raise SourceError(f"{name} is an editable install; give its folder instead: {plain(where)}")


def _read_record(found: Distribution, name: str, record: str, folder: str) -> Installed:
    top = _prefix_of(folder)
    files: list[tuple[str, Path]] = []
    skipped: list[Skipped] = []
    for path in _recorded(record):
        real = os.path.normpath(os.path.join(folder, path))  # noqa: PTH118
        if not path.isprintable():
            skipped.append(Skipped(f"{name}/{path}", "recorded path with an unusual character"))
        elif Path(top) not in Path(real).parents:
            skipped.append(Skipped(f"{name}/{path}", "recorded path that leads out of the environment"))
        elif Path(real).is_file():
            files.append((f"{name}/{path}", Path(real)))
        elif not path.endswith(".pyc"):
            skipped.append(Skipped(f"{name}/{path}", "listed in the RECORD of the distribution, but missing"))
    return Installed(name, found.version, tuple(files), tuple(skipped))


def _recorded(record: str) -> Iterator[str]:
    try:
        for row in csv.reader(record.splitlines()):
            if row and row[0]:
                yield row[0].replace("\\", "/") if os.sep == "\\" else row[0]
    except csv.Error as error:
        raise SourceError(f"damaged RECORD: {plain(str(error))}") from None


def _prefix_of(folder: str) -> str:
    """The environment that a folder of packages belongs to: scripts and data lie beside it. Else the folder itself."""
    match = _BELOW_PREFIX.fullmatch(folder.replace(os.sep, "/"))
    return (match.group(1) or match.group(2) or folder) if match else folder
