"""Set up a test run: find the tools and GPUs of this machine, and apply what the user allows."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from bwlint.confirm import gpu, tools
from bwlint.confirm.machine import Machine, described
from bwlint.confirm.workbench import Workbench


@dataclass(frozen=True, slots=True)
class Allowed:
    """What the user asks for and permits; see `Workbench`, which has fields of the same names."""

    may_launch: bool = False
    may_slice: bool = False
    bench: bool = False
    nvcc_args: tuple[str, ...] = ()
    commands: Path | None = None
    limit: float = 30.0
    compile_limit: float = 300.0
    signature: tuple[str, ...] = ()


def prepared(allowed: Allowed, scanned: Sequence[str], scratch: Path) -> tuple[Workbench, Machine]:
    """The world, and the machine as receipts describe it. `scanned` are real paths of what is judged. A program that
    lies in a scanned tree is no tool."""
    toolkits = tools.find(os.environ, scanned, scratch)
    devices, no_device = gpu.devices(folder=scratch, trees=scanned)
    machine = described(scanned, devices, no_device, toolkits, gpu.kernel_module())
    found = {"altered": machine.altered, "scanned": tuple(scanned), **asdict(allowed)}
    return Workbench(scratch, toolkits, devices, no_device, **found), machine
