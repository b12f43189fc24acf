"""One build file in a project of its own, mended as a user would."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from bwlint.fix.edited import apply
from bwlint.model.findings import Finding, Fix
from bwlint.run.check import check
from bwlint.run.request import CheckRequest


@dataclass(frozen=True, slots=True)
class Mended:
    """The findings of a build file about its lists, and the text after the first fix."""

    source: str
    findings: tuple[Finding, ...]

    @property
    def fixes(self) -> tuple[Fix, ...]:
        return tuple(finding.fix for finding in self.findings if finding.fix is not None)

    @property
    def fix(self) -> Fix:
        assert self.fixes, [finding.fix_refused for finding in self.findings]
        return self.fixes[0]

    @property
    def text(self) -> str:
        return apply(self.source, self.fix.edits)

    @property
    def refused(self) -> str:
        assert self.findings
        assert not self.fixes, self.fixes
        return "; ".join(finding.fix_refused or "no reason" for finding in self.findings)


Mend = Callable[..., Mended]


@pytest.fixture
def mend(tmp_path: Path) -> Mend:
    """`mend(text, name, others)`: the file is written as given, bytes and all."""

    def run(text: str, name: str = "CMakeLists.txt", others: dict[str, str] | None = None) -> Mended:
        for place, content in {"pyproject.toml": "[project]\nname = 'kit'\n", **(others or {}), name: text}.items():
            path = tmp_path / place
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode("utf-8"))
        request = CheckRequest(
            (str(tmp_path / name),), ("sm_120", "sm_121"), ("arch-target",), severity="note", fixes=True
        )
        with ExitStack() as stack:
            outcome = check(request, stack)
        assert not outcome.report.skipped
        return Mended(text, outcome.report.findings)

    return run
