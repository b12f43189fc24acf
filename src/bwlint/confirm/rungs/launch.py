"""launch: a kernel of the flagged file is started with zeros for arguments, if the user allows that it is.

What counts is whether the driver starts it: a fault after that is one of a kernel that has run.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bwlint.confirm import gpu
from bwlint.confirm.driver.errors import FAULTS, INVALID_CLUSTER_SIZE, NO_MACHINE_CODE, TOO_MUCH_ASKED
from bwlint.confirm.gpu.chosen import about, ask, chosen
from bwlint.confirm.gpu.containers import ContainerPart, lots
from bwlint.confirm.receipt import Attempt, Rung, executed, not_eligible, not_executed, not_requested
from bwlint.confirm.rungs.configure import DYNAMIC, SHARE, shape_of
from bwlint.confirm.workbench import Device, Subject, Workbench
from bwlint.model.findings import Claim
from bwlint.model.naming import counted
from bwlint.sources.archives import is_archive
from bwlint.sources.kinds import BINARY, kind_of

KINDS = frozenset({"image", "shared", "cluster", "unchecked"})
RUNG: Rung = "launch"

MOST_KERNELS = 4
_REFUSED = {
    "image": NO_MACHINE_CODE,
    "cluster": frozenset({INVALID_CLUSTER_SIZE}),
    "shared": TOO_MUCH_ASKED,
    "unchecked": TOO_MUCH_ASKED,
}
"""Errors with which a launch is refused before the first instruction, for the reason that a claim names."""
_STARTED = FAULTS | {702, 710}
"""Errors of a kernel that has begun."""


def attempt(subject: Subject, world: Workbench) -> Attempt:
    if not world.may_launch:
        return not_requested(RUNG, "launching runs code of the scanned tree, which nobody allowed")
    device = chosen(RUNG, subject.claim, world)
    if isinstance(device, Attempt):
        return device
    name = Path(subject.real).name
    if not subject.real or not (kind_of(name) == BINARY or is_archive(name)):
        return not_eligible(RUNG, "no image of the flagged kernel is at hand: the finding is not in a binary")
    return _launched(subject, world, device)


def _launched(subject: Subject, world: Workbench, device: Device) -> Attempt:
    why = "there is no device code in the file"
    for lot in lots(subject, world.scratch):
        parts = [part for part in lot.parts if _is_meant(subject.claim.subject, part) and not part.linked_from]
        found, why = _with_kernels(parts, subject.claim, world, device)
        if found is not None:
            return _each(*found, subject.claim, world, device)
    return not_executed(RUNG, f"no kernel to launch: {why}", about(device))


def _is_meant(subject: str, part: ContainerPart) -> bool:
    return not re.fullmatch(r"\d+|0x[0-9a-f]+", subject) or part.at == int(subject, 0)


def _with_kernels(
    parts: Sequence[ContainerPart], claim: Claim, world: Workbench, device: Device
) -> tuple[tuple[ContainerPart, list[str]] | None, str]:
    """The first container that loads and has kernels to start, with their names; or why there is none."""
    steps = [step for part in parts for step in ({"do": "load", "image": part.image}, {"do": "functions"})]
    job = {"do": "image", "device": device.ordinal, "steps": steps, "seconds": world.limit * SHARE}
    asked = ask(job, world)
    if asked.trouble:
        return None, asked.trouble
    for part, had in zip(parts, asked.steps[1::2], strict=False):
        names: list[str] = had.get("names", [])
        if claim.subject in names:
            return (part, [claim.subject]), ""
        if names and not _names_a_kernel(claim):
            return (part, names[:MOST_KERNELS]), ""
    failed = next((text for text in map(gpu.failure, asked.steps) if text), "")
    return None, failed or "no container has such a kernel"


def _names_a_kernel(claim: Claim) -> bool:
    """Whether the subject is the name of a kernel, and not a container's offset or a kind of memory."""
    return bool(claim.subject) and claim.kind in ("image", "cluster") and not claim.subject[0].isdigit()


def _each(part: ContainerPart, names: list[str], claim: Claim, world: Workbench, device: Device) -> Attempt:
    """Start the kernels one after another, each in a child of its own, until one decides."""
    details: dict[str, Any] = {**about(device), "kernels": {}}
    log, seconds = "", 0.0
    refused: list[str] = []
    undecided: list[str] = []
    for name in names:
        steps = _steps(name, claim)
        job = {"do": "image", "device": device.ordinal, "image": part.image, "steps": steps}
        asked = ask(job, world)
        seconds += asked.ended.seconds
        log = log or asked.ended.output
        if asked.trouble:
            undecided.append(f"{name}: {asked.trouble}")
            continue
        launch, after = _answers(asked.steps, steps)
        details["kernels"][name] = {"launch": launch, "after": after}
        if launch.get("error") == 0 and (after.get("error") == 0 or after.get("error") in _STARTED):
            end = gpu.failure(after) or "it comes to its end"
            return executed(RUNG, "refuted", f"the kernel {name} starts; {end}", details, log, seconds)
        if launch.get("error") in _REFUSED[claim.kind] and _was_refused(steps, asked.steps):
            refused.append(f"{name}: {gpu.failure(launch)}")
        else:
            undecided.append(f"{name}: {gpu.failure(launch) or gpu.failure(after) or 'no answer'}")
    if undecided:
        return executed(RUNG, "inconclusive", undecided[0], details, log, seconds)
    reason = f"{counted(len(refused), 'kernel')} of {part.name} cannot be started: {refused[0]}"
    return executed(RUNG, "confirmed", reason, details, log, seconds)


def _steps(name: str, claim: Claim) -> list[dict[str, Any]]:
    """Load, opt in where the claim is about memory that needs it, launch and wait."""
    launch: dict[str, Any] = {
        "do": "launch",
        "kernel": name,
        "block": "most",
        "cluster": "required",
        "arguments": "zeros",
    }
    before: list[dict[str, Any]] = []
    if claim.kind in ("shared", "unchecked") and claim.subject != "static" and claim.amounts:
        launch["shared"] = max(claim.amounts)
        opt_in = claim.subject != "default"
        before = [{"do": "attribute", "kernel": name, "set": DYNAMIC, "value": max(claim.amounts)}] * opt_in
    if claim.kind == "cluster" and claim.amounts:
        shape = shape_of(claim)
        launch.update({"cluster": shape, "grid": shape})
    return [{"do": "load"}, *before, launch, {"do": "sync"}]


def _was_refused(steps: list[dict[str, Any]], answers: list[dict[str, Any]]) -> bool:
    """Whether the opt-in before the launch, if there is one, was refused as well: a launch may be so for its shape."""
    return all(answer.get("error") for step, answer in zip(steps, answers, strict=False) if step["do"] == "attribute")


def _answers(answers: list[dict[str, Any]], steps: list[dict[str, Any]]) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """What was answered to the launch and to the wait for its end."""
    padded = [*answers, {}, {}, {}, {}]
    at = len(steps) - 2
    return padded[at], padded[at + 1]
