"""One run of a program."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from timing.process import Failed, resident, run

pytestmark = pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="memory is read from /proc")

HOLDING = """
import subprocess, sys
held = bytearray(b"x") * (32 << 20)
if sys.argv[1:]:
    subprocess.run([sys.executable, "-c", sys.argv[1]])
else:
    print("held", flush=True)
    sys.stdin.read()
"""


def python(*arguments: str) -> tuple[str, ...]:
    return (sys.executable, *arguments)


def test_it_runs_in_the_folder_with_the_variables_given(tmp_path: Path) -> None:
    made = run(python("-c", "import os; open(os.environ['NAME'], 'w')"), tmp_path, {"NAME": "made"})
    assert (tmp_path / "made").exists()
    assert made.seconds > 0
    assert made.work > 0


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import sys; sys.exit('first\\nlast')", "ended with 1: last"),
        ("import sys; sys.exit(3)", "ended with 3: without a word"),
        ("import os; os.kill(os.getpid(), 9)", "ended with -9: without a word"),
    ],
)
def test_a_program_that_fails_says_why(tmp_path: Path, code: str, reason: str) -> None:
    with pytest.raises(Failed, match=f"^{reason}$"):
        run(python("-c", code), tmp_path, {})


def test_a_program_that_is_none_is_told(tmp_path: Path) -> None:
    with pytest.raises(Failed, match="does not start: No such file or directory"):
        run([str(tmp_path / "none")], tmp_path, {})


def test_a_program_that_does_not_end_is_ended(tmp_path: Path) -> None:
    with pytest.raises(Failed, match="took more than 0 s"):
        run(python("-c", "import time; time.sleep(600)"), tmp_path, {}, most=0.2)


def test_memory_is_that_of_children_too() -> None:
    with subprocess.Popen(
        python("-c", HOLDING, HOLDING), stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    ) as holding:
        assert holding.stdout is not None
        assert holding.stdout.readline() == b"held\n"
        assert 64 <= resident(holding.pid) < 200
    assert resident(holding.pid) == 0


def test_a_page_that_is_shared_counts_once() -> None:
    """Two processes hold what one has made before it became two."""
    held = bytearray(b"x") * (64 << 20)
    before = resident(os.getpid())
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.close(writer)
        os.read(reader, 1)
        os._exit(0)
    try:
        assert resident(os.getpid()) < before + len(held) / 2**21
    finally:
        os.close(writer)
        os.waitpid(child, 0)
        os.close(reader)
