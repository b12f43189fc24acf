"""Reports read back are what was written; what is no report is refused in words."""

from __future__ import annotations

import json
import os
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from bwlint.model.findings import Report, Verdict
from bwlint.report import Checkout, Setting, sarif, write
from bwlint.report.read import BadReport, Log, judged, merge, read
from bwlint.run.check import check
from bwlint.run.request import CheckRequest
from bwlint.settings.catalog import rules

FIXTURES = Path(__file__).parents[2] / "fixtures"
VERDICTS = ("confirmed", "refuted", "inconclusive")


@pytest.fixture(scope="module")
def report() -> Report:
    with ExitStack() as stack:
        names = ("arch-lost", "suffix-lost", "cluster", "smem", "suppression", "tcgen05")
        folders = tuple(str(FIXTURES / name) for name in names)
        return check(CheckRequest(folders, fixes=True, jobs=1), stack).report


@pytest.fixture(scope="module")
def texts(report: Report) -> tuple[str, str]:
    return write.findings(report, Setting()), sarif.render(report, Setting(rules=rules()))


@pytest.fixture
def written(texts: tuple[str, str], tmp_path: Path) -> Path:
    path = tmp_path / "report.json"
    path.write_text(texts[0])
    return path


@pytest.fixture
def log(texts: tuple[str, str], tmp_path: Path) -> Path:
    path = tmp_path / "report.sarif"
    path.write_text(texts[1])
    return path


def verdicts(number: int) -> list[Verdict]:
    return [Verdict(VERDICTS[place % 3], f"seen {place}") for place in range(number)]  # type: ignore[arg-type]


def test_json_comes_back_as_it_was(report: Report, written: Path) -> None:
    assert any(finding.fix for finding in report.findings) and report.suppressed
    assert read(written) == report


def test_verdicts_come_back_too(report: Report, tmp_path: Path) -> None:
    given = judged(report.findings, verdicts(len(report.findings)))
    path = tmp_path / "judged.json"
    path.write_text(write.findings(Report(report.targets, given, (), (), {}), Setting()))
    found = read(path)
    assert isinstance(found, Report) and found.findings == given


def test_sarif_tells_where_and_what(report: Report, log: Path) -> None:
    found = read(log)
    assert isinstance(found, Log)
    told = {(finding.fingerprint, finding.rule, finding.region, finding.claims) for finding in found.findings}
    every = (*report.findings, *(entry.finding for entry in report.suppressed))
    assert told == {(finding.fingerprint, finding.rule, finding.region, finding.claims) for finding in every}
    assert {Path(finding.path).resolve() for finding in found.findings} == {Path(f.path).resolve() for f in every}


def test_a_refuted_result_passes_and_all_others_still_fail(log: Path) -> None:
    found = read(log)
    assert isinstance(found, Log)
    before = json.loads(log.read_text())["runs"][0]["results"]
    merged = merge(found, verdicts(len(found.findings)))["runs"][0]["results"]
    for place, result in enumerate(merged):
        refuted = VERDICTS[place % 3] == "refuted"
        assert (result["kind"], result["level"]) == (("pass", "none") if refuted else ("fail", before[place]["level"]))
        assert result["properties"]["verdict"] == {"outcome": VERDICTS[place % 3], "reason": f"seen {place}"}
        assert result["message"] == before[place]["message"]


def test_runs_of_other_tools_are_left_alone(log: Path) -> None:
    document = json.loads(log.read_text())
    other = {"tool": {"driver": {"name": "ruff"}}, "results": [{"ruleId": "E501", "message": {"text": "long"}}]}
    document["runs"].insert(0, other)
    log.write_text(json.dumps(document))
    found = read(log)
    assert isinstance(found, Log)
    assert merge(found, verdicts(len(found.findings)))["runs"][0] == other


def _changed(document: Any, *steps: Any) -> Any:
    """The document with the value at the end of the steps put there instead of what is there."""
    *way, last, value = steps
    place = document
    for step in way:
        place = place[step]
    place[last] = value
    return document


@pytest.mark.parametrize(
    "steps",
    [
        ("findings", 0, "path", 7),
        ("findings", 0, "line", "one"),
        ("findings", 0, "line", True),
        ("findings", 0, "severity", "fatal"),
        ("findings", 0, "admitted", "12.0"),
        ("findings", 0, "related", [{"path": "x"}]),
        ("findings", 0, {}),
        ("findings", 0, None),
        ("findings", 0, "claims", [{"kind": "magic", "says": "x"}]),
        ("targets", None),
        ("stats", None),
        ("skipped", [1]),
    ],
)
def test_a_report_that_somebody_broke(steps: tuple[Any, ...], written: Path) -> None:
    written.write_text(json.dumps(_changed(json.loads(written.read_text()), *steps)))
    with pytest.raises(BadReport, match="not as bwlint writes it"):
        read(written)


@pytest.mark.parametrize(
    "steps",
    [
        ("runs", 0, None),
        ("runs", 0, "results", 0, "locations", []),
        ("runs", 0, "results", 0, "locations", 0, "physicalLocation", None),
        ("runs", 0, "results", 0, "properties", "claims", [{"kind": "gate"}]),
        ("runs", 0, "tool", "x"),
        ("runs", 0, "results", 0, "locations", 0, "physicalLocation", "region", {"startLine": "one"}),
        ("runs", 0, "results", 0, "locations", 0, "physicalLocation", "region", {"startLine": 1, "endColumn": {}}),
    ],
)
def test_a_log_that_somebody_broke(steps: tuple[Any, ...], log: Path) -> None:
    log.write_text(json.dumps(_changed(json.loads(log.read_text()), *steps)))
    with pytest.raises(BadReport, match="not as bwlint writes it"):
        read(log)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no JSON"),
        ("{", "no JSON"),
        ("[" * 100_000, "no JSON"),
        ("[]", "neither"),
        ("{}", "neither"),
        ('{"files": []}', "neither"),
        ('{"findings": {}}', "neither"),
        ("\udcff", "no JSON"),
        ('{"runs": [], "x": NaN}', "no JSON: NaN is no number"),
        ('{"runs": [], "x": -Infinity}', "no JSON: -Infinity is no number"),
        ('{"runs": [], "x": 1e999}', "no JSON: 1e999 is no number"),
    ],
)
def test_what_is_no_report(text: str, why: str, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(BadReport, match=why):
        read(path)


def test_a_pipe_is_no_report(tmp_path: Path) -> None:
    pipe = tmp_path / "x.json"
    os.mkfifo(pipe)
    with pytest.raises(BadReport, match="no plain file"):
        read(pipe)


def test_a_device_is_no_report(tmp_path: Path) -> None:
    (tmp_path / "x.json").symlink_to("/dev/zero")
    with pytest.raises(BadReport, match="no plain file"):
        read(tmp_path / "x.json")


def test_the_paths_of_a_log_are_told_from_its_root(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, report: Report
) -> None:
    here = tmp_path / "sub"
    here.mkdir()
    monkeypatch.chdir(here)
    root = str(tmp_path.resolve())
    path = here / "report.sarif"
    path.write_text(sarif.render(report, Setting(checkout=Checkout(root))))
    found = read(path, root)
    assert isinstance(found, Log)
    named = {os.path.relpath(finding.path, root) for finding in report.findings}
    assert {os.path.relpath(finding.path, root) for finding in found.findings} == named
