"""What a kernel is compiled for: each type and constant has its evidence, and what has none is told."""

from __future__ import annotations

import ast
from dataclasses import replace
from textwrap import dedent
from typing import Any

import pytest

from bwlint.confirm.triton.signature import MAX_OPEN, Signature, given, inferred
from bwlint.readers.python.triton import jitted, takings

PRODUCT = """
import torch, triton
import triton.language as tl

@triton.jit
def product(a, b, out, index, scale, rows, stride_a, stride_ak, stride_b, H: tl.constexpr, BLOCK: tl.constexpr{more}):
    at = tl.arange(0, BLOCK)
    row = tl.load(index + tl.program_id(0) // H)
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for k in range(0, rows, BLOCK):
        x = tl.load(a + (row + at)[:, None] * stride_a + (k + at)[None, :] * stride_ak)
        y = tl.load(b + (k + at)[:, None] * stride_b + at[None, :])
        total += tl.dot(x, y)
    tl.store(out + at[:, None] * BLOCK + at[None, :], total * scale)

def launch(a, b, index, heads, flag: bool = False, width=64):
    out = torch.empty(64, 64, dtype=torch.float32)
    {above}
    product[(1,)](a, b, out, index, 0.5, a.shape[1], a.stride(0), a.stride(1), b.stride(0), heads, BLOCK={block}{extra})
"""


def read(
    above: str = "pass", block: str = "64", more: str = "", extra: str = "", bits: int | None = 16
) -> Signature | str:
    tree = ast.parse(dedent(PRODUCT.format(above=above, block=block, more=more, extra=extra)))
    (taking, *_) = takings(tree, "product")
    return inferred(tree, jitted(tree), taking, bits)


def told(**how: Any) -> dict[str, Any]:
    found = read(**how)
    assert isinstance(found, Signature), found
    return found.told()


def test_every_parameter_has_its_evidence() -> None:
    found = read()
    assert isinstance(found, Signature)
    assert found.told() == {
        **{"a": "*fp16", "b": "*fp16", "out": "*fp32", "index": "*i32", "scale": "fp32", "rows": "i32"},
        **{"stride_a": "i32", "stride_ak": 1, "stride_b": "i32", "H": 16, "BLOCK": 64},
    }
    assert found.sources["a"] == "elements of 16 bits"
    assert found.sources["out"] == "the launching function"
    assert found.sources["H"].startswith("any number")
    assert {"a", "rows", "stride_a"} <= found.divisible


@pytest.mark.parametrize(
    ("above", "word"),
    [
        ("assert a.dtype == torch.bfloat16", "*bf16"),
        ("a = a.to(torch.float32)", "*fp32"),
        ("a = torch.zeros_like(a, dtype=torch.int8)", "*i8"),
        ("a = torch.zeros(4, 4)", "*fp32"),
        ("a = other(a)", "*fp16"),  # nothing is known of it: what the finding states
    ],
)
def test_elements(above: str, word: str) -> None:
    assert told(above=above)["a"] == word


@pytest.mark.parametrize(
    ("how", "word"),
    [
        ({"block": "a.shape[-1]"}, "nothing in reach gives the constant `BLOCK`"),
        ({"bits": None}, "nothing in reach says of which type the elements of `a` are"),
        ({"more": ", MORE: tl.constexpr", "extra": ", MORE=heads", "above": "pass"}, ""),
        ({"more": ", lonely", "extra": ", lonely='text'"}, "`lonely` is launched with 'text'"),
    ],
)
def test_what_has_no_evidence_is_told(how: dict[str, Any], word: str) -> None:
    found = read(**how)
    assert (isinstance(found, Signature)) if not word else isinstance(found, str) and word in found


@pytest.mark.parametrize(
    ("extra", "value"),
    [
        ("FLAG=flag", False),  # with its default
        ("FLAG=a is not None", "True and False"),
        ("FLAG=width", 64),
        ("FLAG=None", None),
        ("FLAG='ieee'", "ieee"),
        ("FLAG=tl.bfloat16", {"dtype": "bf16"}),
    ],
)
def test_constants(extra: str, value: object) -> None:
    assert told(more=", FLAG: tl.constexpr", extra=f", {extra}")["FLAG"] == value


def test_open_flags_are_both_ways_and_no_more_than_a_few() -> None:
    names = [f"F{index}" for index in range(MAX_OPEN + 1)]

    def of(some: list[str]) -> Signature | str:
        more = "".join(f", {name}: tl.constexpr" for name in some)
        return read(more=more, extra="".join(f", {name}=a is None" for name in some))

    found = of(names[:2])
    assert isinstance(found, Signature)
    assert [(way["F0"], way["F1"]) for way in found.ways()] == [
        (True, True),
        (True, False),
        (False, True),
        (False, False),
    ]
    assert isinstance(of(names), str)


def test_a_stride_is_one_only_where_the_block_lies_along_it() -> None:
    text = PRODUCT.format(above="pass", block="64", more="", extra="").replace(
        "(k + at)[None, :] * stride_ak", "(k + at)[None, :]"
    )
    tree = ast.parse(
        dedent(text.replace("(row + at)[:, None] * stride_a ", "(row + at)[:, None] * stride_a + k * stride_ak "))
    )
    (taking, *_) = takings(tree, "product")
    found = inferred(tree, jitted(tree), taking, 16)
    assert isinstance(found, Signature)
    assert (found.types["stride_ak"], found.types["stride_a"]) == ("i32", "i32")


def test_what_stands_behind_a_star_has_no_place() -> None:
    text = PRODUCT.format(above="pass", block="64", more="", extra="").replace(
        "(a, b, out, index, 0.5,", "(a, *(b, out), True,"
    )
    tree = ast.parse(dedent(text))
    (taking, *_) = takings(tree, "product")
    assert inferred(tree, jitted(tree), taking, 16) == "nothing in reach says of which type `scale` is"


@pytest.mark.parametrize(
    ("words", "outcome"),
    [
        ("*fp16,*fp16,*fp32,*i32,fp32,i32,i32,1,i32,8,128", ""),
        ("*fp16,*fp16", "has 11 parameters, and --signature has 2"),
        ("*fp16,*fp16,*fp32,*i32,fp32,i32,i32,1,i32,8,import os", "neither a type of Triton nor a constant"),
        ("*fp16,*fp16,*fp32,*i32,fp32,i32,i32,1,i32,8,f()", "neither a type of Triton nor a constant"),
    ],
)
def test_a_signature_that_is_given(words: str, outcome: str) -> None:
    tree = ast.parse(dedent(PRODUCT.format(above="pass", block="64", more="", extra="")))
    (taking, *_) = takings(tree, "product")
    found = given(replace(taking).kernel, words.split(","))
    if outcome:
        assert isinstance(found, str) and outcome in found
    else:
        assert isinstance(found, Signature) and found.values == {"stride_ak": 1, "H": 8, "BLOCK": 128}
