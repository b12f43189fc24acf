"""load: the driver is given an image, and is asked for each of its kernels. No code of the image runs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bwlint.chips.wording import listed
from bwlint.confirm import gpu
from bwlint.confirm.compiling import evidence
from bwlint.confirm.compiling.compiler import Bench, CompilerRun, compiled
from bwlint.confirm.compiling.evidence import AssemblyCase
from bwlint.confirm.compiling.listing import Listing
from bwlint.confirm.driver.errors import NO_MACHINE_CODE, UNSUPPORTED_PTX_VERSION
from bwlint.confirm.gpu import about, ask_steps, chosen
from bwlint.confirm.gpu.containers import ContainerPart, Lot, lots
from bwlint.confirm.receipt import Attempt, Rung, executed, not_eligible, not_executed, not_requested
from bwlint.confirm.rungs.assemble import KERNEL, MISLEADS, pairs_of
from bwlint.confirm.workbench import Device, Subject, Workbench
from bwlint.model.findings import Outcome
from bwlint.model.naming import counted
from bwlint.readers.binary import PTX_TARGET

KINDS = frozenset({"image", "build", "instruction"})
RUNG: Rung = "load"

_MOST_CHILDREN = 4
"""How many times as long as one child may take all of them together may."""


def attempt(subject: Subject, world: Workbench) -> Attempt:
    if subject.claim.kind == "instruction":
        return _instruction(subject, world)
    device = chosen(RUNG, subject.claim, world)
    if isinstance(device, Attempt):
        return device
    if subject.claim.kind == "build":
        return _build(subject, world, device)
    if not subject.real:
        return not_eligible(RUNG, "the file of the finding is not here")
    return _images(subject, world, device)


@dataclass(slots=True)
class _LoadsSeen:
    """What became of containers, by the errors of the driver, and what was not tried, with why."""

    tried: int = 0
    total: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    undecided: list[str] = field(default_factory=list)
    loaded: str = ""
    log: str = ""
    seconds: float = 0.0


def _images(subject: Subject, world: Workbench, device: Device) -> Attempt:
    seen = _LoadsSeen()
    for lot in lots(subject, world.scratch):
        seen.undecided += [f"{lot.path}: {fault}" for fault in lot.faults]
        parts, wanted, why = _asked(subject.claim.subject, lot)
        if why:
            seen.undecided.append(f"{lot.path}: {why}")
        if not parts:
            continue
        seen.total += lot.total if len(parts) == len(lot.parts) else len(parts)
        _try(parts, wanted, lot.path, device, world, seen)
        if seen.loaded:
            break
        if seen.seconds > _MOST_CHILDREN * world.limit:
            seen.undecided.append(f"the time is up after {lot.path}")
            break
    return _judged(seen, device)


def _asked(subject: str, lot: Lot) -> tuple[Sequence[ContainerPart], str | None, str]:
    """The containers that a claim is about, and the kernel, if it is about one; or why there are none."""
    if not subject:
        return lot.parts, None, ""
    if re.fullmatch(r"\d+|0x[0-9a-f]+", subject):
        found = [part for part in lot.parts if part.at == int(subject, 0)]
        return found, None, "" if found else f"there is no container at offset {subject}"
    return lot.parts, subject, ""


def _try(
    parts: Sequence[ContainerPart], wanted: str | None, path: str, device: Device, world: Workbench, seen: _LoadsSeen
) -> None:
    asking = {"do": "functions"} if wanted is None else {"do": "function", "kernel": wanted}
    ways = [(part, loading, is_last) for part in parts for loading, is_last in _ways(part)]
    steps = [step for _, loading, _ in ways for step in (loading, asking)]
    asked = ask_steps(world, device, steps)
    seen.seconds += asked.ended.seconds
    if asked.trouble:
        seen.undecided.append(f"{path}: {asked.trouble}")
        return
    answers = asked.steps
    for (part, _, is_last), loading, found in zip(ways, answers[::2], answers[1::2], strict=False):
        if not is_last and loading.get("error") in NO_MACHINE_CODE:
            continue
        seen.tried += is_last or loading.get("error") == 0
        _note(part, wanted, path, loading, found, seen)
        if seen.loaded:
            return
    if len(answers) % 2:
        # A load that the context did not get over, or the last one that there was time for.
        part, _, _ = ways[len(answers) // 2]
        seen.undecided.append(f"{path}: {part.name}: {gpu.failure(answers[-1]) or 'the time is up'}")


def _ways(part: ContainerPart) -> list[tuple[dict[str, Any], bool]]:
    """How a container can come to be loaded, the last one marked: as it is, else linked from its objects."""
    whole = {"do": "load", "image": part.image}
    if not part.linked_from:
        return [(whole, True)]
    return [(whole, False), ({"do": "link", "inputs": [*part.linked_from]}, True)]


def _note(
    part: ContainerPart, wanted: str | None, path: str, loading: dict[str, Any], found: dict[str, Any], seen: _LoadsSeen
) -> None:
    what = f"{path}: {part.name}"
    error = loading.get("error")
    if error in NO_MACHINE_CODE:
        seen.refused[f"{loading['name']} ({error})"] += 1
        seen.log = seen.log or loading.get("log", "")
        return
    if error != 0:
        old = " (the driver is too old for it, which says nothing of the chip)"
        seen.undecided.append(f"{what}: {gpu.failure(loading)}{old if error == UNSUPPORTED_PTX_VERSION else ''}")
        return
    if wanted is not None and found.get("error") == 0:
        seen.loaded = f"{what} loads, and has the kernel {wanted}"
    elif found.get("error") != 0:
        # A kernel that another container has is none of this one's.
        if wanted is None:
            seen.undecided.append(f"{what}: it loads, but {gpu.failure(found)}")
        else:
            seen.refused["no such kernel"] += 1
    elif found.get("count"):
        seen.loaded = f"{what} loads, and its {counted(found['count'], 'kernel')} can be had"
    else:
        seen.refused["no kernels"] += 1


def _judged(seen: _LoadsSeen, device: Device) -> Attempt:
    details: dict[str, Any] = {
        **about(device),
        "containers": seen.total,
        "tried": seen.tried,
        "refused": dict(seen.refused),
        "undecided": seen.undecided[:20],
    }
    if seen.loaded:
        return executed(RUNG, "refuted", seen.loaded, details, seen.log, seen.seconds)
    if not seen.tried:
        why = seen.undecided[0] if seen.undecided else "there is no device code in the file"
        return not_executed(RUNG, why, details, seen.log, seen.seconds)
    errors = listed([f"{count} x {said}" for said, count in seen.refused.items()]) if seen.refused else ""
    extent = f"{seen.tried} of {counted(seen.total, 'container')} tried on the {device.capability} device"
    proof = any(said.startswith("CUDA_ERROR") for said in seen.refused)
    if seen.undecided or seen.tried < seen.total or not proof:
        left = "the rest was not tried" if proof else "there is no kernel in it"
        reason = f"{extent}, none loads, but this proves nothing: {next(iter(seen.undecided), left)}"
        return executed(RUNG, "inconclusive", reason, details, seen.log, seen.seconds)
    return executed(RUNG, "confirmed", f"{extent}: {errors}", details, seen.log, seen.seconds)


def _build(subject: Subject, world: Workbench, device: Device) -> Attempt:
    """A kernel of our own, compiled for the pairs of a build, as the assemble rung does it."""
    options = pairs_of(subject.claim.subject)
    if not options:
        return not_eligible(RUNG, f"no pairs of targets: {subject.claim.subject[:80]}")
    toolkit = world.compiler
    if toolkit is None:
        return not_eligible(RUNG, "no nvcc with a compiler for the host, to build a kernel for these targets")
    made = compiled(Bench(world.scratch, world.compile_limit, toolkit, subject.root), "fatbin", KERNEL, options)
    details = {**about(device), "options": list(options), "nvcc": toolkit.version}
    if made.path is None:
        why = f"nvcc built nothing to load: {made.first_error}"
        return not_executed(RUNG, why, details, "\n".join(made.said), made.seconds)
    seen = _LoadsSeen(total=1)
    part = ContainerPart("a kernel built for these targets", 0, {"image": str(made.path)})
    _try([part], None, subject.claim.subject[:80], device, world, seen)
    judged = _judged(seen, device)
    return replace(judged, details={**judged.details, **details})


_PLACE = re.compile(r"^ptxas [\w ]*, line (?=\d+; )", re.M)
_MOST_PTX = 64 << 20


def _instruction(subject: Subject, world: Workbench) -> Attempt:
    claim = subject.claim
    real = Path(subject.real)
    if not subject.real or real.suffix != ".ptx" or not real.is_file():
        return not_requested(RUNG, "no driver compiles this: the instruction is not in a PTX file")
    if not world.devices:
        return not_eligible(RUNG, world.no_device)
    with real.open("rb") as file:
        data = file.read(_MOST_PTX)
    declared = PTX_TARGET.search(data)
    number, suffix = (part.decode() for part in declared.groups()) if declared else ("", "")
    target = f"sm_{number}{suffix}" if declared else ""
    if not declared or target not in claim.targets:
        return not_eligible(RUNG, f"the file is for {target or 'no target'}, the claim about {listed(claim.targets)}")
    device = next((one for one in world.devices if one.capability.replace(".", "") == number), None)
    if device is None:
        return not_eligible(RUNG, f"no device here loads {target}")
    asked = ask_steps(world, device, [{"do": "load"}, {"do": "functions"}], str(real))
    details: dict[str, Any] = {**about(device), "target": target}
    if asked.trouble or not asked.steps:
        why = asked.trouble or "no answer"
        return not_executed(RUNG, why, details, asked.ended.output, asked.ended.seconds)
    loading = asked.steps[0]
    outcome, reason = _of_instruction(subject, asked.steps, target, Listing.of(data.decode("utf-8", "replace")), device)
    details.update({key: loading[key] for key in ("error", "name") if key in loading})
    return executed(RUNG, outcome, reason, details, loading.get("log", ""), asked.ended.seconds)


def _of_instruction(
    subject: Subject, steps: list[dict[str, Any]], target: str, listing: Listing, device: Device
) -> tuple[Outcome, str]:
    """What the driver says of a file, judged as ptxas's words are: it has the same compiler in it."""
    loading, found = (*steps, {})[:2]
    loads = loading.get("error") == 0
    if loads and found.get("error") != 0:
        return "inconclusive", "the file loads, but the driver does not return its kernels"
    if not loads and loading.get("error") not in NO_MACHINE_CODE:
        return "inconclusive", gpu.failure(loading)
    if listing.misleads:
        return "inconclusive", MISLEADS
    said = _PLACE.sub("ptxas unit.ptx, line ", loading.get("log", ""))
    words = said if said.strip() else gpu.failure(loading)
    made = CompilerRun(Path(subject.real) if loads else None, None if loads else 1, words, 0.0, "")
    seen = evidence.refused(AssemblyCase(subject, target, listing, made, True))
    if seen.outcome == "confirmed":
        return "confirmed", f"the driver's JIT refuses line {seen.line}: {seen.said}"
    if seen.outcome == "refuted":
        return "refuted", f"the driver of the {device.capability} device assembles and loads the file for {target}"
    if loads or not made.messages:
        return "inconclusive", seen.reason if loads else f"the driver refuses the file: {words.strip().splitlines()[0]}"
    reason = f"the driver refuses the file, but not the flagged place for its target: {made.messages[0].text}"
    return "inconclusive", reason
