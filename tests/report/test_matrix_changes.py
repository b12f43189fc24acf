from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from referencing import Registry, Resource

import bwlint.report
from bwlint.chips import sold_chips
from bwlint.matrix.table import FALLBACK, NO, UNKNOWN, YES, Cell, CellChange, CellGate, MatrixChanges
from bwlint.model.findings import Skipped
from bwlint.report import Setting, matrix_changes

FOLDER = Path(bwlint.report.__file__).parent
SCHEMAS = [
    json.loads((FOLDER / f"{name}.schema.json").read_text("utf-8"))
    for name in ("matrix-changes", "matrix", "findings", "audit")
]
REGISTRY: Registry[Any] = Registry().with_resources((one["$id"], Resource.from_contents(one)) for one in SCHEMAS)
VALIDATOR = Draft202012Validator(SCHEMAS[0], registry=REGISTRY)

CHIPS = ("9.0", "10.0", "12.0", "12.1")
GATE = CellGate("a/ops.py", 12, 8, "cap | `x` \x1b")
LOST = tuple(CellChange("pkg", "op", "", chip, Cell(YES), Cell(NO, GATE)) for chip in ("12.0", "12.1"))
RICH = MatrixChanges(
    "main",
    "HEAD",
    CHIPS,
    (
        *LOST,
        CellChange("pkg", "op", "b", "9.0", Cell(FALLBACK, GATE, "slow"), Cell(NO)),
        *(CellChange("pkg", "all", "", chip, Cell(NO, GATE), Cell(UNKNOWN)) for chip in CHIPS[1:]),
        CellChange("pkg", "op", "", "9.0", Cell(UNKNOWN), Cell(YES, GATE)),
        CellChange("pkg", "late", "", "12.0", None, Cell(YES, GATE)),
        CellChange("pkg", "late", "", "12.1", None, Cell(NO, GATE)),
    ),
    7,
    (Skipped("b.py", "not UTF-8"),),
    ("12.0", "12.1"),
)
NOTHING = MatrixChanges("main", "HEAD", CHIPS, (), 7)


@pytest.mark.parametrize("found", [RICH, NOTHING])
def test_it_follows_the_schema(found: MatrixChanges) -> None:
    Draft202012Validator.check_schema(SCHEMAS[0])
    log = json.loads(matrix_changes.json(found, Setting(version="1")))
    assert [error.message for error in VALIDATOR.iter_errors(log)] == []
    assert (log["version"], log["before"], log["rows"], len(log["changes"])) == (1, "main", 7, len(found.changes))


def test_for_people() -> None:
    assert matrix_changes.text(NOTHING, Setting()) == ""
    assert matrix_changes.text(RICH, Setting()) == (
        "Lost: refused now, or on another path\n"
        "  pkg.op     12.x  yes -> no              a/ops.py:12  cap | `x` \\x1b\n"
        "  pkg.op[b]  9.0   by another path -> no  a/ops.py:12  cap | `x` \\x1b\n"
        "\n"
        "Gained: not refused any more, or on its own path\n"
        "  pkg.all  10.0 and 12.x  no -> no check decides  a/ops.py:12  cap | `x` \\x1b\n"
        "\n"
        "Decided by a check now, or by none any more\n"
        "  pkg.op  9.0  no check decides -> yes  a/ops.py:12  cap | `x` \\x1b\n"
        "\n"
        "New operations, where they are not refused\n"
        "  pkg.late  12.0  - -> yes  a/ops.py:12  cap | `x` \\x1b\n"
    )


def test_a_terminal_gets_lines_that_fit() -> None:
    assert matrix_changes.text(replace(RICH, changes=LOST), Setting(width=40, folds=True)) == (
        "Lost: refused now, or on another path\n  pkg.op  12.x  yes -> no  a/ops.py:12\n      cap | `x` \\x1b\n"
    )


def test_most_chips_are_told_by_the_others() -> None:
    every = tuple(chip.name for chip in sold_chips())
    lost = tuple(
        CellChange("pkg", "op", "", chip, Cell(YES), Cell(NO)) for chip in every if chip not in ("9.0", "12.0")
    )
    told = matrix_changes.text(MatrixChanges("a", "b", every, lost, 7), Setting())
    assert told == "Lost: refused now, or on another path\n  pkg.op  every chip but 9.0 and 12.0  yes -> no\n"


def test_for_a_pull_request() -> None:
    told = matrix_changes.markdown(RICH, Setting()).splitlines()
    assert told[:5] == [
        "### Operations by card, `main` to `HEAD`",
        "",
        "3 cells lost, 3 gained, 1 otherwise changed in 3 of 7 rows, 1 new row; 1 file skipped.",
        "",
        "**Lost: refused now, or on another path**",
    ]
    code = r"`` cap \| `x` \x1b ``"
    assert told[6:10] == [
        "| operation | on | change | decided by |",
        "| --- | --- | --- | --- |",
        f"| `pkg.op` | RTX 5090 (12.0) and DGX Spark (GB10, 12.1) | yes → no | a/ops.py:12 {code} |",
        f"| `pkg.op[b]` | H100 (9.0) | by another path → no | a/ops.py:12 {code} |",
    ]
    assert matrix_changes.markdown(NOTHING, Setting()).splitlines()[2:] == ["no cell changed.", ""]


@pytest.mark.parametrize(
    ("changes", "skipped", "expected"),
    [
        ((), (), "no cell changed"),
        ((), (Skipped("a", "b"),), "no cell changed in what was read; 1 file skipped"),
        (LOST[:1], (), "1 cell lost in 1 of 7 rows"),
        (LOST, (), "2 cells lost in 1 of 7 rows"),
        (RICH.changes[-2:], (), "1 new row"),
    ],
)
def test_summary(changes: tuple[CellChange, ...], skipped: tuple[Skipped, ...], expected: str) -> None:
    assert matrix_changes.summary(MatrixChanges("a", "b", CHIPS, changes, 7, skipped)) == expected
