from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from ledgers import make_row
from referencing import Registry, Resource

import bwlint.report
from bwlint.matrix.table import FALLBACK, NO, UNKNOWN, YES, Cell, CellGate, Matrix, MatrixRow
from bwlint.model.findings import Skipped
from bwlint.model.ledger import RowPlace
from bwlint.report import Setting
from bwlint.report import matrix as matrix_report

FOLDER = Path(bwlint.report.__file__).parent
SCHEMA, FINDINGS, AUDIT = (
    json.loads((FOLDER / f"{name}.schema.json").read_text("utf-8")) for name in ("matrix", "findings", "audit")
)
REGISTRY: Registry[Any] = Registry().with_resources(
    (schema["$id"], Resource.from_contents(schema)) for schema in (FINDINGS, AUDIT)
)
VALIDATOR = Draft202012Validator(SCHEMA, registry=REGISTRY)

CHIPS = ("9.0", "10.0", "12.0")
GUARD = CellGate("a/ops.py", 12, 8, "major not in (10, 12)")
CHOICE = CellGate("a/ops.py", 20, 5, "major == 10")


def row(name: str, *words: str, backend: str = "", nested: bool = False, module: str = "pkg") -> MatrixRow:
    gates = {YES: GUARD, NO: GUARD, FALLBACK: CHOICE, UNKNOWN: None}
    cells = {
        chip: Cell(word, gates[word], "slow" if word == FALLBACK else "")
        for chip, word in zip(CHIPS, words, strict=True)
    }
    return MatrixRow(module, name, backend, "a/ops.py", 10, cells, nested)


NAMES = ("pkg.f", "pkg.g", "pkg.h")
RICH = Matrix(
    CHIPS,
    (
        row("op", NO, YES, FALLBACK),
        row("op", UNKNOWN, UNKNOWN, UNKNOWN, backend="b", nested=True),
        row("Enum", NO, YES, YES, backend="X", module="pkg.sub"),
    ),
    NAMES,
    7,
    (Skipped("b.py", "not UTF-8"),),
)
LEFT = make_row(why="12.x is treated unlike 9.0", places=(RowPlace("a/api.hpp", 7, 7, "checked here"),))
ASKED = Matrix(CHIPS, (replace(RICH.rows[0], left=2), *RICH.rows[1:]), NAMES, 7, (), ("12.0", "12.1"), (LEFT,))
EMPTY = Matrix(CHIPS, ())


@pytest.mark.parametrize("matrix", [RICH, ASKED, EMPTY])
def test_it_follows_the_schema(matrix: Matrix) -> None:
    Draft202012Validator.check_schema(SCHEMA)
    log = json.loads(matrix_report.as_json(matrix, Setting(version="1")))
    assert [error.message for error in VALIDATOR.iter_errors(log)] == []


def test_the_contract() -> None:
    log = json.loads(matrix_report.as_json(RICH, Setting(version="1")))
    assert list(log) == ["apart", "asked", "left", "rows", "skipped", "targets", "tool", "ungated", "version"]
    assert (log["version"], log["targets"], log["ungated"]) == (1, ["9.0", "10.0", "12.0"], 3)
    first, second, _ = log["rows"]
    assert (first["module"], first["name"], first["backend"], first["path"], first["line"]) == (
        "pkg",
        "op",
        None,
        "a/ops.py",
        10,
    )
    gate = {"path": "a/ops.py", "line": 12, "column": 8, "text": "major not in (10, 12)"}
    assert first["chips"]["9.0"] == {"support": "no", "fallback": None, "gate": gate}
    assert first["chips"]["12.0"]["fallback"] == "slow"
    assert second["chips"]["9.0"] == {"support": "unknown", "fallback": None, "gate": None}


def test_what_is_left_to_decide() -> None:
    """A table without a no is no all-clear."""
    words = (
        "For 12.0 and 12.1, 1 check is for you to judge, in 1 of these rows and elsewhere. `bwlint audit` lists them."
    )
    assert matrix_report.as_text(ASKED, Setting()).splitlines()[-1] == words
    assert matrix_report.summary(ASKED).endswith("1 check is for you to judge (bwlint audit)")
    outside = replace(ASKED, rows=RICH.rows, left=(replace(LEFT, kind="fail"), LEFT))
    assert (
        "2 checks are for you to judge, outside these rows (1 is a finding of `bwlint check`)"
        in matrix_report.as_text(outside, Setting())
    )
    assert matrix_report.summary(replace(EMPTY, left=(LEFT,))) == "0 rows, 1 check is for you to judge (bwlint audit)"
    log = json.loads(matrix_report.as_json(ASKED, Setting()))
    assert (log["rows"][0]["left"], log["left"][0]["why"]) == (2, LEFT.why)


def test_text() -> None:
    assert matrix_report.as_text(RICH, Setting()).splitlines() == [
        "           9.0  10.0   12.0",
        "pkg",
        "  op        no   yes  other  ops.py:12  major not in (10, 12)",
        "    [b]      ?     ?      ?",
        "pkg.sub",
        "  Enum[X]   no   yes    yes  ops.py:12  major not in (10, 12)",
        "",
        "Paths are relative to a/.",
        "yes: its checks accept the chip; no: a check refuses it, or its code needs what the chip lacks; "
        "other: works, but by another code path than on the chips it is written for; "
        "?: bwlint found no check that decides it",
    ]


