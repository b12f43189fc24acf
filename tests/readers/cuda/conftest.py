"""nvcc as the outside judge."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

_WHEEL = "nvidia-cuda-nvcc"


@pytest.fixture(scope="session")
def nvcc(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """nvcc of the newest toolkit on PyPI; or of BWLINT_TEST_CUDA, a folder that `pip install --target` filled.

    Without it, or without a host compiler, the test is skipped, never in CI.
    """
    given = os.environ.get("BWLINT_TEST_CUDA")
    folder = Path(given) if given else tmp_path_factory.mktemp("cuda")
    problem = "" if given else _installed(folder)
    found = next(folder.glob("nvidia/*/bin/nvcc"), None)
    if found is not None and shutil.which("g++"):
        return found
    reason = "nvcc needs g++" if found else f"no nvcc in {folder}: {problem}"
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


def _installed(folder: Path) -> str:
    """Install nvcc with its headers into a folder; what went wrong, or ""."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(folder), _WHEEL]
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return ran.stderr.strip()
