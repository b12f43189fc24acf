"""How a run ends when it does not come to its end: its code, what it says, what it leaves behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest
from processes import SECONDS, begun, hear_signals, line

from bwlint import cli

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")

SPLIT = "import torch\n\nif torch.cuda.get_device_capability() != (12, 0):\n    raise RuntimeError('no')\n"
SLOW = """
import os, sys, time
from bwlint import cli
from bwlint.world import collect

def endless(_):
    os.write(1, b"reading\\n")  # in one piece, whoever else writes
    time.sleep(3600)

collect._read_chunk = endless
sys.argv[0] = "bwlint"
cli.main()
"""


def wheel(folder: Path) -> Path:
    """A wheel with enough files for a pool of processes."""
    path = folder / "kit-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(60):
            archive.writestr(f"kit/m{number}.py", SPLIT)
    return path


@pytest.mark.parametrize(
    ("name", "code", "said"),
    [
        ("SIGINT", 130, "bwlint: interrupted\n"),
        ("SIGTERM", 143, "bwlint: ended by SIGTERM\n"),
        ("SIGHUP", 129, "bwlint: ended by SIGHUP\n"),
        ("SIGKILL", -9, ""),
    ],
)
def test_no_process_outlives_a_run(name: str, code: int, said: str, tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    process = begun(SLOW, "check", "--jobs", "2", str(wheel(tmp_path)), TMPDIR=str(scratch))
    assert (line(process), line(process)) == (b"reading\n", b"reading\n")
    process.send_signal(getattr(signal, name))
    # The workers hold the pipes too: this comes back when the last of them is gone.
    _, errors = process.communicate(timeout=SECONDS)
    assert (process.returncode, errors.decode()) == (code, said)
    assert bool(list(scratch.iterdir())) is (name == "SIGKILL")


def shell(command: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """What bash makes of a command in a folder."""
    return subprocess.run(
        ["bash", "-c", command.replace("bwlint ", f"{sys.executable} -m bwlint ")],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src"), **environment},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
        preexec_fn=hear_signals,
    )


def test_what_a_killed_run_unpacked_goes_with_the_next(tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    process = begun(SLOW, "check", "--jobs", "2", str(wheel(tmp_path)), TMPDIR=str(scratch))
    line(process)
    (held,) = scratch.glob("*/.held")
    os.utime(held, (time.time() - 3600,) * 2)
    assert shell("bwlint *.whl", tmp_path, TMPDIR=str(scratch)).returncode == 1
    assert held.exists(), "its run is not over"
    process.kill()
    process.communicate(timeout=SECONDS)
    assert shell("bwlint *.whl", tmp_path, TMPDIR=str(scratch)).returncode == 1
    assert not list(scratch.iterdir())


FULL = "No space left on device\n"


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        ("bwlint split.py > /dev/full", 2, f"Error: cannot write stdout: {FULL}"),
        ("bwlint split.py --output /dev/full", 2, f"Error: cannot write /dev/full: {FULL}"),
        ("bwlint chips > /dev/full", 2, f"bwlint: {FULL}"),
        ("bwlint --help > /dev/full", 2, f"bwlint: {FULL}"),
        ("bwlint split.py 2> /dev/full", 1, ""),
        ("bwlint clean.py 2> /dev/full", 0, ""),
        ("bwlint --frobnicate 2> /dev/full", 2, ""),
        ("bwlint split.py >&-", 1, "bwlint: 1 warning, 1 fixable with --fix "),
        ("bwlint clean.py <&- >&- 2>&-", 0, ""),
        ("bwlint split.py | true; exit ${PIPESTATUS[0]}", 1, "bwlint: 1 warning, 1 fixable with --fix "),
        ("bwlint split.py 2>&1 | true; exit ${PIPESTATUS[0]}", 1, ""),
        ("bwlint clean.py 2>&1 | true; exit ${PIPESTATUS[0]}", 0, ""),
        ("bwlint chips | true; exit ${PIPESTATUS[0]}", 0, ""),
    ],
)
def test_a_stream_that_takes_nothing(command: str, code: int, said: str, tmp_path: Path) -> None:
    (tmp_path / "split.py").write_text(SPLIT)
    (tmp_path / "clean.py").write_text("x = 1\n")
    done = shell(command, tmp_path)
    assert (done.returncode, done.stderr[: len(said)]) == (code, said)
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("command", ["check", "inspect", "matrix", "confirm"])
@pytest.mark.parametrize("place", ["gone/out.json", "split.py/out.json"])
def test_an_output_that_cannot_be_written_fails_before_the_work(
    command: str, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "split.py").write_text(SPLIT)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(f"bwlint.commands.{command}.run", lambda *_: pytest.fail("the work was begun"))
    assert cli.run([command, "split.py", "--output", place]) == 2
    assert f"cannot write {place}" in capsys.readouterr().err
    assert cli.run(["split.py", "--output", "new.json", "--frobnicate"]) == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["split.py"], "asking leaves nothing behind"
