"""One line a finding: ``path:line:col: warning[BW101] family-split: message``."""

from __future__ import annotations

from bwlint.model.escape import visible
from bwlint.model.findings import Finding, Report
from bwlint.report import Setting


def render(report: Report, setting: Setting) -> str:
    """The findings of `report`, one a line."""
    return "".join(f"{_line(finding)}\n" for finding in report.findings)


def _line(finding: Finding) -> str:
    region = finding.region
    where = f"{finding.path}:{region.line}:{region.column}"
    return visible(f"{where}: {finding.severity}[{finding.rule}] {finding.name}: {finding.message}")
