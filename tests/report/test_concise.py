from __future__ import annotations

from bwlint.model.findings import Report
from bwlint.report import Setting
from bwlint.report.concise import render


def test_one_line_a_finding(rich_report: Report) -> None:
    assert render(rich_report, Setting()) == (
        "pkg/gate.py:2:8: warning[BW101] family-split: 12.1 falls into the arm that raises\n"
        "pkg/späte datei.py:1:4: error[BW102] leak: `cap[0](1)` admits sm_120 to tcgen05\n"
    )
