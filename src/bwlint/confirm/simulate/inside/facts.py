"""Facts about the simulated chip, the answers that stand-ins give from them, and the records of a process: a JSON line
each, at once, so that a crash loses none."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import sys
import threading
import time
from functools import cache
from types import FrameType
from typing import Any, NoReturn

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


_LEAST_ADDRESS = 1 << 40
_OF_PRODUCT = frozenset({"name", "multiprocessors", "total_memory"})


class Unanswered(AttributeError, RuntimeError):
    """Nobody knows the answer. As an attribute it is missing, as a call it fails."""


@cache
def _job() -> dict[str, Any]:
    with open(os.path.join(os.environ[FOLDER], "job.json"), encoding="utf-8") as file:  # noqa: PTH118, PTH123
        found: dict[str, Any] = json.load(file)
    return found


def facts() -> dict[str, Any]:
    """The chip's facts by name; what is not known is not there."""
    found: dict[str, Any] = _job()["facts"]
    return found


def stand_ins() -> list[str]:
    """The modules that are to be there, though they are not built."""
    found: list[str] = _job()["stand_ins"]
    return found


def capability() -> tuple[int, int]:
    return facts()["major"], facts()["minor"]


def joined() -> int:
    """The capability as digits: 121."""
    major, minor = capability()
    return major * 10 + minor


def told(query: str, answer: Any) -> Any:
    """Write the question down with its answer, which is given back."""
    note("query", query, answer=repr(answer) if not isinstance(answer, str) else answer)
    return answer


def ask(query: str, fact: str) -> Any:
    """The fact of that name; raises `Unanswered` where the tables do not have it."""
    answer = facts().get(fact)
    if answer is None:
        told_of = facts()["chip"]
        instead = facts().get("instead") if fact in _OF_PRODUCT else None
        refuse(query, instead or f"bwlint's tables do not say it of {told_of}")
    return told(query, answer)


def refuse(query: str, reason: str) -> NoReturn:
    """Say that a question has no answer."""
    note("unanswered", query, reason=reason)
    raise Unanswered(f"bwlint: {query} is not answered for {facts()['chip']}: {reason}")


def launch(kind: str, name: str, arguments: Any = (), keywords: Any = None) -> None:
    """Write a launch down that does not happen."""
    told_arguments = [*map(shape, arguments), *(f"{key}={shape(value)}" for key, value in (keywords or {}).items())]
    note("launch", name, how=kind, arguments=told_arguments[:40])


def shape(value: Any) -> str:
    """An argument in a few letters: bfloat16[2, 8], 3, None, list."""
    dims, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    if dims is not None and dtype is not None:
        return f"{str(dtype).rpartition('.')[2]}{list(dims)}"
    if isinstance(value, int) and value >= _LEAST_ADDRESS:
        return "address"
    if value is None or isinstance(value, bool | int | float):
        return repr(value)
    return repr(value[:160]) if isinstance(value, str) else type(value).__name__
