"""Run all cases of a bundle on this device, and compare bwlint's verdict with the device's: "works" or "fails".

image      The driver loads the image, and its kernel `k` writes what it should. It fails where the driver refuses the
           image (209 no image for this GPU, 218 invalid PTX, 222 PTX too new, 801 an edited header, 200 and 300 for
           other bad images), the attribute or the launch (1, 701, 912), or where the kernel faults or writes something
           else.
program    The program runs its kernel to the right result, and every call that it looks at succeeds. It fails where a
           call is refused by one of those errors (or 98, 500 no such kernel in what was loaded, 720) and its memory is
           as it was, or where every call succeeds and the memory is as it was.
unnoticed  It fails where the kernel did not run and no call that the program looks at says so; it works where the
           kernel ran, or the program was told that it did not.
bounds     It fails where a multiprocessor holds fewer blocks of the kernel than __launch_bounds__ asks for.
gate       CPython runs the gate with the capability of the device. It fails where it lets the device through to a
           statement that the driver does not take, keeps it from one that it does take, or raises what is no refusal
           of its own (a RuntimeError).
observed   Nothing: what was seen is written down.

Anything else, such as another error, no answer or no device, decides nothing.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from bwlint.chips import Chip
from bwlint.chips.devices import chip as chip_of
from bwlint.confirm import child, gpu
from bwlint.confirm.driver.errors import BAD_IMAGE, FAULTS, LAUNCH_REFUSED
from bwlint.confirm.receipt import Attempt, Rung, executed, not_executed
from bwlint.confirm.selftest.bundle import Opened
from bwlint.confirm.selftest.case import PtxText, Question, SelftestCase, Words, all_cases, template
from bwlint.confirm.selftest.statics import Static, Verdict, static
from bwlint.confirm.workbench import Device, Workbench
from bwlint.model.findings import Outcome


class NoDevice(Exception):
    """There is no device that the bundle was built for; the message says what there is."""


@dataclass(frozen=True, slots=True)
class Result:
    """One case. The attempt's outcome is "confirmed" where the device said what bwlint says, "refuted" where it said
    the opposite; `hardware` is the device's own verdict."""

    name: str
    rule: str
    question: Question
    static: Static
    hardware: Verdict
    attempt: Attempt

    @property
    def agrees(self) -> bool | None:
        """None where nothing was decided, or nothing claimed."""
        return {"confirmed": True, "refuted": False}.get(self.attempt.outcome or "")

    @property
    def is_observation(self) -> bool:
        return self.question == "observed"


@dataclass(frozen=True, slots=True)
class SelfTest:
    """The results of a bundle on a device. `left_out` says of cases that the bundle lacks why."""

    device: Device
    kernel_module: str
    bundle: Opened
    results: tuple[Result, ...]
    started: str

    @property
    def cases(self) -> tuple[Result, ...]:
        return tuple(result for result in self.results if not result.is_observation)

    @property
    def agreed(self) -> int:
        return sum(result.agrees is True for result in self.cases)

    @property
    def refuted(self) -> tuple[Result, ...]:
        return tuple(result for result in self.cases if result.agrees is False)

    @property
    def undecided(self) -> tuple[Result, ...]:
        return tuple(result for result in self.cases if result.agrees is None)

    @property
    def hazards(self) -> int:
        """Cases that the device refuses."""
        return sum(result.hardware == "fails" for result in self.cases)

    @property
    def all_agree(self) -> bool:
        return bool(self.cases) and self.agreed == len(self.cases)


Advance = Callable[[Result], None]


def run(bundle: Opened, world: Workbench, *, only: str = "", advance: Advance | None = None) -> SelfTest:
    """Run the cases of a bundle whose names hold `only`, each in a child of its own. Raises NoDevice."""
    device = next((device for device in world.devices if device.capability == bundle.chip), None)
    if device is None:
        there = ", ".join(f"{device.name} ({device.capability})" for device in world.devices) or world.no_device
        raise NoDevice(f"the bundle is for a GPU of {bundle.chip}: {there}")
    started = datetime.now(timezone.utc).isoformat(timespec="seconds")
    results = []
    for case in all_cases():
        if case.name not in bundle.made or only not in case.name:
            continue
        result = _tried(case, bundle, device, world)
        results.append(result)
        if advance is not None:
            advance(result)
    return SelfTest(device, gpu.kernel_module(), bundle, tuple(results), started)


def _tried(case: SelftestCase, bundle: Opened, device: Device, world: Workbench) -> Result:
    made, place, chip = bundle.made[case.name], bundle.place(case.name), chip_of(bundle.chip)
    source, file = place / made.source, place / made.file
    ours = static(case, chip, source, file, device.driver)
    with tempfile.TemporaryDirectory(dir=world.scratch, ignore_cleanup_errors=True) as folder:
        theirs = seen(case, chip, source, file, device, Path(folder), world.limit)
    outcome: Outcome = "inconclusive"
    if "unknown" not in (ours.verdict, theirs.verdict):
        outcome = "confirmed" if ours.verdict == theirs.verdict else "refuted"
    told = (theirs.reason, theirs.details, theirs.log[-4096:], round(theirs.seconds, 3))
    attempt = executed(theirs.rung, outcome, *told) if theirs.executed else not_executed(theirs.rung, *told)
    return Result(case.name, case.rule, case.question, ours, theirs.verdict, attempt)


