"""Bytes that kernels of Triton take, beside `shared` in the metadata of Triton 3.9 for GPUTarget("cuda", 120, 32), with
elements of 16 bits and 8 warps; where something is not counted, at most that.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from pathlib import Path

import pytest

from bwlint.readers.python.blocks import TritonKernel
from bwlint.readers.python.least import MAX_AMOUNT, Function, Values

TREE = ast.parse((Path(__file__).parents[3] / "fixtures/smem/blocks_of_triton.py").read_text())
FUNCTIONS = {one.name: one for one in TREE.body if isinstance(one, Function)}
LARGE = {"BLOCK_M": 128, "BLOCK_N": 256, "BLOCK_K": 64}
GATHERED = """
def gathered(q, k, table, out, length, BLOCK: tl.constexpr, HEAD: tl.constexpr, FLAG: tl.constexpr):
    width = tl.arange(0, HEAD)
    query = tl.load(q + tl.arange(0, 16)[:, None] * HEAD + width[None, :])
    if length > 0:
        for start in range(0, length, BLOCK):
            rows = tl.load(table + start + tl.arange(0, BLOCK))
            if FLAG:
                more = tl.load(k + rows[:, None] * HEAD + width[None, :])
                tl.dot(more, more)
            key = tl.load(k + rows[None, :] * HEAD + width[:, None])
            tl.store(out, tl.dot(query, key))
"""
POINTED = """
def inner(left, right_at, total):
    return tl.dot(left, tl.load(right_at), total)

def pointed(a, b, K, BLOCK: tl.constexpr):
    left_at = tl.make_block_ptr(a, (K, K), (K, 1), (0, 0), (BLOCK, 2 * BLOCK), (1, 0))
    right_at = tl.make_block_ptr(b, (K, K), (K, 1), (0, 0), (2 * BLOCK, BLOCK), (1, 0))
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for i in tl.range(0, K, BLOCK, num_stages=2):
        total = inner(tl.load(left_at), right_at, total)
        left_at = tl.advance(left_at, (0, BLOCK))
"""
ENDED = """
def ended(k, lengths, out, count, stride, inner, BLOCK: tl.constexpr, HEAD: tl.constexpr):
    keys, width = tl.arange(0, BLOCK), tl.arange(0, HEAD)
    length = tl.load(lengths + tl.program_id(0))
    end = tl.minimum(length, count)
    left = tl.load(k + keys[:, None] * HEAD + width[None, :])
    at = k + keys[None, :] * stride + width[:, None] * inner
    for start in range(0, count, BLOCK):
        rows = start + keys
        right = tl.load({address}, {mask}, other=0.0)
        at += BLOCK * stride
        tl.store(out + keys[:, None] * BLOCK + keys[None, :], tl.dot(left, right))
"""
KEYS_BY_ONE, WIDTH_BY_ONE = "k + rows[None, :] + width[:, None] * stride", "k + rows[None, :] * stride + width[:, None]"
SHIFTED = "k + (length + rows[None, :]) * stride + width[:, None]"
HINTED = "k + tl.multiple_of(rows, 16)[None, :] + width[:, None] * stride"


def taken(source: Mapping[str, Function], name: str, constants: Mapping[str, int], stages: int) -> int:
    return 2 * TritonKernel(source[name], source, constants, lambda node: None).elements(stages)


def functions(source: str) -> dict[str, Function]:
    return {one.name: one for one in ast.parse(source).body if isinstance(one, Function)}


@pytest.mark.parametrize(
    ("name", "constants", "stages", "expected", "shared"),
    [
        ("multiply", LARGE, 4, 147456, 147456),
        ("multiply", LARGE, 3, 98304, 98304),
        ("multiply", LARGE | {"BLOCK_K": 128}, 3, 196608, 196608),
        ("tuned", LARGE, 4, 147456, 147456),
        ("attend", {"BLOCK_M": 128, "BLOCK_N": 128, "HEAD": 128}, 1, 65536, 65536),
        ("attend", {"BLOCK_M": 128, "BLOCK_N": 128, "HEAD": 256}, 1, 131072, 163840),
        ("attend", {"BLOCK_M": 64, "BLOCK_N": 64, "HEAD": 256}, 1, 65536, 73728),
        ("one_round", {"K": 128, "BLOCK": 256}, 3, 65536, 73728),
    ],
)
def test_at_most_what_triton_takes(
    name: str, constants: Mapping[str, int], stages: int, expected: int, shared: int
) -> None:
    assert taken(FUNCTIONS, name, constants, stages) == expected <= shared


@pytest.mark.parametrize(
    ("flag", "expected"),
    [
        ({}, 16 * 128 * 2 + 64 * 128 * 2),  # the address is loaded in the loop, and a product under a flag is not sure
        ({"FLAG": 0}, 16 * 128 * 2 + 64 * 128 * 2),
        ({"FLAG": 1}, 16 * 128 * 2 + 2 * 64 * 128 * 2),
    ],
)
def test_gathered_blocks_are_there_once(flag: Mapping[str, int], expected: int) -> None:
    assert taken(functions(GATHERED), "gathered", {"BLOCK": 64, "HEAD": 128, **flag}, 4) == expected


def test_block_pointers_and_helpers() -> None:
    assert taken(functions(POINTED), "pointed", {"BLOCK": 64}, 4) == 2 * 64 * 128 * 2


@pytest.mark.parametrize(
    ("address", "mask", "known", "stages", "shared"),
    [
        (KEYS_BY_ONE, "mask=rows[None, :] < end", {}, 1, 32768),
        (KEYS_BY_ONE, "(rows < end)[None, :]", {}, 1, 32768),
        ("at", "mask=(rows < end)[None, :]", {}, 1, 32768),  # either stride may be the one of 1
        ("at", "mask=(rows[None, :] < count) & (width[:, None] < length)", {"inner": 1}, 1, 32768),
        ("at", "mask=(rows < end)[None, :]", {"inner": 1}, 3, 81920),
        ("at", "mask=(rows[None, :] < count) & (length > 0)", {"inner": 1}, 3, 81920),
        (WIDTH_BY_ONE, "mask=rows[None, :] < end", {}, 3, 81920),
        (KEYS_BY_ONE, "mask=rows[None, :] < count", {}, 3, 81920),
        (SHIFTED, "mask=length + rows[None, :] < count", {}, 3, 81920),
        (HINTED, "mask=width[:, None] < length", {}, 3, 81920),
    ],
)
def test_a_mask_that_ends_at_a_loaded_number(
    address: str, mask: str, known: Mapping[str, int], stages: int, shared: int
) -> None:
    found = taken(functions(ENDED.format(address=address, mask=mask)), "ended", {"BLOCK": 64, "HEAD": 128, **known}, 4)
    assert found == (1 + stages) * 64 * 128 * 2 <= shared


def test_a_number_that_squares_itself_ends() -> None:
    squares = "".join("    BLOCK = BLOCK * BLOCK\n" for _ in range(100))
    source = POINTED.replace("    left_at = tl.make", f"{squares}    left_at = tl.make", 1)
    assert taken(functions(source), "pointed", {"BLOCK": 64}, 4) >= 1


def test_names_that_square_each_other_end() -> None:
    tree = ast.parse("".join(f"x{one} = x{one + 1} * x{one + 1}\n" for one in range(8)) + "x8 = 12345\n")
    assert Values(tree).least(ast.Name("x0"), None) == MAX_AMOUNT
