"""The receipt of a simulated run, described by `simulation.schema.json`; version 1 gains keys but loses none."""

from __future__ import annotations

from typing import Any

from bwlint.confirm.simulate.records import Frame, Noted, Simulation
from bwlint.report import Setting
from bwlint.report.encode import dumps


def render(found: Simulation, setting: Setting) -> str:
    """All that was asked, launched, raised and not answered."""
    ended = found.ended
    return dumps(
        {
            "version": 1,
            "tool": {"name": "bwlint", "version": setting.version},
            "chip": found.simulated.chip.name,
            "product": found.simulated.product.name if found.simulated.product else None,
            "program": list(found.program),
            "assumed": list(found.simulated.assumed()),
            "ended": {"code": ended.code, "trouble": ended.trouble, "seconds": round(ended.seconds, 3)},
            "processes": [record.what for record in found.of("start")],
            "queries": [{**_told(record), "answer": record.said} for record in found.of("query")],
            "launches": [
                {**_told(record), "kind": record.how, "arguments": list(record.arguments)}
                for record in found.of("launch")
            ],
            "exceptions": [
                {**_told(record), "message": record.said, "way": [_frame(frame) for frame in record.way]}
                for record in found.of("exception")
            ],
            "unanswered": [{**_told(record), "reason": record.said} for record in found.of("unanswered")],
            "missing": list(found.missing),
        }
    )


def _told(record: Noted) -> dict[str, Any]:
    return {"what": record.what, "where": None if record.where is None else _frame(record.where)}


def _frame(frame: Frame) -> dict[str, Any]:
    return {"path": frame.path, "line": frame.line, "function": frame.function}
