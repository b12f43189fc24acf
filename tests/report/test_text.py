from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest

from bwlint.model.findings import Claim, Edit, Finding, Fix, Proof, Region, Related, Report
from bwlint.report import Lines, Setting, renderer
from bwlint.report.snippet import code_point
from bwlint.report.text import CAUSE, concise, folded, render
from bwlint.report.words import words

_PROOF = Proof((), (), (), (), "")
MakeFinding = Callable[..., Finding]
MakeReport = Callable[..., Report]
MakeLines = Callable[[dict[str, str]], Lines]


def test_findings_in_full(rich_report: Report, sources: Lines) -> None:
    expected = """\
warning[BW101] family-split: 12.1 falls into the arm that raises
 --> pkg/gate.py:2:8
  |
2 |     if cap == 120:
  |        ^^^^^^^^^^ true on sm_120 only
...
4 |     raise RuntimeError("needs 12.0")
  |     ----- what sm_121 gets
  |
  = lets in: sm_120
  = works on: sm_120, sm_121
  = instead: `cap // 10 == 12`
  = fix: ask for the family (safe)
    - 2 |     if cap == 120:
    + 2 |     if cap // 10 == 12:
    - 4 |     raise RuntimeError("needs 12.0")

error[BW102] leak: `cap[0](1)` admits sm_120 to tcgen05
 --> pkg/späte datei.py:1:4
  |
1 | if cap >= 10:
  |    ^^^^^^^^^
 ::: lib/kernel.py:1:1 the kernel [tcgen05]
  |
  = lets in: sm_120 (if the rest of the check holds)
  = works on: no chip
  = no automatic fix: the literal is compared with a queried limit
"""
    assert render(rich_report, Setting(lines=sources)) == expected


@dataclass(frozen=True)
class Case:
    """A source, the finding's span and label, spans related to it in that file, and the expected drawing."""

    id: str
    source: str
    region: Region
    drawing: str
    label: str = "here"
    related: tuple[tuple[Region, str], ...] = ()
    width: int = 120


LONG = "a = [" + ", ".join(map(str, range(40))) + "] if cap == 120 else " + "b" * 9000
AT = LONG.index("cap") + 1

