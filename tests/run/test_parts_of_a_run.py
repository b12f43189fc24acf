"""A run in several processes says what a run in one says, whatever it may read besides."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from bwlint.run import engine
from bwlint.run.check import check
from bwlint.run.request import CheckRequest

FIXTURES = Path(__file__).parents[2] / "fixtures"


@pytest.mark.parametrize("link_budget", [None, 12, 0])
def test_it_is_told_the_same_by_several_processes(monkeypatch: pytest.MonkeyPatch, link_budget: int | None) -> None:
    monkeypatch.setattr(engine, "MIN_PART", 20)
    alone, together = (_said(jobs, link_budget) for jobs in (1, 3))
    assert alone == together
    assert alone[0]


def _said(jobs: int, link_budget: int | None) -> tuple[object, ...]:
    with ExitStack() as stack:
        request = CheckRequest((str(FIXTURES / "leak"), str(FIXTURES / "smem")), jobs=jobs, link_budget=link_budget)
        outcome = check(request, stack)
    return outcome.report.findings, outcome.report.skipped, outcome.report.stats
