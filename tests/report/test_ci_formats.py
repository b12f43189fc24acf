"""What CI systems read: GitHub's annotations, GitLab's code quality, JUnit's suites."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from bwlint.model.findings import Finding, Region, Related, Report, Skipped
from bwlint.report import Checkout, Setting, below, from_root
from bwlint.report.ci import github, gitlab, junit

MakeFinding = Callable[..., Finding]
MakeReport = Callable[..., Report]

# Of the table in GitLab's documentation ("Code quality report format").
GITLAB = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["description", "check_name", "fingerprint", "severity", "location"],
        "properties": {
            "description": {"type": "string", "minLength": 1},
            "check_name": {"type": "string", "minLength": 1},
            "fingerprint": {"type": "string", "pattern": "^[0-9a-f]+$"},
            "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
            "location": {
                "type": "object",
                "required": ["path", "lines"],
                "properties": {
                    "path": {"type": "string", "pattern": "^[^./]"},
                    "lines": {
                        "type": "object",
                        "required": ["begin"],
                        "properties": {"begin": {"type": "integer", "minimum": 1}},
                    },
                },
            },
        },
    },
}


def runner(text: str) -> list[tuple[str, dict[str, str], str]]:
    """The commands in a log, taken apart as the runner of GitHub Actions does it."""
    found = []
    for line in text.splitlines():
        match = re.fullmatch(r"::(\w+) ([^:]*)::(.*)", line)
        assert match, line
        properties = dict(part.split("=", 1) for part in match[2].split(","))
        found.append((match[1], {key: unescaped(value) for key, value in properties.items()}, unescaped(match[3])))
    return found


def unescaped(text: str) -> str:
    for code, char in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(code, char)
    return text


def test_annotations(report: MakeReport, finding: MakeFinding) -> None:
    odd = finding(
        path="a,b:100%.py",
        severity="note",
        message="`x` is 100 %\n::error::not mine\x1b[31m",
        advice="ask: the family",
        region=Region(3, 1, 4, 2),
    )
    (level, place, text), (other, where, said) = runner(github(report(finding(), odd), Setting()))
    assert (level, place["file"], place["line"], place["col"], place["endColumn"]) == (
        *("warning", "pkg/gate.py"),
        *("2", "8", "18"),
    )
    assert (place["title"], text) == ("BW101 family-split", "12.1 falls into the arm that raises")
    assert (other, where["file"], where["endLine"]) == ("notice", "a,b:100%.py", "4")
    assert "col" not in where  # a runner refuses columns of several lines
    assert said == "`x` is 100 %\\n::error::not mine\\x1b[31m\nInstead: ask: the family"


def test_a_command_is_a_line_whatever_a_path_holds(report: MakeReport, finding: MakeFinding) -> None:
    text = github(report(finding(path="a\n::add-mask::b.py")), Setting())
    assert text.count("\n") == 1 and text.startswith("::warning file=a\\n%3A%3Aadd-mask%3A%3Ab.py,")


def test_code_quality(report: MakeReport, finding: MakeFinding) -> None:
    twins = [finding(), finding(region=Region(9, 1, 9, 2)), finding(path="other.py"), finding(fingerprint="")]
    issues = json.loads(gitlab(report(*twins, finding(severity="error"), finding(severity="note")), Setting()))
    assert [error.message for error in Draft202012Validator(GITLAB).iter_errors(issues)] == []
    assert [issue["severity"] for issue in issues] == ["minor"] * 4 + ["major", "info"]
    assert len({issue["fingerprint"] for issue in issues}) == len(issues)
    assert issues[0]["location"] == {"path": "pkg/gate.py", "lines": {"begin": 2, "end": 2}}


def test_a_fingerprint_does_not_know_its_line(report: MakeReport, finding: MakeFinding) -> None:
    before, after = (
        json.loads(gitlab(report(finding(region=Region(line, 1, line, 2))), Setting()))[0] for line in (2, 90)
    )
    assert before["fingerprint"] == after["fingerprint"]


_ATTRIBUTES = {
    "testsuites": {"name", "time", "tests", "failures", "errors"},
    "testsuite": {"name", "time", "tests", "failures", "errors", "skipped"},
    "testcase": {"name", "time", "classname"},
    "failure": {"type", "message"},
    "skipped": {"type", "message"},
    "system-out": set[str](),
}
"""Those of junit-10.xsd of the xunit plugin for Jenkins that a report of ours may have; it refuses any other."""


def suites(text: str) -> ET.Element:
    """A JUnit report as its readers take it: what they ask of it holds."""
    root = ET.fromstring(text.split("\n", 1)[1])
    for element in (root, *root):
        cases = element.findall(".//testcase")
        assert element.attrib["tests"] == str(len(cases))
        for key, tag in (("failures", "failure"), ("skipped", "skipped")):
            found = str(sum(case.find(tag) is not None for case in cases))
            assert element.attrib.get(key, found) == found
    assert all(element.attrib.keys() <= _ATTRIBUTES[element.tag] for element in root.iter())
    assert all(case.attrib["name"] and case.attrib["classname"] for case in root.iter("testcase"))
    return root


def test_suites(report: MakeReport, finding: MakeFinding) -> None:
    related = (Related("lib/kernel.py", Region(4, 1, 4, 9), "tcgen05"),)
    found = report(
        finding(message="a ]]> & <b>\x00\ufffe", related=related, advice="ask the family"),
        finding(severity="note", region=Region(7, 1, 7, 2)),
        finding(path="a.py", severity="error"),
        skipped=(Skipped("big\x01.py", "30 MB"),),
    )
    root = suites(junit(found, Setting()))
    assert [suite.attrib["name"] for suite in root] == ["a.py", "pkg/gate.py", "bwlint"]
    first, second = root[1].iter("testcase")
    failure = first.find("failure")
    assert failure is not None and failure.attrib == {"message": "a ]]> & <b>\\x00\ufffd", "type": "warning"}
    assert failure.text is not None and failure.text.splitlines()[-2:] == [
        "lib/kernel.py:4: tcgen05",
        "instead: ask the family",
    ]
    assert second.find("failure") is None and second.findtext("system-out")
    (skipped,) = root[2].iter("testcase")
    assert skipped.attrib["name"] == "big\\x01.py"


def test_a_case_does_not_know_its_line(report: MakeReport, finding: MakeFinding) -> None:
    def names(first: int) -> list[str]:
        found = [
            finding(region=Region(first + number, 1, first + number, 2), within=within)
            for number, within in enumerate(("pick", "Model.pick", "pick", "", ""))
        ]
        return [case.attrib["name"] for case in suites(junit(report(*found), Setting())).iter("testcase")]

    of_rule = "BW101 family-split"
    inside = [f"{of_rule} in pick", f"{of_rule} in Model.pick", f"{of_rule} in pick (2)"]
    assert names(2) == names(90) == [*inside, of_rule, f"{of_rule} (2)"]


def test_nothing_found_is_a_case_that_passes(report: MakeReport) -> None:
    root = suites(junit(report(), Setting()))
    assert [case.attrib["name"] for case in root.iter("testcase")] == ["no findings"]


@pytest.mark.parametrize(
    ("folder", "path", "expected"),
    [
        ("", "a/b.py", "a/b.py"),
        ("", "./a//b.py", "a/b.py"),
        ("top", "b.py", "sub/b.py"),
        ("top", "../c.py", "c.py"),
        ("top", "../../d.py", None),
        ("top/sub/deep", "b.py", None),
    ],
)
def test_paths_are_told_from_the_root(
    folder: str, path: str, expected: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "top" / "sub" / "deep").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "top" / "sub")
    root = str(tmp_path.resolve() / folder) if folder else ""
    assert below(root, path) == expected
    assert from_root(root, path) == (expected or path)


def test_a_path_by_way_of_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a.py").write_text("")
    (tmp_path / "link").symlink_to("real")
    assert below(str(tmp_path.resolve() / "real"), str(tmp_path / "link" / "a.py")) == "a.py"


def test_a_path_on_another_drive(monkeypatch: pytest.MonkeyPatch) -> None:
    def relpath(path: str, start: str) -> str:
        raise ValueError("path is on mount 'D:', start on mount 'C:'")

    monkeypatch.setattr(os.path, "relpath", relpath)
    assert from_root("/c/r", "/d/a.py") == "/d/a.py" and below("/c/r", "/d/a.py") is None


@pytest.mark.parametrize("render", [github, gitlab, junit])
def test_reports_tell_paths_from_the_root(
    render: Any, report: MakeReport, finding: MakeFinding, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path / "sub")
    how = replace(Setting(), checkout=Checkout(str(tmp_path.resolve())))
    assert "sub/pkg/gate.py" in render(report(finding()), how)
