"""Which rows of a table a launch takes its numbers of, and the bits of an element in each."""

from __future__ import annotations

import ast

import pytest

from bwlint.readers.python.least import Values, by_type

TABLES = """
import torch
T = {torch.float16: {"A": 1, "num_stages": 2}, torch.int8: {"A": 3}}
WORDS = {"wide": {"A": 1}}
CHIPS = {(9, 0): {"A": 1}}
TWICE = {torch.float16: {"A": 1}}
TWICE = {torch.float16: {"A": 2}}

def rows():
    return {torch.float32: {"A": 4}}

def launch(x, dtype):
    row = T[dtype]
    made = rows()
    kernel[1](x, %s)
"""


@pytest.mark.parametrize(
    ("handed", "expected"),
    [
        ("A=T[x.dtype]['A']", [(16, {"A": 1}), (8, {"A": 3})]),
        ("**T[dtype]", [(16, {"A": 1, "num_stages": 2}), (8, {"A": 3})]),
        ("A=row['A'], B=7", [(16, {"A": 1, "B": 7}), (8, {"A": 3, "B": 7})]),
        ("**made[dtype]", [(32, {"A": 4})]),
        ("A=7", []),
        ("A=x['A']", []),
        ("A=T[dtype]", [(16, {}), (8, {})]),
        ("A=WORDS[dtype]['A']", []),
        ("**CHIPS[dtype]", []),
        ("**TWICE[dtype]", []),
        ("**x", []),
    ],
)
def test_rows(handed: str, expected: list[tuple[int, dict[str, int]]]) -> None:
    tree = ast.parse(TABLES % handed)
    function = next(one for one in tree.body if isinstance(one, ast.FunctionDef) and one.name == "launch")
    call = function.body[-1].value  # type: ignore[attr-defined]
    found = [
        (row.bits, {word.arg: word.value.value for word in row.call.keywords if isinstance(word.value, ast.Constant)})
        for row in by_type(call, function, Values(tree))
    ]
    assert found == expected
