"""launch: start a kernel of the flagged file with guessed arguments, if the user allows it.

Of a binary it is one that is there, of C++ one that its translation unit is built to. What counts is whether the driver
starts it: a fault after that is one of a kernel that has run, which wrong arguments explain as well as anything.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from pathlib import Path
from typing import Any

from bwlint.chips import chip
from bwlint.confirm import gpu
from bwlint.confirm.compiling.kernels import MOST_KERNELS, built_kernels
from bwlint.confirm.compiling.units import is_source
from bwlint.confirm.driver.errors import FAULTS, INVALID_CLUSTER_SIZE, NO_MACHINE_CODE, TOO_MUCH_ASKED
from bwlint.confirm.gpu import about, ask_steps, chosen
from bwlint.confirm.gpu.containers import ContainerPart, lots
from bwlint.confirm.receipt import Attempt, Rung, executed, not_eligible, not_executed, not_requested
from bwlint.confirm.rungs.configure import DYNAMIC, NON_PORTABLE, roomy_target, shape_of
from bwlint.confirm.workbench import Device, Subject, Workbench
from bwlint.model.findings import BUILDER, Claim
from bwlint.model.images import Kernel
from bwlint.model.naming import counted
from bwlint.readers.binary.names import readable
from bwlint.sources.archives import is_archive
from bwlint.sources.kinds import BINARY, kind_of

KINDS = frozenset({"image", "shared", "cluster", "unchecked"})
RUNG: Rung = "launch"

_MOST_TOLD = 3
_REFUSED = {
    "image": NO_MACHINE_CODE,
    "cluster": frozenset({INVALID_CLUSTER_SIZE}),
    "shared": TOO_MUCH_ASKED,
    "unchecked": TOO_MUCH_ASKED,
}
"""Errors with which a launch is refused before the first instruction, for the reason that a claim names."""
_STARTED = FAULTS | {702, 710}
"""Errors of a kernel that has begun."""

Steps = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class _Trial:
    """A kernel and how it is started, with each of some guesses at its arguments in turn. `amounts` are those that are
    asked for; `room` is how many bytes have to be granted before, None for none; `bound` says why the kernel itself
    takes no such launch."""

    kernel: str
    amounts: tuple[int, ...]
    block: str | list[int] = "most"
    guesses: tuple[Any, ...] = ("zeros",)
    room: int | None = None
    bound: str = ""


def attempt(subject: Subject, world: Workbench) -> Attempt:
    if not world.may_launch:
        return not_requested(RUNG, "launching runs code of the scanned tree, which needs --yes")
    device = chosen(RUNG, subject.claim, world)
    if subject.claim.kind != "image" and is_source(subject.real):
        return _of_source(subject, world, device)
    if isinstance(device, Attempt):
        return device
    name = Path(subject.real).name
    if not subject.real or not (kind_of(name) == BINARY or is_archive(name)):
        return not_eligible(RUNG, "no image of the flagged kernel is at hand: the finding is in no binary and no C++")
    return _launched(subject, world, device)


def _of_source(subject: Subject, world: Workbench, device: Device | Attempt) -> Attempt:
    """Kernels of C++; without a GPU of the chip, what their cubin says that they take."""
    claim = subject.claim
    if claim.subject == BUILDER:
        return not_requested(RUNG, "a builder refuses it while it compiles: there is nothing to launch")
    if not claim.chips:
        return not_eligible(RUNG, "the claim is about what ptxas takes, and about no chip")
    capability = device.capability if isinstance(device, Device) else claim.chips[0]
    built = built_kernels(subject, world, roomy_target(capability))
    details = {**built.details, "resources": built.resources}
    if isinstance(device, Attempt):
        taken = "; ".join(list(dict.fromkeys(map(_taken, built.kernels)))[:_MOST_TOLD])
        reason = f"{device.reason}; {built.why or f'for {built.target} {taken}'}"
        return replace(device, reason=reason, details=details, log=built.log, seconds=built.seconds)
    if not built.kernels:
        why = f"no kernel to launch: {built.why}"
        return not_executed(RUNG, why, {**about(device), **details}, built.log, built.seconds)
    part = ContainerPart(f"the cubin for {built.target} of {Path(subject.real).name}", 0, {"image": str(built.image)})
    trials = [_trial(kernel, claim, capability) for kernel in built.kernels]
    found = _each(part, trials, claim, world, device)
    return replace(found, details={**details, **found.details}, seconds=built.seconds + found.seconds)


def _trial(kernel: Kernel, claim: Claim, capability: str) -> _Trial:
    """The trial of a kernel that was built: where a claim does not know what is asked for, first all that there is."""
    block = list(kernel.required_threads) if kernel.required_threads else "most"
    guesses = ({"guess": 0}, {"guess": 1})
    if claim.kind != "unchecked" or claim.amounts:
        return _Trial(kernel.name, claim.amounts, block, guesses, bound=_bound(kernel, claim))
    room = (chip(capability).smem_per_block_optin or 0) - kernel.shared
    return _Trial(kernel.name, (room + 1,), block, guesses, room)


def _bound(kernel: Kernel, claim: Claim) -> str:
    """Why a kernel as it is compiled takes no clusters of the shape of a claim; "" where it takes them."""
    if claim.kind != "cluster":
        return ""
    if kernel.cluster and list(kernel.cluster) != shape_of(claim):
        return f"it is compiled for clusters of {_times(kernel.cluster)} blocks"
    if kernel.max_cluster and kernel.max_cluster < prod(claim.amounts):
        return f"it is compiled for clusters of at most {kernel.max_cluster} blocks"
    return ""


def _times(shape: Sequence[int]) -> str:
    return " x ".join(map(str, shape))


def _taken(kernel: Kernel) -> str:
    threads = kernel.required_threads or kernel.threads
    bound = f", {'exactly' if kernel.required_threads else 'at most'} {prod(threads)} threads" if threads else ""
    cluster = f", clusters of {_times(kernel.cluster)} blocks" if kernel.cluster else ""
    memory = f"{kernel.shared} bytes of static shared memory"
    return f"{readable(kernel.name)} has {memory}, {kernel.registers} registers a thread{bound}{cluster}"


def _launched(subject: Subject, world: Workbench, device: Device) -> Attempt:
    claim = subject.claim
    why = "there is no device code in the file"
    for lot in lots(subject, world.scratch):
        at = int(claim.subject, 0) if re.fullmatch(r"\d+|0x[0-9a-f]+", claim.subject) else None
        parts = [part for part in lot.parts if at in (None, part.at) and not part.linked_from]
        found, why = _with_kernels(parts, claim, world, device)
        if found is not None:
            part, names = found
            return _each(part, [_Trial(name, claim.amounts) for name in names], claim, world, device)
    return not_executed(RUNG, f"no kernel to launch: {why}", about(device))


def _with_kernels(
    parts: Sequence[ContainerPart], claim: Claim, world: Workbench, device: Device
) -> tuple[tuple[ContainerPart, list[str]] | None, str]:
    """The first container that loads and has kernels to start, with their names; or why there are none."""
    steps = [step for part in parts for step in ({"do": "load", "image": part.image}, {"do": "functions"})]
    asked = ask_steps(world, device, steps)
    if asked.trouble:
        return None, asked.trouble
    # The subject is the name of a kernel, or a container's offset or a kind of memory.
    is_name = bool(claim.subject) and claim.kind in ("image", "cluster") and not claim.subject[0].isdigit()
    for part, had in zip(parts, asked.steps[1::2], strict=False):
        names: list[str] = had.get("names", [])
        if claim.subject in names:
            return (part, [claim.subject]), ""
        if names and not is_name:
            return (part, names[:MOST_KERNELS]), ""
    return None, asked.failed or "no container has such a kernel"


@dataclass(slots=True)
class _KernelsTried:
    details: dict[str, Any]
    started: str = ""
    refused: list[str] = field(default_factory=list)
    undecided: list[str] = field(default_factory=list)
    log: str = ""
    seconds: float = 0.0


def _each(part: ContainerPart, trials: Sequence[_Trial], claim: Claim, world: Workbench, device: Device) -> Attempt:
    """Start the kernels one after another, each in a child of its own, until one decides."""
    tried = _KernelsTried({**about(device), "kernels": {}})

    def asked(steps: Steps) -> gpu.Answered:
        found = ask_steps(world, device, steps, part.image)
        tried.seconds += found.ended.seconds
        tried.log = tried.log or found.ended.output
        return found

    for trial in trials:
        _try(trial, claim, asked, tried)
        if tried.started:
            return executed(RUNG, "refuted", tried.started, tried.details, tried.log, tried.seconds)
    if tried.undecided:
        return executed(RUNG, "inconclusive", tried.undecided[0], tried.details, tried.log, tried.seconds)
    reason = f"{counted(len(trials), 'kernel')} of {part.name} cannot be started: {tried.refused[0]}"
    return executed(RUNG, "confirmed", reason, tried.details, tried.log, tried.seconds)


def _try(trial: _Trial, claim: Claim, asked: Callable[[Steps], gpu.Answered], tried: _KernelsTried) -> None:
    name, steps = readable(trial.kernel), _steps(trial, claim, trial.guesses[0])
    first = asked(steps)
    if first.trouble:
        tried.undecided.append(f"{name}: {first.trouble}")
        return
    *before, launch, after = [*first.steps, {}, {}, {}, {}, {}][: len(steps)]
    told = tried.details["kernels"][trial.kernel] = {"launch": launch, "after": after, "before": before[1:]}
    if launch.get("error") == 0 and (after.get("error") == 0 or after.get("error") in _STARTED):
        tried.started = f"the kernel {name} starts; {gpu.failure(after) or 'it runs to its end'}"
        for guess in trial.guesses[1:] if after["error"] == 0 else ():
            again = asked(_steps(trial, claim, guess))
            told["again"] = again.trouble or again.steps[-1]
        return
    why = _unlike(trial, claim, launch, after, before[1:])
    opted = _with_opt_in(trial, claim, asked) if not why and _is_before_opt_in(claim) else ""
    if opted:
        told["with the opt-in"] = opted
    if why or (claim.kind == "shared" and opted and opted != _STARTS):
        tried.undecided.append(f"{name}: {why or f'{gpu.failure(launch)}, and with the opt-in {opted}'}")
        return
    unseen = "; a later synchronize returns success" if claim.kind == "unchecked" else ""
    tried.refused.append(f"{name}: {gpu.failure(launch)}{f'; with the opt-in {opted}' if opted else unseen}")


_STARTS = "it starts"


def _unlike(
    trial: _Trial,
    claim: Claim,
    launch: Mapping[str, Any],
    after: Mapping[str, Any],
    before: Sequence[Mapping[str, Any]],
) -> str:
    """Why a refusal may have another reason than the claim's; "" where it has that."""
    if launch.get("error") not in _REFUSED[claim.kind]:
        return gpu.failure(launch) or gpu.failure(after) or "no answer"
    if trial.bound:
        return f"{gpu.failure(launch)}, but {trial.bound}"
    if trial.room is not None:
        granted, *before = before
        if granted.get("error"):
            return f"the driver grants it not even {trial.room} bytes: {gpu.failure(granted)}"
    # A launch may be refused for its shape: an opt-in before it is, too, where it is for memory.
    return gpu.failure(launch) if any(answer.get("error") == 0 for answer in before) else ""


