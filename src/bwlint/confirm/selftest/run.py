"""Run all cases of a bundle on this device, and compare bwlint's verdict with the device's."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from bwlint.chips.devices import chip as chip_of
from bwlint.confirm import gpu
from bwlint.confirm.receipt import Attempt, executed, not_executed
from bwlint.confirm.selftest.bundle import Opened
from bwlint.confirm.selftest.case import Question, SelftestCase
from bwlint.confirm.selftest.cases import all_cases
from bwlint.confirm.selftest.hardware import seen
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
