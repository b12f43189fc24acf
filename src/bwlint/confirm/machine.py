"""The machine and tree that a receipt describes (versions, changed packages, the commit), and what a test run finds:
GPUs, and programs of CUDA toolkits on PATH, in CUDA_HOME, in PyPI's wheels. No scanned tree names one."""

from __future__ import annotations

import base64
import csv
import hashlib
import os
import platform
import re
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import metadata
from importlib.metadata import Distribution, distributions
from pathlib import Path

from bwlint import __version__
from bwlint.chips.toolkits import version as numbers
from bwlint.confirm import child, gpu
from bwlint.confirm.compiling.compiler import is_plain
from bwlint.confirm.workbench import Device, Toolkit, Workbench
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
    # Those that `import` and the search for a toolkit would take: the first of each name.
    of_tools = (found for name in _TOOLS for found in list(distributions(name=name))[:1])
    for found in (*of_tools, *_of_files(reals)):
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


def prepared(allowed: Workbench, scanned: Sequence[str]) -> tuple[Workbench, Machine]:
    """The world with what is found here, and the machine as receipts describe it. `scanned` are real paths of what is
    judged. A program that lies in a scanned tree is no tool."""
    toolkits = find(os.environ, scanned, allowed.scratch)
    devices, no_device = gpu.devices(folder=allowed.scratch, trees=scanned)
    machine = described(scanned, devices, no_device, toolkits, gpu.kernel_module())
    found = replace(allowed, toolkits=toolkits, devices=devices, no_device=no_device)
    return replace(found, altered=machine.altered, scanned=tuple(scanned)), machine


WHEELS = ("nvidia-cuda-nvcc", "nvidia-cuda-nvcc-cu12")
_HOST_COMPILERS = ("g++", "c++")
_HOMES = ("CUDA_HOME", "CUDA_PATH")
_IN_WHEELS = re.compile(r"nvidia/(?:cu\d+|cuda_nvcc)/bin/ptxas")
_VERSION = re.compile(r"\bV(\d+\.\d+\.\d+)")
_LIMIT = 20.0
_MOST_FOLDERS = 200


def find(environment: Mapping[str, str], scanned: Sequence[str], scratch: Path) -> tuple[Toolkit, ...]:
    """The toolkits that can run, the newest first. `scanned` are real paths, `scratch` is a folder that goes away."""
    trust = _Trust.of(scanned)
    places = _entries(environment) or [Path("/usr/bin")]
    compilers = (trust.program(place / name) for name in _HOST_COMPILERS for place in places)
    host = next(filter(None, compilers), None)
    found: dict[Path, Toolkit] = {}
    for origin, folder in _folders(environment):
        ptxas, nvcc = trust.program(folder / "ptxas"), trust.program(folder / "nvcc")
        program = ptxas or nvcc
        if program is None or program.resolve() in found:
            continue
        version = _version_of(program, scratch)
        if version:
            found[program.resolve()] = Toolkit(ptxas, nvcc, version, origin, host)
    return tuple(sorted(found.values(), key=lambda one: numbers(one.version), reverse=True))


@dataclass(frozen=True, slots=True)
class _Trust:
    """Folders in which no program is looked for: what lies in the current one or in a scanned tree may be somebody
    else's, however it is named, and so may a relative entry of PATH. The environment of the running Python may lie
    there: its code is running already."""

    avoided: tuple[Path, ...]
    running: Path

    @classmethod
    def of(cls, scanned: Sequence[str]) -> _Trust:
        trees = [path.parent if path.is_file() else path for path in map(Path, scanned)]
        # From the root of the disk everything would be in the current folder.
        folders = [folder for path in (Path.cwd(), *trees) if (folder := path.resolve()) != Path(folder.anchor)]
        return cls(tuple(folders), Path(sys.prefix).resolve())

    def program(self, path: Path) -> Path | None:
        if not path.is_absolute() or not self._may(path.parent) or not is_plain(str(path)):
            return None
        try:
            real = path.resolve()
            runs = real.is_file() and os.access(real, os.X_OK)
        except (OSError, RuntimeError):
            return None
        return path if runs and self._may(real) else None

    def _may(self, path: Path) -> bool:
        real = path.resolve()
        around = [folder for folder in self.avoided if real.is_relative_to(folder)]
        return all(self.running.is_relative_to(folder) and real.is_relative_to(self.running) for folder in around)


def _folders(environment: Mapping[str, str]) -> Iterator[tuple[str, Path]]:
    """Where programs of a toolkit may lie, and how that is known."""
    for name in _HOMES:
        if environment.get(name):
            yield name, Path(environment[name], "bin")
    for folder in _entries(environment):
        yield "PATH", folder
    yield from _wheels()


def _entries(environment: Mapping[str, str]) -> list[Path]:
    return [Path(entry) for entry in environment.get("PATH", "").split(os.pathsep)[:_MOST_FOLDERS] if entry]


def _wheels() -> Iterator[tuple[str, Path]]:
    """Folders of programs that pip installed for the running Python; nothing is imported."""
    places = list(dict.fromkeys([sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), *sys.path]))
    for name in WHEELS:
        for distribution in metadata.distributions(name=name, path=[place for place in places if place]):
            for file in distribution.files or ():
                if _IN_WHEELS.fullmatch(file.as_posix()):
                    yield f"{name} {distribution.version}", Path(str(distribution.locate_file(file))).parent


def _version_of(program: Path, scratch: Path) -> str:
    """ "13.5.37", or "" where the program does not start or is none of NVIDIA's."""
    try:
        ended = child.run([str(program), "--version"], limit=_LIMIT, folder=scratch, path=[str(program.parent)])
    except OSError:
        return ""
    said = _VERSION.search(ended.output) if ended.code == 0 else None
    return said[1] if said else ""
