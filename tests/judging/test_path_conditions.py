"""What is left of tests on one chip, and which conditions may hold together."""

from __future__ import annotations

import ast

import pytest

from bwlint.chips import chip
from bwlint.evaluate.sources import Sources
from bwlint.judging.path_conditions import Answers, bare, satisfiable
from bwlint.model.expr import Expr, Span
from bwlint.model.facts import Module
from bwlint.readers.python import read
from bwlint.world.tree import Tree


def module(test: str) -> Module:
    source = f"""
import torch

def pick(head_dim, causal, name):
    major, minor = torch.cuda.get_device_capability()
    if {test}:
        BLOCK_M = 64
    return 0
"""
    return read("/pick.py", source, "pick", is_package=False)


def condition(text: str) -> Expr:
    """A comparison of a name with a literal, or a name."""
    node = ast.parse(text, mode="eval").body
    if isinstance(node, ast.Name):
        return Expr("name", (node.id,))
    assert isinstance(node, ast.Compare)
    operators = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=", ast.In: "in"}
    return Expr("cmp", (operators[type(node.ops[0])], (value(node.left), value(node.comparators[0]))))


def value(node: ast.expr) -> Expr:
    if isinstance(node, ast.Name):
        return Expr("name", (node.id,))
    if isinstance(node, ast.Tuple):
        return Expr("tuple", (tuple(value(item) for item in node.elts),))
    assert isinstance(node, ast.Constant)
    return Expr("const", (node.value,))


@pytest.mark.parametrize(
    ("test", "name", "conditions"),
    [
        ("major >= 9", "12.0", 0),
        ("major >= 9", "8.9", None),
        ("not major >= 9", "8.9", 0),
        ("not major >= 9", "12.0", None),
        ("major >= 9 and causal", "12.0", 1),
        ("major >= 9 and causal", "8.9", None),
        ("major >= 9 or causal", "12.0", 0),
        ("major >= 9 or causal", "8.9", 1),
        ("not (major >= 9 and causal)", "8.9", 0),
        ("not (major >= 9 and causal)", "12.0", 1),
        ("not (major >= 9 or causal)", "12.0", None),
        ("not (major >= 9 or causal)", "8.9", 1),
        ("major == 8 and minor in (6, 9)", "8.9", 0),
        ("major == 8 and minor in (6, 9)", "8.0", None),
        ("major >= 9 and head_dim < 64 and head_dim > 128", "12.0", None),
        ("major >= 9 and (causal or name)", "12.0", 1),
    ],
)
def test_left(test: str, name: str, conditions: int | None) -> None:
    found = module(test)
    tree = Tree(Sources(), lambda real, dotted: None)
    (picked,) = [one for one in found.operations if one.kind == "tile"]
    left = Answers(tree, found).left(picked.path, chip(name))
    assert (left if left is None else len(left)) == conditions


@pytest.mark.parametrize(
    ("held", "denied", "possible"),
    [
        ("", "", True),
        ("causal", "", True),
        ("causal", "causal", False),
        ("causal", "wide", True),
        ("d <= 64", "d <= 128", False),
        ("d <= 128", "d <= 64", True),
        ("d > 64; d < 66", "", True),
        ("d > 64; d < 64", "", False),
        ("d == 64; d != 64", "", False),
        ("d == 64; e == 32", "", True),
        ("64 < d", "d > 32", False),
        ("d in (64, 128)", "d == 64", True),
        ("d in (64, 128); d > 128", "", False),
        ("d == 'fp8'; d == 'bf16'", "", False),
        ("d == 'fp8'", "d == 'bf16'", True),
        ("", "d == 'fp8'; d == 'bf16'", True),
        ("d == 0.5; d < 1", "", True),
    ],
)
def test_satisfiable(held: str, denied: str, possible: bool) -> None:
    tests = [(text, True) for text in held.split("; ") if text] + [(text, False) for text in denied.split("; ") if text]
    assert satisfiable(tuple((condition(text), outcome) for text, outcome in tests)) == possible


def test_places_do_not_tell_conditions_apart() -> None:
    assert bare(Expr("not", (Expr("name", ("x",), Span(1, 2, 1, 3)),), Span(1, 0, 1, 3))) == Expr(
        "not", (Expr("name", ("x",)),)
    )
