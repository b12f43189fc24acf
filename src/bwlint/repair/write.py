"""Repaired files on the disk: each one whole, old or new, whenever the program ends."""

# Real paths are plain strings throughout, as `walk` gives them.
# ruff: noqa: PTH101, PTH105, PTH108, PTH116, PTH118, PTH120, PTH123

from __future__ import annotations

import contextlib
import os
import stat
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bwlint.repair.journal import Journal, LeftBehind, Step, digest, journal
from bwlint.repair.passes import Repaired
from bwlint.repair.plan import connected
from bwlint.sources.read import Unread, read_from_disk, special_file, why


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


def groups(repaired: Repaired) -> list[list[Replacement]]:
    """What to write of a run: files that one fix changes together are one group."""
    left = {source.file.real: source for source in repaired.changed}
    wishes = [done.wish for done in repaired.done]
    found: list[list[Replacement]] = []
    for real in sorted(left):
        reals = {real, *(other for wish in connected(wishes, [real]) for other in wish.files)} & left.keys()
        group = [
            Replacement(other, left[other].data, after)
            for other in sorted(reals)
            if not isinstance(after := left[other].after, Unread)
        ]
        for other in reals:
            del left[other]
        if group:
            found.append(group)
    return found


def write(groups: Iterable[Sequence[Replacement]]) -> list[NotWritten]:
    """Replace files, each group as a whole or not at all; what was not written, and why."""
    with journal() as written_down:
        return [problem for group in groups for problem in _write_group(group, written_down)]


def _write_group(group: Sequence[Replacement], journal: Journal) -> list[NotWritten]:
    refused = [NotWritten(item.real, reason) for item in group if (reason := _refusal(item))]
    if refused:
        return [*refused, *_not_alone(group, refused)]
    staged = [(item, _temporary(item.real)) for item in group]
    item = group[0]
    try:
        journal.staging([Step(i.real, beside, digest(i.before), digest(i.after)) for i, beside in staged])
        for item, temporary in staged:
            _stage(item, temporary)
        for item, temporary in staged:
            if reason := _refusal(item):
                _restore(group)
                return [NotWritten(item.real, reason), *_not_alone(group, [NotWritten(item.real, reason)])]
            os.replace(temporary, item.real)
    except OSError as error:
        _restore(group)
        failure = NotWritten(item.real, f"cannot be written: {why(error)}", failed=True)
        return [failure, *_not_alone(group, [failure])]
    except BaseException:
        _restore(group)
        raise
    finally:
        for _, temporary in staged:
            _unlink(temporary)
        journal.is_over()
    return []


def recovered(left: LeftBehind) -> tuple[list[str], list[str]]:
    """Bring what a killed run has begun to its end: the files (real paths) that were replaced for that, and those that
    cannot be any more, as somebody has changed them or others of their group.
    """
    now = {step: read_from_disk(step.real) for step in left}
    old = [step for step, data in now.items() if _is(data, step.before)]
    new = [step for step, data in now.items() if _is(data, step.after)]
    is_whole = len(old) + len(new) == len(now)
    waiting = old if new else []
    done = [step.real for step in waiting if is_whole and _is_replaced(step)]
    for step in left:
        _unlink(step.temporary)
    return done, [step.real for step in waiting if step.real not in done]


def _is_replaced(step: Step) -> bool:
    before, after = read_from_disk(step.real), read_from_disk(step.temporary)
    if isinstance(before, Unread) or isinstance(after, Unread) or not _is(after, step.after):
        return False
    if _refusal(Replacement(step.real, before, after)):
        return False
    with contextlib.suppress(OSError):
        os.replace(step.temporary, step.real)
        return True
    return False


def _is(data: bytes | Unread, known_by: str) -> bool:
    return isinstance(data, bytes) and digest(data) == known_by


def _not_alone(group: Sequence[Replacement], known: Sequence[NotWritten]) -> list[NotWritten]:
    told = {entry.real for entry in known}
    reason = "a fix changes it together with a file that was not written"
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
        return "a symbolic link is not written through"
    if special := special_file(mode):
        return f"not a regular file: {special}"
    if os.path.realpath(item.real) != item.real:
        return "a folder above it has become a symbolic link"
    if not mode & 0o222:
        return "read-only"
    if status.st_nlink > 1:
        return "it has another name (a hard link), which would keep the old text"
    if not _may_own(status):
        return "it belongs to somebody else, and would be yours"
    return None if read_from_disk(item.real) == item.before else "changed since it was read"


def _may_own(status: os.stat_result) -> bool:
    """Whether a new file can have the owner and the group of one that is there."""
    if sys.platform == "win32" or os.geteuid() == 0:
        return True
    return status.st_uid == os.geteuid() and status.st_gid in {os.getegid(), *os.getgroups()}


def _temporary(real: str) -> str:
    return os.path.join(os.path.dirname(real), f".bwlint-{os.urandom(8).hex()}.tmp")


def _stage(item: Replacement, temporary: str) -> None:
    """Put the new content beside the file, with its permissions and its owner."""
    status = os.stat(item.real)
    with open(temporary, "xb") as file:
        file.write(item.after)
        file.flush()
        os.fsync(file.fileno())
        made = os.fstat(file.fileno())
    if (made.st_uid, made.st_gid) != (status.st_uid, status.st_gid):
        os.chown(temporary, status.st_uid, status.st_gid)
    os.chmod(temporary, stat.S_IMODE(status.st_mode))


def _restore(group: Iterable[Replacement]) -> None:
    """Bring back what has been replaced of a group that could not be written whole."""
    for item in group:
        if read_from_disk(item.real) != item.after:
            continue
        temporary = _temporary(item.real)
        with contextlib.suppress(OSError):
            _stage(Replacement(item.real, item.after, item.before), temporary)
            os.replace(temporary, item.real)
        _unlink(temporary)


def _unlink(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)
