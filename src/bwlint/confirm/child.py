"""Run one child process with a time limit, bounded output and a clean environment."""

from __future__ import annotations

import contextlib
import os
import secrets
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

if sys.platform == "linux":
    import resource

KEPT = 16 * 1024
"""Bytes of output that are kept: as many of its beginning as of its end."""
MOST_OUTPUT = 64 * 1024 * 1024
"""Bytes of output after which a child is ended."""
MOST_ANSWER = 8 * 1024 * 1024
_MOST_FILE = 4 << 30
_GRACE = 5.0
"""Seconds that a killed child has to go away: one that hangs in a driver may never do so."""
_PIECE = 65536
_PLAIN = {"LANG": "C", "LC_ALL": "C"}


@dataclass(frozen=True, slots=True)
class Ended:
    """How a child ended. `code` is None where a signal or the parent ended it. `output` is what it wrote on stdout and
    stderr, with its middle left out where it is long; `written` counts all of it in bytes. `answer` is what it wrote to
    the file descriptor that `ANSWER` names. `trouble` says in words why it did not end by itself, "" where it did."""

    code: int | None
    output: str
    written: int
    answer: bytes
    trouble: str
    seconds: float


ANSWER = "BWLINT_ANSWER"
"""The environment variable with the number of the file descriptor for a child's answer."""
MARK = "BWLINT_CHILD"
"""The one by which a child's children are known, whatever session they are in."""


def run(
    command: Sequence[str],
    *,
    limit: float,
    folder: Path,
    path: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    stdin: bytes = b"",
    memory: int | None = None,
    kept: int = KEPT,
) -> Ended:
    """Run a program without a shell for at most `limit` seconds, in `folder`, its home and its temporary folder.

    `memory` bounds its address space in bytes (a GPU's driver maps far more than it uses: give none there), `kept` the
    bytes of output that come back.
    `path` are folders of programs that come before the system's, `environment` is added to what is plain. The child
    leads a process group of its own, which is killed when it has ended or the time is up. Raises OSError where it
    cannot be started.
    """
    scratch = str(folder)
    programs = os.pathsep.join((*path, "/usr/local/bin", "/usr/bin", "/bin"))
    clean = {**_PLAIN, "PATH": programs, "HOME": scratch, "TMPDIR": scratch, **(environment or {})}
    mark = secrets.token_hex(16)
    start = time.monotonic()
    answer, answering = os.pipe()
    try:
        # The input lies in a file: a child that never reads it cannot block us.
        with (folder / ".stdin").open("w+b") as given:
            given.write(stdin)
            given.seek(0)
            started = subprocess.Popen(
                list(command),
                stdin=given,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                cwd=scratch,
                env={**clean, ANSWER: str(answering), MARK: mark},
                pass_fds=(answering,),
                start_new_session=True,
                preexec_fn=_memory_bound(memory),
            )
    except BaseException:
        os.close(answer)
        os.close(answering)
        raise
    os.close(answering)
    heard = _Heard(kept)
    try:
        _bound(started.pid)
        trouble = _listen(started, answer, heard, start, limit)
    except BaseException:
        # It leads a session of its own: no terminal sends it the Ctrl-C that ends us.
        end(started, mark)
        raise
    code, trouble = ending(started, mark, trouble, "it does not go away, the driver may hold it")
    return Ended(
        code if code is not None and code >= 0 and not trouble else None,
        heard.text(),
        heard.written,
        bytes(heard.answer),
        trouble,
        time.monotonic() - start,
    )


def _memory_bound(memory: int | None) -> Callable[[], None] | None:
    """What bounds the address space before the program begins: compilers start others at once, which inherit it."""
    if memory is None or sys.platform != "linux":
        return None

    def bound() -> None:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))

    return bound


def _bound(pid: int) -> None:
    """No core dumps, no huge files; only Linux sets limits of another process."""
    if sys.platform != "linux":
        return
    for name, most in ((resource.RLIMIT_CORE, 0), (resource.RLIMIT_FSIZE, _MOST_FILE)):
        with contextlib.suppress(OSError, ValueError):
            resource.prlimit(pid, name, (most, most))


@dataclass(slots=True)
class _Heard:
    kept: int
    head: bytearray = field(default_factory=bytearray)
    tail: bytearray = field(default_factory=bytearray)
    answer: bytearray = field(default_factory=bytearray)
    written: int = 0

    def add(self, piece: bytes) -> None:
        self.written += len(piece)
        half = self.kept // 2
        room = half - len(self.head)
        self.head += piece[:room] if room > 0 else b""
        self.tail += piece[max(room, 0) :]
        if len(self.tail) > half:
            del self.tail[:-half]

    def text(self) -> str:
        left_out = self.written - len(self.head) - len(self.tail)
        gap = f"\n[... {left_out} bytes left out ...]\n".encode() if left_out else b""
        return (bytes(self.head) + gap + bytes(self.tail)).decode("utf-8", "replace")


def _listen(started: subprocess.Popen[bytes], answer: int, heard: _Heard, start: float, limit: float) -> str:
    """Read until both pipes are closed, which is when the child and its children are gone; the trouble, if any."""
    assert started.stdout is not None
    output, deadline, late = started.stdout.fileno(), start + limit, f"not done after {limit:g} s"
    with selectors.DefaultSelector() as ready, open(answer, "rb", buffering=0), started.stdout:
        ready.register(output, selectors.EVENT_READ)
        ready.register(answer, selectors.EVENT_READ)
        while ready.get_map():
            left = deadline - time.monotonic()
            if left <= 0:
                return late
            for key, _ in ready.select(min(left, 0.2)):
                piece = os.read(key.fd, _PIECE)
                if not piece:
                    ready.unregister(key.fd)
                elif key.fd == answer:
                    heard.answer += piece
                else:
                    heard.add(piece)
            if heard.written > MOST_OUTPUT or len(heard.answer) > MOST_ANSWER:
                return f"it wrote more than {MOST_OUTPUT >> 20} MiB"
            # A grandchild may hold the pipes for as long as it likes.
            if started.poll() is not None and not ready.select(0):
                return ""
    try:
        started.wait(max(deadline - time.monotonic(), 0.1))
    except subprocess.TimeoutExpired:
        return late
    return ""


def ending(started: subprocess.Popen[bytes], mark: str, trouble: str, stays: str) -> tuple[int | None, str]:
    """End a child; its exit code, and why it did not end by itself. `stays` says that it does not go away."""
    code, gone = end(started, mark)
    if not gone:
        trouble = f"{trouble or 'ended'}; {stays}"
    if not trouble and code is not None and code < 0:
        trouble = f"ended by {signal_name(-code)}"
    return code, trouble


def end(started: subprocess.Popen[bytes], mark: str) -> tuple[int | None, bool]:
    """Kill what is left of the process group, and who left that; the exit code, and whether the child is gone."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(started.pid, signal.SIGKILL)
    for process in _marked(mark):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(process, signal.SIGKILL)
    try:
        return started.wait(_GRACE), True
    except subprocess.TimeoutExpired:
        return None, False


def _marked(mark: str) -> Iterator[int]:
    """Processes that were started with a mark in their environment, as far as the system shows that."""
    for entry in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if mark.encode() in entry.read_bytes():
                yield int(entry.parent.name)


def signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
