"""The file of the index: full, damaged, locked, killed, read-only, shared. A run never fails for it."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from bwlint.commands import cache
from bwlint.index import store as storing
from bwlint.index.store import VARIABLE, Nowhere, Store, chosen, prepared

FILE = Path("bwlint-index", "index.sqlite3")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "cache"
    monkeypatch.setenv("BWLINT_CACHE_DIR", str(path))
    return path


def kept(*rows: tuple[bytes, bytes]) -> None:
    store = Store()
    for key, value in rows:
        store.put(key, value)
    store.close()


def found(key: bytes) -> bytes | None:
    store = Store()
    value = store.get(key)
    store.close()
    return value


def test_what_was_put_is_found_by_another_run(folder: Path) -> None:
    kept((b"a", b"1"), (b"b", b""))
    assert (found(b"a"), found(b"b"), found(b"c")) == (b"1", b"", None)
    assert (folder / "bwlint-index").stat().st_mode & 0o777 == 0o700


def test_it_is_written_ahead(folder: Path) -> None:
    kept((b"a", b"1"))
    assert sqlite3.connect(folder / FILE).execute("PRAGMA journal_mode").fetchone() == ("wal",)


DAMAGE: dict[str, Callable[[Path], object]] = {
    "no database": lambda path: path.write_bytes(b"this is not it" * 1000),
    "cut short": lambda path: path.write_bytes(path.read_bytes()[:5000]),
    "zeros": lambda path: path.write_bytes(path.read_bytes()[:100] + bytes(len(path.read_bytes()) - 100)),
    "another table": lambda path: sqlite3.connect(path).executescript("DROP TABLE kept; CREATE TABLE kept (x);"),
    "another value": lambda path: sqlite3.connect(path).executescript("UPDATE kept SET value = x'00112233'"),
    "a text": lambda path: sqlite3.connect(path).executescript("UPDATE kept SET value = 'text'"),
    "rows exchanged": lambda path: sqlite3.connect(path).executescript(
        "UPDATE kept SET value = (SELECT value FROM kept AS other WHERE other.key <> kept.key)"
    ),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_one_is_thrown_away_with_a_line(
    damage: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept((b"a", b"1" * 9000), (b"b", b"2" * 9000))
    DAMAGE[damage](folder / FILE)
    assert found(b"a") is None
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "was damaged; it is thrown away" in error
    assert not (folder / "bwlint-index").exists()
    kept((b"a", b"3"))
    assert found(b"a") == b"3"
    assert capsys.readouterr().err == ""


def test_an_empty_file_is_a_new_one(folder: Path) -> None:
    kept((b"a", b"1"))
    (folder / FILE).write_bytes(b"")
    assert found(b"a") is None
    kept((b"a", b"2"))
    assert found(b"a") == b"2"


def test_a_killed_run_leaves_what_it_had_written_and_nothing_half(folder: Path) -> None:
    program = (
        "import os, sys\nfrom bwlint.index.store import Store\nstore = Store()\n"
        "store.put(b'a', b'1')\nstore.flush()\nstore._rows('BEGIN IMMEDIATE')\n"
        "store._rows('DELETE FROM kept')\nos.kill(os.getpid(), 9)\n"
    )
    source = str(Path(storing.__file__).parents[2])
    done = subprocess.run([sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": source}, timeout=60)
    assert done.returncode == -9
    assert found(b"a") == b"1"


def test_runs_at_once_lose_nothing(folder: Path) -> None:
    program = (
        "import sys\nfrom bwlint.index.store import Store\nstore = Store()\n"
        "for n in range(300):\n    store.put(f'{sys.argv[1]} {n}'.encode(), bytes(2000))\n"
        "store.close()\n"
    )
    kept((b"a", b"1"))
    environment = {**os.environ, "PYTHONPATH": str(Path(storing.__file__).parents[2])}
    runs = [subprocess.Popen([sys.executable, "-c", program, str(run)], env=environment) for run in range(4)]
    assert [run.wait(120) for run in runs] == [0] * 4
    store = Store()
    assert store.count() == 1201
    store.close()


def test_one_that_is_locked_is_left_alone(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept((b"a", b"1"))
    monkeypatch.setattr(storing, "_PATIENCE", 0.01)
    other = sqlite3.connect(folder / FILE, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    kept((b"b", b"2"))
    assert found(b"a") == b"1"
    other.execute("ROLLBACK")
    assert found(b"b") is None


def test_a_full_disk_keeps_nothing_and_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    kept((b"a", b"1"))
    store = Store()
    store.count()
    store._rows("PRAGMA max_page_count = 1")
    store.put(b"b", os.urandom(1 << 20))
    store.close()
    assert (found(b"a"), found(b"b")) == (b"1", None)
    assert capsys.readouterr().err == ""


def test_what_was_used_least_lately_goes_first(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept(*((f"{n}".encode(), os.urandom(10_000)) for n in range(100)))
    sqlite3.connect(folder / FILE).executescript("UPDATE kept SET used = CAST(CAST(key AS TEXT) AS INTEGER)")
    assert found(b"3") is not None  # which is a use
    monkeypatch.setattr(storing, "LIMIT", 500_000)
    monkeypatch.setattr(storing, "_SHRUNK", 300_000)
    store = Store()
    store.prune()
    assert store.size() <= 500_000
    assert store.get(b"3") is not None
    assert store.get(b"99") is not None
    assert store.get(b"10") is None
    store.close()


def test_a_process_that_was_forked_has_a_connection_of_its_own() -> None:
    store = Store()
    store.put(b"a", b"1")
    store.flush()
    child = os.fork()
    if not child:
        os._exit(0 if store.get(b"a") == b"1" and store._left else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert store.get(b"a") == b"1"
    store.close()


def test_what_goes_wrong_in_our_own_calls_is_no_damage(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept((b"a", b"1"))
    store = Store()
    store.count()
    store._failed(sqlite3.ProgrammingError("Cannot operate on a closed database."))
    store.close()
    assert found(b"a") == b"1"
    assert capsys.readouterr().err == ""


def make_file(path: Path) -> None:
    path.write_text("")


def link_elsewhere(path: Path) -> None:
    (path.parent / "elsewhere").mkdir(mode=0o700)
    path.symlink_to("elsewhere")


def open_to_all(path: Path) -> None:
    path.mkdir()
    path.chmod(0o777)


REFUSED: dict[str, tuple[Callable[[Path], None], str]] = {
    "a file": (make_file, "is something else"),
    "a link": (link_elsewhere, "is something else"),
    "a folder that others write": (open_to_all, "others can write"),
}


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    return tmp_path / "bwlint-index"


@pytest.mark.parametrize("name", REFUSED)
def test_a_folder_that_is_not_the_users_alone_is_not_used(name: str, own: Path) -> None:
    make, reason = REFUSED[name]
    make(own)
    with pytest.raises(Nowhere, match=reason):
        prepared()
    store = Store()
    store.put(b"a", b"1")
    assert store.get(b"a") is None
    store.close()


def test_a_folder_of_another_user_is_not_used(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prepared()
    monkeypatch.setattr(os, "geteuid", lambda: own.stat().st_uid + 1)
    with pytest.raises(Nowhere, match="another user"):
        prepared()


def test_a_file_that_others_write_is_not_used(own: Path) -> None:
    file = Path(prepared())
    file.write_text("")
    file.chmod(0o666)
    with pytest.raises(Nowhere, match="others can write"):
        prepared()


def test_root_makes_nothing_in_a_folder_of_a_user(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if os.geteuid() == 0:
        os.chown(own.parent, 1234, -1)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    with pytest.raises(Nowhere, match="another user"):
        prepared()
    assert not own.exists()


@pytest.mark.parametrize("home", ["/proc/nothing", "/dev/null", "/sys/kernel"])
def test_where_nothing_can_be_made_nothing_is_kept(home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, home)
    with pytest.raises(Nowhere):
        prepared()
    assert "nothing is kept" in cache.info()


def test_the_users_cache_folder_is_the_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert Path(chosen()).is_relative_to(tmp_path)
    assert Path(chosen()).name == "bwlint"


def test_info_and_clean(own: Path) -> None:
    assert cache.clean() == "nothing was kept\n"
    store = Store()
    store.put(b"a", b"1")
    store.close()
    assert stat.S_IMODE(own.stat().st_mode) == 0o700
    assert cache.info().startswith(f"{own}\n")
    assert "1 entries" in cache.info()
    assert cache.clean() == f"removed {own}\n"
    assert not own.exists()
