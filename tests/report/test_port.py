from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from ledgers import make_row
from referencing import Registry, Resource

import bwlint.report
from bwlint.model.findings import Edit, Fix, Proof, Region, Related, Skipped
from bwlint.model.ledger import RowPlace
from bwlint.port.table import CodeSpot, Lack, Port, PortRow, PortStep, Way
from bwlint.report import Setting
from bwlint.report import port as port_report

FOLDER = Path(bwlint.report.__file__).parent
SCHEMA, FINDINGS, AUDIT = (
    json.loads((FOLDER / f"{name}.schema.json").read_text("utf-8")) for name in ("port", "findings", "audit")
)
REGISTRY: Registry[Any] = Registry().with_resources(
    (schema["$id"], Resource.from_contents(schema)) for schema in (FINDINGS, AUDIT)
)
VALIDATOR = Draft202012Validator(SCHEMA, registry=REGISTRY)

LIST = CodeSpot("a/ops.py", 5, 4, "[100, 103]")
TEST = CodeSpot("a/in.py", 7, 8, "major != 10")
KERNEL = CodeSpot("a/k.cu", 9, 1, "tcgen05.mma")
FIX = Fix(
    "unsafe",
    "admit",
    "Let 12.x in: write `120, 121`",
    (Edit("/r/a/ops.py", Region(5, 13, 5, 13), ", 120, 121"),),
    Proof(("10.0", "10.3"), ("10.0", "10.3"), ("10.0", "10.3", "12.0", "12.1"), ("10.0", "12.1"), "none"),
)
STEPS = (
    PortStep(1, "condition", TEST, "/r/a/in.py", ("10.0",), ("12.0", "12.1"), None, "no known rewrite", True, ("p.f",)),
    PortStep(2, "list", LIST, "/r/a/ops.py", ("10.0", "10.3"), ("12.0", "12.1"), FIX, "", False, ("p.f", "p.g")),
)
ROWS = (
    PortRow(
        "p.f", "no", "", LIST, "opens", (Way("as it is", (2, 1), (LIST, TEST), (), ("a build",), True),), (1, 2), ()
    ),
    PortRow("p.g", "no", "", LIST, "unproved", (Way('with "x"', (2,), (LIST,), (), (), True),), (2,), ()),
    PortRow(
        "p.h",
        "fallback",
        "slow",
        LIST,
        "impossible",
        (Way("case `fast`", (), (TEST,), (Lack(KERNEL, "tcgen05", ("10.0", "10.3")),), ()),),
        (),
        ("`slow`",),
    ),
    PortRow("p.i", "no", "", LIST, "unseen", (), (), ()),
)
RICH = Port("12.1", ROWS, STEPS, 3, (Skipped("b.py", "not UTF-8"),))
EMPTY = Port("12.1", (), ())
GUARD = CodeSpot("a/k.cu", 2, 6, "__CUDA_ARCH__ == 1200")
FOUND = PortStep(
    1,
    "kernel",
    GUARD,
    "/r/a/k.cu",
    ("12.0",),
    ("12.1",),
    Fix(
        "unsafe",
        "admit",
        "add `__CUDA_ARCH__ == 1210`",
        (Edit("/r/a/k.cu", Region(2, 27, 2, 27), " || __CUDA_ARCH__ == 1210"),),
        Proof(("sm_120", "sm_120a"), ("sm_120",), ("sm_120", "sm_120a", "sm_121"), ("sm_120", "sm_121"), "none"),
    ),
    "",
    True,
    (),
    "BW101: this guard leaves out <12.1>",
    (Related("a/k.cu", Region(4, 1, 6, 1), "12.1 gets this"),),
)
LEFT = make_row(why="12.x is treated unlike 9.0", places=(RowPlace("a/api.hpp", 7, 7, "checked here"),))
ASKED = replace(RICH, left=(LEFT,) * 12)
BESIDE = Port("12.1", (), (FOUND, replace(FOUND, number=2, fix=None, words="write it by hand", related=())), 1)


