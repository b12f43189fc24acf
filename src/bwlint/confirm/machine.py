"""The machine and tree that a receipt describes: versions, changed packages, the commit."""

from __future__ import annotations

import base64
import csv
import hashlib
import os
import platform
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, distributions
from pathlib import Path

from bwlint import __version__
from bwlint.confirm.workbench import Device, Toolkit
from bwlint.sources.worktree import commit_of, has_changes, top_of

_TOOLS = (
    "bwlint",
    "cuda-bindings",
    "nvidia-cuda-nvcc",
    "nvidia-cuda-nvcc-cu12",
    "nvidia-cuda-crt",
    "nvidia-cuda-cccl",
    "nvidia-cuda-runtime",
    "nvidia-nvvm",
)
"""What the rungs use."""
_PACKAGES = frozenset({"site-packages", "dist-packages"})
_PIECE = 1 << 20
_MOST_NAMED = 8


@dataclass(frozen=True, slots=True)
class Package:
    """An installed distribution: `files` have a hash in its RECORD, `changed` are those that differ or are gone."""

    name: str
    version: str
    files: int
    changed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Commit:
    """The git tree at `path`; `dirty` says that tracked files differ from the commit. None where git does not say."""

    path: str
    commit: str | None
    dirty: bool | None


@dataclass(frozen=True, slots=True)
class Machine:
    """Where the tests ran. `no_device` says why there is no GPU, "" where there is one. `driver` is the version of the
    GPU's kernel module ("580.159.03"), "" where none is loaded."""

    bwlint: str
    python: str
    system: str
    devices: tuple[Device, ...]
    no_device: str
    toolkits: tuple[Toolkit, ...]
    packages: tuple[Package, ...]
    commits: tuple[Commit, ...]
    driver: str = ""

    @property
    def altered(self) -> str:
        """What is not as it was released, in words; "" where all is."""
        return "; ".join(
            f"{len(package.changed)} of {package.files} files of {package.name} {package.version} are not those of its"
            f" RECORD ({package.changed[0]})"
            for package in self.packages
            if package.changed
        )


def described(
    reals: Iterable[str], devices: tuple[Device, ...], no_device: str, toolkits: tuple[Toolkit, ...], driver: str = ""
) -> Machine:
    """This machine, and the trees and installed packages that files (real paths) belong to."""
    files = [real for real in reals if real]
    system = f"{platform.system()} {platform.release()} {platform.machine()}"
    return Machine(
        __version__,
        platform.python_version(),
        system,
        devices,
        "" if devices else no_device,
        toolkits,
        tuple(_packages(files)),
        tuple(_commits(files)),
        driver,
    )


def _commits(reals: Iterable[str]) -> Iterator[Commit]:
    tops = {top_of(real if os.path.isdir(real) else os.path.dirname(real)) for real in reals}  # noqa: PTH112, PTH120
    for top in sorted(top for top in tops if top is not None):
        yield Commit(top, commit_of(top), has_changes(top))


def _packages(reals: Iterable[str]) -> Iterator[Package]:
    seen: set[tuple[str, str]] = set()
    for found in (*_of_tools(), *_of_files(reals)):
        key = _named(found)
        if key not in seen:
            seen.add(key)
            yield _checked(found)


def _named(found: Distribution) -> tuple[str, str]:
    """Name and version, "" for what damaged metadata does not tell."""
    try:
        return found.metadata["Name"] or "", found.version or ""
    except (LookupError, TypeError, ValueError, AttributeError, OSError):
        return "", ""


def _of_tools() -> Iterator[Distribution]:
    """Those that `import` and the search for a toolkit would take: the first of each name."""
    for name in _TOOLS:
        yield from list(distributions(name=name))[:1]


def _of_files(reals: Iterable[str]) -> Iterator[Distribution]:
    """The installed distributions that files belong to."""
    folders: dict[str, set[str]] = {}
    for real in reals:
        parts = Path(real).parts
        at = next((index for index in range(len(parts) - 1, 0, -1) if parts[index] in _PACKAGES), None)
        if at is not None:
            folders.setdefault(str(Path(*parts[: at + 1])), set()).add("/".join(parts[at + 1 :]))
    for folder, wanted in folders.items():
        for found in distributions(path=[folder]):
            try:
                record = {name for name, _ in _hashes(found)}
            except (csv.Error, ValueError, OSError):
                yield found
                continue
            if any(name in record or any(known.startswith(f"{name}/") for known in record) for name in wanted):
                yield found


def _checked(found: Distribution) -> Package:
    name, version = _named(found)
    try:
        rows = list(_hashes(found))
    except (csv.Error, ValueError, OSError):
        return Package(name, version, 1, ("RECORD",))
    changed = [name for name, digest in rows if _digest(Path(str(found.locate_file(name)))) != digest]
    return Package(name, version, len(rows), tuple(changed[:_MOST_NAMED]))


def _hashes(found: Distribution) -> Iterator[tuple[str, str]]:
    """The files of a RECORD that have a hash there."""
    for row in csv.reader((found.read_text("RECORD") or "").splitlines()):
        if len(row) >= 2 and row[1].startswith("sha256="):
            yield row[0], row[1].removeprefix("sha256=")


def _digest(path: Path) -> str:
    """As RECORD writes it; "" for what cannot be read."""
    digest = hashlib.sha256()
    try:
        if not path.is_file():
            return ""
        with path.open("rb") as stream:
            while piece := stream.read(_PIECE):
                digest.update(piece)
    except (OSError, ValueError):
        return ""
    return base64.urlsafe_b64encode(digest.digest()).decode().rstrip("=")
