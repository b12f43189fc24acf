from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from bwlint.report import write
from bwlint.report.write import write_report

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(write.__file__).parents[2])}
POSIX = pytest.mark.skipif(os.name != "posix", reason="modes, links and pipes of POSIX")


def test_to_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    write_report("größe\n", None)
    assert capsys.readouterr().out == "größe\n"


def test_a_stdout_that_lacks_characters_gets_escapes() -> None:
    code = "from bwlint.report.write import write_report; write_report('gr\\u00f6\\u00dfe\\n', None)"
    environment = {**ENVIRONMENT, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=True)
    assert done.stdout.splitlines() == [b"gr\\xf6\\xdfe"]


def test_to_a_new_file(tmp_path: Path) -> None:
    write_report("größe\n", tmp_path / "out.txt")
    assert (tmp_path / "out.txt").read_bytes() == "größe\n".encode()
    assert [path.name for path in tmp_path.iterdir()] == ["out.txt"]


@POSIX
def test_a_new_file_follows_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_report("x", tmp_path / "out.txt")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "out.txt").stat().st_mode) == 0o640


@POSIX
def test_an_old_file_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    path.write_text("old")
    path.chmod(0o604)
    write_report("new", path)
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o604


@POSIX
def test_a_symlink_stays_and_its_target_is_written(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    target, link = tmp_path / "there" / "real.txt", tmp_path / "link.txt"
    target.write_text("old")
    link.symlink_to(Path("there") / "real.txt")
    write_report("new", link)
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_an_error_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "out.txt"
    path.write_text("old")

    def full(*_: object) -> None:
        raise OSError("no space")

    monkeypatch.setattr(os, "replace", full)
    monkeypatch.setattr(Path, "replace", full)  # before 3.11 it keeps an `os.replace` of its own
    with pytest.raises(OSError, match="no space"):
        write_report("new", path)
    assert path.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["out.txt"]


@pytest.mark.parametrize("name", ["missing/out.txt", ""], ids=["no such folder", "a folder"])
def test_an_impossible_place_is_an_error(name: str, tmp_path: Path) -> None:
    with pytest.raises(OSError):
        write_report("x", tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == []


@POSIX
def test_a_pipe_is_written_directly(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got: list[str] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_text()))
    reader.start()
    write_report("through\n", pipe)
    reader.join(timeout=10)
    assert got == ["through\n"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@POSIX
@pytest.mark.parametrize("device", ["/dev/stdout", "/dev/fd/1"])
def test_a_redirected_stdout_keeps_what_is_there(device: str, tmp_path: Path) -> None:
    code = f"import pathlib, bwlint.report.write as w; w.write_report('b\\n', pathlib.Path({device!r}))"
    out = tmp_path / "out.txt"
    out.write_text("a\n")
    with out.open("ab") as stream:
        subprocess.run([sys.executable, "-c", code], env=ENVIRONMENT, stdout=stream, check=True)
    assert out.read_text() == "a\nb\n"


@POSIX
def test_the_null_device_stays_one() -> None:
    write_report("x", Path(os.devnull))
    assert stat.S_ISCHR(Path(os.devnull).stat().st_mode)
