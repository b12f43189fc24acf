"""Run the user's program with stand-ins for CUDA libraries in every Python that it starts."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bwlint.confirm.child import MARK, ending
from bwlint.confirm.simulate.facts import Simulated
from bwlint.settings.config import UsageError

_INSIDE = Path(__file__).with_name("inside")
_FOLDER = "BWLINT_SIMULATION"
_BEGIN = """import importlib.util, sys
spec = importlib.util.spec_from_file_location({name!r}, {start!r}, submodule_search_locations=[{inside!r}])
sys.modules[{name!r}] = inside = importlib.util.module_from_spec(spec)
spec.loader.exec_module(inside)
inside.install()
inside.give_way({folder!r})
"""
_NAME = "_bwlint_simulation"


@dataclass(frozen=True, slots=True)
class ProgramEnd:
    """How a program ended. `code` is None where a signal or the time limit ended it; `trouble` says why."""

    code: int | None
    trouble: str
    seconds: float


def command(words: Sequence[str]) -> tuple[str, ...]:
    """The program that is meant: a script or `-m module` is Python's own that runs bwlint. Raises UsageError."""
    first = words[0]
    if first == "-m" or first.endswith(".py"):
        if first == "-m" and len(words) < 2:
            raise UsageError("-m names no module")
        if first != "-m" and not Path(first).is_file():
            raise UsageError(f"{first}: no such script")
        return (sys.executable, *words)
    beside = shutil.which(first) or shutil.which(first, path=str(Path(sys.executable).parent))
    if beside is None:
        raise UsageError(f"{first}: no such program")
    return (beside, *words[1:])


def run(words: Sequence[str], simulated: Simulated, stand_ins: Sequence[str], folder: Path, limit: float) -> ProgramEnd:
    """Run it for at most `limit` seconds, with the environment as it is; its records come to lie in `folder`.
    `stand_ins` are compiled modules that are taken to be there. What it prints goes to stderr. When it has ended, what
    it left behind is killed. Raises UsageError where it cannot be started."""
    (folder / "job.json").write_text(json.dumps({"facts": simulated.facts(), "stand_ins": list(stand_ins)}), "utf-8")
    start = folder / "start"
    start.mkdir()
    names = {"name": _NAME, "start": str(_INSIDE / "__init__.py"), "inside": str(_INSIDE), "folder": str(start)}
    (start / "sitecustomize.py").write_text(_BEGIN.format(**names), "utf-8")
    mark = secrets.token_hex(16)
    path = os.pathsep.join(filter(None, (str(start), os.environ.get("PYTHONPATH"))))
    begun = time.monotonic()
    try:
        started = subprocess.Popen(
            command(words),
            stdin=subprocess.DEVNULL,
            stdout=2,
            env={**os.environ, "PYTHONPATH": path, _FOLDER: str(folder), MARK: mark},
            start_new_session=True,
        )
    except OSError as error:
        raise UsageError(f"{words[0]}: {error.strerror or error}") from None
    trouble = ""
    try:
        started.wait(limit)
    except subprocess.TimeoutExpired:
        trouble = f"not done after {limit:g} s"
    finally:
        code, trouble = ending(started, mark, trouble, "it does not go away")
    return ProgramEnd(None if trouble else code, trouble, time.monotonic() - begun)
