"""check: a kernel of our own runs at the flagged size and checks itself, so that an error and silent corruption differ.

What is flagged is not run, only what it asks for: that many bytes of shared memory, a cluster of that shape.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

from bwlint.confirm import gpu, probes
from bwlint.confirm.driver.errors import LAUNCH_REFUSED
from bwlint.confirm.gpu import about, ask_steps, for_amounts
from bwlint.confirm.receipt import Attempt, Rung, executed, not_eligible, not_executed
from bwlint.confirm.rungs.configure import DYNAMIC, MOST_CLUSTER, NON_PORTABLE, roomy_target, shape_of, together
from bwlint.confirm.workbench import Device, Subject, Workbench
from bwlint.model.findings import Claim, Outcome

KINDS = frozenset({"shared", "cluster", "unchecked"})
RUNG: Rung = "check"

NOT_STARTED, RIGHT, WRONG, STOPPED = "not started", "ran right", "ran wrong", "stopped"
_THREADS = 256


@dataclass(frozen=True, slots=True)
class ProbeRun:
    """How a probe ended: the word, what the driver said ("" where nothing), and how many bytes or words were wrong."""

    word: str
    said: str = ""
    wrong: int = 0
    error: int = 0


def attempt(subject: Subject, world: Workbench) -> Attempt:
    claim = subject.claim
    device = for_amounts(RUNG, claim, world)
    if isinstance(device, Attempt):
        return device
    test = _cluster if claim.kind == "cluster" else _shared
    how = "" if claim.kind == "cluster" else claim.subject
    return world.once((RUNG, claim.kind, how, claim.amounts, device.uuid), lambda: test(claim, world, device))


def _shared(claim: Claim, world: Workbench, device: Device) -> Attempt:
    how = claim.subject if claim.kind == "shared" else "dynamic"
    if how not in _HOW:
        return not_eligible(RUNG, f"{how!r} is not a kind of shared memory that bwlint can test")
    static = how == "static"
    target = roomy_target(device.capability) if static else probes.target_of(device.capability)
    details: dict[str, Any] = {**about(device), "target": target, "ran": {}}
    seen: list[tuple[Outcome, str]] = []
    unseen = "; without a status check no error shows and old results stay" if claim.kind == "unchecked" else ""
    said = ("all bytes hold what is written to them", "bytes are wrong without an error", unseen)
    log, seconds = "", 0.0
    for amount in claim.amounts:
        probe = probes.written("shared", target, world, static=amount if static else None)
        steps = shared_steps(amount, how)
        asked = ask_steps(world, device, steps, str(probe.path))
        seconds += asked.ended.seconds
        log = log or asked.ended.output
        if why := asked.trouble or gpu.failure((*asked.steps, {})[0]):
            return not_executed(RUNG, f"no probe ran: {why}", details, log, seconds)
        ran = judged(asked.steps[len(steps) - 3 :], blocks=1, checked=amount)
        details["ran"][str(amount)] = ran.word
        seen.append(_verdict(ran, f"kernel with {amount} bytes of {_HOW[how]}", *said))
    outcome, reason = together(seen)
    return executed(RUNG, outcome, reason, details, log, seconds)


_HOW = {
    "dynamic": "dynamic shared memory",
    "default": "dynamic shared memory and no opt-in",
    "static": "static shared memory",
}


def shared_steps(amount: int, how: str = "dynamic") -> list[dict[str, Any]]:
    """Load the probe, opt in, launch, wait, read: an error on the way is not looked at, as careless code does. `how` is
    dynamic, default (no opt-in) or static (in the image)."""
    arguments: list[dict[str, Any]] = [_results(1), {"u32": amount}]
    shared = 0 if how == "static" else amount
    opt_in = [{"do": "attribute", "set": DYNAMIC, "value": amount}] if how == "dynamic" else []
    return [
        {"do": "load"},
        *opt_in,
        {"do": "launch", "block": [_THREADS, 1, 1], "shared": shared, "arguments": arguments},
        {"do": "sync"},
        {"do": "read", "buffer": 0, "words": 2 * probes.WORDS, "equal": probes.UNTOUCHED},
    ]


def _results(blocks: int) -> dict[str, int]:
    # The words that are added to start at what they are filled with, too.
    return {"buffer": blocks * probes.WORDS * 4, "fill": probes.UNTOUCHED}


def judged(answers: list[dict[str, Any]], *, blocks: int, checked: int | None = None) -> ProbeRun:
    """What became of a probe, by the answers to its launch, the wait and the reading of its results. `checked` is how
    many bytes each block has to have read, where it counts them."""
    refused = next((one for one in answers if gpu.failure(one)), None)
    said = gpu.failure(refused) if refused else ""
    error = int(refused.get("error", 0)) if refused else 0
    read = answers[-1] if answers else {}
    if "words" not in read:
        return ProbeRun(STOPPED, said or "no answer", error=error)
    if read["equal"] == read["of"]:
        return ProbeRun(NOT_STARTED, said, error=error)
    words: list[int] = read["words"]
    rows = [words[at : at + probes.WORDS] for at in range(0, min(blocks * probes.WORDS, len(words)), probes.WORDS)]
    if any(row[0] != probes.DONE for row in rows):
        return ProbeRun(STOPPED, said or "a block did not end", error=error)
    wrong = sum(_added(row[1]) for row in rows)
    if checked is not None and any(_added(row[2]) != checked for row in rows):
        return ProbeRun(STOPPED, "not all bytes were read", wrong, error)
    return ProbeRun(WRONG if wrong else RIGHT, said, wrong, error)


def _added(word: int) -> int:
    """What was added to a word that began untouched."""
    return (word - probes.UNTOUCHED) & 0xFFFFFFFF


def _verdict(ran: ProbeRun, what: str, right: str, wrong: str, besides: str) -> tuple[Outcome, str]:
    if ran.word == RIGHT:
        return "refuted", f"a {what} runs, and {right}"
    if ran.word == WRONG:
        return "confirmed", f"a {what} runs, and {ran.wrong} {wrong}"
    if ran.word == NOT_STARTED and ran.error in LAUNCH_REFUSED:
        return "confirmed", f"a {what} does not start ({ran.said}){besides}"
    return "inconclusive", f"the {what} is {ran.word}: {ran.said or 'nothing says why'}"


def _cluster(claim: Claim, world: Workbench, device: Device) -> Attempt:
    shape, size = shape_of(claim), prod(claim.amounts)
    if not 0 < size <= MOST_CLUSTER:
        return not_eligible(RUNG, f"{size} blocks make no cluster")
    if not device.attributes.get("CLUSTER_LAUNCH"):
        return not_eligible(RUNG, f"the {device.capability} device launches no clusters")
    probe = probes.written("cluster", probes.target_of(device.capability), world)
    asked = ask_steps(world, device, cluster_steps(shape), str(probe.path))
    details: dict[str, Any] = {**about(device), "made_by": probe.made_by}
    if why := asked.trouble or gpu.failure((*asked.steps, {})[0]):
        return not_executed(RUNG, why, details, asked.ended.output, asked.ended.seconds)
    answers = asked.steps
    plain = judged(answers[1:4], blocks=size)
    details["ran"] = plain.word
    if len(answers) == 8:
        details["ran_with_opt_in"] = judged(answers[5:8], blocks=size).word
    later = f"; with the opt-in: {details['ran_with_opt_in']}" if len(answers) == 8 else ""
    said = ("its blocks reach each other's shared memory", "words that it exchanges are wrong", later)
    outcome, reason = _verdict(plain, f"cluster of {size} blocks", *said)
    return executed(RUNG, outcome, reason, details, asked.ended.output, asked.ended.seconds)


def cluster_steps(shape: list[int]) -> list[dict[str, Any]]:
    """Load the probe, launch one cluster, wait, read; the same after the opt-in to sizes that are not portable."""
    size = prod(shape)

    def launch(buffer: int) -> list[dict[str, Any]]:
        # The probe counts blocks along x.
        flat = [size, 1, 1]
        return [
            {"do": "launch", "grid": flat, "block": [32, 1, 1], "cluster": flat, "arguments": [_results(size)]},
            {"do": "sync"},
            {"do": "read", "buffer": buffer, "equal": probes.UNTOUCHED},
        ]

    return [{"do": "load"}, *launch(0), {"do": "attribute", "set": NON_PORTABLE, "value": 1}, *launch(1)]
