"""The collector in real processes, with a CUPTI that needs no GPU: however they end, what was seen is there."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from small_binaries import cubin

from bwlint.trace import collecting
from bwlint.trace.receipt import KernelLaunch, Process, processes

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or not any(map(shutil.which, ("cc", "gcc", "clang"))), reason="no C compiler, no Linux"
)
PROGRAM = """
import ctypes, os, signal, time
cupti = ctypes.CDLL(os.environ["BWLINT_TRACE_CUPTI"])
names = [ctypes.create_string_buffer(name) for name in (b"_Z4fastPf", b'say "\\\\\\xe9"', b"last")]
def launch(name, grid=1, dynamic=0, runs=1):
    cupti.fake_launch(names[name], grid, dynamic, runs)
def begin():
    ctypes.CDLL(os.environ["CUDA_INJECTION64_PATH"]).InitializeInjection()
def written(text):
    file = f"{os.environ['BWLINT_TRACE_FOLDER']}/{os.getpid()}.jsonl"
    while text not in open(file).read():
        time.sleep(.01)
"""


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("built")
    fake = folder / "libfake_cupti.so"
    source = Path(__file__).with_name("fake_cupti.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(fake), str(source)], check=True)
    return collecting.built(folder, {}), fake


def traced(code: str, folder: Path, libraries: tuple[Path, Path]) -> tuple[int, tuple[Process, ...]]:
    collector, fake = libraries
    given = {
        "CUDA_INJECTION64_PATH": str(collector),
        "BWLINT_TRACE_FOLDER": str(folder),
        "BWLINT_TRACE_CUPTI": str(fake),
    }
    done = subprocess.run([sys.executable, "-c", PROGRAM + code], env={**os.environ, **given}, timeout=60)
    return done.returncode, processes(folder)


def counts(process: Process) -> dict[str, int]:
    found: dict[str, int] = {}
    for launch in process.launches:
        found[launch.kernel] = found.get(launch.kernel, 0) + launch.count
    return found


def test_launches_are_counted_by_kernel_and_shape(tmp_path: Path, libraries: tuple[Path, Path]) -> None:
    code = "begin()\nfor n in range(300): launch(0, 1 + n % 2)\nlaunch(0, 1, 4096)\nlaunch(1)\nlaunch(2, runs=0)\n"
    code += "launch(2, runs=2)\n"
    ended, (process,) = traced(code, tmp_path, libraries)
    assert ended == 0 and process.ended and process.cupti == 130001
    assert counts(process) == {"_Z4fastPf": 301, 'say "\\\udce9"': 1}
    assert process.launches[0] == KernelLaunch(
        "_Z4fastPf", 0, (1, 1, 1), (128, 1, 1), (2, 1, 1), 16, 0, 32, False, 150, 150_000
    )
    assert (process.ran, process.asked, process.unseen, process.unfinished) == (302, 304, 2, ("last",))
    assert process.faults == ("cuptiActivityEnable: the JIT is not seen (7)",)
    assert any(library.path.endswith("libfake_cupti.so") for library in process.libraries)


def test_the_first_launch_has_the_frames_of_python(tmp_path: Path, libraries: tuple[Path, Path]) -> None:
    code = "begin()\ndef chooser():\n    launch(0)\nchooser()\nchooser()\n"
    _, (process,) = traced(code, tmp_path, libraries)
    (call,) = process.calls
    if hasattr(ctypes.pythonapi, "_Py_DumpTraceback"):
        assert [frame.rpartition(" ")[2] for frame in call.stack] == ["launch", "chooser", "<module>"]


@pytest.mark.parametrize(
    ("end", "code"),
    [("os.kill(os.getpid(), signal.SIGKILL)", -9), ("os._exit(3)", 3), ("os.kill(os.getpid(), signal.SIGSEGV)", -11)],
)
def test_what_was_seen_before_a_crash_is_there(
    end: str, code: int, tmp_path: Path, libraries: tuple[Path, Path]
) -> None:
    script = f"begin()\nlaunch(0); launch(0)\nwritten('\"ran\"')\nlaunch(2, runs=0)\n{end}\n"
    ended, (process,) = traced(script, tmp_path, libraries)
    assert ended == code and not process.ended
    assert counts(process) == {"_Z4fastPf": 2}
    assert process.unfinished == ("last",)


def test_each_process_has_lines_of_its_own(tmp_path: Path, libraries: tuple[Path, Path]) -> None:
    script = """
if os.fork() == 0:                 # before CUDA: it has a driver of its own
    begin(); launch(2); raise SystemExit
os.wait(); begin(); launch(0)
if os.fork() == 0: raise SystemExit  # after: it has none, and ends the collector of nobody
os.wait(); launch(0)
"""
    _, found = traced(script, tmp_path, libraries)
    assert sorted(tuple(counts(process).items()) for process in found) == [(("_Z4fastPf", 2),), (("last", 1),)]
    assert all(process.ended for process in found)


def test_modules_are_kept_once_and_read(tmp_path: Path, libraries: tuple[Path, Path]) -> None:
    image = tmp_path / "image"
    image.write_bytes(cubin(120, "f", ["_Z4fastPf", "idle"]))
    script = (
        f"begin()\ndata = open({str(image)!r}, 'rb').read()\n"
        "for _ in range(2): cupti.fake_module(data, ctypes.c_size_t(len(data)))\nlaunch(0)\n"
    )
    _, (process,) = traced(script, tmp_path, libraries)
    assert len(list(tmp_path.glob("*.cubin"))) == 1
    assert [(module.container, module.target, module.kernels, module.launched) for module in process.modules] == [
        ("family cubin", "sm_120f", 2, ("_Z4fastPf",))
    ] * 2
    assert process.launches[0].containers == ("family cubin sm_120f",)


def test_without_a_compiler_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(collecting.NotTraced, match="no C compiler"):
        collecting.built(tmp_path, {})


def test_another_tool_is_not_put_out(tmp_path: Path) -> None:
    with pytest.raises(collecting.NotTraced, match="another tool"):
        collecting.run(["true"], tmp_path, {"CUDA_INJECTION64_PATH": "/x.so"}, events=False, limit=None)
