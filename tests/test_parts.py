"""The suite has a part that takes a CUDA toolkit: `-m toolkit` runs it, `-m "not toolkit"` the rest."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
SUITE = """import pytest


@pytest.fixture
def built(nvcc):
    return nvcc


def test_takes_one(toolkit): ...
def test_compiles(nvcc): ...
def test_by_another(built): ...
def test_takes_none(tmp_path): ...
@pytest.mark.parametrize("toolkit", [1])
def test_has_a_parameter_of_this_name(toolkit): ...
"""


def test_those_that_take_a_toolkit_are_marked(tmp_path: Path) -> None:
    shutil.copy(ROOT / "tests" / "conftest.py", tmp_path)
    (tmp_path / "test_it.py").write_text(SUITE)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n    toolkit\n    shared\n")
    folders = os.pathsep.join(str(ROOT / name) for name in ("src", "tools", "tests"))
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", "-m", "toolkit", "."],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": folders},
        capture_output=True,
        text=True,
    )
    marked = [line.partition("::")[2] for line in ran.stdout.splitlines() if "::" in line]
    assert marked == ["test_takes_one", "test_compiles", "test_by_another"], ran.stdout
    assert "3/5 tests collected (2 deselected)" in ran.stdout
