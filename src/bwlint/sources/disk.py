"""The file system as a run sees it; every read is recorded.

A run that is watched can be told by what it has looked at: as long as each look would show the same, so would the run.
"""

# Paths are plain strings here, as in `sources.walk`.
# ruff: noqa: PTH116, PTH118, PTH120, PTH123, PTH206

from __future__ import annotations

import errno
import fnmatch
import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import wraps
from hashlib import blake2b
from typing import Any, Literal, NamedTuple, TypeVar, cast, get_args

from bwlint.sources import recorder

Sight = Literal["file", "folder", "mode", "link", "real", "tracked"]
"""What was looked at.

file    the content of a file
folder  the names in a folder, and of what type each is
mode    what a path leads to
link    the same of a link itself
real    the path without links
tracked what git tracks in a tree though its ignore files name it, by the path of the index
"""
SIGHTS: frozenset[str] = frozenset(get_args(Sight))
Status = tuple[int, int, int, int, int]
"""Mode, inode, size in bytes, times of the last change of content and of status in nanoseconds."""

SETTLED = 2_000_000_000
"""Nanoseconds that a change must lie back before its time tells it from the next one: the coarsest clock is FAT's."""


class Look(NamedTuple):
    """The status of a file or folder, and the digest of what was seen; "" where that was not read to its end."""

    status: Status | None
    seen: str


Looks = dict[tuple[Sight, str], Look]
"""By what was looked at, and its path."""

_Function = TypeVar("_Function", bound=Callable[..., Any])


@dataclass(slots=True)
class Watch:
    """What a run has looked at since `began` (ns); not steady once a look changes, or it rests on more than looks."""

    began: int
    looks: Looks = field(default_factory=dict)
    is_steady: bool = True
    _new: Looks = field(default_factory=dict)

    def note(self, sight: Sight, path: str, look: Look) -> None:
        known = self.looks.get((sight, path))
        if known is None or (known.status == look.status and not known.seen):
            self.looks[sight, path] = self._new[sight, path] = look
        elif known.status != look.status or (look.seen and look.seen != known.seen):
            self.is_steady = False

    def add(self, looks: Looks, *, is_steady: bool) -> None:
        """What another process has looked at for the same run."""
        self.is_steady = self.is_steady and is_steady
        for (sight, path), look in looks.items():
            self.note(sight, path, look)

    def take(self) -> tuple[Looks, bool]:
        """What is new since the last call, for `add`."""
        new, self._new = self._new, {}
        return new, self.is_steady


_watch: Watch | None = None
_remembered: list[Callable[[], None]] = []


@contextmanager
def watching() -> Iterator[Watch]:
    """Until it ends, looks are noted."""
    global _watch
    _watch = Watch(time.time_ns())
    try:
        yield _watch
    finally:
        _watch = None


def watch() -> Watch | None:
    """What notes looks now."""
    return _watch


def rests_on_more() -> None:
    """What this run says rests on more than what it has looked at: the next one may say something else."""
    if _watch is not None:
        _watch.is_steady = False


def watch_for(began: int | None) -> None:
    """In a process that works for a run which is watched since then: note looks, none of them so far."""
    global _watch
    _watch = None if began is None else Watch(began)


def remembered(function: _Function) -> _Function:
    """A function of paths that looks at each once in a run, as `functools.cache`."""
    asked, clear = recorder.once(function)
    _remembered.append(clear)
    return cast(_Function, wraps(function)(asked))


def forget() -> None:
    """Begin a run: files may have changed since the last one."""
    for clear in _remembered:
        clear()


def mode(path: str) -> int:
    """The `st_mode` of what a path leads to; raises OSError and ValueError."""
    try:
        found = os.stat(path).st_mode
    except OSError as error:
        if _watch is not None:
            _note_failure(_watch, path, error)
        raise
    if _watch is not None:
        _note(_watch, "mode", path, Look(None, str(stat.S_IFMT(found))))
    return found


def exists(path: str) -> bool:
    try:
        mode(path)
    except (OSError, ValueError):
        return False
    return True


def is_file(path: str) -> bool:
    try:
        return stat.S_ISREG(mode(path))
    except (OSError, ValueError):
        return False


def is_folder(path: str) -> bool:
    try:
        return stat.S_ISDIR(mode(path))
    except (OSError, ValueError):
        return False


def is_there(path: str) -> bool:
    """Whether there is something of that name, be it a link to nothing."""
    seen = _link(path)
    if _watch is not None:
        _note(_watch, "link", path, Look(None, seen))
    return not seen.startswith(_FAILED)


def real(path: str) -> str:
    """A path without links."""
    found = os.path.realpath(path)
    if _watch is not None:
        _note(_watch, "real", path, Look(None, found))
    return found


def names(folder: str) -> list[str]:
    """What lies in a folder, in no order; raises OSError."""
    return [entry.name for entry in entries(folder)]


def entries(folder: str) -> list[os.DirEntry[str]]:
    """The same with what each is; raises OSError."""
    if _watch is None:
        return _scanned(folder)
    try:
        status = _status(os.stat(folder))
        found = _scanned(folder)
    except OSError as error:
        _note(_watch, "folder", folder, Look(None, _failed(error)))
        raise
    _note(_watch, "folder", folder, Look(status, _listing(found)))
    return found


def matching(pattern: str) -> list[str]:
    """The paths that a pattern with stars means, in order; a star stands for a part of one name."""
    found = [os.sep] if pattern.startswith(os.sep) else [""]
    for part in filter(None, pattern.split(os.sep)):
        found = [os.path.join(folder, name) for folder in found for name in _fitting(folder, part)]
    return sorted(found)