CASES = [
    Case(
        "two on one line",
        "if cap == 120 and other:\n",
        Region(1, 4, 1, 14),
        """\
 --> f.py:1:4
  |
1 | if cap == 120 and other:
  |    ^^^^^^^^^^ here
  |                   ----- free
""",
        related=((Region(1, 19, 1, 24), "free"),),
    ),
    Case(
        "related above, lines in between",
        "\n" * 8 + "CAP = 120\n\n\nx = cap == CAP\n",
        Region(12, 5, 12, 15),
        """\
  --> f.py:12:5
   |
 9 | CAP = 120
   | --------- the constant
...
12 | x = cap == CAP
   |     ^^^^^^^^^^ here
""",
        related=((Region(9, 1, 9, 10), "the constant"),),
    ),
    Case(
        "adjacent lines",
        "x = cap == 120\ny = x\n",
        Region(1, 5, 1, 15),
        """\
 --> f.py:1:5
  |
1 | x = cap == 120
  |     ^^^^^^^^^^ here
2 | y = x
  |     - read
""",
        related=((Region(2, 5, 2, 6), "read"),),
    ),
    Case(
        "several lines",
        "ok = (  \n    cap == 120\n    or cap == 90\n)\n",
        Region(1, 6, 4, 2),
        """\
 --> f.py:1:6
  |
1 | ok = (
  |      ^
2 |     cap == 120
  |     ^^^^^^^^^^
3 |     or cap == 90
  |     ^^^^^^^^^^^^
4 | )
  | ^ here
""",
    ),
    Case(
        "two lines",
        "ok = cap == 120 \\\n    or cap == 90\n",
        Region(1, 6, 2, 17),
        """\
 --> f.py:1:6
  |
1 | ok = cap == 120 \\
  |      ^^^^^^^^^^^^
2 |     or cap == 90
  |     ^^^^^^^^^^^^ here
""",
    ),
    Case(
        "tabs",
        "\tif\tcap == 120:\n",
        Region(1, 5, 1, 15),
        """\
 --> f.py:1:5
  |
1 |     if  cap == 120:
  |         ^^^^^^^^^^ here
""",
    ),
    Case(
        "wide, combining and beyond the BMP",
        "s = '大e\u0301\U0001f600'; cap == 120\n",
        Region(1, 13, 1, 23),
        """\
 --> f.py:1:13
  |
1 | s = '大e\u0301\U0001f600'; cap == 120
  |             ^^^^^^^^^^ here
""",
    ),
    Case(
        "controls",
        "s = '\x1b[31m\u202e'; cap == 120\r\n",
        Region(1, 15, 1, 25),
        """\
 --> f.py:1:15
  |
1 | s = '\\x1b[31m\\u202e'; cap == 120
  |                       ^^^^^^^^^^ \\x1b[0m
""",
        label="\x1b[0m",
    ),
    Case(
        "no label, nothing underlined",
        "if cap:\n",
        Region(1, 4, 1, 4),
        """\
 --> f.py:1:4
  |
1 | if cap:
  |    ^
""",
        label="",
    ),
    Case(
        "a long line",
        LONG,
        Region(1, AT, 1, AT + 10),
        f"""\
 --> f.py:1:{AT}
  |
1 | ... 38, 39] if cap == 120 else bbbbbb...
  |                ^^^^^^^^^^ here
1 | a = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9,...
  | - first
1 | ...bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb
  |                                   --- last
""",
        related=((Region(1, 1, 1, 2), "first"), (Region(1, len(LONG) - 2, 1, len(LONG) + 1), "last")),
        width=40,
    ),
    Case(
        "a span longer than the screen",
        "x = f(" + "a" * 100 + ")\n",
        Region(1, 5, 1, 108),
        """\
 --> f.py:1:5
  |
1 | ... = f(aaaaaaaaaa...
  |       ^^^^^^^^^^^^ here
""",
        width=21,
    ),
    Case(
        "beyond the end",
        "x\n",
        Region(7, 1, 7, 5),
        """\
 --> f.py:7:1 here
 ::: f.py:1:1
  |
1 | x
  | - there
""",
        related=((Region(1, 1, 1, 2), "there"),),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_drawing(case: Case, finding: MakeFinding, report: MakeReport, lines: MakeLines) -> None:
    related = tuple(Related("f.py", region, message) for region, message in case.related)
    found = finding(path="f.py", region=case.region, label=case.label, related=related)
    shown = render(report(found), Setting(lines=lines({"f.py": case.source}), width=case.width))
    gutter = shown.splitlines()[1].index("-->")
    head = "warning[BW101] family-split: 12.1 falls into the arm that raises\n"
    tail = f"{'':>{gutter}} |\n{'':>{gutter}} = lets in: sm_120\n"
    assert shown == head + case.drawing + tail


def test_source_in_several_files(finding: MakeFinding, report: MakeReport, lines: MakeLines) -> None:
    related = (
        Related("b.py", Region(11, 1, 11, 4), "behind it"),
        Related("c.py", Region(3, 5, 3, 6), "lost"),
        Related("b.py", Region(1, 1, 1, 4), "imported"),
    )
    found = finding(path="a.py", region=Region(1, 1, 1, 4), related=related)
    files = {"a.py": "cap\n", "b.py": "imp" + "\n" * 10 + "run\n"}
    expected = """\
warning[BW101] family-split: 12.1 falls into the arm that raises
  --> a.py:1:1
   |
 1 | cap
   | ^^^
  ::: b.py:11:1
   |
11 | run
   | --- behind it
  ::: c.py:3:5 lost
  ::: b.py:1:1
   |
 1 | imp
   | --- imported
   |
   = lets in: sm_120
"""
    assert render(report(found), Setting(lines=lines(files))) == expected


def test_the_hops_of_a_finding_stand_in_the_order_of_calls(
    finding: MakeFinding, report: MakeReport, lines: MakeLines
) -> None:
    """Back up in the same file, and back in a file that it left."""
    source = {"a.py": "".join(f"line{n}()\n" for n in range(1, 10)), "b.py": "only()\n"}
    hops = [
        ("a.py", 8, "first"),
        ("b.py", 1, "second"),
        ("a.py", 2, "third"),
        ("a.py", 4, "fourth"),
        ("a.py", 3, "end"),
    ]
    related = tuple(Related(path, Region(line, 1, line, 5), said) for path, line, said in hops)
    related += (Related("a.py", Region(9, 1, 9, 5), "beside", "BW108"),)
    shown = finding(path="a.py", region=Region(7, 1, 7, 8), label="gate", related=related)
    told = render(report(shown), Setting(lines(source)))
    assert [line.rpartition(" ")[2] for line in told.splitlines() if line.startswith("  | ")] == (
        ["gate", "first", "beside", "second", "third", "fourth", "end"]
    )
    assert [line.strip() for line in told.splitlines() if "-->" in line or ":::" in line] == (
        ["--> a.py:7:1", "::: b.py:1:1", "::: a.py:2:1", "::: a.py:3:1"]
    )


def test_places_like_it_are_named_where_they_are_too_many_to_draw(
    finding: MakeFinding, report: MakeReport, lines: MakeLines
) -> None:
    places = [Related("a.py", Region(line, 1, line, 4), "here too", "BW103") for line in range(2, 17)]
    shown = finding(path="a.py", region=Region(1, 1, 1, 4), related=tuple(reversed(places)))
    told = render(report(shown), Setting(lines({"a.py": "cap\n" * 20}))).splitlines()
    assert sum("here too" in line for line in told) == 12
    assert [line.strip() for line in told if "also here" in line] == ["= also here: lines 2, 3, 4"]


def test_lines_without_their_ends(finding: MakeFinding, report: MakeReport) -> None:
    found = report(finding(path="a.py", region=Region(2, 1, 2, 4)))
    kept = render(found, Setting(lines={"a.py": ["x\n", "cap\n"]}.get))
    assert render(found, Setting(lines={"a.py": ["x", "cap", ""]}.get)) == kept


def test_colour_only_when_asked(rich_report: Report, sources: Lines) -> None:
    plain = render(rich_report, Setting(lines=sources))
    painted = render(rich_report, Setting(lines=sources, color=True))
    assert "\x1b" not in plain
    assert painted.startswith("\x1b[1;33mwarning[BW101]\x1b[0m\x1b[1m family-split: ")
    for code in ("\x1b[0m", "\x1b[1m", "\x1b[1;31m", "\x1b[1;33m", "\x1b[1;34m", "\x1b[31m", "\x1b[32m"):
        painted = painted.replace(code, "")
    assert painted == plain


def test_nothing_of_a_scanned_tree_reaches_the_terminal_raw(finding: MakeFinding, report: MakeReport) -> None:
    evil = "\x1b]8;;x\x07\u202e\n"
    found = finding(
        path=f"{evil}.py",
        message=evil,
        label=evil,
        advice=evil,
        fix_refused=evil,
        related=(Related(evil, Region(1, 1, 1, 2), evil),),
    )
    for name in ("text", "concise"):
        for source in ({}, {f"{evil}.py": ["x\n", evil]}):
            shown = renderer(name)(report(found), Setting(lines=source.get))
            assert not set(shown) & set("\x1b\x07\u202e")


def test_chips_are_told_in_words(finding: MakeFinding, report: MakeReport) -> None:
    found = finding(admitted=("12.0",), certain=(), legal=("12.0", "12.1"))
    shown = render(report(found), Setting()).splitlines()
    assert shown[-2:] == [
        f"  = lets in: {words(('12.0',))} (if the rest of the check holds)",
        f"  = works on: {words(('12.0', '12.1'))}",
    ]
    assert words(("12.0",)) != words(("12.0", "12.1"))
    assert words(("sm_120", "sm_120a")) == "sm_120, sm_120a"


GATE_CLAIM = Claim("gate", "the test `cap == 7` is false on every chip", chips=("12.0",))


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"category": "message", "admitted": (), "certain": ()}, False),
        ({"category": "message"}, True),
        ({"category": "capability-type", "admitted": (), "certain": ()}, False),
        ({"category": "capability-type", "admitted": (), "certain": (), "claims": (GATE_CLAIM,)}, True),
    ],
    ids=["no gate", "gate", "no test", "never true"],
)
def test_an_empty_set_is_told_of_gates_only(
    changes: dict[str, Any], told: bool, finding: MakeFinding, report: MakeReport
) -> None:
    assert ("= lets in:" in render(report(finding(**changes)), Setting())) is told


