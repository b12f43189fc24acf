"""configure: what the driver grants a kernel of our own: its attributes, and answers on occupancy. Nothing runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

from bwlint.confirm import gpu, probes
from bwlint.confirm.driver.errors import INVALID_CLUSTER_SIZE, INVALID_PTX, INVALID_VALUE
from bwlint.confirm.gpu import about, ask_steps, for_amounts
from bwlint.confirm.gpu.containers import lots
from bwlint.confirm.receipt import Attempt, Rung, executed, not_eligible, not_executed
from bwlint.confirm.workbench import Device, Subject, Workbench
from bwlint.model.findings import Claim, Outcome

KINDS = frozenset({"shared", "cluster", "unchecked", "bounds"})
RUNG: Rung = "configure"

DYNAMIC = "MAX_DYNAMIC_SHARED_SIZE_BYTES"
NON_PORTABLE = "NON_PORTABLE_CLUSTER_SIZE_ALLOWED"
MOST_CLUSTER = 1024
_MOST_THREADS = 1024

Steps = list[dict[str, Any]]
Seen = tuple[Outcome, str]


def attempt(subject: Subject, world: Workbench) -> Attempt:
    claim = subject.claim
    device = for_amounts(RUNG, claim, world)
    if isinstance(device, Attempt):
        return device
    if claim.kind == "cluster" and claim.subject:
        return _cluster_of_a_kernel(subject, world, device)
    test = _TESTS.get((claim.kind, claim.subject if claim.kind == "shared" else ""))
    if test is None:
        return not_eligible(RUNG, f"{claim.subject!r} is not a kind of shared memory that bwlint can test")
    key = (RUNG, claim.kind, claim.subject, claim.amounts, device.uuid)
    return world.once(key, lambda: test(claim, world, device))


def _dynamic(claim: Claim, world: Workbench, device: Device) -> Attempt:
    steps: Steps = [{"do": "load"}, {"do": "function"}]
    for amount in claim.amounts:
        steps += [
            {"do": "attribute", "set": DYNAMIC, "value": amount},
            {"do": "occupancy", "threads": 32, "shared": amount},
        ]

    def judge(answers: Steps) -> Seen:
        pairs = zip(claim.amounts, answers[2::2], answers[3::2], strict=True)
        return together([_granted(amount, device, setting, fits) for amount, setting, fits in pairs])

    return _asked(("shared", steps, judge), world, device)


def _granted(amount: int, device: Device, setting: Mapping[str, Any], fits: Mapping[str, Any]) -> Seen:
    most = device.attributes.get("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN")
    if setting.get("error") == INVALID_VALUE:
        return "confirmed", f"the driver refuses {amount} bytes of dynamic shared memory: {most} are the most"
    if setting.get("error") != 0 or fits.get("error") != 0:
        return "inconclusive", gpu.failure(setting) or gpu.failure(fits)
    if not fits["blocks"]:
        return "confirmed", f"no block with {amount} bytes of dynamic shared memory fits on a multiprocessor"
    return "refuted", f"the driver grants a block {amount} bytes of dynamic shared memory"


def _default(claim: Claim, world: Workbench, device: Device) -> Attempt:
    """Dynamic memory without an opt-in: what a kernel may have is one of its attributes."""
    steps: Steps = [{"do": "load"}, {"do": "function"}]

    def judge(answers: Steps) -> Seen:
        most = answers[1]["attributes"].get(DYNAMIC)
        if most is None:
            return "inconclusive", "the driver does not say how much a kernel may have"
        said = f"without an opt-in a kernel may have {most} bytes of dynamic shared memory"
        return together([("confirmed" if amount > most else "refuted", said) for amount in claim.amounts])

    return _asked(("shared", steps, judge), world, device)


def _static(claim: Claim, world: Workbench, device: Device) -> Attempt:
    """Static memory is in the image: each amount is a probe of its own."""
    target = roomy_target(device.capability)
    seen: list[Seen] = []
    details: dict[str, Any] = {**about(device), "target": target, "amounts": list(claim.amounts)}
    log, seconds = "", 0.0
    for amount in claim.amounts:
        probe = probes.written("shared", target, world, static=amount)
        asked = ask_steps(world, device, [{"do": "load"}, {"do": "function"}], str(probe.path))
        seconds += asked.ended.seconds
        if asked.trouble or not asked.steps:
            return not_executed(RUNG, asked.trouble or "no answer", details, asked.ended.output)
        log = log or probe.said or asked.steps[0].get("log", "")
        seen.append(_held(amount, target, device, asked.steps, probe.said))
    outcome, reason = together(seen)
    return executed(RUNG, outcome, reason, details, log, seconds)


_TOO_MUCH = re.compile(r"uses too much shared data \(0x[0-9a-f]+ bytes, 0x([0-9a-f]+) max\)")


def _held(amount: int, target: str, device: Device, answers: Steps, said: str) -> Seen:
    """What became of an image with static memory; `said` is what a ptxas had against it."""
    loading = answers[0]
    if loading.get("error") == 0 and len(answers) > 1 and answers[1].get("error") == 0:
        size = answers[1]["attributes"].get("SHARED_SIZE_BYTES", 0)
        if size >= amount:
            return "refuted", f"an image for {target} with {size} bytes of static shared memory loads"
        return "inconclusive", f"the image that was made has {size} bytes of static shared memory, not {amount}"
    too_much = _TOO_MUCH.search(loading.get("log", "")) or _TOO_MUCH.search(said)
    if loading.get("error") != INVALID_PTX or too_much is None:
        return "inconclusive", gpu.failure(loading) or gpu.failure(answers[-1])
    most = int(too_much[1], 16)
    if most < device.attributes.get("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN", 0):
        return "inconclusive", f"this assembler allows static arrays {most} bytes, which is less than the chip has"
    return "confirmed", f"no image with {amount} bytes of static shared memory is made for {target}: {most} at most"


def _cluster_of_a_kernel(subject: Subject, world: Workbench, device: Device) -> Attempt:
    """The kernel of a binary, which has its shape with it; nothing of it runs."""
    claim = subject.claim
    name = claim.subject
    asking = {"do": "clusters", "kernel": name, "grid": shape_of(claim), "block": "most", "cluster": "required"}
    log, seconds = "", 0.0
    for lot in lots(subject, world.scratch):
        steps: Steps = []
        for part in lot.parts:
            if not part.linked_from:
                steps += [{"do": "load", "image": part.image}, {"do": "function", "kernel": name}, asking]
        asked = ask_steps(world, device, steps)
        log, seconds = log or asked.ended.output, seconds + asked.ended.seconds
        if asked.trouble:
            return not_executed(RUNG, asked.trouble, about(device), log, seconds)
        answers = asked.steps
        for had, clusters in zip(answers[1::3], answers[2::3], strict=False):
            if gpu.failure(had):
                continue
            outcome, reason = _of_clusters(prod(claim.amounts), clusters)
            details = {**about(device), "answers": [had, clusters]}
            return executed(RUNG, outcome, reason, details, log, seconds)
    reason = f"the kernel {name} is in no container that this device loads"
    return not_executed(RUNG, reason, about(device), log, seconds)


def _of_clusters(size: int, answer: Mapping[str, Any]) -> Seen:
    if answer.get("error") == INVALID_CLUSTER_SIZE or (answer.get("error") == 0 and not _fits(size, answer)):
        return "confirmed", f"the driver takes no cluster of {size} blocks: {_clusters(size, answer)}"
    if gpu.failure(answer):
        return "inconclusive", gpu.failure(answer)
    return "refuted", f"clusters of {size} blocks fit without an opt-in: {_clusters(size, answer)}"


def _fits(size: int, answer: Mapping[str, Any]) -> bool:
    """Whether clusters are taken: a driver says how many of 17 blocks are active at a time, and launches none."""
    return bool(size <= answer["largest"] and answer["active"])


def _clusters(size: int, answer: Mapping[str, Any]) -> str:
    if gpu.failure(answer):
        return gpu.failure(answer)
    return f"{answer['active']} at a time" if _fits(size, answer) else f"at most {answer['largest']}"


def _cluster(claim: Claim, world: Workbench, device: Device) -> Attempt:
    shape, size = shape_of(claim), prod(claim.amounts)
    if size > MOST_CLUSTER or size < 1:
        return not_eligible(RUNG, f"{size} blocks make no cluster")
    asking = {"do": "clusters", "grid": shape, "block": [32, 1, 1], "cluster": shape}
    opt_in = {"do": "attribute", "set": NON_PORTABLE, "value": 1}
    steps: Steps = [{"do": "load"}, {"do": "function"}, asking, opt_in, asking]

    def judge(answers: Steps) -> Seen:
        outcome, reason = _of_clusters(size, answers[2])
        return outcome, f"{reason}; with the opt-in {_clusters(size, answers[4])}" if outcome == "confirmed" else reason

    if not device.attributes.get("CLUSTER_LAUNCH"):
        reason = f"the {device.capability} device launches no clusters"
        return executed(RUNG, "confirmed", reason, about(device))
    return _asked(("cluster", steps, judge), world, device)


def _bounds(claim: Claim, world: Workbench, device: Device) -> Attempt:
    if len(claim.amounts) != 2 or not 0 < claim.amounts[0] <= _MOST_THREADS:
        return not_eligible(RUNG, "the claim does not name threads and blocks")
    threads, blocks = claim.amounts
    steps: Steps = [{"do": "load"}, {"do": "function"}, {"do": "occupancy", "threads": threads, "shared": 0}]

    def judge(answers: Steps) -> Seen:
        if answers[2].get("error") != 0:
            return "inconclusive", gpu.failure(answers[2])
        fit = answers[2]["blocks"]
        said = f"{fit} blocks of {threads} threads that need next to nothing fit on a multiprocessor"
        return ("confirmed", f"{said}, not {blocks}") if fit < blocks else ("refuted", said)

    return _asked(("cluster" if device.attributes.get("CLUSTER_LAUNCH") else "shared", steps, judge), world, device)


_TESTS: Mapping[tuple[str, str], Callable[[Claim, Workbench, Device], Attempt]] = {
    ("shared", "dynamic"): _dynamic,
    ("shared", "default"): _default,
    ("shared", "static"): _static,
    ("unchecked", ""): _dynamic,
    ("cluster", ""): _cluster,
    ("bounds", ""): _bounds,
}


def _asked(test: tuple[str, Steps, Callable[[Steps], Seen]], world: Workbench, device: Device) -> Attempt:
    """Put steps to a probe. The first two, loading and its attributes, have to succeed, and all have to be answered."""
    name, steps, judge = test
    probe = probes.written(name, probes.target_of(device.capability), world)
    asked = ask_steps(world, device, steps, str(probe.path))
    answers = asked.steps
    details: dict[str, Any] = {**about(device), "probe": name, "made_by": probe.made_by, "answers": answers[2:]}
    failed = next((text for text in map(gpu.failure, answers[:2]) if text), "")
    why = asked.trouble or failed or ("" if len(answers) == len(steps) else gpu.failure(answers[-1]) or "no answer")
    if why:
        return not_executed(RUNG, why, details, asked.ended.output, asked.ended.seconds)
    outcome, reason = judge(answers)
    return executed(RUNG, outcome, reason, details, asked.ended.output, asked.ended.seconds)


def roomy_target(capability: str) -> str:
    """The target of a chip that allows the most, static memory and instructions: where there is an exact one, that."""
    plain = probes.target_of(capability)
    return f"{plain}a" if int(capability.partition(".")[0]) >= 9 else plain


def shape_of(claim: Claim) -> list[int]:
    """The cluster of a claim as x, y, z."""
    return [*claim.amounts, 1, 1][:3]


def together(seen: Sequence[Seen]) -> Seen:
    """One verdict of several amounts: they have to agree."""
    outcomes = {outcome for outcome, _ in seen}
    reasons = "; ".join(dict.fromkeys(reason for _, reason in seen))
    return (outcomes.pop() if len(outcomes) == 1 else "inconclusive"), reasons
