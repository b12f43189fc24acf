"""The suite has a part that takes a CUDA toolkit: `-m toolkit` runs it, `-m "not toolkit"` the rest."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

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


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ("toolkit", ["test_takes_one", "test_compiles", "test_by_another"]),
        ("not toolkit", ["test_takes_none", "test_has_a_parameter_of_this_name[1]"]),
    ],
)
def test_parts(tmp_path: Path, part: str, expected: list[str]) -> None:
    shutil.copy(ROOT / "tests" / "conftest.py", tmp_path)
    (tmp_path / "test_it.py").write_text(SUITE)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n    toolkit\n    shared\n")
    folders = os.pathsep.join(str(ROOT / name) for name in ("src", "tools", "tests"))
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", "-m", part, "."],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": folders},
        capture_output=True,
        text=True,
    )
    assert [line.partition("::")[2] for line in ran.stdout.splitlines() if "::" in line] == expected, ran.stdout
