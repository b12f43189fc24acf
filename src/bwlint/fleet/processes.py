"""Run one process for each source on this machine, so that a crash costs one source."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

import bwlint
from bwlint.fleet.job import Answer, FleetJob, NotChecked, answer_of, packed_answer
from bwlint.index.packed import NotData

# The parent's own bwlint, whatever else is installed; and nothing of the folder that it happens to stand in.
_BEGIN = """
import sys
sys.path[:] = [sys.argv[1], *filter(None, sys.path)]
import bwlint
del sys.path[0]
from bwlint.fleet.child import main
main()
"""


@dataclass(frozen=True, slots=True)
class AnsweredJob:
    """An answer as bytes (`job.answer_of`), and what its process said on stderr."""

    data: bytes
    said: str

    @property
    def answer(self) -> Answer:
        return answer_of(self.data)


def failed(reason: str, said: str = "") -> AnsweredJob:
    return AnsweredJob(packed_answer(NotChecked(reason)), said)


def by_processes(jobs: Sequence[FleetJob], at_once: int) -> Iterator[tuple[FleetJob, AnsweredJob]]:
    """The jobs as they are done, so many at once. Where an exception leaves it, nobody waits for the others."""
    pool = ThreadPoolExecutor(at_once)
    try:
        begun: dict[Future[AnsweredJob], FleetJob] = {pool.submit(answered, job): job for job in jobs}
        for future in as_completed(begun):
            yield begun[future], future.result()
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    pool.shutdown()


def answered(job: FleetJob) -> AnsweredJob:
    """What a process of its own makes of a job."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(
            [sys.executable, "-c", _BEGIN, str(Path(bwlint.__file__).parents[1])],
            stdin=subprocess.PIPE,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
        try:
            assert process.stdin is not None
            with contextlib.suppress(BrokenPipeError):  # it is gone already, and its code says why
                # Its stdin stays open: it ends with that, and so with this process, however that ends.
                process.stdin.write(f"{job.told()}\n".encode())
                process.stdin.flush()
            code: int | None = process.wait(job.asked.seconds)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            _end(process)
        out.seek(0)
        err.seek(0)
        return _judged(code, out.read(), err.read().decode("utf-8", "replace"), job)


def _end(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.wait()
    with contextlib.suppress(BrokenPipeError):
        process.stdin.close()  # type: ignore[union-attr]


def _judged(code: int | None, data: bytes, said: str, job: FleetJob) -> AnsweredJob:
    if code is None:
        return failed(f"not done after {job.asked.seconds} s", said)
    if code < 0:
        return failed(f"its process was ended by {signal.Signals(-code).name}", said)
    try:
        answer_of(data)
    except NotData:
        last = said.strip().splitlines()[-1:] or ["it says nothing"]
        return failed(f"its process ended with code {code}: {last[0]}")
    return AnsweredJob(data, said)
