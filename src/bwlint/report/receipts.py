"""Receipts, and those of a self-test and of a simulated run: as JSON (described by `receipts.schema.json`,
`selftest.schema.json` and `simulation.schema.json`; version 1 gains keys but loses none), and for people."""

from __future__ import annotations

import os
import platform
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from bwlint.confirm.machine import Machine
from bwlint.confirm.receipt import RUNGS, Attempt, Receipt, Tried
from bwlint.confirm.selftest.run import Result, SelfTest
from bwlint.confirm.simulate.program import Frame, Noted, Simulation
from bwlint.model.escape import visible
from bwlint.model.naming import counted
from bwlint.report import Setting, text
from bwlint.report.write import picked, plain, written

_PARTS = (("query", "asked"), ("launch", "would launch"), ("exception", "raises"), ("unanswered", "not answered"))
_LONGEST = 72
_LONGEST_SAID = 200


def as_json(receipts: Sequence[Receipt], machine: Machine) -> str:
    """All receipts of a run, with the machine that they were made on."""
    return written(machine.bwlint, machine=plain(machine), receipts=[_receipt(receipt) for receipt in receipts])


def _receipt(receipt: Receipt) -> dict[str, Any]:
    told = picked(receipt, "fingerprint", "rule", "path", "line", "outcome", "reason")
    return {**told, "claims": [of_claim(tried) for tried in receipt.tried]}


def of_claim(tried: Tried) -> dict[str, Any]:
    return {
        **picked(tried, "claim", "outcome", "reason"),
        "requested": [attempt.rung for attempt in tried.attempts if attempt.requested],
        "eligible": [attempt.rung for attempt in tried.attempts if attempt.eligible],
        "executed": [attempt.rung for attempt in tried.attempts if attempt.executed],
        "attempts": [of_attempt(attempt) for attempt in tried.attempts],
    }


def of_attempt(attempt: Attempt) -> dict[str, Any]:
    """One rung as plain values; its time in seconds."""
    return {**plain(attempt), "seconds": round(attempt.seconds, 3)}


def as_text(receipts: Sequence[Receipt]) -> str:
    """A line for each finding."""
    told = (f"{one.path}:{one.line}: {one.outcome} [{one.rule}] {one.reason}" for one in receipts)
    return "".join(f"{visible(line)}\n" for line in told)


def summary(receipts: Sequence[Receipt]) -> str:
    """``3 findings: 2 confirmed, 1 inconclusive; executed: assemble 2, load 1``."""
    outcomes = Counter(receipt.outcome for receipt in receipts)
    parts = [
        f"{outcomes[outcome]} {outcome}" for outcome in ("confirmed", "refuted", "inconclusive") if outcomes[outcome]
    ]
    ran = Counter(
        attempt.rung
        for receipt in receipts
        for tried in receipt.tried
        for attempt in tried.attempts
        if attempt.executed
    )
    rungs = ", ".join(f"{rung} {ran[rung]}" for rung in RUNGS if ran[rung])
    return f"{counted(len(receipts), 'finding')}: {', '.join(parts)}{f'; executed: {rungs}' if rungs else ''}"


def selftest_as_json(test: SelfTest, machine: Machine) -> str:
    """All cases with bwlint's verdict and the device's."""
    bundle = picked(test.bundle, "chip", "toolkit", "left_out")
    counts = {name: len(getattr(test, name)) for name in ("cases", "refuted", "undecided")}
    return written(
        machine.bwlint,
        started=test.started,
        machine=plain(machine),
        device=test.device.ordinal,
        bundle={**bundle, "machine": test.bundle.machine or platform.machine()},
        counts={**counts, **picked(test, "agreed", "hazards")},
        cases=[_case(result) for result in test.cases],
        observations=[_case(result) for result in test.results if result.is_observation],
    )


def _case(result: Result) -> dict[str, Any]:
    told = picked(result, "name", "rule", "question", "static", "hardware", "agrees")
    return {**told, "attempt": of_attempt(result.attempt)}