@pytest.mark.parametrize("plan", [RICH, EMPTY, ASKED, BESIDE])
def test_it_follows_the_schema(plan: Port) -> None:
    Draft202012Validator.check_schema(SCHEMA)
    log = json.loads(port_report.as_json(plan, Setting(version="1")))
    assert [error.message for error in VALIDATOR.iter_errors(log)] == []


def test_the_contract() -> None:
    log = json.loads(port_report.as_json(RICH, Setting(version="1")))
    assert sorted(log) == ["apart", "chip", "left", "operations", "skipped", "steps", "tool", "version"]
    first, second = log["steps"]
    assert (first["fix"], first["by_hand"]) == (None, "no known rewrite")
    assert second["fix"]["edits"][0] == {
        "path": "a/ops.py",
        "line": 5,
        "column": 13,
        "end_line": 5,
        "end_column": 13,
        "text": ", 120, 121",
    }
    assert log["operations"][2]["ways"][0]["lacks"][0]["legal"] == ["10.0", "10.3"]


def test_what_is_left_to_decide() -> None:
    """That no operation is refused is no all-clear."""
    lines = port_report.as_text(ASKED, Setting()).splitlines()
    begin = lines.index("Checks that are for you to judge:")
    assert lines[begin + 1] == "  a/api.hpp:7  12.x is treated unlike 9.0"
    assert lines[begin + 11 :] == ["  and 2 more: bwlint audit --target 12.1", ""]
    only = replace(EMPTY, left=(LEFT,), answered=1)
    assert port_report.as_text(only, Setting())
    words = "found no operation that does not work on 12.1; 1 check is for you to judge (bwlint audit)"
    assert port_report.summary(only) == words


def test_an_end_that_a_check_alone_shows() -> None:
    lacks = (Lack(TEST, "code for Hopper alone", ("9.0",), by_check=True),)
    row = replace(ROWS[2], verdict="unproved", ways=(Way("as it is", (), (TEST,), lacks, ()),))
    plan = replace(RICH, rows=(row,), steps=())
    said = "a/in.py:7 lets only 9.0 in. Nothing else shows that 12.1 cannot run it: let 12.1 in for a trial"
    assert f"    {said}\n" in port_report.as_text(plan, Setting())
    assert f"- `p.h`: {said}. Meanwhile: `slow`." in port_report.as_markdown(plan, Setting()).replace("\\", "")


def test_a_terminal_gets_lines_that_fit() -> None:
    whole, narrow = (port_report.as_text(RICH, Setting(width=50, folds=folds)) for folds in (False, True))
    assert max(map(len, whole.splitlines())) > 50 >= max(map(len, narrow.splitlines()))
    assert narrow.split() == whole.split()
    assert "    case `fast`: reaches tcgen05 (10.0 and 10.3\n        only), a/k.cu:9\n" in narrow


def test_what_keeps_the_chip_out_is_told_apart() -> None:
    plan = replace(BESIDE, steps=(FOUND, replace(FOUND, number=2, keeps_out=True)), answered=1)
    text = port_report.as_text(plan, Setting())
    first, last = (
        text.index(title) for title in ("To edit, in", "To keep 12.1 out of code that it cannot run:\n  2. ")
    )
    assert first < text.index("  1. ") < last
    assert "### To keep 12.1 out of code that it cannot run\n\n- [ ] **2**" in port_report.as_markdown(plan, Setting())
    words = "1 step, and 1 to keep it out of code that it cannot run"
    assert port_report.summary(plan) == f"found no operation that does not work on 12.1; {words}"


