"""configure: what the driver grants a kernel of our own: its attributes, and answers on occupancy. Nothing runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

from bwlint.confirm import gpu, probes
from bwlint.confirm.devices import about, chosen
from bwlint.confirm.receipt import Attempt, Rung, not_eligible
from bwlint.confirm.world import Device, Subject, World
from bwlint.findings import Claim, Outcome

KINDS = frozenset({"shared", "cluster", "unchecked", "bounds"})
RUNG: Rung = "configure"

INVALID_VALUE, INVALID_PTX, INVALID_CLUSTER_SIZE = 1, 218, 912
DYNAMIC = "MAX_DYNAMIC_SHARED_SIZE_BYTES"
NON_PORTABLE = "NON_PORTABLE_CLUSTER_SIZE_ALLOWED"
PORTABLE_CLUSTER = 8
MOST_CLUSTER = 1024
_MOST_THREADS = 1024

Steps = list[dict[str, Any]]
Seen = tuple[Outcome, str]


def attempt(subject: Subject, world: World) -> Attempt:
    claim = subject.claim
    device = chosen(RUNG, claim, world)
    if isinstance(device, Attempt):
        return device
    if not claim.amounts:
        return not_eligible(RUNG, "the claim names no amount")
    test = _static if claim.kind == "shared" and claim.subject == "static" else _TESTS[claim.kind]
    return test(claim, world, device)


def _dynamic(claim: Claim, world: World, device: Device) -> Attempt:
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
        return "confirmed", f"the driver refuses {amount} bytes of dynamic shared memory: a block has at most {most}"
    if setting.get("error") != 0 or fits.get("error") != 0:
        return "inconclusive", gpu.failure(setting) or gpu.failure(fits)
    if not fits["blocks"]:
        return "confirmed", f"no block with {amount} bytes of dynamic shared memory fits on a multiprocessor"
    return "refuted", f"the driver grants a block {amount} bytes of dynamic shared memory"


def _static(claim: Claim, world: World, device: Device) -> Attempt:
    """Static memory is in the image: each amount is a probe of its own."""
    target = own_target(claim, device)
    seen: list[Seen] = []
    details: dict[str, Any] = {**about(device), "target": target, "amounts": list(claim.amounts)}
    log, seconds = "", 0.0
    for amount in claim.amounts:
        probe = probes.written("shared", target, world, static=amount)
        if "uses too much shared data" in probe.said:
            seen.append(("confirmed", f"no image with {amount} bytes of static shared memory is made for {target}"))
            log = probe.said
            continue
        steps = [{"do": "load"}, {"do": "function"}]
        job = {"do": "image", "device": device.ordinal, "image": str(probe.path), "steps": steps}
        asked = gpu.ask(job, folder=world.scratch, limit=world.limit)
        seconds += asked.ended.seconds
        if asked.trouble or not asked.steps:
            return Attempt(RUNG, True, True, False, None, asked.trouble or "no answer", details, asked.ended.output)
        log = log or asked.steps[0].get("log", "")
        seen.append(_held(amount, target, asked.steps))
    outcome, reason = together(seen)
    return Attempt(RUNG, True, True, True, outcome, reason, details, log, seconds)


def _held(amount: int, target: str, answers: Steps) -> Seen:
    loading = answers[0]
    if loading.get("error") == INVALID_PTX and "uses too much shared data" in loading.get("log", ""):
        return "confirmed", f"the driver makes no image with {amount} bytes of static shared memory for {target}"
    if loading.get("error") == 0 and len(answers) > 1 and answers[1].get("error") == 0:
        size = answers[1]["attributes"].get("SHARED_SIZE_BYTES", 0)
        if size >= amount:
            return "refuted", f"an image for {target} with {size} bytes of static shared memory loads"
        return "inconclusive", f"the image that was made has {size} bytes of static shared memory, not {amount}"
    return "inconclusive", gpu.failure(loading) or gpu.failure(answers[-1])


def _cluster(claim: Claim, world: World, device: Device) -> Attempt:
    shape, size = shape_of(claim), prod(claim.amounts)
    if size > MOST_CLUSTER or size < 1:
        return not_eligible(RUNG, f"a cluster of {size} blocks is none")
    asking = {"do": "clusters", "grid": shape, "block": [32, 1, 1], "cluster": shape}
    opt_in = {"do": "attribute", "set": NON_PORTABLE, "value": 1}
    steps: Steps = [{"do": "load"}, {"do": "function"}, asking, opt_in, asking]

    def judge(answers: Steps) -> Seen:
        plain, with_opt_in = answers[2], answers[4]
        later = f"; with the opt-in {_clusters(with_opt_in)}"
        if plain.get("error") == INVALID_CLUSTER_SIZE or (plain.get("error") == 0 and not plain["active"]):
            return "confirmed", f"the driver takes no cluster of {size} blocks: {_clusters(plain)}{later}"
        if plain.get("error") != 0:
            return "inconclusive", gpu.failure(plain)
        return "refuted", f"clusters of {size} blocks fit without an opt-in: {_clusters(plain)}"

    if not device.attributes.get("CLUSTER_LAUNCH"):
        reason = f"the {device.capability} device launches no clusters"
        return Attempt(RUNG, True, True, True, "confirmed", reason, about(device))
    return _asked(("cluster", steps, judge), world, device)


def _clusters(answer: Mapping[str, Any]) -> str:
    return gpu.failure(answer) or f"{answer.get('active')} at a time"


def _bounds(claim: Claim, world: World, device: Device) -> Attempt:
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


_TESTS: Mapping[str, Callable[[Claim, World, Device], Attempt]] = {
    "shared": _dynamic,
    "unchecked": _dynamic,
    "cluster": _cluster,
    "bounds": _bounds,
}


def _asked(test: tuple[str, Steps, Callable[[Steps], Seen]], world: World, device: Device) -> Attempt:
    """Put steps to a probe. The first two, loading and its attributes, have to succeed, and all have to be answered."""
    name, steps, judge = test
    probe = probes.written(name, probes.target_of(device.capability), world)
    job = {"do": "image", "device": device.ordinal, "image": str(probe.path), "steps": steps}
    asked = gpu.ask(job, folder=world.scratch, limit=world.limit)
    answers = asked.steps
    details: dict[str, Any] = {**about(device), "probe": name, "made_by": probe.made_by, "answers": answers[2:]}
    failed = next((text for text in map(gpu.failure, answers[:2]) if text), "")
    why = asked.trouble or failed or ("" if len(answers) == len(steps) else gpu.failure(answers[-1]) or "no answer")
    if why:
        return Attempt(RUNG, True, True, False, None, why, details, asked.ended.output, asked.ended.seconds)
    outcome, reason = judge(answers)
    return Attempt(RUNG, True, True, True, outcome, reason, details, asked.ended.output, asked.ended.seconds)


def own_target(claim: Claim, device: Device) -> str:
    """The target among the claim's that the device is the first chip of, else the plain one."""
    plain = probes.target_of(device.capability)
    return next((target for target in claim.targets if target.rstrip("af") == plain), plain)


def shape_of(claim: Claim) -> list[int]:
    """The cluster of a claim as x, y, z."""
    return [*claim.amounts, 1, 1][:3]


def together(seen: Sequence[Seen]) -> Seen:
    """One verdict of several amounts: they have to agree."""
    outcomes = {outcome for outcome, _ in seen}
    reasons = "; ".join(dict.fromkeys(reason for _, reason in seen))
    return (outcomes.pop() if len(outcomes) == 1 else "inconclusive"), reasons
