"""Repaired files on the disk: each one whole, old or new, whenever the program ends. A log of pending writes lets a
killed repair be completed or undone.
"""

# Real paths are plain strings throughout, as `walk` gives them.
# ruff: noqa: PTH101, PTH105, PTH108, PTH116, PTH118, PTH120, PTH123

from __future__ import annotations

import hashlib
import json
import os
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import astuple, dataclass, replace
from typing import BinaryIO, Literal

from platformdirs import user_state_path

from bwlint.sources.held import alone_in, hold, take
from bwlint.sources.read import Unread, read_from_disk, special_file, why
from bwlint.sources.worktree import is_in


@dataclass(frozen=True, slots=True)
class Replacement:
    """A file (a real path) with the content that was read and the one to write."""

    real: str
    before: bytes
    after: bytes


@dataclass(frozen=True, slots=True)
class NotWritten:
    """A file that stays as it is. `failed` where the system would not write it."""

    real: str
    reason: str
    failed: bool = False


def write(groups: Iterable[Sequence[Replacement]]) -> list[NotWritten]:
    """Replace files, each group as a whole or not at all; what was not written, and why."""
    with journal() as written_down:
        return [problem for group in groups for problem in _write_group(group, written_down)]


def _write_group(group: Sequence[Replacement], journal: Journal) -> list[NotWritten]:
    try:
        with alone_in(os.path.dirname(item.real) for item in group):
            refused = [NotWritten(item.real, reason) for item in group if (reason := _refusal(item))]
            problems = refused or _replaced(group, journal)
    except OSError as error:
        problems = [NotWritten(group[0].real, f"cannot be written: {why(error)}", failed=True)]
    return [*problems, *_not_alone(group, problems)] if problems else []


def _replaced(group: Sequence[Replacement], journal: Journal) -> list[NotWritten]:
    """Put new contents in the place of files; where one stands in the way, none, and what it is."""
    steps = [Step(i.real, _temporary(i.real), digest(i.before), digest(i.after)) for i in group]
    item, problems = group[0], list[NotWritten]()
    try:
        journal.staging(steps)
        for number, item in enumerate(group):
            steps[number] = replace(steps[number], inode=_stage(item, steps[number].temporary))
        journal.staging(steps)
        for item, step in zip(group, steps, strict=True):
            if reason := _refusal(item):
                problems = [NotWritten(item.real, reason)]
                break
            os.replace(step.temporary, item.real)
    except OSError as error:
        problems = [NotWritten(item.real, f"cannot be written: {why(error)}", failed=True)]
    except BaseException:
        _put_back(group, steps, journal)
        raise
    if problems:
        return [*problems, *_put_back(group, steps, journal)]
    journal.is_over()
    return []


def _put_back(group: Sequence[Replacement], steps: Sequence[Step], journal: Journal) -> list[NotWritten]:
    """Bring back what this run, and nobody else, has replaced of a group that could not be written whole."""
    ours = [(item, step) for item, step in zip(group, steps, strict=True) if _is_ours(step)]
    try:
        for item, step in ours:
            _stage(Replacement(item.real, item.after, item.before), step.temporary)
        for item, step in ours:
            os.replace(step.temporary, item.real)
    except OSError:
        reason = "replaced, and cannot be put back: run bwlint again"
        return [NotWritten(step.real, reason, failed=True) for _, step in ours if _is_ours(step)]
    for step in steps:
        _unlink(step.temporary)
    journal.is_over()
    return []


@dataclass(frozen=True, slots=True)
class Recovered:
    """What became of a file in which a killed run has begun something: `lost` where somebody has changed its group."""

    real: str
    how: Literal["fixed", "put back", "lost"]


def recovered(left: LeftBehind) -> list[Recovered]:
    """Bring what a killed run has begun to its end, or take it back where it was taking it back itself."""
    with suppress(OSError), alone_in({os.path.dirname(step.real) for step in left}):
        ended = list(_ended(left))
        for step in left:
            _unlink(step.temporary)
        return ended
    return []


def _ended(left: LeftBehind) -> Iterator[Recovered]:
    ours = [step for step in left if _is_ours(step)]
    old = [step for step in left if _is(read_from_disk(step.real), step.before)]
    new = [step for step in left if _is(read_from_disk(step.real), step.after)]
    if not ours or not old:
        return
    is_whole = len(old) + len(new) == len(left)
    if is_whole and all(_is(read_from_disk(step.temporary), step.after) for step in old):
        yield from (Recovered(step.real, "fixed" if _is_moved(step) else "lost") for step in old)
    elif is_whole and all(_is(read_from_disk(step.temporary), step.before) for step in ours):
        yield from (Recovered(step.real, "put back" if _is_moved(step) else "lost") for step in ours)
    else:
        yield from (Recovered(step.real, "lost") for step in old)


def _is_moved(step: Step) -> bool:
    """Whether what lies beside a file takes its place."""
    before, after = read_from_disk(step.real), read_from_disk(step.temporary)
    if isinstance(before, Unread) or isinstance(after, Unread) or _refusal(Replacement(step.real, before, after)):
        return False
    with suppress(OSError):
        os.replace(step.temporary, step.real)
        return True
    return False