REFUSED = LAUNCH_REFUSED | {98, 500} | BAD_IMAGE
THREADS = 128


@dataclass(frozen=True, slots=True)
class DeviceAnswer:
    """What a device said: the rung that decided, its verdict, why, and the numbers."""

    verdict: Verdict
    rung: Rung
    reason: str
    details: Mapping[str, Any] = field(default_factory=dict)
    log: str = ""
    seconds: float = 0.0
    executed: bool = True


def seen(
    case: SelftestCase, chip: Chip, source: Path, made: Path, device: Device, folder: Path, limit: float
) -> DeviceAnswer:
    """Ask the device. Never raises for what it does."""
    if case.question == "image":
        return image(case, Words(chip, case.values), made, device, folder, limit)
    if case.question == "bounds" and isinstance(case.make, PtxText):
        return _bounds(Words(chip, case.values), made, device, folder, limit)
    if case.question == "gate":
        return _gate(case, chip, source, device, folder, limit)
    return _program(case, made, device, folder, limit)


def image(case: SelftestCase, words: Words, made: Path, device: Device, folder: Path, limit: float) -> DeviceAnswer:
    """Load an image, launch its kernel and read what it wrote: one word a thread."""
    blocks = words.number(case.grid)
    count = blocks * THREADS
    steps = _steps(case, blocks)
    job = {"do": "image", "device": device.ordinal, "image": str(made), "steps": steps}
    asked = gpu.ask(job, folder=folder, limit=limit)
    told_of = [{key: value for key, value in found.items() if key in _KEPT} for found in asked.steps]
    details = {"steps": [{"do": step["do"], **found} for step, found in zip(steps, told_of, strict=False)]}
    took, log = asked.ended.seconds, _log(asked.steps) or asked.ended.output

    def told(verdict: Verdict, rung: Rung, reason: str, *, executed: bool = True) -> DeviceAnswer:
        return DeviceAnswer(verdict, rung, reason, details, log, took, executed)

    if asked.trouble:
        return told("unknown", "load", asked.trouble, executed=bool(asked.steps))
    for step, found in zip(steps, asked.steps, strict=False):
        rung = _RUNGS[step["do"]]
        number = found.get("error")
        if "skipped" in found:
            return told("unknown", rung, str(found["skipped"]))
        if number:
            known = BAD_IMAGE if step["do"] == "load" else REFUSED | FAULTS
            return told("fails" if number in known else "unknown", rung, gpu.failure(found))
    if len(asked.steps) < len(steps):
        return told("unknown", "launch", "the device did not answer every step")
    if asked.steps[-1].get("equal") != count:
        return told("fails", "check", f"the kernel wrote {asked.steps[-1].get('equal')} of {count} words right")
    return told("works", "check", "loaded, launched, and every word is right")


def _steps(case: SelftestCase, blocks: int) -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = [{"do": "load"}]
    if case.opt_in:
        name = "NON_PORTABLE_CLUSTER_SIZE_ALLOWED"
        steps.append({"do": "attribute", "kernel": "k", "set": name, "value": 1})
    launch = {
        "do": "launch",
        "kernel": "k",
        "grid": [blocks, 1, 1],
        "block": [THREADS, 1, 1],
        "arguments": [{"buffer": blocks * THREADS * 4, "fill": 0xBEEF}, {"u32": 0}],
    }
    return [*steps, launch, {"do": "sync"}, {"do": "read", "buffer": 0, "words": 4, "equal": 1}]


_RUNGS: dict[str, Rung] = {
    "load": "load",
    "attribute": "configure",
    "launch": "launch",
    "sync": "launch",
    "read": "check",
}
_KEPT = frozenset({"error", "name", "call", "skipped", "equal", "of", "words"})
"""What of an answer comes into the receipt: all but logs."""


def _log(steps: Sequence[Mapping[str, Any]]) -> str:
    return "\n".join(str(step["log"]) for step in steps if step.get("log"))


def _bounds(words: Words, made: Path, device: Device, folder: Path, limit: float) -> DeviceAnswer:
    threads, asked_for = words.number("THREADS_ASKED"), words.number("BLOCKS_ASKED")
    steps: list[dict[str, Any]] = [{"do": "load"}, {"do": "occupancy", "kernel": "k", "threads": threads}]
    job = {"do": "image", "device": device.ordinal, "image": str(made), "steps": steps}
    asked = gpu.ask(job, folder=folder, limit=limit)
    found = asked.steps[-1] if len(asked.steps) == len(steps) else {}
    trouble = asked.trouble or asked.failed
    if trouble or "blocks" not in found:
        return DeviceAnswer("unknown", "configure", trouble or "no answer", {}, _log(asked.steps), asked.ended.seconds)
    reason = f"a multiprocessor holds {found['blocks']} blocks, and {asked_for} are asked for"
    details = {"blocks": found["blocks"], "asked": asked_for, "threads": threads}
    verdict: Verdict = "works" if found["blocks"] >= asked_for else "fails"
    return DeviceAnswer(verdict, "configure", reason, details, _log(asked.steps), asked.ended.seconds)


