"""The programs that are timed beside bwlint, where they are, and the machine that they run on."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

QUIET = {"SEMGREP_ENABLE_VERSION_CHECK": "0", "SEMGREP_SEND_METRICS": "off"}
"""Variables with which a program does not ask the network."""
_MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Tool:
    """A program that is there, with what it says of its version."""

    name: str
    program: str
    version: str


@dataclass(frozen=True, slots=True)
class Absent:
    """A program that is not, and why."""

    name: str
    reason: str


def found(name: str, program: str, folders: Sequence[Path]) -> Tool | Absent:
    """A program in one of some folders, beside this Python or on PATH."""
    near = [*folders, Path(sys.executable).parent, *Path(sysconfig.get_path("purelib")).glob("nvidia/cu*/bin")]
    path = os.pathsep.join([*map(str, near), os.environ.get("PATH", os.defpath)])
    real = shutil.which(program, path=path)
    if real is None:
        return Absent(name, f"not installed ({program} is neither on PATH nor in a folder given with --tools)")
    try:
        done = subprocess.run(
            [real, "--version"], capture_output=True, text=True, timeout=60, check=True, env={**os.environ, **QUIET}
        )
    except (OSError, subprocess.SubprocessError) as error:
        return Absent(name, f"does not say its version: {error}")
    return Tool(name, real, _version(done.stdout))


def _version(said: str) -> str:
    """The longest of the first numbers with points in what a program says: "release 13.5, V13.5.37" is 13.5.37."""
    return max(re.findall(r"\d+(?:\.\d+)+", said)[:2], key=len, default=said.strip())


def checkout(folder: Path) -> str:
    """What a checkout of bwlint is: its version, and the commit where git knows it."""
    text = (folder / "src/bwlint/__init__.py").read_text("utf-8")
    version = next((line.split('"')[1] for line in text.splitlines() if line.startswith("__version__")), "?")
    asked = ["git", "-C", str(folder), "describe", "--always", "--dirty", "--exclude=*"]
    is_own = (folder / ".git").exists()  # an export may lie in a repository that is another one
    done = subprocess.run(asked, capture_output=True, text=True, check=False) if is_own else None
    return f"{version} ({done.stdout.strip()})" if done is not None and not done.returncode else version


def machine() -> dict[str, str | float]:
    """What the times are good for: processor, cores that may be used, memory, system, load before the first run."""
    return {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)),
        "memory": f"{os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE') / _MIB / 1024:.0f} GiB",
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": platform.python_version(),
        "load": round(os.getloadavg()[0], 2),
    }


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())