def _is_ours(step: Step) -> bool:
    """Whether a file is the very one that was laid beside it to take its place, as it was written."""
    with suppress(OSError):
        return os.lstat(step.real).st_ino == step.inode and _is(read_from_disk(step.real), step.after)
    return False


def _is(data: bytes | Unread, known_by: str) -> bool:
    return isinstance(data, bytes) and digest(data) == known_by


def _not_alone(group: Sequence[Replacement], known: Sequence[NotWritten]) -> list[NotWritten]:
    told = {entry.real for entry in known}
    reason = "its fix also changes a file that was not written"
    failed = any(entry.failed for entry in known)
    return [NotWritten(item.real, reason, failed) for item in group if item.real not in told]


def _refusal(item: Replacement) -> str | None:
    """Why a file must not be replaced, as it is now."""
    try:
        status = os.lstat(item.real)
    except OSError as error:
        return why(error)
    mode = status.st_mode
    if stat.S_ISLNK(mode):
        return "bwlint does not write through a symbolic link"
    if special := special_file(mode):
        return f"not a regular file: {special}"
    if os.path.realpath(item.real) != item.real:
        return "a folder above it has become a symbolic link"
    if not mode & 0o222:
        return "read-only"
    if status.st_nlink > 1:
        return "its hard link under another name would keep the old text"
    if not _may_own(status):
        return "it belongs to another user, and would become yours"
    return None if read_from_disk(item.real) == item.before else "changed since it was read"


def _may_own(status: os.stat_result) -> bool:
    """Whether a new file can have the owner and the group of one that is there."""
    if sys.platform == "win32" or os.geteuid() == 0:
        return True
    return status.st_uid == os.geteuid() and status.st_gid in {os.getegid(), *os.getgroups()}


def _temporary(real: str) -> str:
    return os.path.join(os.path.dirname(real), f".bwlint-{os.urandom(8).hex()}.tmp")


def _stage(item: Replacement, temporary: str) -> int:
    """Put the new content beside the file, with its permissions and its owner; the inode that it has."""
    status = os.stat(item.real)
    with open(temporary, "xb") as file:
        file.write(item.after)
        file.flush()
        os.fsync(file.fileno())
        made = os.fstat(file.fileno())
    if (made.st_uid, made.st_gid) != (status.st_uid, status.st_gid):
        os.chown(temporary, status.st_uid, status.st_gid)
    os.chmod(temporary, stat.S_IMODE(status.st_mode))
    return made.st_ino


def _unlink(path: str) -> None:
    with suppress(OSError):
        os.unlink(path)


@dataclass(frozen=True, slots=True)
class Step:
    """A file, what lies beside it to take its place, the digests of both, and the new inode (0: none yet)."""

    real: str
    temporary: str
    before: str
    after: str
    inode: int = 0


LeftBehind = tuple[Step, ...]
"""The last group of files that a killed run wrote."""


@dataclass(frozen=True, slots=True)
class Journal:
    """One group at a time, the newest line counts. Its owner holds the file, until its process ends."""

    file: BinaryIO | None

    def staging(self, steps: Sequence[Step]) -> None:
        """New contents of a group are about to be laid beside its files, or then to take their places."""
        if self.file is not None:
            self.file.write(json.dumps([astuple(step) for step in steps]).encode() + b"\n")
            self.file.flush()
        if self.file is not None and len(steps) > 1:
            os.fsync(self.file.fileno())

    def is_over(self) -> None:
        """Nothing lies beside the files any more."""
        if self.file is not None:
            self.file.seek(0)
            self.file.truncate()

    @property
    def is_clear(self) -> bool:
        return self.file is None or not self.file.tell()


@contextmanager
def journal() -> Iterator[Journal]:
    """The journal of a run; it goes where nothing is left to be ended."""
    path = user_state_path("bwlint", appauthor=False) / f"{os.urandom(8).hex()}.fix"
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = hold(path)
    except OSError:
        yield Journal(None)
        return
    with file:
        made = Journal(file)
        try:
            yield made
        finally:
            if made.is_clear:
                path.unlink(missing_ok=True)


def left_behind(paths: Sequence[str]) -> Iterator[LeftBehind]:
    """What killed runs have left in files below `paths`. When the next is asked for, it is forgotten."""
    tops = [os.path.realpath(path) for path in paths]
    for path in sorted(user_state_path("bwlint", appauthor=False).glob("*.fix")):
        if (file := take(path)) is None:
            continue
        with file:
            found = _read(file.read())
            if all(any(is_in(step.real, top) for top in tops) for step in found):
                yield found
                path.unlink(missing_ok=True)


def _read(data: bytes) -> LeftBehind:
    for line in reversed(data.splitlines()):
        with suppress(ValueError, TypeError):  # killed while it wrote this one: the one before holds
            return tuple(Step(*row) for row in json.loads(line))
    return ()


def digest(data: bytes) -> str:
    """What contents are known by."""
    return hashlib.sha256(data).hexdigest()
