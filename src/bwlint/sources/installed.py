"""The files of an installed distribution, found by its records. Nothing of it is imported."""

from __future__ import annotations

import csv
import json
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, distributions
from pathlib import Path
from urllib.parse import unquote, urlsplit

from bwlint.model.findings import Skipped
from bwlint.sources.pypi import SourceError, plain

_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
# Where a prefix keeps packages: PREFIX/lib/python3.12/site-packages, PREFIX/Lib/site-packages, Debian's dist-packages.
_PACKAGES = (
    "lib/python*/site-packages",
    "lib64/python*/site-packages",
    "Lib/site-packages",
)
_BELOW_PREFIX = re.compile(r"(.*)/(?:lib|lib64|local/lib)/python[0-9.]*/(?:site|dist)-packages|(.*)/Lib/site-packages")


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
