"""The file of the index: bytes by key, in SQLite, for many processes at once; it lies in a folder of the user alone, or
nowhere.

Nothing that goes wrong here goes wrong with a run: what cannot be read was never kept, what cannot be written is not.
"""

# Paths are plain strings here, as in `sources.disk`.
# ruff: noqa: PTH100, PTH102, PTH103, PTH104, PTH116, PTH118, PTH120

from __future__ import annotations

import os
import sqlite3
import stat
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from bwlint.sources.walk import INDEX_FOLDER

LIMIT = 512 * 1024**2
"""Bytes that the file may have; what was used least lately goes first."""
_SHRUNK = LIMIT * 3 // 4
_PATIENCE = 2.0
"""Seconds to wait while another process writes."""
_OFTEN = 3600
"""Seconds within which a second use of a row is not written down."""
_MOST_WAITING = 64
_SUM = 16
_VERSION = 1
_SCHEMA = f"""
PRAGMA auto_vacuum = INCREMENTAL;
PRAGMA journal_mode = WAL;
PRAGMA synchronous = OFF;
CREATE TABLE IF NOT EXISTS kept (key BLOB PRIMARY KEY, value BLOB NOT NULL, used INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS by_use ON kept (used);
PRAGMA user_version = {_VERSION};
"""
_OLDEST = """DELETE FROM kept WHERE key IN (SELECT key FROM
(SELECT key, SUM(LENGTH(value)) OVER (ORDER BY used DESC, key) AS total FROM kept) WHERE total > ?)"""
VARIABLE = "BWLINT_CACHE_DIR"
_FILE = "index.sqlite3"
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


