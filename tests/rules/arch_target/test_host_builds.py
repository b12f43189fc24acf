"""A build that is bound to x86_64 needs nothing for 12.1, which aarch64 machines alone have."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysed import drafts, levels

STEP = """name: wheels
jobs:
  wheel:
    runs-on: ${{ matrix.runner }}
    steps:
      - run: |
          if [ "${{ matrix.arch }}" = "aarch64" ]; then
            export KIT_CUDA_ARCHS="10.0a;12.0a"
          elif [ "${{ matrix.stream }}" = "cu130" ]; then
            export KIT_CUDA_ARCHS="9.0a;12.0a"
          else
            export KIT_CUDA_ARCHS="8.0;12.0a"
          fi
"""
JOB = """name: release
jobs:
  other:
    runs-on: ubuntu-24.04-arm
  wheel:
    runs-on: {runner}
    strategy:
      matrix:
        arch: [{archs}]
    env:
      KIT_CUDA_ARCHS: "9.0a;12.0a"
    steps:
      - run: |
          export KIT_OTHER_ARCHS="8.0;12.0a"
          pip wheel . {more}
"""
PYTHON = """import platform
from torch.utils.cpp_extension import CUDAExtension
if platform.machine() {test}:
    KIT_CUDA_ARCHS = "9.0a;12.0a"
elif fast:
    KIT_CUDA_ARCHS = "8.0;12.0a"
"""


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        (".github/workflows/publish.yml", STEP, ["8 warning"]),
        (
            "build.sh",
            'if [ $M = aarch64 ] && [ $F = 1 ]; then\nA_ARCHS="12.0a 9.0a"\nelse\nB_ARCHS="12.0a 9.0a"\nfi',
            [2, 4],
        ),
        (
            "build.sh",
            'if [ $M = aarch64 ] || [ $F = 1 ]; then\nA_ARCHS="12.0a 9.0a"\nelse\nB_ARCHS="12.0a 9.0a"\nfi',
            [2],
        ),
        ("a.cmake", "if(P MATCHES aarch64)\nelseif(FAST)\nset(CMAKE_CUDA_ARCHITECTURES 80 120a)\nendif()", []),
        ("a.cmake", "if(P MATCHES aarch64 AND B)\nelse()\nset(CMAKE_CUDA_ARCHITECTURES 80 120a)\nendif()", [3]),
        ("setup.py", PYTHON.format(test='== "aarch64"'), [4]),
        ("setup.py", PYTHON.format(test='== "x86_64"'), [6]),
    ],
)
def test_branches(tmp_path: Path, name: str, text: str, expected: list[str | int]) -> None:
    wanted = [f"{one} warning" if isinstance(one, int) else one for one in expected]
    found = levels(drafts(tmp_path, {name: text}, "arch-target"))
    assert [one.replace("note", "warning") for one in found] == wanted


@pytest.mark.parametrize(
    ("runner", "archs", "more", "warned"),
    [
        ("ubuntu-22.04", "cp312", "", False),
        ("ubuntu-24.04-arm", "cp312", "", True),
        ("self-hosted", "cp312", "", True),
        ("self-hosted", "x86_64", "", False),
        ("self-hosted", "x86_64, aarch64", "", True),
        ("self-hosted", "cp312", "--plat-name manylinux_2_28_x86_64", False),
        ("ubuntu-latest", "cp312", "--platform linux/arm64", True),
        ("ubuntu-latest", "cp312", "--platform $PLATFORM", True),
        ("${{ matrix.runner }}", "cp312", "", True),
    ],
)
def test_jobs_of_a_workflow(tmp_path: Path, runner: str, archs: str, more: str, warned: bool) -> None:
    text = JOB.format(runner=runner, archs=archs, more=more)
    found = levels(drafts(tmp_path, {".github/workflows/release.yml": text}, "arch-target"))
    assert found == (["11 warning", "14 warning"] if warned else [])
