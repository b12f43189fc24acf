"""What is advised for comparisons that are joined with the wrong word."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path

import pytest
from analysed import drafts

from bwlint.evaluate.values import CHIPS
from bwlint.model.expr import Expr
from bwlint.readers.python.lower import Lowerer
from bwlint.rules.constant_test import Reading, foregone, is_constant

CODE = "import torch\n\nmajor, minor = torch.cuda.get_device_capability()\nif {}:\n    raise RuntimeError('no')\n"
ON_CHIPS: dict[str, Sequence[object]] = {
    "major": [chip.major for chip in CHIPS],
    "sm": [chip.joined for chip in CHIPS],
    "cap": [(chip.major, chip.minor) for chip in CHIPS],
    "text": [str(chip.joined) for chip in CHIPS],
}


@pytest.mark.parametrize(
    ("test", "advice"),
    [
        ("major != 9 or major != 12", "Join them with `and`."),
        ("major == 9 and major == 12", "Join them with `or`."),
        ("(major != 9 or major != 12) and minor != 0", "Rewrite the whole condition: this part of it decides nothing."),
        ("12 < major < 9", "Swap the bounds."),
    ],
)
def test_advice(tmp_path: Path, test: str, advice: str) -> None:
    (found,) = drafts(tmp_path, {"m.py": CODE.format(test)}, "constant-test")
    assert found.advice == advice


def constant(node: Expr) -> object:
    if node.op == "const":
        return node.args[0] if is_constant(node.args[0]) else None
    if node.op not in ("tuple", "list", "set"):
        return None
    found = [constant(one) for one in node.args[0]]
    return None if None in found else tuple(found) if node.op == "tuple" else found


def on_chips(node: Expr) -> Sequence[object]:
    return ON_CHIPS.get(str(node.args[0]), ())


def outcomes(test: str) -> list[bool]:
    lowered = Lowerer([]).lower(ast.parse(test, mode="eval").body)
    return [one.holds for one in foregone(lowered, Reading(constant, on_chips))]


@pytest.mark.parametrize(
    ("test", "found"),
    [
        ("major != 9 or major != 12", [True]),
        ("major == 9 and major == 12", [False]),
        ("major < 9 and major > 11", [False]),
        ("sm >= 100 or sm < 130", [True]),
        ("120 <= sm < 100", [False]),
        ("cap != (12, 0) or cap != (12, 1)", [True]),
        ("cap < (9, 0) and cap > (12, 0)", [False]),
        ("sm not in (90, 100) or sm not in (120, 121)", [True]),
        ("sm in (90, 100) and sm in (120, 121)", [False]),
        ("not major == 9 or not major == 12", [True]),
        ("not (major == 9 and major == 12)", [False]),
        ("text != '90' or text != '120'", [True]),
        ("(9 != major or major != 12) and quick", [True]),
        ("quick or major != 9 or major != 12", [True]),
        ("(major == 9 or major == 10) and (major == 11 or major == 12)", [False]),
        ("unknown_name != 9 or unknown_name != 12", [True]),
        ("major != 9 and major != 12", []),
        ("major == 9 or major == 12", []),
        ("major < 9 or major > 11", []),
        ("major >= 9 or major == 12", []),
        ("100 <= sm < 120", []),
        ("major != 9 or minor != 0", []),
        ("major != 9 or sm != 120", []),
        ("major >= 0", []),
        ("major >= -50 or major == 12", []),
        ("cap > (10, 3) and cap < (10, 7)", []),
        ("sm > 103 and sm < 107", []),
        ("compute > 8 and compute < 9", []),
        ("major != 9 or major != '12'", []),
        ("major != x or major != y", []),
        ("text < '9' and text > '9'", []),
        ("sm in texts or sm not in 'sm_90'", []),
    ],
)
def test_foregone(test: str, found: list[bool]) -> None:
    assert outcomes(test) == found