@dataclass(slots=True)
class Store:
    """Reads and writes rows; opened by each process when it first asks."""

    _db: sqlite3.Connection | None = None
    _process: int = -1
    _file: str = ""
    _inode: int = 0
    _new: list[tuple[bytes, bytes]] = field(default_factory=list)
    _used: list[bytes] = field(default_factory=list)
    _has_grown: bool = False
    _left: list[sqlite3.Connection] = field(default_factory=list)
    """Connections of the process that this one was forked from, which must not be closed here."""

    def get(self, key: bytes) -> bytes | None:
        """The bytes that were put; None where there are none."""
        rows = self._rows("SELECT value, used FROM kept WHERE key = ?", key)
        if not rows:
            return None
        value, used = rows[0]
        if not isinstance(value, bytes) or _sum(key, value[_SUM:]) != value[:_SUM]:
            self._throw_away()
            return None
        if used < time.time() - _OFTEN:
            self._used.append(key)
        return value[_SUM:]

    def put(self, key: bytes, value: bytes) -> None:
        """Keep bytes by a key, soon."""
        if self._process != os.getpid():
            self._begin()
        self._new.append((key, _sum(key, value) + value))
        if len(self._new) >= _MOST_WAITING:
            self.flush()

    def flush(self) -> None:
        """Write down what was put and used: all of it or nothing."""
        now, new, used = int(time.time()), self._new, self._used
        if self._process != os.getpid() or not (new or used):
            return
        self._new, self._used, self._has_grown = [], [], self._has_grown or bool(new)
        try:
            if self._db is not None:
                self._db.execute("BEGIN IMMEDIATE")
                self._db.executemany("INSERT OR REPLACE INTO kept VALUES (?, ?, ?)", ((*row, now) for row in new))
                self._db.executemany("UPDATE kept SET used = ? WHERE key = ?", ((now, key) for key in used))
                self._db.execute("COMMIT")
        except sqlite3.Error as error:
            self._failed(error)

    def prune(self) -> None:
        """Bring the file back under its limit."""
        if self.size() <= LIMIT:
            return
        self._rows(_OLDEST, _SHRUNK)
        with suppress(sqlite3.Error):  # as a script, for it has a row without columns for each page
            if self._db is not None:
                self._db.executescript("PRAGMA incremental_vacuum")
        self._rows("PRAGMA wal_checkpoint(TRUNCATE)")

    def size(self) -> int:
        """Bytes that the file has, with what it will have from the other processes."""
        pages = self._rows("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
        return int(pages[0][0]) if pages else 0

    def count(self) -> int:
        """How many rows there are."""
        rows = self._rows("SELECT COUNT(*) FROM kept")
        return int(rows[0][0]) if rows else 0

    def close(self) -> None:
        """Write pending data, and close the file until it is needed again."""
        self.flush()
        if self._has_grown:
            self.prune()
        if self._db is not None and self._process == os.getpid():
            self._db.close()
        self._db, self._process = None, -1

    def _rows(self, statement: str, *values: object) -> list[Any]:
        """What a statement finds, and nothing where there is no index; what it changes is kept."""
        try:
            if self._process != os.getpid():
                self._begin()
            return self._db.execute(statement, values).fetchall() if self._db is not None else []
        except sqlite3.Error as error:
            self._failed(error)
            return []

    def _begin(self) -> None:
        """Open the file in this process, where there is a place for it."""
        if self._db is not None:
            self._left.append(self._db)
        self._db, self._process, self._new, self._used = None, os.getpid(), [], []
        try:
            self._file = prepared()
            db = sqlite3.connect(self._file, _PATIENCE, isolation_level=None, check_same_thread=False)
            self._inode = os.stat(self._file).st_ino
            if db.execute("PRAGMA user_version").fetchone() != (_VERSION,):
                db.executescript(_SCHEMA)
            db.execute("PRAGMA synchronous = OFF")
            self._db = db
        except (Nowhere, OSError):
            return
        except sqlite3.Error as error:
            self._failed(error)

    def _failed(self, error: sqlite3.Error) -> None:
        """No index from now on; one that is damaged goes."""
        if _is_damage(error):
            self._throw_away()
            return
        self._db = None

    def _throw_away(self) -> None:
        """Throw the file away and say so, where another process has not already done it."""
        self._db = None
        try:
            if os.stat(self._file).st_ino != self._inode:
                return
            folder = os.path.dirname(self._file)
            aside = f"{folder}.{os.getpid()}.damaged"
            os.rename(folder, aside)
        except OSError:
            return
        import shutil

        from bwlint.model.escape import visible

        shutil.rmtree(aside, ignore_errors=True)
        print(f"bwlint: the index in {visible(folder)} was damaged; it is thrown away", file=sys.stderr)


def _sum(key: bytes, value: bytes) -> bytes:
    return blake2b(value, key=key[:64], digest_size=_SUM).digest()


def _is_damage(error: sqlite3.Error) -> bool:
    """Whether the file is at fault, and not the lock, the disk, its permissions, or we."""
    is_other = isinstance(error, sqlite3.OperationalError) and ("no such" in str(error) or "column" in str(error))
    return type(error) is sqlite3.DatabaseError or is_other


class Nowhere(Exception):
    """There is no place for an index; the message says why."""


def chosen() -> str:
    """The folder that the user has chosen, or that his system has for this."""
    named = os.environ.get(VARIABLE)
    if named:
        return os.path.abspath(named)
    from platformdirs import user_cache_dir

    return user_cache_dir("bwlint", appauthor=False)


def own_folder() -> str:
    """The folder of the index, which nothing else is in."""
    return os.path.join(chosen(), INDEX_FOLDER)


def prepared() -> str:
    """The file of the index, in a folder that only this user can write; raises Nowhere."""
    folder = own_folder()
    try:
        if not os.path.lexists(folder):
            _make(folder)
        _check(folder, stat.S_ISDIR)
        file = os.path.join(folder, _FILE)
        if os.path.lexists(file):
            _check(file, stat.S_ISREG)
    except OSError as error:
        raise Nowhere(f"{error.filename or folder}: {error.strerror or error}") from None
    return file


def _make(folder: str) -> None:
    above = folder
    while not os.path.lexists(above):
        above = os.path.dirname(above)
    # What root makes in a user's folder, the user could never write again.
    if _me() == 0 and os.stat(above).st_uid != 0:
        raise Nowhere(f"{above} is another user's")
    os.makedirs(os.path.dirname(folder), mode=0o700, exist_ok=True)
    with suppress(FileExistsError):  # another run was faster
        os.mkdir(folder, 0o700)


def _check(path: str, is_kind: Callable[[int], bool]) -> None:
    status = os.lstat(path)
    if not is_kind(status.st_mode):
        raise Nowhere(f"{path} is something else")
    if _me() is not None and status.st_uid != _me():
        raise Nowhere(f"{path} is another user's")
    if _me() is not None and status.st_mode & _OTHERS_WRITE:
        raise Nowhere(f"others can write {path}")


def _me() -> int | None:
    return os.geteuid() if hasattr(os, "geteuid") else None
