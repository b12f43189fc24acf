"""One run of a program: how long it took, and the most memory that it and all its children held (Linux only)."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

SHARE = 0.05
"""Of one core, that looking at the memory may take at most."""
SHORTEST = 0.005
"""Seconds between two looks at least."""
MOST = 900.0
"""Seconds that a run may take."""


@dataclass(frozen=True, slots=True)
class Run:
    """Seconds on the wall, seconds of the processor over all processes, MiB of all of them at the highest look.

    `memory` is the sum of the proportional set sizes (PSS): a page that several processes share counts once. None
    where a run was over before anybody looked.
    """

    seconds: float
    work: float
    memory: float | None


class Failed(Exception):
    """A program did not do what it was started for; the message says what it did."""


def run(command: Sequence[str], folder: Path, environment: Mapping[str, str], most: float = MOST) -> Run:
    """Run a program to its end in a folder, its output thrown away. Raises Failed."""
    with tempfile.TemporaryFile() as told:
        began = time.perf_counter()
        process = _started(command, folder, environment, told.fileno())
        watcher = _Watcher(process.pid, began + most)
        watcher.start()
        try:
            _, status, used = os.wait4(process.pid, 0)
            seconds = time.perf_counter() - began
            process.returncode = os.waitstatus_to_exitcode(status)
        except BaseException:
            _kill(process.pid)  # it is in a session of its own, where no Ctrl-C arrives
            raise
        finally:
            watcher.stop()
        if watcher.is_late:
            raise Failed(f"took more than {most:.0f} s")
        if process.returncode:
            told.seek(0)
            raise Failed(f"ended with {process.returncode}: {_last_line(told.read())}")
    return Run(seconds, used.ru_utime + used.ru_stime, watcher.highest)


def _kill(session: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(session, signal.SIGKILL)


def _started(
    command: Sequence[str], folder: Path, environment: Mapping[str, str], errors: int
) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            start_new_session=True,
        )
    except OSError as error:
        raise Failed(f"does not start: {error.strerror}") from None


def _last_line(told: bytes) -> str:
    lines = told.decode("utf-8", "replace").strip().splitlines()
    return lines[-1][:200] if lines else "without a word"


@dataclass
class _Watcher:
    """Looks at the memory of a process and its children as often as costs little; kills them at `end`."""

    pid: int
    end: float
    highest: float | None = None
    is_late: bool = False
    _stopped: threading.Event = field(default_factory=threading.Event)

    def start(self) -> None:
        self._thread = threading.Thread(target=self._look_on)
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        self._thread.join()

    def _look_on(self) -> None:
        pause = SHORTEST
        while not self._stopped.wait(pause):
            began = time.perf_counter()
            held = resident(self.pid)
            if held:
                self.highest = max(self.highest or 0.0, held)
            now = time.perf_counter()
            pause = max(SHORTEST, (now - began) / SHARE)
            if now > self.end:
                self.is_late = True
                _kill(self.pid)
                return


def resident(pid: int) -> float:
    """MiB that a process and all below it hold, shared pages shared out; 0 for one that has ended."""
    own = (line for line in _lines(Path(f"/proc/{pid}/smaps_rollup")) if line.startswith("Pss:"))
    total = sum(float(line.split()[1]) for line in own) / 1024
    for children in Path("/proc").glob(f"{pid}/task/*/children"):
        total += sum(resident(int(child)) for line in _lines(children) for child in line.split())
    return total


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except OSError:
        return []  # the process has ended
