"""Triton's compiler for one target, in a child that can compute and answer, and nothing else."""

from __future__ import annotations

import importlib.util
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from bwlint.chips import Chip
from bwlint.confirm.child import run
from bwlint.confirm.slicing.sandbox import command, explained, source_rows
from bwlint.confirm.slicing.seccomp import unavailable
from bwlint.confirm.triton.cutting import KernelSlice
from bwlint.confirm.triton.signature import Signature
from bwlint.sources.worktree import is_in

MEMORY = 6 << 30
"""Bytes of address space: Triton's library alone is half of one GiB."""
_PLAIN = {"TRITON_DEFAULT_FP_FUSION": "1"}
"""What Triton does without being asked, said: it warns otherwise."""
LONGEST = 120.0
"""Seconds of one kernel for one target."""


@dataclass(frozen=True, slots=True)
class Made:
    """What Triton makes of a kernel with one set of constants: bytes of shared memory of a block, and its PTX; or why
    it makes nothing."""

    shared: int = 0
    warps: int = 0
    ptx: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class TritonRun:
    """What was made by the name of each chip, and by which Triton. `refused` says why nothing ran, `trouble` why no
    answer came."""

    made: Mapping[str, tuple[Made, ...]] = field(default_factory=dict)
    version: str = ""
    refused: str = ""
    trouble: str = ""
    log: str = ""
    seconds: float = 0.0


def missing(scanned: tuple[str, ...]) -> str | None:
    """Why nothing can be compiled here; None where it can. What lies in a scanned tree is no compiler."""
    found = importlib.util.find_spec("triton")
    if found is None or not found.origin:
        return "no Triton: pip install 'bwlint[triton]'"
    if any(is_in(str(Path(found.origin).resolve()), tree) for tree in scanned):
        return "the installed Triton is itself the code under test"
    return unavailable()


def compile_kernel(
    kernel: KernelSlice,
    signature: Signature,
    options: Mapping[str, int],
    chips: Sequence[Chip],
    folder: Path,
    limit: float,
) -> TritonRun:
    """Compile a kernel for chips, for at most `limit` seconds, with every way of its open flags."""
    seconds = min(limit, LONGEST)
    ways = list(signature.ways())
    job = {
        "modules": {dotted: asdict(plan) for dotted, plan in kernel.modules.items()},
        "module": kernel.module,
        "kernel": kernel.name,
        "devices": sorted(kernel.devices),
        "rows": source_rows(),
        "chips": [(chip.name, chip.major, chip.minor, chip.smem_per_block_optin) for chip in chips],
        "types": signature.types,
        "divisible": sorted(signature.divisible),
        "ways": ways,
        "options": dict(options),
        "seconds": math.ceil(seconds),
    }
    python, data = command("bwlint.confirm.triton.inside", "triton"), json.dumps(job).encode()
    try:
        ended = run(python, limit=seconds, folder=folder, stdin=data, memory=MEMORY, environment=_PLAIN)
    except OSError as error:
        return TritonRun(trouble=f"Python does not start: {error.strerror or error}")
    if ended.trouble:
        return TritonRun(trouble=explained(ended.trouble), log=ended.output, seconds=ended.seconds)
    return _read(ended.answer, ended.output, ended.seconds, len(ways), [chip.name for chip in chips])


def _read(data: bytes, log: str, seconds: float, ways: int, names: Sequence[str]) -> TritonRun:
    """What an answer says; the child may have been made to write anything."""
    try:
        told: Any = json.loads(data)
        if "made" not in told:
            refused, trouble = str(told.get("refused", "")), str(told.get("trouble", ""))
            return TritonRun(refused=refused, trouble=trouble or "it gave no reason", log=log, seconds=seconds)
        made = {name: tuple(_one(row) for row in told["made"][name]) for name in names}
        version = str(told["version"])[:40]
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        made, version = {}, ""
    if len(made) < len(names) or any(len(rows) < ways or not all(map(_is_whole, rows)) for rows in made.values()):
        return TritonRun(trouble="the kernel ended without an answer", log=log, seconds=seconds)
    return TritonRun(made, version, log=log, seconds=seconds)


def _one(row: Mapping[str, Any]) -> Made:
    shared, warps = int(row.get("shared", 0)), int(row.get("warps", 0))
    return Made(shared, warps, str(row.get("ptx", "")), str(row.get("error", "")))


def _is_whole(made: Made) -> bool:
    return bool(made.error) or (bool(made.ptx) and made.shared >= 0)