@remembered
def tracked_though_ignored(top: str) -> tuple[frozenset[str], str]:
    """What git tracks below `top` though ignore files name it, and the folders around it; and why git does not say."""
    index = os.path.join(top, ".git", "index")
    try:
        status = _status(os.stat(index))
    except OSError:
        status = None  # another work tree of the repository: git knows where its index lies
    listed, fault = _tracked(top)
    if _watch is not None:
        # What git refuses today it may list tomorrow, with the same index.
        _note(_watch, "tracked", index, Look(None if fault else status, _seen_of_git(listed, fault)))
    return frozenset(path[:end] for path in listed.split("\0") if path for end in _ends_of_parts(path)), fault


def _tracked(top: str) -> tuple[str, str]:
    from bwlint.sources.worktree import answered  # most trees track nothing that they ignore, and few runs ask

    code, listed, fault = answered(top, "ls-files", "-z", "--cached", "--ignored", "--exclude-standard")
    is_repository = not fault.startswith("fatal: not a git repository (or any")
    return listed, fault if code and is_repository else ""


def _seen_of_git(*said: str) -> str:
    return digest("\n".join(said).encode("utf-8", "surrogateescape"))


def _ends_of_parts(path: str) -> Iterator[int]:
    return (at for at, letter in enumerate(path + "/") if letter == "/")


def was_read(path: str, status: os.stat_result, data: bytes | None) -> None:
    """Note that a file with that status was opened, and what was in it where it was read to its end."""
    if _watch is None:
        return
    recorder.read("file", path)
    known, found = _watch.looks.get(("file", path)), _status(status)
    if known is None or known.status != found or (data is not None and not known.seen):
        _watch.note("file", path, Look(found, "" if data is None else digest(data)))


def was_refused(path: str, error: Exception) -> None:
    """Note that a file could not be opened."""
    if _watch is not None and isinstance(error, OSError):
        _note(_watch, "file", path, Look(None, _failed(error)))


def digest(data: bytes) -> str:
    """What tells one content from every other."""
    return blake2b(data, digest_size=16).hexdigest()


def digest_of(thing: object) -> str:
    """The digest of a thing as it is written in Python."""
    return digest(repr(thing).encode("utf-8", "surrogatepass"))


def now(sight: Sight, path: str, look: Look, began: int) -> Look | None:
    """A look once more, where it shows the same; None where it does not, or nobody can tell.

    It was noted in a run that began then: of what was changed shortly before, or since, the status tells nothing.
    """
    if look.status is not None:
        try:
            status = _status(os.stat(path))
        except (OSError, ValueError):
            return None
        if status == look.status and max(status[-2:]) < began - SETTLED:
            return look
        if not look.seen or stat.S_IFMT(status[0]) != stat.S_IFMT(look.status[0]):
            return None
        return Look(status, look.seen) if _AGAIN[sight](path) == look.seen else None
    return look if _AGAIN[sight](path) == look.seen else None


_FAILED = "!"
ABSENT = f"{_FAILED}{errno.ENOENT}"
"""What a look shows where nothing is."""


def _failed(error: Exception) -> str:
    return f"{_FAILED}{error.errno if isinstance(error, OSError) else 'name'}"


def _note_failure(watch: Watch, path: str, error: OSError) -> None:
    """Note that something is not there, by the topmost folder that is not there."""
    while error.errno == errno.ENOENT and os.pardir not in path:
        above = os.path.dirname(path)
        if above in ("", path):
            break
        if ("mode", above) not in watch.looks:
            watch.note("mode", above, Look(None, _mode(above)))
        recorder.read("mode", above)
        if watch.looks["mode", above].seen != ABSENT:
            break
        path = above
    _note(watch, "mode", path, Look(None, _failed(error)))


def _note(watch: Watch, sight: Sight, path: str, look: Look) -> None:
    watch.note(sight, path, look)
    recorder.read(sight, path)


def _status(status: os.stat_result) -> Status:
    return status.st_mode, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _shown(look: Callable[[str], str]) -> Callable[[str], str]:
    """What a look shows, or that it fails."""

    def shown(path: str) -> str:
        try:
            return look(path)
        except (OSError, ValueError) as error:
            return _failed(error)

    return shown


def _content(path: str) -> str:
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with open(handle, "rb") as file:
        return digest(file.read())


_mode = _shown(lambda path: str(stat.S_IFMT(os.stat(path).st_mode)))
_link = _shown(lambda path: str(stat.S_IFMT(os.lstat(path).st_mode)))


def _scanned(folder: str) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as listing:
        return list(listing)


def _listing(found: Iterable[os.DirEntry[str]]) -> str:
    return digest("\0".join(sorted(f"{entry.name}/{_type(entry)}" for entry in found)).encode("utf-8", "surrogatepass"))


def _type(entry: os.DirEntry[str]) -> str:
    try:
        if entry.is_symlink():
            return "link"
        return "folder" if entry.is_dir() else "file" if entry.is_file() else "other"
    except OSError as error:
        return _failed(error)


def _tracked_again(index: str) -> str:
    return _seen_of_git(*_tracked(os.path.dirname(os.path.dirname(index))))


def _fitting(folder: str, part: str) -> list[str]:
    """The names in a folder that a part of a pattern means: hidden ones only where it says so."""
    if not _MAGIC.intersection(part):
        return [part] if is_there(os.path.join(folder, part)) else []
    try:
        found = fnmatch.filter(names(folder or os.curdir), part)
    except OSError:
        return []
    return [name for name in found if part.startswith(".") or not name.startswith(".")]


_MAGIC = frozenset("*?[")
_AGAIN: dict[Sight, Callable[[str], str]] = {
    "file": _shown(_content),
    "folder": _shown(lambda path: _listing(_scanned(path))),
    "mode": _mode,
    "link": _link,
    "real": os.path.realpath,
    "tracked": _tracked_again,
}
