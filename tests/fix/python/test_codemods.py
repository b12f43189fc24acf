"""The fixes as codemods of libcst, run by its own tool."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import bwlint

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(bwlint.__file__).parents[1])}
HEAD = "import torch\n\n\ndef f():\n    major, minor = torch.cuda.get_device_capability()\n"
FAMILY = f"{HEAD}    if (major, minor) != (12, 0):\n        raise RuntimeError('unsupported')\n"
FIXED = FAMILY.replace("!= (12, 0)", "not in ((12, 0), (12, 1))")
VLLM = "from vllm.platforms import current_platform\n\n\ndef g():\n    "
TYPE = f"{VLLM}return current_platform.get_device_capability() in [89, 120]\n"
TYPED = TYPE.replace("[89, 120]", "[(8, 9), (12, 0), (12, 1)]")
BOUND = (
    "import torch\nfrom cutlass.cute.nvgpu import tcgen05\n\n\ndef kernel():\n    tcgen05.mma()\n\n\ndef f():\n"
    "    if torch.cuda.get_device_capability()[0] >= 10:\n        kernel()\n"
)
BOUNDED = BOUND.replace(">= 10", "in (10, 11)")


def run(folder: Path, name: str, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "libcst.tool", "codemod", "-x", f"bwlint.codemods.{name}"]
    settings = ["--no-format", "--hide-progress", "-j", "1"]
    return subprocess.run(
        [*command, *settings, *options, "m.py"], cwd=folder, env=ENVIRONMENT, check=True, capture_output=True, text=True
    )


@pytest.mark.parametrize(
    ("name", "options", "before", "after"),
    [
        ("Family", [], FAMILY.replace("\n", "\r\n"), FIXED.replace("\n", "\r\n")),
        ("Type", [], TYPE, TYPED),
        ("Bound", ["--unsafe-fixes"], BOUND, BOUNDED),
    ],
)
def test_codemod(tmp_path: Path, name: str, options: list[str], before: str, after: str) -> None:
    (tmp_path / "m.py").write_bytes(before.encode())
    run(tmp_path, name, *options)
    assert (tmp_path / "m.py").read_bytes() == after.encode()


def test_mark_and_encoding_stay(tmp_path: Path) -> None:
    before = b"\xef\xbb\xbf# caf\xc3\xa9\n" + FAMILY.encode()
    (tmp_path / "m.py").write_bytes(before)
    run(tmp_path, "Family")
    assert (tmp_path / "m.py").read_bytes() == b"\xef\xbb\xbf# caf\xc3\xa9\n" + FIXED.encode()


def test_same_as_the_command(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "m.py").write_text(FAMILY)
    run(tmp_path / "one", "Family")
    command = [sys.executable, "-m", "bwlint", "--fix", "m.py"]
    subprocess.run(command, cwd=tmp_path / "two", env=ENVIRONMENT, capture_output=True, check=False)
    assert (tmp_path / "one/m.py").read_text() == (tmp_path / "two/m.py").read_text() == FIXED


def test_text_without_a_project(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "libcst.tool", "codemod", "-x", "bwlint.codemods.Family", "-"]
    done = subprocess.run(
        command, input=FAMILY, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (1, "")
