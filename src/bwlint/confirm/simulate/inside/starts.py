"""Programs that the program starts: builds of kernels are written down and refused, others go on."""

from __future__ import annotations

import os
import sys
from typing import Any

from . import facts, journal

_BUILDERS = frozenset(["nvcc", "ninja", "cicc", "ptxas", "fatbinary", "nvlink"])
_ASKING = frozenset(["--version", "-V", "--help", "--list-gpu-arch", "--list-gpu-code", "--dryrun", "-t"])
_BEFORE_PROGRAM = frozenset(["&&", "||", ";", "|", "-m", "env", "exec"])
_SHELLS = frozenset(["sh", "bash", "dash", "zsh"])
_DEVICE = frozenset(["nvidia-smi", "nvidia-debugdump", "deviceQuery"])
_EVENTS = frozenset({"subprocess.Popen", "os.exec", "os.posix_spawn", "os.system"})


def watch() -> None:
    sys.addaudithook(_heard)


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
        journal.note("exec", " ".join(words)[:200])


def _words(event: str, arguments: tuple[Any, ...]) -> list[str]:
    given = arguments[0] if event == "os.system" else arguments[1] or arguments[:1]
    if isinstance(given, str | bytes | os.PathLike):
        return os.fsdecode(given).split()
    words = [os.fsdecode(word) for word in given if isinstance(word, str | bytes | os.PathLike)]
    is_line = len(words) == 3 and words[1] == "-c" and os.path.basename(words[0]) in _SHELLS  # noqa: PTH119
    return words[2].split() if is_line else words
