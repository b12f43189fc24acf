"""The receipt of a simulated run, described by `simulation.schema.json`; version 1 gains keys but loses none."""

from __future__ import annotations

from typing import Any

from bwlint.confirm.simulate.records import Noted, Simulation
from bwlint.report import Setting
from bwlint.report.encode import picked, written


def render(found: Simulation, setting: Setting) -> str:
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