def selftest_line(result: Result) -> str:
    """``agrees  cubin-for-100a  bwlint fails, the GPU fails: cuModuleLoadDataEx: ... (209)``."""
    mark = {True: "agrees", False: "REFUTED", None: "undecided"}[result.agrees]
    said = f"bwlint {result.static.verdict}, the GPU {result.hardware}"
    return f"{mark:10}{result.name:40} {said}: {result.attempt.reason}"


def selftest_summary(test: SelfTest) -> str:
    return (
        f"{test.device.name} ({test.device.capability}), driver {test.kernel_module}: {test.agreed} of"
        f" {len(test.cases)} cases agree, {test.hazards} fail on the GPU, {len(test.refuted)} refuted,"
        f" {len(test.undecided)} undecided"
    )


def simulation_as_text(found: Simulation, setting: Setting) -> str:
    """A part for each kind of what happened, a line a record."""
    return "".join(f"{line}\n" for line in _lines(found, setting))


def simulation_summary(found: Simulation) -> str:
    """``on 12.1 (GB10): 3 questions, 1 kernel, 0 exceptions, 0 gaps; the program ended with 0``."""
    words = ("question", "kernel", "exception", "gap")
    counts = (counted(len(found.of(kind)), word) for (kind, _), word in zip(_PARTS, words, strict=True))
    ended = found.ended.trouble or f"ended with {found.ended.code}"
    return f"as on {found.simulated.name}: {', '.join(counts)}; the program {ended}"


def _lines(found: Simulation, setting: Setting) -> Iterator[str]:
    paint = text.painter(setting.color)
    yield paint(f"as on {visible(found.simulated.name)}: {visible(' '.join(found.program))}", "title")
    for kind, title in _PARTS:
        records = found.of(kind)
        if not records:
            continue
        yield paint(title, "title")
        told = [(visible(_what(record)), visible(_frame_place(record.where))) for record in records]
        room = min(_LONGEST, max(len(what) for what, _ in told))
        yield from (f"  {what:{room}}  {place}" for what, place in told)
    for words in (*(f"assumed: {one}" for one in found.simulated.assumed()), *found.missing):
        yield visible(words)


def _what(record: Noted) -> str:
    line = record.said.partition("\n")[0]
    line = line if len(line) <= _LONGEST_SAID else f"{line[:_LONGEST_SAID]}..."
    match record.kind:
        case "query":
            return f"{record.what} = {line}"
        case "launch":
            return f"{record.how} {record.what}({', '.join(record.arguments)})"
        case _:
            return f"{record.what}: {line}" if line else record.what


def _frame_place(frame: Frame | None) -> str:
    if frame is None:
        return ""
    path = frame.path
    near = os.path.relpath(path) if path.startswith(os.getcwd() + os.sep) else path  # noqa: PTH109
    return f"{near}:{frame.line} {frame.function}"


def simulation_as_json(found: Simulation, setting: Setting) -> str:
    """All that was asked, launched, raised and not answered."""
    ended = found.ended
    return written(
        setting.version,
        chip=found.simulated.chip.name,
        product=found.simulated.product.name if found.simulated.product else None,
        assumed=found.simulated.assumed(),
        ended={**picked(ended, "code", "trouble"), "seconds": round(ended.seconds, 3)},
        processes=[record.what for record in found.of("start")],
        queries=[_told(record, answer=record.said) for record in found.of("query")],
        launches=[_told(record, kind=record.how, arguments=record.arguments) for record in found.of("launch")],
        exceptions=[_told(record, message=record.said, **picked(record, "way")) for record in found.of("exception")],
        unanswered=[_told(record, reason=record.said) for record in found.of("unanswered")],
        **picked(found, "program", "missing"),
    )


def _told(record: Noted, **more: Any) -> dict[str, Any]:
    return {**picked(record, "what", "where"), **more}
