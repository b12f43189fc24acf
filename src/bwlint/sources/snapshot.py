"""A commit of a local repository as files, without filters, hooks or a clone."""

# Real paths are plain strings throughout, as `walk` gives them.
# ruff: noqa: PTH118

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from bwlint.sources.pypi import SourceError
from bwlint.sources.worktree import asked, talking

_LINK, _SUBMODULE = "120000", "160000"


@dataclass(frozen=True, slots=True)
class _Entry:
    mode: str
    name: str
    path: PurePosixPath


def export(top: str, commit: str, folder: Path) -> int:
    """Write the files of a commit, submodules too, into a new folder; how many are missing. Raises SourceError."""
    code, listed = asked(top, "ls-tree", "-r", "-z", "--full-tree", commit)
    if code:
        raise SourceError(f"git cannot list the files of {commit[:12]}")
    (folder / ".git").mkdir(parents=True)  # where a tree begins
    entries = list(_entries(listed))
    submodules = [entry for entry in entries if entry.mode == _SUBMODULE]
    missing = _write(top, [entry for entry in entries if entry.mode != _SUBMODULE], folder)
    for entry in submodules:
        missing += _submodule(os.path.join(top, *entry.path.parts), entry, folder.joinpath(*entry.path.parts))
    return missing


def _submodule(top: str, entry: _Entry, folder: Path) -> int:
    if not os.path.lexists(os.path.join(top, ".git")):
        return 0  # nobody has it here, then or now
    try:
        return export(top, entry.name, folder)
    except (SourceError, OSError):
        return 1


def _entries(listed: str) -> Iterator[_Entry]:
    for line in listed.split("\0"):
        about, tab, path = line.partition("\t")
        parts = path.split("/")
        if tab and not any(part.lower() in ("", ".", "..", ".git") for part in parts):
            mode, _, name = about.split(" ")
            yield _Entry(mode, name, PurePosixPath(path))


def _write(top: str, entries: list[_Entry], folder: Path) -> int:
    """Links come last: nothing is written through one."""
    missing = 0
    with talking(top, "cat-file", "--batch") as (questions, answers):
        for entry in sorted(entries, key=lambda entry: entry.mode == _LINK):
            data = _content(entry.name, questions, answers)
            target = folder.joinpath(*entry.path.parts)
            try:
                if data is None:
                    raise FileNotFoundError
                target.parent.mkdir(parents=True, exist_ok=True)
                if entry.mode == _LINK:
                    target.symlink_to(os.fsdecode(data))
                else:
                    target.write_bytes(data)
            except (OSError, ValueError):  # also a name that no file of this system can have
                missing += 1
    return missing


def _content(name: str, questions: BinaryIO, answers: BinaryIO) -> bytes | None:
    """What git has of an object; None where that is missing. Raises SourceError where git has ended."""
    with suppress(BrokenPipeError):
        questions.write(name.encode() + b"\n")
        questions.flush()
    head = answers.readline().split()
    if not head:
        raise SourceError("git cat-file has ended")
    if len(head) != 3:  # "NAME missing"
        return None
    data = answers.read(int(head[2]))
    answers.read(1)
    return data
