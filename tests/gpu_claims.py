"""Claims, and worlds to try them in, for tests of the rungs that need a GPU."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bwlint.confirm import gpu
from bwlint.confirm.world import Subject, World
from bwlint.findings import WHOLE_FILE, Claim, ClaimKind, Finding, Region


def subject(kind: ClaimKind, real: Path | str = "", *, path: str = "", **claim: Any) -> Subject:
    """A claim about 9.0, unless `chips` says otherwise, of a finding in a file."""
    made = Claim(kind, "says something", **{"chips": ("9.0",), **claim})
    finding = Finding(
        "BW000", "made-up", "other", "error", "high", path or str(real), WHOLE_FILE, "message", (), (), None
    )
    return Subject(finding, made, str(real), "")


def at(line: int) -> Region:
    return Region(line, 1, line, 80)


def world(folder: Path, **said: Any) -> World:
    """A world with the GPUs that are installed."""
    devices, why = gpu.devices(folder=folder, limit=20)
    return World(folder, devices=devices, no_device=why, **{"limit": 20.0, **said})
