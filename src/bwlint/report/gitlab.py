"""GitLab's code quality report, which a merge request shows beside its lines.

https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from hashlib import sha256

from bwlint.model.findings import Finding, Report
from bwlint.report import Setting
from bwlint.report.encode import dumps
from bwlint.report.paths import from_root

_LEVELS = {"note": "info", "warning": "minor", "error": "major"}


def render(report: Report, setting: Setting) -> str:
    """`report` as a list of issues, each with a fingerprint that no other one has."""
    return dumps(list(_issues(report.findings, setting.checkout.root)))


def _issues(findings: Iterable[Finding], root: str) -> Iterable[dict[str, object]]:
    seen: Counter[str] = Counter()
    for finding in findings:
        path = from_root(root, finding.path)
        # bwlint's fingerprint has no path; GitLab drops all but one of those that are equal.
        key = f"{path}\0{finding.rule}\0{finding.fingerprint or finding.region.line}"
        seen[key] += 1
        region = finding.region
        yield {
            "description": finding.message,
            "check_name": f"{finding.rule} {finding.name}",
            "fingerprint": sha256(f"{key}\0{seen[key]}".encode("utf-8", "surrogatepass")).hexdigest(),
            "severity": _LEVELS[finding.severity],
            "location": {"path": path, "lines": {"begin": region.line, "end": region.end_line}},
        }
