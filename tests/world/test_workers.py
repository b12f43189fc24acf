"""Processes that read end with the one that began them."""

from __future__ import annotations

import os
import signal

import pytest
from processes import SECONDS, begun, line

ENDLESS = """
import os, time
from bwlint.world.workers import workers

def endless(_):
    os.write(1, b"begun\\n")  # in one piece, whoever else writes
    time.sleep(3600)

def nothing():
    pass

if __name__ == "__main__":
    with workers(3, begin=nothing) as pool:
        list(pool.map(endless, range(3)))
"""


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGKILL"])
def test_workers_end_with_a_parent_that_a_signal_ends(name: str) -> None:
    process = begun(ENDLESS)
    assert [line(process) for _ in range(3)] == [b"begun\n"] * 3
    process.send_signal(getattr(signal, name))
    # They hold the pipe too: this comes back when the last of them is gone.
    process.communicate(timeout=SECONDS)
    assert process.returncode == -getattr(signal, name)