def _with_opt_in(trial: _Trial, claim: Claim, asked: Callable[[Steps], gpu.Answered]) -> str:
    """What becomes of the same launch after the opt-in that it lacks. Nobody waits for the kernel's end."""
    *_, launch, _ = _steps(trial, claim, trial.guesses[0])
    found = asked([{"do": "load"}, _opt_in(trial, claim), launch])
    return found.trouble or found.failed or _STARTS


def _steps(trial: _Trial, claim: Claim, guess: Any) -> Steps:
    """Load, opt in where the claim is about memory that needs it, launch and wait."""
    launch: dict[str, Any] = {
        "do": "launch",
        "kernel": trial.kernel,
        "block": trial.block,
        "cluster": "required",
        "arguments": guess,
    }
    before: Steps = []
    if claim.kind in ("shared", "unchecked") and claim.subject != "static" and trial.amounts:
        launch["shared"] = max(trial.amounts)
        before = [] if _is_before_opt_in(claim) else [_opt_in(trial, claim)]
    if claim.kind == "cluster" and claim.amounts:
        shape = shape_of(claim)
        launch.update({"cluster": shape, "grid": shape})
    if trial.room is not None:
        before = [{"do": "attribute", "kernel": trial.kernel, "set": DYNAMIC, "value": trial.room}, *before]
    return [{"do": "load"}, *before, launch, {"do": "sync"}]


def _is_before_opt_in(claim: Claim) -> bool:
    """Whether a claim is about a launch without an opt-in."""
    return claim.kind == "cluster" or (claim.kind == "shared" and claim.subject == "default")


def _opt_in(trial: _Trial, claim: Claim) -> dict[str, Any]:
    name, value = (NON_PORTABLE, 1) if claim.kind == "cluster" else (DYNAMIC, max(trial.amounts, default=0))
    return {"do": "attribute", "kernel": trial.kernel, "set": name, "value": value}
