"""A fleet on a real cluster of Dask: a scheduler and workers, each a process of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, cast

import pytest
from fleets import CLEAN, SPLIT, began, commit, git_that, is_gone, parent_of, tree, waits
from processes import SECONDS, begun

from bwlint import __version__
from bwlint.fleet.job import AnsweredJob, AskedOfAll, FleetJob, FleetSource, NotChecked, answered
from bwlint.fleet.scheduler import outcome_of

CancelledError = pytest.importorskip("distributed").CancelledError
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes in /proc")

PROGRAM = "import sys; from bwlint import cli; sys.argv[0] = 'bwlint'; cli.main()"
SCHEDULER = """
import asyncio, sys
from distributed import Scheduler

async def main():
    async with Scheduler(host="127.0.0.1", port=0, dashboard_address=None) as scheduler:
        print(scheduler.address, flush=True)
        await scheduler.finished()

asyncio.run(main())
"""
WORKER = """
import asyncio, sys
from distributed import Worker

async def main():
    async with Worker(sys.argv[1], nthreads=1, dashboard=False) as worker:
        print("ready", flush=True)
        await worker.finished()

asyncio.run(main())
"""


def started(stack: ExitStack, code: str, *arguments: str, **environment: str) -> tuple[subprocess.Popen[bytes], str]:
    """A program that goes with the stack, and its first line."""
    process = begun(code, *arguments, **environment)
    stack.callback(process.communicate)
    stack.callback(process.kill)
    assert process.stdout is not None
    return process, process.stdout.readline().decode().strip()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[str]:
    """The address of a scheduler with two workers, whose git waits for `go`."""
    path = git_that(tmp_path, waits(tmp_path))
    with ExitStack() as stack:
        _, address = started(stack, SCHEDULER)
        for _ in range(2):
            started(stack, WORKER, address, PATH=path)
        yield address


def run(folder: Path, state: str, *more: str) -> subprocess.Popen[bytes]:
    return begun(PROGRAM, "fleet", str(folder / "list.txt"), "--state", str(folder / state), "--format", "json", *more)


def test_a_worker_that_is_killed_loses_nothing(tmp_path: Path, cluster: str) -> None:
    commit(tmp_path / "slow", {"slow/a.py": SPLIT})
    tree(tmp_path / "kit", {"kit/a.py": SPLIT})
    tree(tmp_path / "clean", {"a.py": CLEAN})
    (tmp_path / "list.txt").write_text(f"file://{tmp_path}/slow\nkit\nclean\n")
    process = run(tmp_path, "dask", "--scheduler", cluster)
    shim, child = began(tmp_path)
    os.kill(parent_of(child), signal.SIGKILL)
    assert is_gone(shim), "git outlives its worker"
    assert is_gone(child), "the source's process outlives its worker"
    (tmp_path / "go").touch()
    by_dask, _ = process.communicate(timeout=SECONDS)
    by_processes, _ = run(tmp_path, "processes").communicate(timeout=SECONDS)
    told: dict[str, Any] = json.loads(by_dask)
    assert [row["status"] for row in told["sources"]] == ["checked"] * 3
    assert [hazard["sources"] for hazard in told["hazards"]] == [[f"file://{tmp_path}/slow", "kit"]]
    assert by_dask == by_processes


def test_a_worker_with_another_bwlint(tmp_path: Path) -> None:
    job = FleetJob(FleetSource("kit", "path", str(tmp_path)), AskedOfAll(("12.0",)), tool="0.0.1")
    assert answered(job).answer == NotChecked(f"the worker has bwlint {__version__}, and this machine 0.0.1")


class Lost:
    """A future whose scheduler is gone; that is no Exception."""

    def result(self) -> AnsweredJob:
        raise CancelledError("connection lost")


def test_a_scheduler_that_is_lost() -> None:
    assert outcome_of(cast(Any, Lost())).answer == NotChecked("by Dask: CancelledError: connection lost")


def test_nobody_at_an_address(tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text("kit\n")
    process = run(tmp_path, "state", "--scheduler", "nonsense://x")
    out, errors = process.communicate(timeout=SECONDS)
    assert (process.returncode, out) == (2, b"")
    assert b"Error: no scheduler at nonsense://x: " in errors
