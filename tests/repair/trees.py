"""Trees to repair, and git to ask."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

GUARD = """import torch

def fast(x):
    if torch.cuda.get_device_capability() != (12, 0):
        raise RuntimeError("no")
    return kernel(x)
"""
IDENTITY = ("-c", "user.name=somebody", "-c", "user.email=some@example.org", "-c", "commit.gpgsign=false")


def git(folder: Path, *arguments: str, stdin: bytes | None = None) -> str:
    """What git says. Skips the test where there is no git; fails it where git does."""
    if shutil.which("git") is None:
        pytest.skip("no git")
    done = subprocess.run(["git", *IDENTITY, *arguments], cwd=folder, input=stdin, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode(errors="replace") + done.stdout.decode(errors="replace")
    return done.stdout.decode(errors="replace")


def put(folder: Path, files: Mapping[str, str | bytes]) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


def committed(folder: Path, files: Mapping[str, str | bytes]) -> None:
    """A repository with these files in it."""
    folder.mkdir(exist_ok=True)
    git(folder, "init", "-q")
    git(folder, "config", "core.autocrlf", "false")
    put(folder, files)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "all")


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a tree but those of git."""
    paths = (path for path in sorted(folder.rglob("*")) if ".git" not in path.parts and path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}
