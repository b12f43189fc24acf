"""Turn the arguments of `inspect` into packages and libraries with their files."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bwlint.inspection.run_time import is_assembler, is_program, is_source
from bwlint.model.findings import Skipped
from bwlint.sources.archives import is_archive
from bwlint.sources.kinds import BINARY, PTX, kind_of
from bwlint.sources.pypi import PREFIX, SourceError, Spec, is_package, parse_spec
from bwlint.sources.walk import VENV_MARK, discover, is_unread

_WHEEL = ".whl"


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
        from bwlint.sources.installed import files_of

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
