"""What many answers come to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from bwlint.fleet.job import Checked, FleetSource, NotChecked
from bwlint.fleet.table import Fleet, LastRun, concerned, fails, fleet_of
from bwlint.model.findings import Category, Claim, FailOn, Finding, Region, Report, Severity

BOTH = ("12.0", "12.1")


def finding(content: str = "a", severity: Severity = "warning", path: str = "a.py", **more: Any) -> Finding:
    given: dict[str, Any] = {"category": "leak", "claims": (Claim("need", "", BOTH),), **more}
    region = Region(1, 1, 1, 2)
    rule: dict[str, Any] = {"rule": "BW102", "name": "leak", "severity": severity, "confidence": "high"}
    return Finding(**rule, path=path, region=region, message=content, **given)


def answer(*findings: Finding, scanned: int = 1) -> Checked:
    """That of a source whose findings are known by their messages."""
    report = Report(BOTH, findings, (), (), {})
    return Checked("r", "", report, tuple(one.message for one in findings), scanned)


def source(name: str) -> FleetSource:
    return FleetSource(name, "path", f"/{name}")


def table(
    answers: Mapping[str, Checked | NotChecked],
    severity: Severity = "warning",
    last: Mapping[str, Checked] | None = None,
) -> Fleet:
    before = None if last is None else LastRun("0.1", last)
    return fleet_of([(source(name), one) for name, one in answers.items()], BOTH, severity, before)


GATE = Claim("gate", "", BOTH, holds=("12.0",))


@pytest.mark.parametrize(
    ("category", "admitted", "claims", "about"),
    [
        ("leak", BOTH, (GATE, Claim("need", "", ("12.0",))), ("12.0",)),
        ("leak", ("12.0",), (GATE,), BOTH),
        ("arch-target", (), (Claim("build", "", BOTH),), BOTH),
        ("arch-target", ("12.0",), (Claim("build", "", ("12.1",)),), ("12.1",)),
        ("arch-target", ("12.0",), (Claim("guard", "", targets=("sm_120", "sm_120f")),), ("12.0",)),
        ("tcgen05", BOTH, (Claim("instruction", "", targets=("sm_121a", "sm_100a")),), ("12.1",)),
        ("family-split", ("12.0",), (GATE,), ("12.1",)),
        ("family-split", ("12.1",), (GATE,), ("12.0",)),
        ("family-split", BOTH, (GATE,), BOTH),
        ("excluded", (), (GATE, Claim("need", "", BOTH, holds=BOTH)), BOTH),
        ("excluded", (), (Claim("gate", "", BOTH),), BOTH),
        ("other", (), (), BOTH),
        ("family-split", (), (Claim("other", "", ("10.0",)),), BOTH),
    ],
)
def test_the_chips_that_a_finding_is_about(
    category: Category, admitted: tuple[str, ...], claims: Sequence[Claim], about: tuple[str, ...]
) -> None:
    assert concerned(finding(category=category, admitted=admitted, claims=tuple(claims)), BOTH) == about


def test_a_page_for_each_target() -> None:
    of_one = finding("b", "error", claims=(Claim("build", "", ("12.1",)),))
    fleet = table(
        {"one": answer(finding(), of_one, finding()), "none": answer(), "noted": answer(finding("n", "note"))}
    )
    assert [(page.target, [(row.source, row.counts) for row in page.rows]) for page in fleet.pages] == [
        ("12.0", [("one", (("warning", "leak", 2),))]),
        ("12.1", [("one", (("error", "leak", 1), ("warning", "leak", 2)))]),
    ]


def test_a_copied_file_is_one_row() -> None:
    forks = {f"fork{number}": answer(finding("same", path=f"v{number}/a.py")) for number in range(9)}
    fleet = table({"other": answer(finding("own", "error"), finding("own", "error")), **forks})
    assert [(hazard.content, len(hazard.sources), len(hazard.places)) for hazard in fleet.hazards] == [
        ("same", 9, 9),
        ("own", 1, 2),
    ]
    assert [hazard.content for hazard in fleet.shared] == ["same"]
    assert [(place.source, place.path) for place in fleet.shared[0].places[:2]] == [
        ("fork0", "v0/a.py"),
        ("fork1", "v1/a.py"),
    ]


def test_the_worst_of_a_group_tells() -> None:
    fleet = table({"a": answer(finding("same")), "b": answer(finding("same", "error"))})
    assert fleet.hazards[0].finding.severity == "error"


OLD, NEW = finding("old"), finding("new")


@pytest.mark.parametrize(
    ("before", "now", "changes"),
    [
        (None, {"a": answer(NEW)}, []),
        ({"a": answer(OLD)}, {"a": answer(OLD)}, []),
        ({"a": answer(OLD)}, {"a": answer(finding("old", path="moved.py"))}, []),
        ({"a": answer(OLD)}, {"a": answer(NEW)}, [("a", "changed", ["new"], ["old"])]),
        ({"a": answer(OLD, OLD)}, {"a": answer(OLD)}, [("a", "changed", [], ["old"])]),
        ({"a": answer(OLD)}, {"a": answer(OLD, OLD)}, [("a", "changed", ["old"], [])]),
        ({"a": answer(OLD)}, {"a": NotChecked("no network")}, []),
        ({"a": answer()}, {"a": answer(finding("n", "note"))}, []),
        ({}, {"a": answer(NEW)}, [("a", "new", ["new"], [])]),
        ({"b": answer(OLD)}, {"a": answer()}, [("a", "new", [], []), ("b", "gone", [], ["old"])]),
    ],
)
def test_what_has_changed(
    before: Mapping[str, Checked] | None,
    now: Mapping[str, Checked | NotChecked],
    changes: list[tuple[str, str, list[str], list[str]]],
) -> None:
    fleet = table(now, last=before)
    told = [
        (one.source, one.status, [new.message for new in one.new], [gone.message for gone in one.gone])
        for one in fleet.changes
    ]
    assert told == changes
    assert (fleet.before is None) is (before is None)


@pytest.mark.parametrize(
    ("answers", "fail_on", "is_failing"),
    [
        ([answer(finding())], "warning", True),
        ([answer(finding())], "error", False),
        ([answer(finding("n", "note"))], "warning", False),
        ([answer(finding("n", "note"))], "note", True),
        ([answer(finding("n", "error"))], "never", False),
        ([answer(), NotChecked("gone")], "note", False),
    ],
)
def test_what_fails(answers: Sequence[Checked | NotChecked], fail_on: FailOn, is_failing: bool) -> None:
    assert fails(answers, fail_on) is is_failing


def test_sources_without_anything_to_read() -> None:
    fleet = table({"a": answer(scanned=0), "b": NotChecked("x"), "c": answer()})
    assert [(row.is_empty, row.failed) for row in fleet.rows] == [(True, ""), (False, "x"), (False, "")]
