"""From arguments of `inspect` to things that are installed or loaded as a whole, each with its files."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bwlint.findings import Skipped
from bwlint.sources.archives import is_archive
from bwlint.sources.installed import files_of
from bwlint.sources.kinds import BINARY, PTX, kind_of
from bwlint.sources.pypi import PREFIX, SourceError, parse_spec
from bwlint.sources.walk import discover
from bwlint.sources.wheels import Fetched, fetch, parse_tag

_WHEEL = ".whl"


@dataclass(frozen=True, slots=True)
class Origin:
    """A shipment to be. `files` are paths for reports with the real ones, `skipped` what is known not to be read.

    `missing` says why there are no files; `machine` is that of a wheel's tag, "" where nothing says so. `is_named` is
    false for what was found by walking: a file that is broken is then passed over.
    """

    name: str
    files: tuple[tuple[str, str], ...] = ()
    tag: str = ""
    machine: str = ""
    missing: str = ""
    skipped: tuple[Skipped, ...] = ()
    is_named: bool = True


def origins(
    things: Sequence[str], installed: Sequence[str], platforms: Sequence[str], scratch: Path
) -> Iterator[Origin]:
    """What the arguments name, one after another: a wheel of PyPI is deleted when the next is asked for.

    Raises SourceError for what cannot be had.
    """
    for thing in things:
        if thing.startswith(PREFIX):
            yield from _fetched(thing, platforms, scratch)
        else:
            yield from _local(thing)
    for name in installed:
        found = files_of(name)
        pairs = tuple((reported, real) for reported, real in found.files if is_binary(Path(real).name))
        yield Origin(f"{name}=={found.version}", pairs, skipped=found.skipped)


def is_binary(name: str) -> bool:
    """Whether a file of this name may hold device code."""
    return kind_of(name) in (BINARY, PTX)


def _fetched(thing: str, platforms: Sequence[str], scratch: Path) -> Iterator[Origin]:
    spec = parse_spec(thing)
    for row in fetch(spec, platforms, scratch):
        if not isinstance(row, Fetched):
            yield Origin(f"{thing} ({row.machine})", tag=row.machine, machine=row.machine, missing=row.reason)
            continue
        try:
            yield Origin(row.path.name, ((row.path.name, str(row.path)),), row.tag.platform, _machine(row.tag.machine))
        finally:
            shutil.rmtree(row.path.parent, ignore_errors=True)


def _local(thing: str) -> Iterator[Origin]:
    """A file, or a folder: what lies loose in it together, and each wheel in it by itself."""
    if not os.path.isdir(thing):
        yield _file(thing, thing)
        return
    found = discover([thing], use_gitignore=False)
    if found.errors:
        raise SourceError(found.errors[0].reason)
    loose = tuple((file.path, file.real) for file in found.files if file.kind in (BINARY, PTX))
    if loose or found.skipped:
        yield Origin(thing, loose, skipped=found.skipped, is_named=False)
    for reported, real in _archives(thing):
        yield _file(reported, real)


def _archives(folder: str) -> Iterator[tuple[str, str]]:
    for parent, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(parent, name)
            if is_archive(name) and os.path.isfile(path) and not os.path.islink(path):
                yield path, path


def _file(reported: str, real: str) -> Origin:
    if not reported.endswith(_WHEEL):
        return Origin(reported, ((reported, real),))
    tag = parse_tag(Path(reported).name)
    return Origin(reported, ((reported, real),), tag.platform, _machine(tag.machine))


def _machine(tagged: str) -> str:
    return "" if tagged == "any" else tagged
