"""Configurations of Triton that name themselves."""

from __future__ import annotations

import ast

import pytest

from bwlint.readers.python.triton import bits_of, jitted, multiplies_nothing, operations

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


PRODUCT = """@triton.jit
def kernel(a, b, out, BLOCK: tl.constexpr{more}):
    total = tl.zeros((BLOCK, BLOCK), dtype={sum})
    total += tl.dot(tl.load(a), tl.load(b))

def run(a, b, out):
    {before}
    kernel[(1,)](a, b, out, BLOCK=256)
"""


@pytest.mark.parametrize(
    ("sum", "more", "before", "bits"),
    [
        ("tl.float32", "", "pass", 16),
        ("total", "", "assert a.dtype == torch.float16", 16),
        ("total", "", "assert a.dtype in (torch.bfloat16, torch.half)", 16),
        ("total", "", "pass", 8),
        ("tl.int32", "", "pass", 8),
        ("tl.int32", "", "out = torch.empty(8, dtype=torch.float16)", 8),
        ("tl.float32", "", "assert a.dtype == torch.int8", 8),
        ("tl.float32", ", IS_FP8: tl.constexpr", "pass", 8),
        ("total", "", "at = a.to(torch.int64)", 8),
        ("tl.float32", ", K_scale_ptr=None", "pass", 8),
        ("tl.float32", ", sm_scale=None, qk_scale=None", "pass", 16),
    ],
)
def test_bits_of_an_element(sum: str, more: str, before: str, bits: int) -> None:
    tree = ast.parse(PRODUCT.format(sum=sum, more=more, before=before))
    run = next(one for one in tree.body if isinstance(one, ast.FunctionDef) and one.name == "run")
    assert bits_of(jitted(tree)["kernel"], (run,)) == bits


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
