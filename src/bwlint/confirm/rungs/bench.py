"""bench: time the flagged way of loading and its replacement. A time decides no verdict."""

from __future__ import annotations

from typing import Any

from bwlint.confirm import probes
from bwlint.confirm.gpu import about, ask_steps, chosen
from bwlint.confirm.receipt import Attempt, Rung, executed, not_eligible, not_executed, not_requested
from bwlint.confirm.rungs.configure import DYNAMIC
from bwlint.confirm.workbench import Device, Subject, Workbench

KINDS = frozenset({"slow"})
RUNG: Rung = "bench"

_BYTES = 32 * 1024
_BLOCKS_OF_A_CLUSTER = 2
_REPEAT = 200


def attempt(subject: Subject, world: Workbench) -> Attempt:
    if not world.bench:
        return not_requested(RUNG, "this run has no --bench")
    device = chosen(RUNG, subject.claim, world)
    if isinstance(device, Attempt):
        return device
    if not device.attributes.get("CLUSTER_LAUNCH"):
        return not_eligible(RUNG, f"the {device.capability} device launches no clusters")
    # The kernels of the probe that do the flagged thing, and another for the same end.
    is_multicast = "multicast" in subject.claim.subject
    pair = ("bulk_multicast", "bulk_load") if is_multicast else ("bulk_load", "fallback_load")
    return world.once((RUNG, *pair, device.uuid), lambda: _benched(pair, world, device))


def _benched(pair: tuple[str, str], world: Workbench, device: Device) -> Attempt:
    flagged, other = pair
    probe = probes.written("bulk", probes.target_of(device.capability), world)
    blocks = device.attributes.get("MULTIPROCESSOR_COUNT", _BLOCKS_OF_A_CLUSTER)
    grid = blocks - blocks % _BLOCKS_OF_A_CLUSTER
    steps = [{"do": "load"}, *_timed(flagged, grid), *_timed(other, grid)]
    asked = ask_steps(world, device, steps, str(probe.path))
    why = asked.trouble or asked.failed or ("" if len(asked.steps) == len(steps) else "no answer")
    details: dict[str, Any] = {**about(device), "bytes": _BYTES, "blocks": grid, "made_by": probe.made_by}
    if why:
        return not_executed(RUNG, why, details, asked.ended.output, asked.ended.seconds)
    times = {name: asked.steps[at]["milliseconds"] / _REPEAT * 1000 for name, at in ((flagged, 2), (other, 4))}
    details["microseconds"] = times
    reason = " and ".join(f"{name} takes {took:.1f} us" for name, took in times.items())
    reason = f"{grid} blocks of {_BYTES} bytes: {reason}; a time alone decides nothing"
    return executed(RUNG, "inconclusive", reason, details, asked.ended.output, asked.ended.seconds)


def _timed(kernel: str, grid: int) -> list[dict[str, Any]]:
    arguments = [
        {"buffer": grid * probes.WORDS * 4, "fill": probes.UNTOUCHED},
        {"buffer": _BYTES, "ramp": probes.FACTOR},
        {"u32": _BYTES},
    ]
    launch = {"grid": [grid, 1, 1], "block": [256, 1, 1], "cluster": [_BLOCKS_OF_A_CLUSTER, 1, 1], "shared": _BYTES}
    return [
        {"do": "attribute", "kernel": kernel, "set": DYNAMIC, "value": _BYTES},
        {"do": "bench", "kernel": kernel, **launch, "arguments": arguments, "repeat": _REPEAT},
    ]
