"""Configurations of Triton that name themselves."""

from __future__ import annotations

import ast

import pytest

from bwlint.readers.python.triton import multiplies_nothing, operations

KERNEL = """
@triton.autotune(configs={configs}, key=[])
@triton.jit
def kernel(a, b, out, BLOCK: tl.constexpr):
    for at in range(0, 64):
        x = tl.load(a + tl.arange(0, BLOCK)[:, None] * 1024 + tl.arange(0, 1024)[None, :])
        y = tl.load(b + tl.arange(0, 1024)[:, None] * 1024 + tl.arange(0, BLOCK)[None, :])
        out += tl.dot(x, y)
"""


@pytest.mark.parametrize(
    ("head", "configs"),
    [
        ("def tried():\n    return tried()\n", "tried()"),
        ("def one():\n    return two()\ndef two():\n    return one()\n", "one()"),
        ("tried = tried + [triton.Config({'BLOCK': 128})]\n", "tried"),
        ("tried = [] + tried\n", "tried"),
    ],
)
def test_a_list_that_leads_back_to_itself_is_not_known(head: str, configs: str) -> None:
    source = head + KERNEL.format(configs=configs)
    assert operations(ast.parse(source), source) == ()


def test_a_list_that_a_function_gives_back() -> None:
    source = "def tried():\n    return [triton.Config({'BLOCK': 128}, num_stages=2)]\n" + KERNEL.format(
        configs="tried()"
    )
    assert [one.kind for one in operations(ast.parse(source), source)] == ["tuned-shared"]


OWN = "@triton.jit\ndef kernel(a, BLOCK: tl.constexpr):\n    tl.store(a, {value})\n"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (OWN.format(value="tl.sum(a)") + "kernel[(1,)](a, BLOCK=32)\n", True),
        (OWN.format(value="tl.dot(a, a)") + "kernel[(1,)](a, BLOCK=32)\n", False),
        (OWN.format(value="tl.sum(a)") + "kernel[(1,)](a, BLOCK=32)\nother[(1,)](a, BLOCK=32)\n", False),
        (OWN.format(value="tl.sum(a)") + "ops.kernel[(1,)](a, BLOCK=32)\n", False),
        (OWN.format(value="tl.sum(a)"), False),
        ("kernel[(1,)](a, BLOCK=32)\n", False),
    ],
)
def test_kernels_whose_tiles_lie_in_registers(source: str, expected: bool) -> None:
    assert multiplies_nothing(ast.parse(source), source) is expected
