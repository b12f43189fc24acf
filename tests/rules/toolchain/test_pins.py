"""Versions that requirements pin, and for whom the tree is."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysed import drafts, levels

GATE = "import torch\nif torch.cuda.get_device_capability() {test}:\n    raise RuntimeError('no')\n"


@pytest.mark.parametrize(
    ("name", "line", "test", "expected"),
    [
        ("requirements.txt", "torch==2.6.0", "!= (12, 0)", ["1 note"]),
        ("docker/requirements-gpu.in", "torch ~= 2.1", "!= (12, 1)", ["1 note"]),
        ("spark-gb10/requirements.txt", "torch==2.6.0", "!= (9, 0)", ["1 note"]),
        ("requirements.txt", "torch==2.6.0", "!= (9, 0)", []),
        ("requirements.txt", "torch==2.6.0", "< (8, 0)", []),
        ("requirements.txt", "torch==2.7.0", "!= (12, 0)", []),
        ("requirements.txt", "torch==2.10.0", "!= (12, 0)", []),
        ("requirements.txt", "torch>=2.3", "!= (12, 0)", []),
        ("requirements.txt", "torch==2.6.0+cpu", "!= (12, 0)", []),
        ("requirements.txt", "torch==2.6.0; sys_platform == 'darwin'", "!= (12, 0)", []),
        ("requirements.txt", "torchvision==0.21.0", "!= (12, 0)", []),
        ("requirements.txt", "# torch==2.6.0", "!= (12, 0)", []),
        ("requirements.md", "torch==2.6.0", "!= (12, 0)", []),
    ],
)
def test_a_torch_without_kernels(tmp_path: Path, name: str, line: str, test: str, expected: list[str]) -> None:
    files = {name: f"{line}\n", "gate.py": GATE.format(test=test)}
    assert levels(drafts(tmp_path, files, "toolchain")) == expected


def test_what_is_said(tmp_path: Path) -> None:
    (one,) = drafts(tmp_path, {"requirements.txt": "torch==2.6\n", "a.py": GATE.format(test="!= (12, 0)")}, "toolchain")
    assert one.message == "torch 2.6 is pinned, whose wheels have no kernels for 12.x"
    assert one.advice == "take 2.7 at least, with a CUDA that has them: 12.8 or later"
