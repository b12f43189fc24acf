"""Names of targets that became one string."""

from __future__ import annotations

import ast

import pytest

from bwlint.model.details import Glued
from bwlint.readers.python.target_names import operations


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('X = {"9.0", "10.0" "12.0"}', [("10.012.0", ["10.0", "12.0"])]),
        ("X = ['sm_90', 'sm_100'\n 'sm_120a']", [("sm_100sm_120a", ["sm_100", "sm_120a"])]),
        ('X = ("90a", "100a"  # first\n "120a")', [("100a120a", ["100a", "120a"])]),
        ('X = ["12.0+PTX" "10.0", "9.0"]', [("12.0+PTX10.0", ["12.0+PTX", "10.0"])]),
        ('X = {"9.0", "10.0", "12.0"}', []),
        ('X = "10.0" "12.0"', []),
        ('X = ["10.0" "12.0"]', [("10.012.0", ["10.0", "12.0"])]),
        ('X = cap in ("sm_90" "sm_120")', [("sm_90sm_120", ["sm_90", "sm_120"])]),
        ('X = cap not in ("9.0" "12.0")', [("9.012.0", ["9.0", "12.0"])]),
        ('X = ["100" "120"]', []),
        ('X = cap in ("90" "120")', []),
        ('X = cap == ("9.0" "12.0")', []),
        ('X = ["one", "10.0" "12.0"]', []),
        ('X = ["9.0", "10.0" ".1"]', []),
        ('X = ["9.0", "10.012.0"]', []),
        ('X = ["9.0"]  # "10.0" "12.0"', []),
    ],
)
def test_glued(source: str, found: list[tuple[str, list[str]]]) -> None:
    expected = [(name, Glued(*halves)) for name, halves in found]
    assert [(one.name, one.detail) for one in operations(ast.parse(source), source)] == expected
