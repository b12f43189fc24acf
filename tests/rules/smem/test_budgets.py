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
