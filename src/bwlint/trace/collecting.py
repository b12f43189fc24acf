"""Build the collector, find CUPTI, and run the program with it."""

from __future__ import annotations

import platform
import shutil
import signal
import subprocess
import sysconfig
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_SOURCE = Path(__file__).with_name("collector.c")
_COMPILERS = ("cc", "gcc", "clang")
_INJECTION = "CUDA_INJECTION64_PATH"
_GRACE = 5.0
"""Seconds that a program has to end after it was asked to."""
_CUPTI = ("libcupti.so.13", "libcupti.so.12")
_IN_TOOLKITS = ("extras/CUPTI/lib64", "lib64", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib")
_IN_WHEELS = ("nvidia/cu13/lib", "nvidia/cuda_cupti/lib")


class NotTraced(Exception):
    """Why a program cannot be traced."""


@dataclass(frozen=True, slots=True)
class Ran:
    """How a program ended: `code` None where `signal` ended it, `stopped` why we did, `interrupted` the signal."""

    code: int | None
    signal: str
    seconds: float
    stopped: str = ""
    interrupted: BaseException | None = None


def built(folder: Path, environment: Mapping[str, str]) -> Path:
    """The collector, compiled into a folder by the user's compiler. Raises `NotTraced`."""
    named = environment.get("CC", "").split()[:1]
    compiler = next((path for name in (*named, *_COMPILERS) if (path := shutil.which(name))), None)
    if compiler is None:
        raise NotTraced("no C compiler found (cc, gcc, clang): bwlint needs one to build the collector")
    library = folder / "collector.so"
    command = [compiler, "-O2", "-shared", "-fPIC", "-fvisibility=hidden", "-o", str(library), str(_SOURCE)]
    done = subprocess.run([*command, "-ldl", "-lpthread"], capture_output=True, text=True, errors="replace")
    if done.returncode:
        raise NotTraced(f"{compiler} does not compile the collector:\n{done.stderr.strip()[-2000:]}")
    return library


def cupti(environment: Mapping[str, str]) -> str:
    """The path of a CUPTI for programs that bring none, of the running Python or a toolkit; "" where there is none."""
    wheels = [Path(sysconfig.get_path("platlib")) / part for part in _IN_WHEELS]
    homes = [Path(home) for name in ("CUDA_HOME", "CUDA_PATH") if (home := environment.get(name))]
    toolkits = [home / part for home in (*homes, Path("/usr/local/cuda")) for part in _IN_TOOLKITS]
    places = (folder / name for folder in (*wheels, *toolkits) for name in _CUPTI)
    return next((str(place) for place in places if place.is_file()), "")


def run(
    command: Sequence[str], folder: Path, environment: Mapping[str, str], *, events: bool, limit: float | None
) -> Ran:
    """Run a program with its own streams; the collectors of its processes write to `folder`. Raises `NotTraced`.
    `limit` is in seconds: after it the program is asked to end, and ended. So it is where somebody interrupts us."""
    if platform.system() != "Linux":
        raise NotTraced("bwlint trace runs on Linux only: CUDA loads a collector nowhere else")
    if environment.get(_INJECTION):
        raise NotTraced(f"{_INJECTION} is set: another tool is in there")
    given = {
        **environment,
        _INJECTION: str(built(folder, environment)),
        "BWLINT_TRACE_FOLDER": str(folder),
        "BWLINT_TRACE_CUPTI": cupti(environment),
        **({"BWLINT_TRACE_EVENTS": "1"} if events else {}),
    }
    start = time.monotonic()
    try:
        started = subprocess.Popen(list(command), env=given)
    except OSError as error:
        raise NotTraced(f"{command[0]}: {error.strerror}") from None
    stopped, interrupted = "", None
    try:
        started.wait(limit)
    except subprocess.TimeoutExpired:
        stopped = f"not done after {limit:g} s"
        _end(started)
    except BaseException as error:  # a receipt is owed all the same; the caller raises it again
        stopped, interrupted = "interrupted", error
        _end(started)
    code, seconds = started.returncode, time.monotonic() - start
    return Ran(None if code < 0 else code, _name(-code) if code < 0 else "", seconds, stopped, interrupted)


def _end(started: subprocess.Popen[bytes]) -> None:
    started.terminate()
    try:
        started.wait(_GRACE)
    except subprocess.TimeoutExpired:
        started.kill()
        started.wait()


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def survivors(folder: Path) -> tuple[int, ...]:
    """Processes with a collector that are still there: what they run from now on is not in the receipt."""
    numbers = (int(file.stem) for file in folder.glob("*.jsonl") if file.stem.isdecimal())
    return tuple(sorted(number for number in numbers if _lives(number, folder)))


def _lives(number: int, folder: Path) -> bool:
    try:
        return str(folder).encode() in Path(f"/proc/{number}/environ").read_bytes()
    except OSError:
        return False
