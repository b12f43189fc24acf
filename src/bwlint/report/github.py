"""Annotations of GitHub Actions: a command a line, which the runner takes from the log of a step.

https://docs.github.com/actions/reference/workflow-commands-for-github-actions
"""

from __future__ import annotations

from bwlint.model.escape import visible
from bwlint.model.findings import Finding, Report
from bwlint.report import Setting
from bwlint.report.paths import from_root

_LEVELS = {"note": "notice", "warning": "warning", "error": "error"}


def render(report: Report, setting: Setting) -> str:
    """`report` as workflow commands; a runner shows ten of each level and step."""
    return "".join(_command(finding, setting.checkout.root) for finding in report.findings)


def _command(finding: Finding, root: str) -> str:
    region = finding.region
    values = {
        "file": visible(from_root(root, finding.path)),
        "line": region.line,
        "endLine": region.end_line,
        # A runner takes columns only where both are of one line.
        **({"col": region.column, "endColumn": region.end_column} if region.line == region.end_line else {}),
        "title": f"{finding.rule} {finding.name}",
    }
    properties = ",".join(f"{key}={_value(str(value))}" for key, value in values.items())
    lines = [finding.message, f"Instead: {finding.advice}"] if finding.advice else [finding.message]
    text = "\n".join(visible(line) for line in lines)
    return f"::{_LEVELS[finding.severity]} {properties}::{_text(text)}\n"


def _text(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _value(text: str) -> str:
    return _text(text).replace(":", "%3A").replace(",", "%2C")
