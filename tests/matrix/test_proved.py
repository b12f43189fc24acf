"""Receipts beside the cells of a matrix: a gate of ours, receipts written here, marks out."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from referencing import Registry, Resource

from bwlint.matrix.proved import counts, with_receipts
from bwlint.matrix.table import FALLBACK, NO, UNKNOWN, YES, Cell, CellGate, Matrix, MatrixRow
from bwlint.report import Setting
from bwlint.report import matrix as matrix_report

CODE = "capability != (12, 0)"
GATE = CellGate("pkg/ops.py", 5, 8, CODE)
MATRIX = Matrix(
    ("9.0", "12.0", "12.1"),
    (
        MatrixRow(
            "pkg", "op", "", "pkg/ops.py", 3, {"9.0": Cell(NO, GATE), "12.0": Cell(YES, GATE), "12.1": Cell(NO, GATE)}
        ),
    ),
)
H100 = {"name": "NVIDIA H100", "capability": "9.0"}


def attempt(rung: str, outcome: str | None, executed: bool = True, **details: Any) -> dict[str, Any]:
    return {"rung": rung, "executed": executed, "outcome": outcome, "reason": f"{rung} says so", "details": details}


def evaluated(outcome: str = "confirmed", **chips: tuple[str | None, str]) -> dict[str, Any]:
    told = {
        name[1:].replace("_", "."): {"claimed": claimed, "cpython": [gave], "undecided": ""}
        for name, (claimed, gave) in chips.items()
    }
    return attempt("evaluate", outcome, outcomes=told)


def receipts(
    *attempts: dict[str, Any],
    kind: str = "gate",
    code: str = CODE,
    path: str = "pkg/ops.py",
    line: int = 5,
    chips: tuple[str, ...] = ("9.0", "12.0", "12.1"),
    targets: tuple[str, ...] = (),
    changed: tuple[str, ...] = (),
) -> dict[str, Any]:
    claim = {"kind": kind, "subject": code, "path": "", "at": {"line": line}, "chips": chips, "targets": targets}
    return {
        "version": 1,
        "machine": {"devices": [H100], "packages": [{"changed": changed}]},
        "receipts": [{"path": path, "line": line, "claims": [{"claim": claim, "attempts": attempts}]}],
    }


def marks(tmp_path: Path, document: Any, matrix: Matrix = MATRIX) -> str:
    """+ (confirmed), ! (refuted) or . for each chip of the one row."""
    path = tmp_path / "r.json"
    path.write_text(json.dumps(document))
    (row,) = with_receipts(matrix, path).rows
    return "".join({"confirmed": "+", "refuted": "!", "": "."}[row.cells[chip].mark] for chip in matrix.chips)


@pytest.mark.parametrize(
    ("document", "marked"),
    [
        # CPython, with each chip simulated.
        (receipts(evaluated(_12_0=("false", "false"), _12_1=("true", "true"))), ".++"),
        (receipts(evaluated("refuted", _12_0=("false", "false"), _12_1=("true", "false"))), ".+!"),
        (receipts(evaluated("refuted", _9_0=("raises", "true"), _12_0=("true or false", "false"))), "!!."),
        (receipts(evaluated(_9_0=("raises", "ValueError"), _12_0=("true or false", "true"))), "++."),
        (receipts(evaluated(_9_0=(None, "true"))), "..."),
        (receipts(evaluated("inconclusive", _12_0=("false", "false"))), "..."),
        # A GPU: its own chip, and no other that the claim names.
        (receipts(attempt("load", "confirmed"), kind="instruction"), "+.."),
        (receipts(attempt("load", "confirmed"), kind="instruction", chips=("12.0",)), "..."),
        (receipts(attempt("load", "confirmed"), kind="instruction", chips=(), targets=("sm_90a",)), "+.."),
        (receipts(attempt("check", "refuted", capability="12.1"), kind="shared"), "..!"),
        (receipts(attempt("check", "inconclusive"), kind="shared"), "..."),
        (receipts(attempt("check", None, executed=False), kind="shared"), "..."),
        # ptxas: the chip of the target. That something fails there speaks against a yes.
        (
            receipts(
                attempt("assemble", "confirmed", targets={"sm_121a": {"outcome": "confirmed", "reason": ""}}),
                kind="instruction",
            ),
            "..+",
        ),
        (
            receipts(
                attempt("assemble", "confirmed", targets={"sm_120f": {"outcome": "confirmed", "reason": ""}}),
                kind="instruction",
            ),
            ".!.",
        ),
        (
            receipts(
                attempt("assemble", "refuted", targets={"sm_120f": {"outcome": "refuted", "reason": ""}}),
                kind="instruction",
            ),
            "...",
        ),
        # Another place, another state of the tree, another machine.
        (receipts(evaluated(_12_0=("false", "false")), line=6), "..."),
        (receipts(evaluated(_12_0=("false", "false")), code="capability != (12, 1)"), "..."),
        (receipts(evaluated(_12_0=("false", "false")), code=""), "..."),
        (receipts(evaluated(_12_0=("false", "false")), path="other/ops.py"), "..."),
        (receipts(evaluated(_12_0=("false", "false")), path="xpkg/ops.py"), "..."),
        (receipts(evaluated(_12_0=("false", "false")), path="./pkg/ops.py", code="capability  !=\n(12, 0)"), ".+."),
        (receipts(evaluated(_12_0=("false", "false")), path="/src/tree/pkg/ops.py"), ".+."),
        (receipts(evaluated(_12_0=("false", "false")), changed=("ptxas",)), "..."),
        # Cases of bwlint's own.
        ({"version": 1, "cases": [], "machine": {}}, "..."),
        # What was packed for sending in.
        ({"version": 1, "documents": [{"document": receipts(evaluated(_12_0=("false", "false")))}]}, ".+."),
    ],
)
def test_marks(tmp_path: Path, document: Any, marked: str) -> None:
    assert marks(tmp_path, document) == marked


def test_what_nothing_decides_is_not_marked(tmp_path: Path) -> None:
    (row,) = MATRIX.rows
    cells = {"9.0": Cell(UNKNOWN), "12.0": Cell(FALLBACK, GATE, "slow"), "12.1": Cell(YES, GATE)}
    found = replace(MATRIX, rows=(replace(row, cells=cells),))
    assert marks(tmp_path, receipts(evaluated(_9_0=("true", "true"), _12_0=("false", "false"))), found) == ".+."
    assert marks(tmp_path, receipts(attempt("check", "confirmed", capability="12.0"), kind="shared"), found) == "..."


def test_a_folder_and_what_is_none_in_it(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.json").write_text(json.dumps(receipts(evaluated(_12_0=("false", "false")))))
    for name, text in {"b.json": "{", "c.json": "[]", "d.json": "[" * 100_000, "e.json": '{"receipts": 1}'}.items():
        (tmp_path / name).write_text(text)
    found = with_receipts(MATRIX, tmp_path)
    assert counts(found) == (1, 0)
    assert [Path(skip.path).name for skip in found.skipped] == ["b.json", "c.json", "d.json", "e.json"]


def test_it_is_told_in_text_and_json(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_text(json.dumps(receipts(evaluated("refuted", _12_0=("false", "false"), _12_1=("true", "false")))))
    found = with_receipts(MATRIX, path)
    lines = matrix_report.as_text(found, Setting(), verbose=True).splitlines()
    assert lines[2] == "  op   no  yes+   no!"
    assert "      confirmed on 12.0 by evaluate: evaluate says so (r.json)" in lines
    assert lines[-1].endswith("+: a receipt confirms it on that chip; !: a receipt refutes it there")
    assert matrix_report.summary(found) == "1 row, receipts confirm 1 cell and refute 1"
    schemas = [
        json.loads(files("bwlint.report").joinpath(f"{name}.schema.json").read_text())
        for name in ("matrix", "findings")
    ]
    registry: Registry[Any] = Registry().with_resource(schemas[1]["$id"], Resource.from_contents(schemas[1]))
    log = json.loads(matrix_report.as_json(found, Setting(version="1")))
    assert list(Draft202012Validator(schemas[0], registry=registry).iter_errors(log)) == []
    cells = log["rows"][0]["chips"]
    assert cells["12.1"]["receipts"][0]["outcome"] == "refuted" and "receipts" not in cells["9.0"]
