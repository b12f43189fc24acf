import pathlib
import subprocess
import sys

import pytest

TOOL = pathlib.Path(__file__).parents[1] / "tools" / "archs.py"


def run(*names):
    return subprocess.run([sys.executable, str(TOOL), *names], capture_output=True, text=True)


@pytest.mark.parametrize(
    "name,want",
    [
        ("90a", "-gencode=arch=compute_90a,code=sm_90a"),
        ("120f", "-gencode=arch=compute_120f,code=sm_120f"),
        ("121a", "-gencode=arch=compute_121a,code=sm_121a"),
        ("80-real", "-gencode=arch=compute_80,code=sm_80"),
    ],
)
def test_one(name, want):
    assert run(name).stdout.split() == [want]


def test_plain_name_has_ptx():
    assert "code=compute_80" in run("80").stdout


@pytest.mark.parametrize("name", ["12.0", "90b", "hopper"])
def test_refuses(name):
    assert run(name).returncode != 0