@pytest.mark.parametrize(
    ("line", "column", "expected"),
    [("abc", 1, 0), ("abc", 4, 3), ("abc", 9, 3), ("ä大c", 3, 2), ("a😀c", 4, 2), ("😀", 9, 1), ("", 1, 0)],
)
def test_code_point(line: str, column: int, expected: int) -> None:
    assert code_point(line, column) == expected


def test_no_findings_print_nothing(report: MakeReport) -> None:
    assert render(report(), Setting()) == ""


def test_a_place_is_a_link_where_its_file_is_one(
    finding: MakeFinding, report: MakeReport, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a b.py").write_text("x\n")
    text = render(report(finding(path="a b.py"), finding(path="kit.whl/a.py")), Setting(links=True))
    uri = (tmp_path.resolve() / "a b.py").as_uri()
    assert f"--> \x1b]8;;{uri}\x1b\\a b.py:2:8\x1b]8;;\x1b\\\n" in text
    assert "--> kit.whl/a.py:2:8\n" in text


@pytest.mark.parametrize(
    ("by", "heads"),
    [
        ("", []),
        ("feature", ["== leak: 2 findings", "== family-split: 1 finding"]),
        ("rule", ["== BW102 leak: 2 findings", "== BW101 family-split: 1 finding"]),
        ("folder", ["== a: 2 findings", "== .: 1 finding"]),
    ],
)
def test_groups(by: str, heads: list[str], finding: MakeFinding, report: MakeReport) -> None:
    leak = {"rule": "BW102", "name": "leak", "category": "leak"}
    some = report(finding(path="a/a.py", **leak), finding(path="a/b.py"), finding(path="c.py", **leak))
    told = render(some, Setting(group_by=by)).splitlines()
    assert [line for line in told if line.startswith("== ")] == heads
    assert sorted(line for line in told if not line.startswith("== ") and line) == sorted(
        line for line in render(some, Setting()).splitlines() if line
    )


def test_one_cause_is_told_once(finding: MakeFinding, report: MakeReport) -> None:
    says = {"message": "`a.f` accepts 12.x, but `a.f` uses tcgen05.", "advice": "Bound `a.f`."}
    other = {"message": "`b.g` accepts 12.x, but `b.g` uses tcgen05.", "advice": "Bound `b.g`."}
    some = report(
        finding(path="a.py", **says),
        finding(path="b.py", message="another fault"),
        finding(path="c.py", **other),
        finding(path="d.py", **says, severity="error"),
        finding(path="e.py", message=says["message"], advice="Give `a.f` another kernel."),
    )
    told = render(some, Setting(group_by=CAUSE)).splitlines()
    assert [line.partition("--> ")[2] for line in told if "-->" in line] == [
        "d.py:2:8",
        "a.py:2:8",
        "b.py:2:8",
        "e.py:2:8",
    ]
    at = told.index("  = also: 1 more place with this fault")
    assert told[at + 1] == "    c.py:2:8 `b.g`"
    assert told[at - 1].startswith("  = instead: Bound `a.f`.") and told[at + 2] == ""


def test_a_cause_is_told_by_a_place_with_a_safe_edit(finding: MakeFinding, report: MakeReport) -> None:
    edits: dict[str, Literal["safe", "unsafe"] | None] = {"a.py": None, "b.py": "unsafe", "c.py": "safe"}
    some = report(
        *(
            finding(
                path=path, fix=Fix(how, "family", "x", (), _PROOF) if how else None, fix_refused=None if how else "y"
            )
            for path, how in edits.items()
        )
    )
    told = render(some, Setting(group_by=CAUSE)).splitlines()
    assert "--> c.py:2:8" in told[1]
    assert told[-3:] == ["  = also: 2 more places with this fault", "    b.py:2:8", "    a.py:2:8 (no automatic fix)"]


def test_an_edit_is_shown_once(finding: MakeFinding, report: MakeReport) -> None:
    lines = dict.fromkeys(("a.py", "b.py"), ("one\n", "two\n"))
    edits = tuple(Edit(path, Region(2, 1, 2, 4), "2") for path in lines)
    found = [
        finding(path=path, fix=Fix("safe", "family", "x", edits[:count], _PROOF))
        for path, count in (("a.py", 2), ("b.py", 2), ("a.py", 1))
    ]
    told = render(report(*found), Setting(lines=lines.get)).splitlines()
    at = [number for number, row in enumerate(told) if row.startswith("  = fix: ")]
    shown = [" ".join(row.split()) for row in told[at[0] + 1 : at[0] + 6]]
    assert shown == ["- 2 | two", "+ 2 | 2", "b.py", "- 2 | two", "+ 2 | 2"]
    again = [[row.strip() for row in told[one + 1 : one + 3]] for one in at[1:]]
    assert again[0] == ["a.py: the same edit as above", "b.py: the same edit as above"]
    assert again[1][0] == "a.py: the same edit as above"


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        (["`a` uses `b`", "`b` uses `c`"], ["`a` uses `b`", "`b` uses `c`"]),
        (
            ["`a` uses `b`", "`b` uses `c`", "`c` uses `d`", "`d` uses wgmma"],
            ["`a` uses `b`", "2 calls later: `c` uses `d`", "`d` uses wgmma"],
        ),
        (["used here", "used here", "used here", "the other"], ["used here, also at lines 2, 3", "the other"]),
        (["used here", "used here"], ["used here, also at line 2"]),
    ],
)
def test_long_ways_are_told_by_their_ends(
    messages: list[str], expected: list[str], finding: MakeFinding, report: MakeReport
) -> None:
    places = (Related("b.py", Region(line, 1, line, 2), message) for line, message in enumerate(messages, 1))
    told = render(report(finding(related=tuple(places))), Setting()).splitlines()
    drawn = (line.partition("b.py:")[2] for line in told if "b.py:" in line)
    assert [line.partition(" ")[2] for line in drawn] == expected


