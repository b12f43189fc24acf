"""Programs that tests start."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

SECONDS = 120
"""How long any of them may take on a machine that has much else to do."""
_SOURCE = Path(__file__).parents[1] / "src"


def hear_signals() -> None:
    """A shell that runs the tests in the background, nohup and cron have them ignored, and a child inherits that."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGPIPE"):
        signal.signal(getattr(signal, name), signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)


def begun(code: str, *arguments: str, **environment: str) -> subprocess.Popen[bytes]:
    """Python on some code that may import bwlint; it leads a session and hears every signal."""
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        env={**os.environ, "PYTHONPATH": str(_SOURCE), **environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=hear_signals,
    )


def line(process: subprocess.Popen[bytes]) -> bytes:
    """The next line on its stdout."""
    assert process.stdout is not None
    return process.stdout.readline()


def cmake_prints(cmake: str, folder: Path, script: str) -> list[str]:
    """The lines that a script of CMake prints with message(STATUS)."""
    file = folder / "script.cmake"
    file.write_text(f"cmake_minimum_required(VERSION 3.24)\n{script}", encoding="utf-8")
    done = subprocess.run([cmake, "-P", str(file)], capture_output=True, text=True, check=True)
    return [line.removeprefix("-- ") for line in done.stdout.splitlines()]
