"""Numbers of multiprocessors, tiers and questions of memory in Python; what rules make of them is in their fixtures."""

from __future__ import annotations

import ast
import time
from dataclasses import astuple

import pytest

from bwlint.model.details import Detail, MemoryTier
from bwlint.readers.counted import asks, counts, waits
from bwlint.readers.python import memory_queries, memory_tiers, multiprocessors

CASES = {
    "def f(x, num_sms=148): return x // num_sms": [("fixed", 148)],
    "def f(x, /, sm_count=132, *, y=1): return x // sm_count": [("fixed", 132)],
    "def f(x, num_sms=True): return x": [],
    "def f(x, num_smem=148): return x": [],
    "NUM_SMS = 132\ndef f(x): return x // NUM_SMS": [("fixed", 132)],
    "NUM_SMS = 132\ndef f(x): return x.multi_processor_count or NUM_SMS": [],
    "NUM_SMS = 132": [],
    "class A:\n    num_sms: int = 152": [("fixed", 152)],
    "def f(k, num_sms=132): k(num_sms, cooperative=True)": [("resident", 132)],
    "def f(k, num_sms=132): k(num_sms, cooperative=False)": [("fixed", 132)],
    "def f(p):\n    if p.multi_processor_count <= 67: return None\n    return 1": [("at-least", 68)],
    "def f(p): return p.multi_processor_count > 67 and p.ok": [("at-least", 68)],
    "def f(p, n): return p.multi_processor_count >= n": [],
    "def f(p): comm_sms = 32 if p else 3": [("reserved", 32), ("reserved", 3)],
    "def f(d): split_device_green_ctx(d, 2, min_count=32)": [("split", 2)],
    "def f(d, n): split_device_green_ctx(d, n, 32)": [],
}


@pytest.mark.parametrize(("code", "found"), CASES.items())
def test_numbers(code: str, found: list[tuple[str, int]]) -> None:
    operations = multiprocessors.operations(ast.parse(code), code)
    assert [(one.name, first(one.detail)) for one in operations] == found


def first(detail: Detail | None) -> object:
    assert detail is not None
    return astuple(detail)[0]


@pytest.mark.parametrize(
    ("word", "is_one"),
    {"kNumSMs": True, "SM_COUNT": True, "max_num_sms": True, "num_sms_for_comm": False, "H100_NUM_SMS": False}.items(),
)
def test_names(word: str, is_one: bool) -> None:
    assert counts(word) == is_one


def test_words() -> None:
    assert asks("multiProcessorCount") and asks("get_num_sms") and not asks("num_sms")
    assert waits("cudaLaunchCooperativeKernel") and waits("grid_sync") and not waits("KernelTmaCooperative")


SIZES = {"70 * GiB": 70 << 30, "70 << 30": 70 << 30, "70e9": 70_000_000_000, "70 * 1024": 70 << 30, "70": 70 << 30}


@pytest.mark.parametrize(("written", "size"), SIZES.items())
def test_sizes_of_tiers(written: str, size: int) -> None:
    code = f"def f(gpu_mem):\n    if gpu_mem >= {written}:\n        # H100\n        return 1\n"
    (one,) = memory_tiers.operations(ast.parse(code), code)
    assert one.detail == MemoryTier(size, 0)


def test_questions_of_a_module_itself() -> None:
    code = "import pynvml\nprint(pynvml.nvmlDeviceGetMemoryInfo(0).used)\n"
    assert [one.name for one in memory_queries.operations(ast.parse(code), code)] == ["nvmlDeviceGetMemoryInfo"]


HOSTILE = (
    "def f(num_sms=148):\n" + "    num_sms = num_sms\n" * 20_000,
    "def f(gpu_mem):\n    # H100\n" + "    if gpu_mem > 70:\n        pass\n" * 5_000,
    "x = '" + "memory.total," * 20_000 + "'\ny = 'nvidia-smi'\nint(x)\n",
    "num_sms" + " " * 200_000 + "= 1\n",
)


@pytest.mark.parametrize("code", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile(code: str) -> None:
    tree, start = ast.parse(code), time.process_time()
    for reader in (multiprocessors, memory_tiers, memory_queries):
        list(reader.operations(tree, code))
    assert time.process_time() - start < 5