_PICKING = Path(__file__).with_name("picking.py")
_BEHIND = "instruction.ptx"


def _gate(case: SelftestCase, chip: Chip, source: Path, device: Device, folder: Path, limit: float) -> DeviceAnswer:
    major, minor = device.capability.split(".")
    given = {"source": str(source), "capability": [int(major), int(minor)]}
    try:
        ended = child.run(
            [sys.executable, "-I", str(_PICKING)], limit=limit, folder=folder, stdin=json.dumps(given).encode()
        )
        answer = json.loads(ended.answer)
        behind = answer["behind"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        return DeviceAnswer("unknown", "evaluate", f"the gate gave no answer: {error}", executed=False)
    words = Words(chip, {**case.values, "STATEMENT": behind})
    image_of = folder / _BEHIND
    image_of.write_text(words.filled(template(_BEHIND)), encoding="utf-8")
    ran = image(case, words, image_of, device, folder, limit)
    if ran.verdict == "unknown":
        return ran
    details = {"gate": answer, **ran.details}
    if "raised" in answer and answer["raised"] != "RuntimeError":
        reason = f"the gate raises {answer['raised']}: {answer['text']}"
        return DeviceAnswer("fails", "evaluate", reason, details, ran.log, ended.seconds)
    passes, runs = answer.get("picked") == behind, ran.verdict == "works"
    told = f"the gate {'lets' if passes else 'does not let'} the device through; the code behind it: {ran.reason}"
    return DeviceAnswer("works" if passes == runs else "fails", ran.rung, told, details, ran.log, ran.seconds)


def _program(case: SelftestCase, made: Path, device: Device, folder: Path, limit: float) -> DeviceAnswer:
    libraries = {"LD_LIBRARY_PATH": os.environ["LD_LIBRARY_PATH"]} if "LD_LIBRARY_PATH" in os.environ else {}
    environment = {**libraries, "CUDA_VISIBLE_DEVICES": device.uuid, "CUDA_CACHE_DISABLE": "1"}
    try:
        ended = child.run([str(made)], limit=limit, folder=folder, environment=environment)
    except OSError as error:
        return DeviceAnswer("unknown", "launch", f"the program does not start: {error}", executed=False)
    said = _last_line(ended.output)
    if ended.trouble or ended.code or said is None:
        reason = ended.trouble or f"the program said nothing to read (exit status {ended.code})"
        return DeviceAnswer("unknown", "launch", reason, {}, ended.output, ended.seconds)
    verdict, rung, reason = _judged(case, said)
    return DeviceAnswer(verdict, rung, reason, said, ended.output, ended.seconds)


def _judged(case: SelftestCase, said: Mapping[str, Any]) -> tuple[Verdict, Rung, str]:
    """The verdict on what a program says of itself."""
    errors = {str(name): int(code) for name, code in said["steps"]}
    refused = {name: code for name, code in errors.items() if code}
    right, untouched = said["right"] == said["of"], said["untouched"] == said["of"]
    words = ", ".join(f"{name}: error {code}" for name, code in refused.items())
    if case.question == "observed":
        told = "every word is right" if right else "no error, and not every word is right"
        return "unknown", "launch", words or told
    if said["copied"] or "start" in refused or set(refused.values()) - REFUSED:
        return "unknown", "launch", words or f"the result could not be copied: error {said['copied']}"
    if case.question == "bounds":
        if refused or not right:
            return "unknown", "launch", words or "not every word is right"
        held = f"a multiprocessor holds {said['blocks']} blocks, and {said['asked']} are asked for"
        return ("works" if said["blocks"] >= said["asked"] else "fails"), "configure", held
    if right and not refused:
        return "works", "check", "every call succeeded, and every word is right"
    if not untouched:
        return "unknown", "check", f"{said['right']} of {said['of']} words are right{f'; {words}' if words else ''}"
    if refused:
        rung: Rung = "configure" if "cudaFuncSetAttribute" in refused else "launch"
        return ("works" if case.question == "unnoticed" else "fails"), rung, words
    return "fails", "check", "every call succeeded, and the kernel wrote nothing"


def _last_line(output: str) -> dict[str, Any] | None:
    lines = [line for line in output.splitlines() if line.startswith("{")]
    try:
        found = json.loads(lines[-1]) if lines else None
    except ValueError:
        return None
    needed = {"steps", "copied", "right", "untouched", "of"}
    return found if isinstance(found, dict) and needed <= found.keys() else None