def test_the_text() -> None:
    assert port_report.as_text(RICH, Setting()).splitlines() == [
        "works after the edits below:",
        "  p.f  (a/ops.py:5)",
        "    after steps 1, 2",
        "      because a build",
        "",
        "may run once its checks let the chip in; try it first:",
        "  p.g  (a/ops.py:5)",
        '    with "x": after step 2',
        "",
        "impossible:",
        "  p.h  (a/ops.py:5, takes slow today)",
        "    case `fast`: reaches tcgen05 (10.0 and 10.3 only), a/k.cu:9",
        "    meanwhile: `slow`",
        "",
        "refused, but bwlint found no check that refuses it:",
        "  p.i  (a/ops.py:5)",
        "",
        "To edit, in this order:",
        "  1. a/in.py:7  check `major != 10` lets only 10.0 through",
        "     by hand: let 12.x in too (no known rewrite)",
        "     for p.f",
        "",
        "To edit if a trial shows that the code behind runs on 12.1, in this order:",
        "  2. a/ops.py:5  list `[100, 103]` lets only 10.0 and 10.3 through",
        "     Let 12.x in: write `120, 121`",
        "     for p.f, p.g",
        "",
    ]
    assert port_report.as_text(EMPTY, Setting()) == ""
    told = "Found no public operation with a check of the chip: nothing is answered for 12.1."
    assert port_report.as_markdown(EMPTY, Setting()) == f"## Port to 12.1\n\n{told}\n\n"


def test_the_markdown() -> None:
    lines = port_report.as_markdown(RICH, Setting()).splitlines()
    assert lines[0] == "## Port to 12.1"
    assert "- [ ] **2** `a/ops.py:5` Let 12.x in: write `120, 121` (for `p.f`, `p.g`)" in lines
    assert "- `p.h`: tcgen05. Meanwhile: `slow`." in lines
    drawn = lines[lines.index("```mermaid") :]
    assert drawn[1:4] == ["flowchart LR", '  o0["p.f"]', '  o0 --> s2{{"2: ops.py:5"}}']
    assert drawn[-1] == "```"


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        (
            RICH,
            "4 operations do not work on 12.1: 1 to edit, 1 to try first, 1 impossible, 1 with no check found; 2 steps",
        ),
        (replace(RICH, rows=ROWS[:1]), "1 operation does not work on 12.1: 1 to edit; 2 steps"),
        (replace(EMPTY, answered=1), "found nothing that does not work on 12.1"),
        (replace(EMPTY, apart=(GUARD,)), "1 error for 12.1 outside known operations"),
        (EMPTY, "found no public operation with a check of the chip: nothing is answered for 12.1"),
        (
            replace(EMPTY, left=(LEFT,)),
            "found no public operation with a check of the chip: nothing is answered for 12.1; "
            "1 check is for you to judge (bwlint audit)",
        ),
    ],
)
def test_the_summary(plan: Port, words: str) -> None:
    assert port_report.summary(plan) == words


def test_what_is_scanned_reaches_no_terminal_raw() -> None:
    spot = replace(LIST, text="x\x1b[31m`|", path="a\x1b/b.py")
    plan = replace(RICH, steps=(STEPS[0], replace(STEPS[1], at=spot)), rows=(replace(ROWS[1], name="p.\x1bg"),))
    for render in (port_report.as_text, port_report.as_markdown, port_report.as_json):
        assert "\x1b" not in render(plan, Setting())


def test_what_check_finds_is_told_in_its_words() -> None:
    assert port_report.as_text(BESIDE, Setting()).splitlines() == [
        "To edit, in this order:",
        "  1. a/k.cu:2  kernel `__CUDA_ARCH__ == 1200`",
        "     BW101: this guard leaves out <12.1> (see a/k.cu:4)",
        "     add `__CUDA_ARCH__ == 1210`",
        "  2. a/k.cu:2  kernel `__CUDA_ARCH__ == 1200`",
        "     BW101: this guard leaves out <12.1>",
        "     by hand: write it by hand",
        "",
    ]
    text = port_report.as_markdown(BESIDE, Setting())
    assert "- [ ] **2** `a/k.cu:2` BW101: this guard leaves out \\<12.1\\>. by hand: write it by hand\n" in text
    first, second = json.loads(port_report.as_json(BESIDE, Setting()))["steps"]
    assert (first["said"], first["related"][0]["line"], second["related"]) == (FOUND.said, 4, [])
