"""Write the records of a process, one JSON line each, at once, so that a crash loses none."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import sys
import threading
import time
from types import FrameType
from typing import Any

FOLDER = "BWLINT_SIMULATION"
"""The environment variable with the folder of the job and of the records."""
_MOST = 20_000
"""Records of a process."""
_LONGEST = 400
_OWN = os.path.dirname(__file__) + os.sep  # noqa: PTH120
_LIBRARIES = frozenset(
    {
        *("torch", "triton", "pynvml", "cuda", "cupy", "cutlass", "numba", "pluggy", "_pytest"),
        *("importlib", "functools", "contextlib", "threading", "subprocess"),
    }
)
"""What passes a question on: the recorded frame is that of its caller."""

_seen: set[str] = set()
_writing = threading.local()
_file: tuple[int, int] = (0, -1)
"""The process that has it open, and its descriptor: a fork has a file of its own."""


def note(kind: str, what: str, **details: Any) -> None:
    """Write down what happens at the place from which it comes; the same at the same place once."""
    if getattr(_writing, "busy", False):
        return
    _writing.busy = True
    try:
        with contextlib.suppress(OSError):  # whoever takes the folder away loses his receipt, not his run
            _write(
                {"kind": kind, "what": what[:_LONGEST], "where": None if "where" in details else _where(), **details}
            )
    finally:
        _writing.busy = False


def _write(record: dict[str, Any]) -> None:
    line = json.dumps(record, default=str, sort_keys=True)
    descriptor = _opened()
    if line in _seen or len(_seen) > _MOST:
        return
    _seen.add(line)
    if len(_seen) > _MOST:
        line = json.dumps({"kind": "full", "what": f"more than {_MOST} records", "where": None})
    os.write(descriptor, line.encode() + b"\n")


def _opened() -> int:
    global _file
    process = os.getpid()
    if _file[0] != process:
        if _file[0]:
            _seen.clear()
        name = os.path.join(os.environ[FOLDER], f"{time.monotonic_ns():020}-{process}-{secrets.token_hex(4)}.records")  # noqa: PTH118
        _file = (process, os.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0), 0o600))
    return _file[1]


def _where() -> dict[str, Any] | None:
    """The frame that had the question: the innermost that is neither ours nor a library's that passes it on."""
    frame: FrameType | None = sys._getframe()
    inner = None
    while frame is not None:
        if not is_own(frame):
            inner = inner or frame
            if not passes_on(frame):
                return place(frame, frame.f_lineno)
        frame = frame.f_back
    return place(inner, inner.f_lineno) if inner is not None else None


def passes_on(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0] in _LIBRARIES


def is_own(frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith((_OWN, "<frozen"))


def place(frame: FrameType, line: int) -> dict[str, Any]:
    """A frame as data: its path, line and function."""
    return {"path": frame.f_code.co_filename, "line": line, "function": frame.f_code.co_name}
