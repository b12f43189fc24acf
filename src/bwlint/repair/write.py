"""Repaired files on the disk: each one whole, old or new, whenever the program ends."""

# Real paths are plain strings throughout, as `walk` gives them.
# ruff: noqa: PTH101, PTH105, PTH108, PTH116, PTH118, PTH120, PTH123

from __future__ import annotations

import contextlib
import os
import re
import signal
import stat
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import FrameType

from bwlint.repair.passes import Repaired
from bwlint.repair.plan import connected
from bwlint.repair.source import EditedFile
from bwlint.sources.read import Unread, read_from_disk, special_file, why

_LEFT_BEHIND = re.compile(r"\.bwlint-([0-9]+)-[0-9a-f]{16}\.tmp")
_STALE_SECONDS = 3600


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
            if (after := _after(left[other])) is not None
        ]
        for other in reals:
            del left[other]
        if group:
            found.append(group)
    return found


def _after(source: EditedFile) -> bytes | None:
    return None if isinstance(source.after, Unread) else source.after


def write(groups: Iterable[Sequence[Replacement]]) -> list[NotWritten]:
    """Replace files, each group as a whole or not at all; what was not written, and why."""
    found: list[NotWritten] = []
    cleaned: set[str] = set()
    with _ended_by_signals():
        for group in groups:
            for folder in {os.path.dirname(item.real) for item in group} - cleaned:
                _clean(folder)
                cleaned.add(folder)
            found += _write_group(group)
    return found


def _write_group(group: Sequence[Replacement]) -> list[NotWritten]:
    refused = [NotWritten(item.real, reason) for item in group if (reason := _refusal(item))]
    if refused:
        return [*refused, *_not_alone(group, refused)]
    staged: list[tuple[Replacement, str]] = []
    written: list[Replacement] = []
    item = group[0]
    try:
        for item in group:
            temporary = _temporary(item.real)
            staged.append((item, temporary))
            _stage(item, temporary)
        for item, temporary in staged:
            if reason := _refusal(item):
                _restore(written)
                return [NotWritten(item.real, reason), *_not_alone(group, [NotWritten(item.real, reason)])]
            os.replace(temporary, item.real)
            written.append(item)
    except OSError as error:
        _restore(written)
        failure = NotWritten(item.real, f"cannot be written: {why(error)}", failed=True)
        return [failure, *_not_alone(group, [failure])]
    finally:
        for _, temporary in staged:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
    return []


def _not_alone(group: Sequence[Replacement], known: Sequence[NotWritten]) -> list[NotWritten]:
    told = {entry.real for entry in known}
    reason = "a fix changes it together with a file that was not written"
    failed = any(entry.failed for entry in known)
    return [NotWritten(item.real, reason, failed) for item in group if item.real not in told]


def _refusal(item: Replacement) -> str | None:
    """Why a file must not be replaced, as it is now."""
    try:
        mode = os.lstat(item.real).st_mode
    except OSError as error:
        return why(error)
    if stat.S_ISLNK(mode):
        return "a symbolic link is not written through"
    if special := special_file(mode):
        return f"not a regular file: {special}"
    if os.path.realpath(item.real) != item.real:
        return "a folder above it has become a symbolic link"
    if not mode & 0o222:
        return "read-only"
    return None if read_from_disk(item.real) == item.before else "changed since it was read"


def _temporary(real: str) -> str:
    return os.path.join(os.path.dirname(real), f".bwlint-{os.getpid()}-{os.urandom(8).hex()}.tmp")


def _stage(item: Replacement, temporary: str) -> None:
    """Put the new content beside the file, with its permissions and, where that is allowed, its owner."""
    status = os.stat(item.real)
    with open(temporary, "xb") as file:
        file.write(item.after)
        file.flush()
        os.fsync(file.fileno())
    if hasattr(os, "chown"):
        with contextlib.suppress(OSError):
            os.chown(temporary, status.st_uid, status.st_gid)
    os.chmod(temporary, stat.S_IMODE(status.st_mode))


def _restore(written: Iterable[Replacement]) -> None:
    """Bring back files whose group could not be written whole."""
    for item in written:
        temporary = _temporary(item.real)
        with contextlib.suppress(OSError):
            _stage(Replacement(item.real, item.after, item.before), temporary)
            os.replace(temporary, item.real)
        with contextlib.suppress(OSError):
            os.unlink(temporary)


def _clean(folder: str) -> None:
    """Remove what a run that was killed has left in a folder."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            match = _LEFT_BEHIND.fullmatch(entry.name)
            if match and entry.is_file(follow_symlinks=False) and _is_left(entry, int(match[1])):
                with contextlib.suppress(OSError):
                    os.unlink(entry.path)


def _is_left(entry: os.DirEntry[str], process: int) -> bool:
    if time.time() - entry.stat(follow_symlinks=False).st_mtime > _STALE_SECONDS:
        return True
    if os.name != "posix":
        return False  # elsewhere this would end the process
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return True
    except OSError:
        return False
    return False


@contextlib.contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Let signals that end the program do so by an exception, so that nothing is left behind."""
    signals = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, _end) for number in signals if signal.getsignal(number) == signal.SIG_DFL}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _end(number: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + number)
