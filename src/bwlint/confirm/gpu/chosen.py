"""Choose the GPU that a claim is tested on, or say why there is none, and write jobs for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bwlint.chips.wording import listed
from bwlint.confirm import gpu
from bwlint.confirm.receipt import Attempt, Rung, not_eligible, not_requested
from bwlint.confirm.workbench import Device, Workbench
from bwlint.model.findings import BUILDER, Claim


def chosen(rung: Rung, claim: Claim, world: Workbench) -> Device | Attempt:
    """The first GPU that the claim is about; else the attempt that says why none is."""
    if not world.devices:
        return not_eligible(rung, world.no_device)
    if not claim.chips:
        return not_eligible(rung, "the claim names no chip")
    found = next((device for device in world.devices if device.capability in claim.chips), None)
    if found is not None:
        return found
    there = list(dict.fromkeys(device.capability for device in world.devices))
    have = f"the device is {there[0]}" if len(world.devices) == 1 else f"the devices are {listed(there)}"
    return not_eligible(rung, f"{have}, the claim is about {listed(claim.chips)}", {"devices": there})


def for_amounts(rung: Rung, claim: Claim, world: Workbench) -> Device | Attempt:
    """The same for a claim about amounts that a kernel of our own can ask for."""
    if claim.subject == BUILDER:
        return not_requested(rung, "a builder refuses it while it compiles: there is nothing to launch")
    found = chosen(rung, claim, world)
    if isinstance(found, Device) and not claim.amounts:
        return not_eligible(rung, "the claim names no amount")
    return found


def ask(job: Mapping[str, Any], world: Workbench) -> gpu.Answered:
    return gpu.ask(job, folder=world.scratch, limit=world.limit, trees=world.scanned)


def about(device: Device) -> dict[str, str]:
    """A device as the details of an attempt name it."""
    return {"device": device.name, "capability": device.capability, "driver": device.driver}
