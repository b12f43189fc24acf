"""Record how a process ends, what it raises (uncaught, or told by pytest) and what it starts: builds are refused."""

from __future__ import annotations

import atexit
import os
import sys
import threading
import traceback
from types import ModuleType, TracebackType
from typing import Any

from . import facts

_DEEPEST = 12
"""Frames of an exception that are told, the innermost."""


def watch() -> None:
    facts.note("start", " ".join(getattr(sys, "orig_argv", sys.argv)), where=None)
    atexit.register(_end)
    hook, of_thread = sys.excepthook, threading.excepthook

    def uncaught(kind: type[BaseException], error: BaseException, way: TracebackType | None) -> None:
        raised(error)
        hook(kind, error, way)

    def uncaught_in_thread(given: Any) -> None:
        if given.exc_value is not None:
            raised(given.exc_value)
        of_thread(given)

    sys.excepthook, threading.excepthook = uncaught, uncaught_in_thread
    sys.addaudithook(_heard)


def _end() -> None:
    # A library may have put its own hook in the place of ours.
    last = getattr(sys, "last_value", None)
    if last is not None:
        raised(last)
    facts.note("end", "", where=None)


def raised(error: BaseException) -> None:
    """Write an exception down, with the way to where it was raised."""
    if isinstance(error, KeyboardInterrupt | SystemExit):
        return
    way = [(frame, line) for frame, line in traceback.walk_tb(error.__traceback__) if not facts.is_own(frame)]
    frames = [facts.place(frame, line) for frame, line in way[-_DEEPEST:]]
    chosen = next((one for one in reversed(way) if not facts.passes_on(one[0])), way[-1] if way else None)
    where = None if chosen is None else facts.place(*chosen)
    facts.note("exception", type(error).__name__, message=_said(error), where=where, way=frames)


def _said(error: BaseException) -> str:
    try:
        return str(error)[:1000]
    except Exception:
        return ""


def for_pytest(runner: ModuleType) -> None:
    """pytest's runner: what a test, its preparation or the collection of its file has raised, skips included."""
    made = runner.CallInfo.from_call.__func__

    def from_call(cls: Any, *arguments: Any, **named: Any) -> Any:
        call = made(cls, *arguments, **named)
        if call.excinfo is not None:
            raised(call.excinfo.value)
        return call

    runner.CallInfo.from_call = classmethod(from_call)


_BUILDERS = frozenset(["nvcc", "ninja", "cicc", "ptxas", "fatbinary", "nvlink"])
_ASKING = frozenset(["--version", "-V", "--help", "--list-gpu-arch", "--list-gpu-code", "--dryrun", "-t"])
_BEFORE_PROGRAM = frozenset(["&&", "||", ";", "|", "-m", "env", "exec"])
_SHELLS = frozenset(["sh", "bash", "dash", "zsh"])
_DEVICE = frozenset(["nvidia-smi", "nvidia-debugdump", "deviceQuery"])
_EVENTS = frozenset({"subprocess.Popen", "os.exec", "os.posix_spawn", "os.system"})


def _heard(event: str, arguments: tuple[Any, ...]) -> None:
    if event not in _EVENTS:
        return
    words = _words(event, arguments)
    names = [os.path.basename(word) for word in words]  # noqa: PTH119
    starts = (name for before, name in zip(("&&", *names), names, strict=False) if before in _BEFORE_PROGRAM)
    builder = next((name for name in starts if name in _BUILDERS), None)
    if builder is not None and not _ASKING & set(words):
        facts.launch("build", builder, words[1:8])
        raise facts.Unanswered(f"bwlint: {builder} is not started: kernels are written down, not built")
    device = next((name for name in names[:1] if name in _DEVICE), None)
    if device is not None:
        facts.refuse(device, "a program that asks the driver of this machine")
    if event == "os.exec":
        facts.note("exec", " ".join(words)[:200])


def _words(event: str, arguments: tuple[Any, ...]) -> list[str]:
    given = arguments[0] if event == "os.system" else arguments[1] or arguments[:1]
    if isinstance(given, str | bytes | os.PathLike):
        return os.fsdecode(given).split()
    words = [os.fsdecode(word) for word in given if isinstance(word, str | bytes | os.PathLike)]
    is_line = len(words) == 3 and words[1] == "-c" and os.path.basename(words[0]) in _SHELLS  # noqa: PTH119
    return words[2].split() if is_line else words
