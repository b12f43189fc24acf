"""Files on the disk: whole, old or new."""

from __future__ import annotations

import os
import signal
import stat
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from processes import SECONDS, begun, line

from bwlint.repair import write as writing
from bwlint.repair.write import NotWritten, Replacement, left_behind, recovered, write
from bwlint.sources import held


def one(path: Path, after: bytes = b"new", before: bytes | None = None) -> Replacement:
    return Replacement(os.path.realpath(path), path.read_bytes() if before is None else before, after)


def files(folder: Path, *names: str) -> list[Path]:
    paths = [folder / name for name in names]
    for path in paths:
        path.write_bytes(b"old")
    return paths


@pytest.mark.parametrize("mode", [0o644, 0o755, 0o600, 0o4755])
def test_the_mode_stays(tmp_path: Path, mode: int) -> None:
    (path,) = files(tmp_path, "m.py")
    path.chmod(mode)
    assert write([[one(path, b"new\r\n")]]) == []
    assert path.read_bytes() == b"new\r\n"
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_is_not_written_through(tmp_path: Path) -> None:
    target, link = tmp_path / "m.py", tmp_path / "link.py"
    target.write_bytes(b"old")
    link.symlink_to(target)
    assert (
        write([[Replacement(str(link), b"old", b"new")]])[0].reason == "bwlint does not write through a symbolic link"
    )
    assert link.is_symlink()
    assert target.read_bytes() == b"old"


