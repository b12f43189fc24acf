"""The marked-up inputs: exactly the lines that carry `# warning: [rule]` or `# note: [rule]` are reported."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import pytest
from snapshots import FIXTURES, of_fixtures

from bwlint.model.findings import Report
from bwlint.rules import binary_checks, checks, file_checks, guard_checks
from bwlint.run.check import check
from bwlint.run.request import CheckRequest
from bwlint.settings import catalog
from bwlint.sources.kinds import kind_of

pytestmark = pytest.mark.shared

FOLDERS = sorted(path.name for path in FIXTURES.iterdir() if path.is_dir())
FILES = sorted(path.relative_to(FIXTURES).as_posix() for path in FIXTURES.rglob("*") if kind_of(path.name))
MARKER = re.compile(r" *(?:#|//) (error|warning|note): \[([a-z0-9-]+)\]")
HEADS = ("import ", "from ", '"""', "@", ".version", ".target", ".address_size")

Mark = tuple[int, str, str]
"""Line, severity, rule."""


def reported(report: Report, folder: str) -> dict[str, set[Mark]]:
    """What a run found, by file below `folder`."""
    found: dict[str, set[Mark]] = {}
    for finding in report.findings:
        path = Path(finding.path).relative_to(folder).as_posix()
        found.setdefault(path, set()).add((finding.region.line, finding.severity, finding.name))
    return found


@cache
def of_folder(name: str) -> dict[str, set[Mark]]:
    return reported(of_fixtures(name).report, name)


def marks(path: Path) -> set[Mark]:
    """What the comments of a file promise."""
    return {
        (number, severity, rule)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        for severity, rule in MARKER.findall(line)
    }


def functions(path: Path) -> Iterator[tuple[str, bool]]:
    """Top-level definitions and assignments of a file, each with whether it fires."""
    block, fires = "", False
    for line in path.read_text(encoding="utf-8").splitlines():
        if line and not line[0].isspace() and not line.startswith(("#", "//", ")", "]", "}", "{")):
            if block:
                yield block, fires
            block, fires = line, False
        fires = fires or MARKER.search(line) is not None
    if block:
        yield block, fires


@pytest.mark.parametrize("name", FILES)
def test_findings_are_those_that_are_marked(name: str) -> None:
    folder, _, path = name.partition("/")
    assert of_folder(folder).get(path, set()) == marks(FIXTURES / name)


def test_every_file_is_read() -> None:
    reports = [of_fixtures(folder).report for folder in FOLDERS]
    assert sum(report.stats["files"] for report in reports) == len(FILES)
    assert [report.skipped for report in reports if report.skipped] == []


@pytest.mark.parametrize("folder", [name for name in FOLDERS if name != "suppression"])
def test_markers_change_nothing(folder: str, tmp_path: Path) -> None:
    copy = tmp_path / folder
    shutil.copytree(FIXTURES / folder, copy)
    for path in filter(Path.is_file, copy.rglob("*")):
        path.write_text(MARKER.sub("", path.read_text(encoding="utf-8")), encoding="utf-8")
    with ExitStack() as stack:
        report = check(CheckRequest((str(copy),), jobs=1, severity="note"), stack).report
    assert reported(report, str(copy)) == of_folder(folder)


def test_every_rule_has_a_fixture_that_fires() -> None:
    marked = {rule for name in FILES for _, _, rule in marks(FIXTURES / name)}
    # Cubins are built by the tests of tests/inspection.
    of_text = {rule.name for rule, _ in (*checks(), *guard_checks(), *file_checks())}
    of_binaries = {rule.name for rule, _ in binary_checks()} - of_text
    assert marked == {rule.name for rule in catalog.rules()} - of_binaries


def test_more_cases_stay_silent_than_fire() -> None:
    cases = [
        fires
        for name in FILES
        if name.endswith((".py", ".cu", ".h", ".ptx"))
        for head, fires in functions(FIXTURES / name)
        if not head.startswith(HEADS)
    ]
    assert cases.count(False) > cases.count(True)