def test_one_line_a_finding(rich_report: Report) -> None:
    assert concise(rich_report, Setting()) == (
        "pkg/gate.py:2:8: warning[BW101] family-split: 12.1 falls into the arm that raises\n"
        "pkg/späte datei.py:1:4: error[BW102] leak: `cap[0](1)` admits sm_120 to tcgen05\n"
    )


@pytest.mark.parametrize(
    ("line", "rows"),
    [
        ("one two three four", ["one two three four"]),
        ("  12.0  one two three four", ["  12.0  one two", "      three four"]),
        ("\x1b[31mone\x1b[0m two three fours", ["\x1b[31mone\x1b[0m two three", "    fours"]),
        (
            "\u6f22\u6f22\u6f22\u6f22\u6f22 \u6f22\u6f22\u6f22\u6f22\u6f22",
            ["\u6f22\u6f22\u6f22\u6f22\u6f22", "    \u6f22\u6f22\u6f22\u6f22\u6f22"],
        ),
        ("a/path/that/nobody/may/cut is read", ["a/path/that/nobody/may/cut", "    is read"]),
        ("", [""]),
    ],
)
def test_a_line_is_folded_between_words(line: str, rows: list[str]) -> None:
    assert list(folded([line], Setting(width=18, folds=True))) == rows
    assert list(folded([line], Setting(width=18))) == [line]
