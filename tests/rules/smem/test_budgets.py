"""Tables of shared memory in one file that another asks for the device, and amounts that a build makes ours."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysed import drafts, levels

TABLE = "SMEM_KIB = {80: 163, 86: 99, 90: 227, 100: 227}\n"
WHOLE = "SMEM_KIB = {80: 163, 86: 99, 90: 227, 100: 227, 120: 99, 121: 99}\n"
ASKS = "from pkg.hardware import SMEM_KIB\n\n\ndef shared(cc):\n    return SMEM_KIB[cc] << 10\n"
BY_FACADE = ASKS.replace("pkg.hardware", "pkg")
BY_GET = ASKS.replace("[cc]", ".get(cc, 48)")
OF_ONE = ASKS.replace("[cc]", "[90]")


@pytest.mark.parametrize(
    ("table", "asks", "found"),
    [
        (TABLE, ASKS, ["5 warning"]),
        (TABLE, BY_FACADE, ["5 warning"]),
        (TABLE, BY_GET, []),
        (TABLE, OF_ONE, []),
        (WHOLE, ASKS, []),
    ],
)
def test_a_table_of_another_file(tmp_path: Path, table: str, asks: str, found: list[str]) -> None:
    files = {"pkg/hardware.py": table, "pkg/__init__.py": "from pkg.hardware import *\n", "pkg/check.py": asks}
    assert levels(drafts(tmp_path, files, "smem", only="pkg/check.py")) == found


STAGES = "import triton\n\n\ndef stages(tile, {}):\n    return {}\n"
LIMIT = "import triton\n\n_SMEM_CAPACITY = {}\n\n\ndef stages(tile):\n    return {}\n"
FEWER = "import triton\n\n\ndef fewer(n, {0}):\n    while n > 2 and {1}:\n        n -= 1\n    return n\n"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (LIMIT.format("228 * 1024", "(_SMEM_CAPACITY - 1024) // tile"), ["3 warning"]),
        (LIMIT.format("99 * 1024", "(_SMEM_CAPACITY - 1024) // tile"), []),
        (LIMIT.format("228 * 1024", "tile + 1"), []),  # nothing is measured by it
        (LIMIT.format("228 * 1024", "(tile - _SMEM_CAPACITY) // 2"), []),
        (STAGES.format("max_smem_bytes: int = 228 * 1024", "max_smem_bytes // tile"), ["4 warning"]),
        (STAGES.format("*, max_smem_bytes=227 * 1024", "max_smem_bytes // tile"), ["4 warning"]),
        (STAGES.format("max_smem_bytes=None", "(max_smem_bytes or 1) // tile"), []),
        (STAGES.format("max_size=228 * 1024", "max_size // tile"), []),
        (FEWER.format("smem_per_stage", "smem_per_stage * n > 200_000"), ["5 warning"]),
        (FEWER.format("smem_per_stage", "smem_per_stage * n > 98_304"), []),
        (FEWER.format("rows_per_stage", "rows_per_stage * n > 200_000"), []),
    ],
)
def test_a_limit_in_python(tmp_path: Path, text: str, found: list[str]) -> None:
    assert levels(drafts(tmp_path, {"pkg/tiles.py": text}, "smem")) == found
