"""Tiles that the device picks in Python: who takes them."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysed import drafts, levels

TILE = """import torch


def {name}(head_dim):
    # parts of 8.6 and 8.9 have little shared memory
    major, minor = torch.cuda.get_device_capability()
    if major == 8 and minor > 0:
        BLOCK_M, BLOCK_N = 64, 32
    else:
        BLOCK_M, BLOCK_N = 128, 64
    return BLOCK_M, BLOCK_N
"""
USES = "from kit.tiles import {name}\n\n\ndef run(q):\n    return {name}(q.shape[-1])\n"


@pytest.mark.parametrize(
    ("name", "home", "users", "expected"),
    [
        ("_tile", "kit/tiles.py", ["kit/attention.py"], ["warning"]),
        ("tile", "kit/tiles.py", [], ["warning"]),
        ("_tile", "kit/tiles.py", ["tests/test_attention.py"], ["note"]),
        ("_tile", "kit/tiles.py", ["benchmarks/attention.py"], ["note"]),
        ("_tile", "kit/tiles.py", ["tests/test_attention.py", "kit/attention.py"], ["warning"]),
        ("tile", "benchmarks/tiles.py", [], ["note"]),
        ("tile", "workbench/tiles.py", [], ["warning"]),
    ],
)
def test_a_tile_that_nothing_shipped_takes(
    tmp_path: Path, name: str, home: str, users: list[str], expected: list[str]
) -> None:
    files = {"kit/__init__.py": "", home: TILE.format(name=name), **{user: USES.format(name=name) for user in users}}
    assert [level.partition(" ")[2] for level in levels(drafts(tmp_path, files, "smem"))] == expected
