"""Configurations of Triton that name themselves."""

from __future__ import annotations

import ast

import pytest

from bwlint.readers.python.triton import operations

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
