"""A simulated run, what was asked, launched, raised and not answered: for people, and its receipt (described by
`simulation.schema.json`; version 1 gains keys but loses none)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from bwlint.confirm.simulate.program import Frame, Noted, Simulation
from bwlint.model.escape import visible
from bwlint.model.naming import counted
from bwlint.report import Setting, text
from bwlint.report.write import picked, written

_PARTS = (("query", "asked"), ("launch", "would launch"), ("exception", "raises"), ("unanswered", "not answered"))
_LONGEST = 72
_LONGEST_SAID = 200


def as_text(found: Simulation, setting: Setting) -> str:
    """A part for each kind of what happened, a line a record."""
    return "".join(f"{line}\n" for line in _lines(found, setting))


def summary(found: Simulation) -> str:
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
        told = [(visible(_what(record)), visible(_place(record.where))) for record in records]
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


def _place(frame: Frame | None) -> str:
    if frame is None:
        return ""
    path = frame.path
    near = os.path.relpath(path) if path.startswith(os.getcwd() + os.sep) else path  # noqa: PTH109
    return f"{near}:{frame.line} {frame.function}"


def as_json(found: Simulation, setting: Setting) -> str:
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
