"""bwlint's own self-checking kernels: PTX written for a chip, and assembled where ptxas is available.

Each file begins with what its kernels do and leave behind. `UNTOUCHED` is what a buffer for results is filled with,
`DONE` what the first word of a block's four becomes when it has ended.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

from bwlint.chips import spelling
from bwlint.confirm import child
from bwlint.confirm.driver.errors import DONE as DONE
from bwlint.confirm.driver.errors import GIVEN_UP as GIVEN_UP
from bwlint.confirm.driver.errors import UNTOUCHED as UNTOUCHED
from bwlint.confirm.workbench import Workbench

NAMES = ("shared", "cluster", "bulk", "peer")
WORDS = 4
"""Words of results of a block."""
FACTOR = 2654435761
"""Word i of what `bulk` loads is i times this."""

_VERSIONS = {"90": "8.0", "100": "8.6", "103": "8.8", "110": "9.0", "120": "8.7", "121": "8.8"}
"""The lowest version of PTX that has a target and what the probes use."""
_OLDEST = "7.8"
_FAMILIES = "8.8"
_DYNAMIC = ".extern .shared .align 16 .b8 held[];"
_PART, _TAKEN = re.compile(r"^//: (\w+)\n(.*?)^//:\n", re.M | re.S), re.compile(r"^//= (\w+)\n", re.M)
_DECLARED = re.compile(r"^\.(version|target) .*$", re.M)


@dataclass(frozen=True, slots=True)
class Probe:
    """A probe on disk; `made_by` says who assembles it. `said` is what a ptxas had against it, "" where nothing."""

    path: Path
    made_by: str
    said: str = ""


def text(name: str, target: str, static: int | None = None) -> str:
    """The PTX of a probe for a target ("sm_120a"). `static` turns the dynamic shared memory of `shared` into that many
    bytes of static memory."""
    found = _read(name)
    new = {"version": version(target), "target": target}
    found = _DECLARED.sub(lambda match: f".{match[1]} {new[match[1]]}", found)
    return found if static is None else found.replace(_DYNAMIC, f".shared .align 16 .b8 held[{static}];")


def version(target: str) -> str:
    """The version of PTX to write for a target."""
    found = spelling.member(target)
    if found is None:
        raise ValueError(f"{target} is no target")
    known = _VERSIONS.get(str(found.number), _OLDEST if found.number < 90 else _FAMILIES)
    return max(known, _FAMILIES) if found.suffix == "f" else known


def target_of(capability: str) -> str:
    """The plain target of a compute capability: "9.0" to "sm_90"."""
    return f"sm_{capability.replace('.', '')}"


def written(name: str, target: str, world: Workbench, *, static: int | None = None) -> Probe:
    """A probe in the scratch folder: as a cubin of the first ptxas that takes it, else as PTX for the driver's JIT. A
    ptxas of a later CUDA than the driver's, by the number before the dot, makes what the driver does not load."""
    stem = f"{name}-{target}" if static is None else f"{name}-{target}-{static}"
    path = world.scratch / f"{stem}.ptx"
    path.write_text(text(name, target, static), encoding="ascii")
    said = ""
    for toolkit in world.toolkits:
        if toolkit.ptxas is None or any(_major(toolkit.version) > _major(one.driver) for one in world.devices):
            continue
        cubin = world.scratch / f"{stem}.cubin"
        command = [str(toolkit.ptxas), f"-arch={target}", str(path), "-o", str(cubin)]
        try:
            ended = child.run(command, limit=world.limit, folder=world.scratch)
        except OSError as error:
            said = str(error)
            continue
        if ended.code == 0 and cubin.is_file():
            return Probe(cubin, f"ptxas {toolkit.version}")
        said = ended.trouble or ended.output.strip()
    return Probe(path, "the driver's JIT", said)


def _major(version: str) -> int:
    return int(version.partition(".")[0] or 0)


@cache
def _read(name: str) -> str:
    """A file's PTX. What its kernels have alike stands there once, from `//: NAME` to `//:`; `//= NAME` takes it."""
    written = files(__name__).joinpath(f"{name}.ptx").read_text(encoding="ascii")
    alike = {part[1]: part[2] for part in _PART.finditer(written)}
    return _TAKEN.sub(lambda taken: alike[taken[1]], _PART.sub(r"\2", written))
