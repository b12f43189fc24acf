from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from bwlint.model.findings import CATEGORIES, Finding, Report, Severity, Skipped
from bwlint.report.summary import WHERE, AskedTree, verdicts

TREE = (AskedTree("pkg", ("pkg/",)),)
ON = "bwlint: pkg on RTX 5090 (12.0) and DGX Spark (GB10, 12.1): "

Build = Callable[..., Any]


def said(report: Report, shown: Severity = "warning", target: tuple[str, ...] = ()) -> str:
    return verdicts(report, shown, TREE, target).removeprefix(ON).rstrip("\n")


def test_every_category_is_said() -> None:
    assert WHERE.keys() == CATEGORIES.keys()


@pytest.mark.parametrize(
    ("categories", "expected"),
    [
        ("leak", "1 place where at least one of them is let in and cannot run the code"),
        ("leak leak", "2 places where at least one of them is let in and cannot run the code"),
        (
            "excluded leak leak family-split",
            "2 places where at least one of them is let in and cannot run the code, "
            "1 where at least one of them is kept out of code that runs there, "
            "1 where 12.0 and 12.1 are treated differently",
        ),
        ("other", "1 place with another fault"),
    ],
)
def test_kinds_of_trouble_are_counted(
    categories: str, expected: str, finding: Callable[..., Finding], report: Callable[..., Report]
) -> None:
    assert said(report(*(finding(category=category) for category in categories.split()))) == expected


@pytest.mark.parametrize(
    ("kinds", "rest"), [(3, ""), (4, ""), (5, ", 2 with other faults"), (7, ", 4 with other faults")]
)
def test_of_many_kinds_three_are_named(
    kinds: int, rest: str, finding: Callable[..., Finding], report: Callable[..., Report]
) -> None:
    told = said(report(*(finding(category=category) for category in [*CATEGORIES][:kinds])))
    assert told.startswith("1 place where ")
    assert told.count("1 where") == min(kinds, 3 + (kinds == 4)) - 1
    assert told[told.rindex(", ") :].endswith(rest) if rest else "faults" not in told


@pytest.mark.parametrize(
    ("severities", "shown", "stats", "skipped", "expected"),
    [
        ("", "warning", {}, (), "no findings"),
        ("note", "warning", {}, (), "no warnings"),
        ("note warning", "error", {}, (), "no errors"),
        ("", "warning", {"baselined": 3}, (), "no new findings"),
        ("note", "warning", {"baselined": 3}, (), "no new warnings"),
        (
            "",
            "warning",
            {"questions": 1812, "questions_left": 46},
            (),
            "no findings; 1,812 places concern the chip: 46 are for you to judge",
        ),
        ("", "warning", {"questions": 1}, (), "no findings; 1 place concerns the chip: none is for you to judge"),
        (
            "",
            "warning",
            {"questions": 1, "questions_built_for_others": 1},
            (),
            "no findings, but the only build that names targets has none for these cards; 1 place concerns the chip: "
            "none is for you to judge",
        ),
        ("", "warning", {}, (("a", "a socket"),), "no findings in what was read; 1 file skipped (a socket)"),
        ("", "warning", {}, (("a", "x\x1b"), ("b", "x\x1b")), "no findings in what was read; 2 files skipped (x\\x1b)"),
        (
            "",
            "warning",
            {},
            (("a", "a socket"), ("b", "a fifo"), ("c", "a fifo"), ("c", "late")),
            "no findings in what was read; 3 files skipped (2 of them: a fifo)",
        ),
        ("", "warning", {}, (("a", "a socket"), ("b", "a fifo")), "no findings in what was read; 2 files skipped"),
    ],
)
def test_without_findings(
    severities: str,
    shown: Severity,
    stats: dict[str, int],
    skipped: tuple[tuple[str, str], ...],
    expected: str,
    finding: Callable[..., Finding],
    report: Callable[..., Report],
) -> None:
    found = (finding(severity=severity) for severity in severities.split())
    files = tuple(Skipped(*pair) for pair in skipped)
    assert said(report(*found, stats={"files": 1, **stats}, skipped=files), shown) == expected


@pytest.mark.parametrize(
    ("targets", "target", "category", "expected"),
    [
        (("12.1",), ("spark",), "leak", "DGX Spark (GB10, 12.1): 1 place where it is let in and cannot run the code"),
        (
            ("12.0",),
            ("pro-6000",),
            "excluded",
            "RTX PRO 6000 (12.0): 1 place where it is kept out of code that runs there",
        ),
        (("12.1",), (), "family-split", "DGX Spark (GB10, 12.1): 1 place where 12.0 and 12.1 are treated differently"),
        (("10.3",), (), "family-split", "B300 (10.3): 1 place where 10.0, 10.3 and 10.7 are treated differently"),
        (
            ("10.0", "12.0"),
            (),
            "family-split",
            "B200 (10.0) and RTX 5090 (12.0): 1 place where cards of one family are treated differently",
        ),
    ],
)
def test_the_cards_asked_about(
    targets: tuple[str, ...],
    target: tuple[str, ...],
    category: str,
    expected: str,
    finding: Callable[..., Finding],
    report: Callable[..., Report],
) -> None:
    told = verdicts(report(finding(category=category), targets=targets), "warning", TREE, target)
    assert told == f"bwlint: pkg on {expected}\n"


def test_each_tree_has_its_own(finding: Callable[..., Finding], report: Callable[..., Report]) -> None:
    trees = (
        AskedTree("a", ("a/",)),
        AskedTree("b", ("a/b/",)),
        AskedTree("here", ("",)),
        AskedTree("\x1b", ("c.py/",)),
    )
    found = report(
        *(finding(path=path, category="leak") for path in ("a/x.py", "a/b/x.py", "a/b/y.py", "x.py", "c.py")),
        skipped=(Skipped("a/b/z.py", "a socket"),),
        stats={"questions": 5, "questions_left": 4},
    )
    assert [line.split(" where")[0].split(" on ")[0] for line in verdicts(found, "note", trees, ()).splitlines()] == [
        "bwlint: a",
        "bwlint: b",
        "bwlint: here",
        "bwlint: \\x1b",
    ]
    told = [line.partition("12.1): ")[2] for line in verdicts(found, "note", trees, ()).splitlines()]
    leak = "where at least one of them is let in and cannot run the code"
    assert told == [
        f"1 place {leak}",
        f"2 places {leak}; 1 file skipped (a socket)",
        f"1 place {leak}",
        f"1 place {leak}",
    ]


@pytest.mark.parametrize("path", ["a", "a/b.py"])
def test_a_tree_of_which_a_part_was_not_read_gets_no_all_clear(path: str, report: Callable[..., Report]) -> None:
    trees = (AskedTree("a", ("a/",)), AskedTree("ab", ("ab/",)))
    told = verdicts(report(skipped=(Skipped(path, "folder not read"),)), "warning", trees, ()).splitlines()
    assert [line.partition("12.1): ")[2] for line in told] == [
        "no findings in what was read; 1 file skipped (folder not read)",
        "no findings",
    ]
