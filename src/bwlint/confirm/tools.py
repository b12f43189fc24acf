"""Programs of CUDA toolkits on this machine: on PATH, in CUDA_HOME, in PyPI's wheels. No scanned tree names one.

What lies in the current folder or in a scanned tree does not count, however it is named, nor does a relative entry of
PATH: both may be somebody else's. The environment of the running Python may lie there, as a virtual environment does:
its code is running already.
"""

from __future__ import annotations

import os
import re
import sys
import sysconfig
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from bwlint.chips.toolkits import version as numbers
from bwlint.confirm import child
from bwlint.confirm.compiling.paths import is_plain
from bwlint.confirm.workbench import Toolkit

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
    host = _host_compiler(environment, trust)
    found: dict[Path, Toolkit] = {}
    for origin, folder in _folders(environment):
        ptxas, nvcc = trust.program(folder / "ptxas"), trust.program(folder / "nvcc")
        program = ptxas or nvcc
        if program is None or program.resolve() in found:
            continue
        version = _version(program, scratch)
        if version:
            found[program.resolve()] = Toolkit(ptxas, nvcc, version, origin, host)
    return tuple(sorted(found.values(), key=lambda one: numbers(one.version), reverse=True))


@dataclass(frozen=True, slots=True)
class _Trust:
    """Folders in which no program is looked for, and the Python environments inside them that are running."""

    avoided: tuple[Path, ...]
    running: tuple[Path, ...]

    @classmethod
    def of(cls, scanned: Sequence[str]) -> _Trust:
        trees = [path.parent if path.is_file() else path for path in map(Path, scanned)]
        # From the root of the disk everything would be in the current folder.
        folders = [folder for path in (Path.cwd(), *trees) if (folder := path.resolve()) != Path(folder.anchor)]
        return cls(tuple(folders), (Path(sys.prefix).resolve(),))

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
        return all(not real.is_relative_to(folder) or self._is_running(real, folder) for folder in self.avoided)

    def _is_running(self, real: Path, folder: Path) -> bool:
        """Whether a path belongs to an environment that is running and that lies in the folder."""
        return any(one.is_relative_to(folder) and real.is_relative_to(one) for one in self.running)


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


def _host_compiler(environment: Mapping[str, str], trust: _Trust) -> Path | None:
    places = _entries(environment) or [Path("/usr/bin")]
    return next((found for name in _HOST_COMPILERS for place in places if (found := trust.program(place / name))), None)


def _version(program: Path, scratch: Path) -> str:
    """ "13.5.37", or "" where the program does not start or is none of NVIDIA's."""
    try:
        ended = child.run([str(program), "--version"], limit=_LIMIT, folder=scratch, path=[str(program.parent)])
    except OSError:
        return ""
    said = _VERSION.search(ended.output) if ended.code == 0 else None
    return said[1] if said else ""
