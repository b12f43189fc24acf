"""A run in several processes says what a run in one says, whatever it may read besides."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest

from bwlint.run import engine
from bwlint.run.check import check
from bwlint.run.request import CheckRequest

FIXTURES = Path(__file__).parents[2] / "fixtures"


LINKED = ("across", "native", "reached")
"""Folders of which a run reads more than twelve files beyond those that it judges."""


@pytest.mark.parametrize(
    ("folders", "link_budget", "unlinked"),
    [(("capability-type", "smem"), None, False), (LINKED, 12, True), (LINKED, 0, True)],
)
def test_it_is_told_the_same_by_several_processes(
    monkeypatch: pytest.MonkeyPatch, folders: tuple[str, ...], link_budget: int | None, unlinked: bool
) -> None:
    monkeypatch.setattr(engine, "MIN_PART", 20)
    alone, together = (_said(folders, jobs, link_budget) for jobs in (1, 3))
    assert alone == together
    findings, _, stats = alone
    assert findings
    assert ("unlinked" in stats) == unlinked


def _said(folders: tuple[str, ...], jobs: int, link_budget: int | None) -> tuple[object, object, Mapping[str, int]]:
    with ExitStack() as stack:
        paths = tuple(str(FIXTURES / folder) for folder in folders)
        report = check(CheckRequest(paths, jobs=jobs, link_budget=link_budget), stack).report
    return report.findings, report.skipped, report.stats
