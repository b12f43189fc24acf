"""Sources of a fleet that tests make, and a git that waits in the middle of one of them."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

from processes import SECONDS

SPLIT = """import torch

def fast(x):
    if torch.cuda.get_device_capability() != (12, 0):
        raise RuntimeError("no")
    return kernel(x)
"""
OTHER = SPLIT.replace("!= (12, 0)", "== (12, 1)")
CLEAN = "x = 1\n"
_GIT = """#!/bin/sh
case "$*" in
*fetch*{folder}/slow*)
    echo $$ $PPID > {folder}/began.new && mv {folder}/began.new {folder}/began
    {work}
;; esac
exec {git} "$@"
"""


def wheel(folder: Path, name: str, files: dict[str, str]) -> Path:
    """A wheel with these files."""
    path = folder / f"{name}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for member, text in files.items():
            archive.writestr(member, text)
    return path


def tree(folder: Path, files: dict[str, str]) -> Path:
    """A folder with these files."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def commit(folder: Path, files: dict[str, str]) -> str:
    """A repository with another commit; its digits."""
    git = ("git", "-C", str(tree(folder, files)), "-c", "user.name=a", "-c", "user.email=a@b")
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    for words in (("init", "-q", "-b", "main"), ("add", "."), ("commit", "-q", "-m", "one")):
        subprocess.run([*git, *words], env=environment, check=True)
    said = subprocess.run([*git, "rev-parse", "HEAD"], env=environment, check=True, capture_output=True, text=True)
    return said.stdout.strip()


def four_sources(folder: Path) -> Path:
    """The list of four; the third is a repository `slow`."""
    wheel(folder, "fork", {"fork/deep/a.py": SPLIT})
    tree(folder / "kit", {"kit/a.py": SPLIT, "kit/own.py": OTHER})
    commit(folder / "slow", {"slow/a.py": SPLIT})
    commit(folder / "quick", {"quick/a.py": CLEAN})
    listed = folder / "list.txt"
    listed.write_text(f"fork-1.0-py3-none-any.whl\nkit # ours\nfile://{folder}/slow\nfile://{folder}/quick@main\n")
    return listed


def git_that(folder: Path, work: str) -> str:
    """A PATH with a git that does some work first when `slow` is fetched; `began` then has its id and its parent's."""
    programs = tree(folder / "programs", {})
    programs.mkdir(exist_ok=True)
    program = programs / "git"
    program.write_text(_GIT.format(folder=folder, work=work, git=shutil.which("git")))
    program.chmod(0o755)
    return f"{programs}{os.pathsep}{os.environ['PATH']}"


def waits(folder: Path) -> str:
    """The work of a git that waits until there is a file `go`."""
    return f"while [ ! -e {folder}/go ]; do sleep 0.05; done"


def began(folder: Path) -> tuple[int, int]:
    """Wait until git fetches `slow`; its id and that of the process that began it."""
    file = folder / "began"
    _until(file.exists)
    own, parent = map(int, file.read_text().split())
    return own, parent


def is_gone(process: int) -> bool:
    """Whether a process ends soon, which nobody has to wait for."""

    def gone() -> bool:
        try:
            return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
        except OSError:
            return True

    return _until(gone)


def parent_of(process: int) -> int:
    """Who began a process."""
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


def _until(is_so: Callable[[], bool]) -> bool:
    end = time.monotonic() + SECONDS
    while not is_so():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True
