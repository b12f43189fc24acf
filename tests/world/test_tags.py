"""What is called like a device and is what the program's own classes write down."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysed import drafts, levels

GATE = "def store(gemm, tile):\n    if gemm.arch != 120:\n        raise ValueError('no such tile')\n    return tile\n"
CLASSES = (
    "class Base:\n    arch = 0\n\n\nclass Hopper(Base):\n    arch = 90\n\n\nclass Blackwell(Base):\n    arch = {}\n"
)
HANDED = (
    "\n\ndef shape(arch, tile):\n    if arch != 120:\n        raise ValueError('no such tile')\n    return tile\n"
    "\n\ndef run(gemm, tile):\n    return shape(gemm.arch, tile)\n"
)


@pytest.mark.parametrize(
    ("classes", "gate", "expected"),
    [
        (CLASSES.format("120"), GATE, []),
        (CLASSES.format("120"), HANDED, []),
        (CLASSES.format("capability()"), GATE, ["2 warning"]),
        ("", GATE, ["2 warning"]),
        ("class Hopper:\n    arch = 90\n", GATE, ["2 warning"]),
    ],
)
def test_an_attribute_of_what_is_handed_in(tmp_path: Path, classes: str, gate: str, expected: list[str]) -> None:
    assert levels(drafts(tmp_path, {"store.py": gate, "gemm.py": classes}, "family-split")) == expected
