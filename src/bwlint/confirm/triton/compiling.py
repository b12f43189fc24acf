"""Triton's compiler for one target, in a child that can compute and answer, and nothing else."""

from __future__ import annotations

import importlib.util
import json
import math
from collections.abc import Mapping
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
    """What was made, and by which Triton. `refused` says why nothing ran, `trouble` why there is no answer."""

    made: tuple[Made, ...] = ()
    version: str = ""
    refused: str = ""
    trouble: str = ""
    log: str = ""
    seconds: float = 0.0
    options: Mapping[str, int] = field(default_factory=dict)


def missing(scanned: tuple[str, ...]) -> str | None:
    """Why nothing can be compiled here; None where it can. What lies in a scanned tree is no compiler."""
    found = importlib.util.find_spec("triton")
    if found is None or not found.origin:
        return "no Triton: pip install 'bwlint[triton]'"
    if any(is_in(str(Path(found.origin).resolve()), tree) for tree in scanned):
        return "the Triton that is there is what is judged"
    return unavailable()


def compile_kernel(
    kernel: KernelSlice, signature: Signature, options: Mapping[str, int], chip: Chip, folder: Path, limit: float
) -> TritonRun:
    """Compile a kernel for a chip, for at most `limit` seconds, with every way of its open flags."""
    seconds = min(limit, LONGEST)
    ways = list(signature.ways())
    job = {
        "modules": {dotted: asdict(plan) for dotted, plan in kernel.modules.items()},
        "module": kernel.module,
        "kernel": kernel.name,
        "devices": sorted(kernel.devices),
        "rows": source_rows(),
        "chip": (chip.major, chip.minor, chip.smem_per_block_optin),
        "arch": 10 * chip.major + chip.minor,
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
    return _read(ended.answer, ended.output, ended.seconds, len(ways))


def _read(data: bytes, log: str, seconds: float, ways: int) -> TritonRun:
    """What an answer says; the child may have been made to write anything."""
    try:
        told: Any = json.loads(data)
        if "made" not in told:
            refused, trouble = str(told.get("refused", "")), str(told.get("trouble", ""))
            return TritonRun(refused=refused, trouble=trouble or "it gave no reason", log=log, seconds=seconds)
        made = tuple(
            Made(
                int(one.get("shared", 0)), int(one.get("warps", 0)), str(one.get("ptx", "")), str(one.get("error", ""))
            )
            for one in told["made"]
        )
        version = str(told["version"])[:40]
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        made, version = (), ""
    if len(made) < ways or any(not one.error and not (one.ptx and one.shared >= 0) for one in made):
        return TritonRun(trouble="the kernel ended without an answer", log=log, seconds=seconds)
    return TritonRun(made, version, log=log, seconds=seconds)