MANY = ("7.0", "8.0", "9.0", "10.0", "12.0", "12.1")


def wide(asked: tuple[str, ...], *, name: str = "multiply_blocks") -> Matrix:
    """An operation that 7.0 to 10.0 have and 12.x have not."""
    cells = {chip: Cell(NO, GUARD) if chip.startswith("12") else Cell(YES, GUARD) for chip in MANY}
    return Matrix(MANY, (MatrixRow("pkg", name, "", "a/ops.py", 10, cells),), asked=asked)


@pytest.mark.parametrize(
    ("width", "asked", "chips", "dropped"),
    [
        (80, ("12.0", "12.1"), MANY, ""),
        (61, ("12.0", "12.1"), MANY, ""),
        (60, ("12.0", "12.1"), ("12.0", "12.1", "10.0", "9.0", "8.0"), "7.0"),
        (50, ("12.0", "12.1"), ("12.0", "12.1", "10.0"), "7.0, 8.0, 9.0"),
        (50, ("8.0",), ("8.0", "12.1", "12.0"), "7.0, 9.0, 10.0"),
        (10, ("12.0", "12.1"), ("12.0", "12.1"), "7.0, 8.0, 9.0, 10.0"),
        (10, ("12.0", "6.0"), ("12.0",), "7.0, 8.0, 9.0, 10.0, 12.1"),
    ],
)
def test_a_narrow_terminal_shows_the_chips_asked_about(
    width: int, asked: tuple[str, ...], chips: tuple[str, ...], dropped: str
) -> None:
    text = re.sub(
        r"\x1b\[[\d;]*m", "", matrix_report.as_text(wide(asked), Setting(color=True, folds=True, width=width))
    )
    lines = text.splitlines()
    assert tuple(lines[0].split()) == chips
    assert ("No room" in text) == bool(dropped)
    if dropped:
        assert f"No room for {dropped}. --target CHIP shows a chip." in " ".join(text.split())
    if width > 10:
        assert max(map(len, lines)) <= width and lines[2].endswith("ops.py:12")


def test_a_file_has_all_chips() -> None:
    """Its lines are not wrapped, and a table wider than a page stays whole."""
    text = matrix_report.as_text(wide(("12.0",), name="x" * 80), Setting(width=40))
    assert tuple(text.split("\n")[0].split()) == MANY and "No room" not in text


def test_a_place_without_room_is_below_its_row() -> None:
    far = replace(GUARD, path="a/of/many/folders/ops.py")
    cells = {chip: Cell(NO, gate) for chip, gate in zip(CHIPS, (far, GUARD, GUARD), strict=True)}
    matrix = Matrix(CHIPS, (MatrixRow("pkg", "op", "", "a/ops.py", 10, cells),), asked=CHIPS)
    text = matrix_report.as_text(matrix, Setting(width=36, folds=True))
    assert "\n  op   no    no    no\n      of/many/folders/ops.py:12\n" in text


def test_every_check_of_a_row_on_a_narrow_terminal() -> None:
    text = matrix_report.as_text(wide(("12.0",)), Setting(color=True, folds=True, width=30), verbose=True)
    assert "No room for 7.0" in text and "yes on 7.0, 8.0, 9.0, 10.0: ops.py:12" in " ".join(text.split())
    assert max(map(len, re.sub(r"\x1b\[[\d;]*m", "", text).splitlines())) <= 30


def test_every_gate_of_a_row() -> None:
    lines = matrix_report.as_text(RICH, Setting(), verbose=True).splitlines()
    assert lines[3:6] == [
        "      no on 9.0: ops.py:12  major not in (10, 12)",
        "      other on 12.0: ops.py:20  major == 10 -> slow",
        "      yes on 10.0: ops.py:12  major not in (10, 12)",
    ]


def test_nothing_to_show() -> None:
    assert matrix_report.as_text(EMPTY, Setting()) == ""


def test_why_there_is_no_table() -> None:
    lines = matrix_report.as_text(replace(RICH, rows=(), unasked=NAMES * 3), Setting()).splitlines()
    assert lines == [
        "No table: no public operation here has a check that treats these chips differently.",
        f"Operations without a check: {', '.join((NAMES * 3)[:8])} and 1 more",
    ]


@pytest.mark.parametrize(
    ("matrix", "words"),
    [(RICH, "3 rows, 3 public operations that no check decides, 1 file skipped"), (EMPTY, "0 rows")],
)
def test_the_summary(matrix: Matrix, words: str) -> None:
    assert matrix_report.summary(matrix) == words


def test_names_that_a_terminal_would_obey() -> None:
    hostile = Matrix(CHIPS, (row("op\x1b[2J", NO, YES, YES), row("x" * 300, NO, YES, YES, module="m\u202e")))
    text = matrix_report.as_text(hostile, Setting())
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert max(map(len, text.splitlines()[:6])) < 120