def test_a_folder_that_is_a_link(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (path,) = files(tmp_path / "folder", "m.py")
    (tmp_path / "link").symlink_to("folder")
    assert "symbolic link" in write([[Replacement(str(tmp_path / "link" / "m.py"), b"old", b"new")]])[0].reason
    assert path.read_bytes() == b"old"


def as_fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def as_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize(
    ("prepare", "reason"),
    [
        (lambda path: path.write_bytes(b"meanwhile"), "changed since it was read"),
        (lambda path: path.unlink(), "no such file or directory"),
        (lambda path: path.chmod(0o444), "read-only"),
        (lambda path: os.link(path, path.with_name("again")), "its hard link under another name would keep"),
        (as_fifo, "not a regular file: a FIFO"),
        (as_folder, "not a regular file: a folder"),
    ],
)
def test_what_is_not_replaced(tmp_path: Path, prepare: Callable[[Path], None], reason: str) -> None:
    path, other, third = files(tmp_path, "m.py", "other.py", "third.py")
    items = [one(other), one(path)], [one(third)]
    prepare(path)
    problems = write(items)
    assert {(Path(problem.real).name, problem.failed) for problem in problems} == {("m.py", False), ("other.py", False)}
    assert any(problem.reason.startswith(reason) for problem in problems)
    assert other.read_bytes() == b"old", "files of one fix are written together"
    assert third.read_bytes() == b"new"
    assert not list(tmp_path.glob(".bwlint-*"))


@pytest.mark.parametrize("group", [False, True])
def test_a_file_of_somebody_else(group: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (path,) = files(tmp_path, "m.py")
    status = path.stat()
    monkeypatch.setattr(os, "geteuid", lambda: status.st_uid if group and status.st_uid else status.st_uid + 1)
    monkeypatch.setattr(os, "getegid", lambda: status.st_gid + group)
    monkeypatch.setattr(os, "getgroups", list[int])
    (problem,) = write([[one(path)]])
    assert problem == NotWritten(str(path), "it belongs to another user, and would become yours")
    assert path.read_bytes() == b"old"


@pytest.mark.skipif(os.geteuid() != 0, reason="root gives files away")
def test_root_leaves_a_file_its_owner(tmp_path: Path) -> None:
    (path,) = files(tmp_path, "m.py")
    os.chown(path, 12345, 54321)
    assert write([[one(path)]]) == []
    assert (path.read_bytes(), path.stat().st_uid, path.stat().st_gid) == (b"new", 12345, 54321)


def test_a_file_that_changes_while_the_new_one_is_prepared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, other = files(tmp_path, "m.py", "other.py")
    stage = writing._stage

    def slow(item: Replacement, temporary: str) -> int:
        made = stage(item, temporary)
        path.write_bytes(b"meanwhile")
        return made

    monkeypatch.setattr(writing, "_stage", slow)
    assert {problem.failed for problem in write([[one(other), one(path)]])} == {False}
    monkeypatch.undo()
    assert (path.read_bytes(), other.read_bytes()) == (b"meanwhile", b"old")
    assert sorted(tmp_path.iterdir()) == [path, other]


def test_what_somebody_else_has_written_is_not_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same text, at the same moment: two runs of bwlint on one tree, one of which knows no locks."""
    paths = files(tmp_path, "a.py", "b.py", "c.py")
    stage = writing._stage

    def slow(item: Replacement, temporary: str) -> int:
        made = stage(item, temporary)
        other = tmp_path / "theirs"
        other.write_bytes(b"new")
        other.replace(paths[0])
        return made

    monkeypatch.setattr(writing, "_stage", slow)
    assert {problem.reason for problem in write([[one(path) for path in paths]])} == {
        "changed since it was read",
        "its fix also changes a file that was not written",
    }
    assert [path.read_bytes() for path in paths] == [b"new", b"old", b"old"]


SLOW = """
import os, sys
from bwlint.repair.write import Replacement, write
replaced = os.replace


def slow(source, target):
    replaced(source, target)
    print(target, flush=True)
    sys.stdin.readline()


os.replace = slow
print(write([[Replacement(path, b"old", b"new") for path in sys.argv[1:]]]), flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no locks")
@pytest.mark.parametrize("is_killed", [False, True])
def test_two_runs_at_once(is_killed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second waits for the first, and then claims nothing that it did not do."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "tree").mkdir()
    paths = files(tmp_path / "tree", "a.py", "b.py", "c.py")
    with begun(SLOW, *map(str, paths)) as first, ThreadPoolExecutor() as pool:
        line(first)
        second = pool.submit(write, [[one(path, b"new", b"old") for path in paths]])
        time.sleep(0.2)
        assert not second.done()
        if is_killed:
            first.kill()
        else:
            assert first.communicate(b"\n\n\n", timeout=SECONDS)[0].endswith(b"\n[]\n")
        reasons = {problem.reason for problem in second.result(timeout=SECONDS)}
    assert "changed since it was read" in reasons
    ended = [found.how for left in left_behind([str(tmp_path)]) for found in recovered(left)]
    assert ended == ["fixed"] * (2 * is_killed)
    assert [path.read_bytes() for path in paths] == [b"new"] * 3
    assert sorted((tmp_path / "tree").iterdir()) == paths
    assert not list((tmp_path / "state").rglob("*.fix"))


def test_a_run_that_has_no_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (path,) = files(tmp_path, "m.py")
    monkeypatch.setattr(held, "_PATIENCE", 0)
    with held.alone_in([str(tmp_path)]):
        (problem,) = write([[one(path)]])
    assert problem.reason == "cannot be written: another run there does not end"
    assert path.read_bytes() == b"old"


def test_what_cannot_be_put_back_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = files(tmp_path, "a.py", "b.py")
    replace, failing = os.replace, [False]

    def full(source: str, target: str) -> None:
        failing[0] = failing[0] or target == str(second)
        if failing[0]:
            raise OSError(28, "No space left on device")
        replace(source, target)

    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(os, "replace", full)
    told = {Path(problem.real).name: problem.reason for problem in write([[one(first), one(second)]])}
    assert told["a.py"] == "replaced, and cannot be put back: run bwlint again"
    monkeypatch.undo()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert {found.how for left in left_behind([str(tmp_path)]) for found in recovered(left)} == {"fixed"}
    assert (first.read_bytes(), second.read_bytes()) == (b"new", b"new")
    assert sorted(tmp_path.glob("*.*")) == [first, second]


def test_what_the_system_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = files(tmp_path, "a.py", "b.py")
    replace = os.replace

    def failing(source: str, target: str) -> None:
        if target == str(second):
            raise OSError(28, "No space left on device")
        replace(source, target)

    monkeypatch.setattr(os, "replace", failing)
    problems = write([[one(first), one(second)]])
    assert problems[0] == NotWritten(str(second), "cannot be written: no space left on device", failed=True)
    assert (first.read_bytes(), second.read_bytes()) == (b"old", b"old")
    assert sorted(tmp_path.iterdir()) == [first, second]


FULL = """
import resource, sys
from bwlint.repair.write import Replacement, write
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
problems = write([[Replacement(path, b"old", b"n" * 9000)] for path in sys.argv[1:]])
print([(problem.failed, problem.reason) for problem in problems])
"""


def test_a_full_disk(tmp_path: Path) -> None:
    paths = files(tmp_path, "a.py", "b.py")
    said, _ = begun(FULL, *map(str, paths)).communicate(timeout=SECONDS)
    assert said.count(b"(True, 'cannot be written: file too large')") == 2
    assert [path.read_bytes() for path in paths] == [b"old", b"old"]
    assert sorted(tmp_path.iterdir()) == paths


ENDLESS = """
import sys
from contextlib import ExitStack
from bwlint.commands.terminal import end_on_signals
from bwlint.repair.write import Replacement, write
end_on_signals(ExitStack())
old, new = b"old" * 50000, b"new!" * 50000
print("ready", flush=True)
while True:
    for before, after in ((old, new), (new, old)):
        problems = write([[Replacement(path, before, after) for path in sys.argv[1:]]])
        assert not problems, problems
"""


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP"])
def test_a_signal_leaves_nothing_behind(tmp_path: Path, name: str) -> None:
    paths = [tmp_path / f"{number}.py" for number in range(6)]
    for path in paths:
        path.write_bytes(b"old" * 50000)
    for delay in (0.0, 0.02, 0.05):
        with begun(ENDLESS, *map(str, paths)) as process:
            line(process)
            time.sleep(delay)
            process.send_signal(getattr(signal, name))
            assert process.wait(timeout=SECONDS) != 0
        assert sorted(tmp_path.iterdir()) == paths
        assert len({path.read_bytes() for path in paths}) == 1, "files of one fix are written together"
        for path in paths:
            path.write_bytes(b"old" * 50000)
