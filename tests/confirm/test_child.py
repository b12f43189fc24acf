"""Children end in time and leave nothing behind, whatever they do."""

from __future__ import annotations

import signal
import sys
import time
from pathlib import Path

import pytest

from bwlint.confirm import child

_FORK = "import os, time\nchild = os.fork()\nif child == 0:\n    time.sleep(600)\nprint(child)"
_TERM = "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\ntime.sleep(600)"


def is_running(process: int) -> bool:
    """Whether a process goes on living; a killed one takes a moment to end, one that nobody reaps has ended."""
    for _ in range(6000):
        try:
            told = Path(f"/proc/{process}/stat").read_text()
        except (FileNotFoundError, ProcessLookupError):
            return False
        if told.rpartition(")")[2].split()[0] in "ZX":
            return False
        time.sleep(0.02)
    return True


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir())) if sys.platform == "linux" else 0


def python(code: str, folder: Path, limit: float = 20.0, **more: object) -> child.Ended:
    return child.run([sys.executable, "-I", "-S", "-c", code], limit=limit, folder=folder, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("code", "limit", "ended", "trouble"),
    [
        ("print('here')", 20, 0, ""),
        ("raise SystemExit(7)", 20, 7, ""),
        ("import time; time.sleep(600)", 0.5, None, "not done after 0.5 s"),
        (_TERM, 0.5, None, "not done after 0.5 s"),
        ("while True: pass", 0.5, None, "not done after 0.5 s"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", 20, None, "ended by SIGSEGV"),
        ("import os\nwhile True: os.write(1, b'x' * 65536)", 60, None, "it wrote more than 64 MiB"),
        (
            "import os\na = int(os.environ['BWLINT_ANSWER'])\nwhile True: os.write(a, b'x' * 65536)",
            60,
            None,
            "more than",
        ),
        ("import os; os.close(1); os.close(2); import time; time.sleep(600)", 0.5, None, "not done after 0.5 s"),
    ],
)
def test_how_it_ends(code: str, limit: float, ended: int | None, trouble: str, tmp_path: Path) -> None:
    found = python(code, tmp_path, limit)
    assert found.code == ended
    assert trouble in found.trouble if trouble else found.trouble == ""


@pytest.mark.skipif(sys.platform != "linux", reason="no /proc")
def test_a_grandchild_holds_nothing_up_and_is_killed(tmp_path: Path) -> None:
    found = python(_FORK, tmp_path)
    assert found.code == 0
    assert not is_running(int(found.output))


@pytest.mark.skipif(sys.platform != "linux", reason="no /proc")
def test_a_grandchild_in_a_session_of_its_own_is_killed_too(tmp_path: Path) -> None:
    code = _FORK.replace("    time.sleep", "    os.setsid()\n    time.sleep").replace("print", "time.sleep(0.5)\nprint")
    found = python(code, tmp_path)
    assert found.code == 0
    assert not is_running(int(found.output))


def test_the_middle_of_a_long_output_is_left_out(tmp_path: Path) -> None:
    found = python("print('begin' + 'x' * 100_000 + 'end')", tmp_path)
    assert found.code == 0 and found.written == 100_009
    assert found.output.startswith("begin") and found.output.endswith("end\n")
    assert len(found.output) < child.KEPT + 100 and "bytes left out" in found.output


def test_the_environment_is_clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LD_PRELOAD", "/nonexistent.so")
    monkeypatch.setenv("NVCC_APPEND_FLAGS", "-ccbin evil")
    found = python("import os; print(sorted(os.environ)); print(os.getcwd())", tmp_path, environment={"OWN": "1"})
    names = found.output.splitlines()[0]
    assert "OWN" in names and "PRELOAD" not in names and "NVCC" not in names
    assert found.output.splitlines()[1] == str(tmp_path)


def test_input_and_answer_have_ways_of_their_own(tmp_path: Path) -> None:
    code = "import os, sys; os.write(int(os.environ['BWLINT_ANSWER']), sys.stdin.buffer.read()[::-1]); print('noise')"
    found = python(code, tmp_path, stdin=b"cba")
    assert (found.answer, found.output) == (b"abc", "noise\n")


def test_input_that_nobody_reads_blocks_nobody(tmp_path: Path) -> None:
    assert python("pass", tmp_path, stdin=b"x" * 1_000_000).code == 0


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux bounds another process")
def test_memory_is_bounded(tmp_path: Path) -> None:
    found = python("x = bytearray(1 << 30)", tmp_path, memory=512 << 20)
    assert found.code == 1 and "MemoryError" in found.output


def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    before = open_files()
    with pytest.raises(OSError, match="nowhere"):
        child.run(["/nowhere/ptxas"], limit=1, folder=tmp_path)
    assert open_files() == before


def test_whoever_is_interrupted_leaves_no_child_behind(tmp_path: Path) -> None:
    said = tmp_path / "pid"

    def interrupt(*_: object) -> None:
        # A slow machine may not have started it yet.
        if said.is_file() and said.read_text().endswith("."):
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1, 0.1)
        with pytest.raises(KeyboardInterrupt):
            python(f"import os, time\nopen({str(said)!r}, 'w').write(f'{{os.getpid()}}.')\ntime.sleep(600)", tmp_path)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert not is_running(int(said.read_text().rstrip(".")))
