"""Claims, and worlds to try them in, for tests of the rungs that need a GPU."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bwlint.confirm import gpu
from bwlint.confirm.workbench import Device, Subject, Workbench
from bwlint.model.findings import WHOLE_FILE, Claim, ClaimKind, Finding, Region


def subject(kind: ClaimKind, real: Path | str = "", *, path: str = "", **claim: Any) -> Subject:
    """A claim about 9.0, unless `chips` says otherwise, of a finding in a file."""
    made = Claim(kind, "says something", **{"chips": ("9.0",), **claim})
    finding = Finding(
        rule="BW000",
        name="made-up",
        category="other",
        severity="error",
        confidence="high",
        path=path or str(real),
        region=WHOLE_FILE,
        message="message",
    )
    return Subject(finding, made, str(real), "")


def at(line: int) -> Region:
    return Region(line, 1, line, 80)


def world(folder: Path, **said: Any) -> Workbench:
    """A world with the GPUs of the scene that is installed in a folder; without them, what is said of that."""
    scene = json.loads((folder / "fake" / "cuda" / "bindings" / "scene.json").read_text())
    if not scene["devices"] or "cuInit" in scene.get("calls", {}):
        devices, why = gpu.devices(folder=folder, limit=20)
    else:
        devices, why = tuple(_device(number, one) for number, one in enumerate(scene["devices"])), ""
    return Workbench(folder, devices=devices, no_device=why, **{"limit": 20.0, **said})


def _device(ordinal: int, made: dict[str, Any]) -> Device:
    attributes = made["attributes"]
    capability = f"{attributes['COMPUTE_CAPABILITY_MAJOR']}.{attributes['COMPUTE_CAPABILITY_MINOR']}"
    return Device(ordinal, made["name"], "", capability, "13.0", attributes)


def limit(scene: Any) -> float:
    """Seconds for a child: few where it hangs. One that has not come to that by then is not done either."""
    return 1.0 if "hang" in str(scene) else 20.0
