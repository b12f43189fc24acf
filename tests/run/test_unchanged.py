"""A run with an index says what a run without one says, byte for byte, whatever has changed in between."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bwlint import cli
from bwlint.commands import check as command
from bwlint.index import kept, store
from bwlint.index.store import Store
from bwlint.sources import disk, read
from bwlint.world import collect

HELPER = "import torch\n\ndef major():\n    return torch.cuda.get_device_capability()[0]\n"
MINOR = "import torch\n\ndef major():\n    return torch.cuda.get_device_capability()[1]\n"
USER = """from pkg.helper import major

def fast(x):
    if major() == 12:
        return kernel(x)
    raise RuntimeError("SM120 only")
"""
SPLIT = """import torch

def faster(x):
    if torch.cuda.get_device_capability() == (12, 0):
        return kernel(x)
    raise RuntimeError("no")
"""
HEADER = "#pragma once\n#define MINE (__CUDA_ARCH__ == 1200)\n"
OTHER_HEADER = "#pragma once\n#define MINE (__CUDA_ARCH__ >= 1200)\n"
KERNEL = '#include "mine.cuh"\n__global__ void k(int* x) {\n#if MINE\n  x[0] = 1;\n#endif\n}\n'
BUILD = 'set(CMAKE_CUDA_ARCHITECTURES "90;120a")\nadd_library(k SHARED csrc/k.cu)\n'
FILES = {
    "proj/pyproject.toml": (
        "[project]\nname = 'x'\n",
        "[project]\nname = 'x'\n[tool.bwlint]\nignore = ['family-split']\n",
    ),
    "proj/bwlint.toml": ("", "severity = 'note'\n", "exclude = ['pkg/split.py']\n"),
    "proj/.gitignore": ("", "split.py\n", "csrc/\n", "*.cu\n"),
    "proj/pkg/__init__.py": ("", "from pkg.helper import major\n"),
    "proj/pkg/helper.py": (HELPER, MINOR, "def major():\n    return 3\n"),
    "proj/pkg/user.py": (USER, USER.replace("12", "10"), "x = 1\n"),
    "proj/pkg/split.py": (SPLIT, SPLIT.replace("(12, 0)", "(12, 1)"), "\xff"),
    "proj/csrc/k.cu": (KERNEL, KERNEL.replace("mine", "other")),
    "proj/csrc/k2.cu": (KERNEL.replace("k(", "k2("),),
    "proj/include/mine.cuh": (HEADER, OTHER_HEADER),
    "proj/CMakeLists.txt": (BUILD, BUILD.replace("120a", "120f")),
    "proj/tests/test_user.py": ("from pkg.user import fast\n\ndef test_it():\n    fast(1)\n",),
}
ARGUMENTS = (("proj",), ("proj/csrc",), ("proj/pkg/user.py", "proj/pkg/split.py"))
Edit = tuple[str, str, str]


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """The exit code, the report, and what is said besides without the time."""
    code = cli.run(["check", "--jobs", "1", *arguments])
    out, error = capsys.readouterr()
    return code, out, error.rpartition(" in ")[0]


@contextmanager
def at(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("BWLINT_CACHE_DIR", str(tmp_path / "cache"))
    lay_out(tmp_path)
    with at(tmp_path):
        yield tmp_path / "proj"


def lay_out(folder: Path) -> None:
    for name, (first, *_) in FILES.items():
        write(folder / name, first)
    (folder / "proj" / ".git").mkdir()


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode("latin-1"))


def edited(folder: Path, edit: Edit) -> None:
    """One change of a tree. What is not there is not changed."""
    what, name, text = edit
    path = folder / name
    if what == "write" and not path.is_dir():
        write(path, text)
    elif what == "remove" and path.exists():
        path.unlink()
    elif what == "remove folder" and path.parent.name != "proj":
        shutil.rmtree(path.parent, ignore_errors=True)
    elif what == "rename" and path.exists():
        path.rename(path.with_name(f"re_{path.name}"))
    elif what == "touch" and path.exists():
        path.touch()
    elif what == "mode" and path.exists():
        path.chmod(0o755)
    elif what == "link" and path.exists():
        path.rename(path.with_name("target.txt"))
        path.symlink_to("target.txt")
    elif what == "folder" and not path.exists():
        path.mkdir(parents=True)


EDITS = st.one_of(
    st.sampled_from([("write", name, text) for name, texts in FILES.items() for text in texts]),
    st.tuples(
        st.sampled_from(["remove", "remove folder", "rename", "touch", "mode", "link", "folder"]),
        st.sampled_from(sorted(FILES)),
        st.just(""),
    ),
)


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.tuples(EDITS, st.sampled_from(ARGUMENTS), st.booleans()), min_size=4, max_size=8))
def test_whatever_is_edited_the_index_says_what_is_so(
    capsys: pytest.CaptureFixture[str], steps: list[tuple[Edit, tuple[str, ...], bool]]
) -> None:
    with tempfile.TemporaryDirectory() as scratch, pytest.MonkeyPatch.context() as patch, at(Path(scratch)):
        patch.setenv("BWLINT_CACHE_DIR", str(Path(scratch, "cache")))
        lay_out(Path(scratch))
        for edit, arguments, is_json in steps:
            form = ("--format", "json") if is_json else ()
            edited(Path(scratch), edit)
            fresh = run(capsys, "--severity", "note", "--no-cache", *form, *arguments)
            assert run(capsys, "--severity", "note", *form, *arguments) == fresh
            assert run(capsys, "--severity", "note", *form, *arguments) == fresh


@contextmanager
def counting(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, int]]:
    """How often a file is opened for what is in it, and how often facts are read of one."""
    count = {"opened": 0, "read": 0}

    def counted(name: str, function: Callable[..., object]) -> Callable[..., object]:
        def call(*arguments: object) -> object:
            count[name] += 1
            return function(*arguments)

        return call

    with monkeypatch.context() as patch:
        patch.setattr(read, "_read_open", counted("opened", read._read_open))
        patch.setattr(collect, "_facts", counted("read", collect._facts))
        yield count


def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if all files were old."""
    monkeypatch.setattr(disk, "SETTLED", -(10**18))


def test_a_second_run_opens_nothing(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    settled(monkeypatch)
    first = run(capsys, "--format", "json", "proj")
    again = disk._AGAIN["file"]

    def looked(path: str) -> str:
        assert not Path(path).exists(), path  # it may appear
        return again(path)

    monkeypatch.setitem(disk._AGAIN, "file", looked)
    with counting(monkeypatch) as count:
        assert run(capsys, "--format", "json", "proj") == first
    assert count == {"opened": 0, "read": 0}


def test_files_of_this_moment_are_compared_by_content(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A change within one tick of the clock, of the same size, leaves the status as it was."""
    status = (project / "pkg/split.py").stat()
    before = run(capsys, "proj")
    edited(project.parent, ("write", "proj/pkg/split.py", SPLIT.replace("(12, 0)", "(10, 0)")))
    os.utime(project / "pkg/split.py", ns=(status.st_atime_ns, status.st_mtime_ns))
    fresh = run(capsys, "--no-cache", "proj")
    assert run(capsys, "proj") == fresh != before


def test_one_changed_file_is_all_that_is_read_anew(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run(capsys, "proj")
    write(project / "pkg/split.py", SPLIT + "\n")
    with counting(monkeypatch) as count:
        run(capsys, "proj")
    assert count["read"] == 1


def test_a_file_that_is_touched_is_compared_and_not_read_anew(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run(capsys, "proj")
    (project / "pkg/split.py").touch()
    with monkeypatch.context() as patch:
        patch.setattr(command, "outcome_of", lambda *_: pytest.fail("it ran"))
        run(capsys, "proj")


@pytest.mark.parametrize(
    "change",
    [
        ("write", "proj/pkg/helper.py", MINOR),
        ("remove", "proj/pkg/helper.py", ""),
        ("write", "proj/bwlint.toml", "ignore = ['leak']\n"),
    ],
)
def test_what_lies_outside_the_arguments_counts(
    change: Edit, project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run(capsys, "proj/pkg/user.py")
    edited(project.parent, change)
    monkeypatch.setattr(command, "outcome_of", lambda *_: None)
    assert run(capsys, "proj/pkg/user.py")[0] == 2  # it went to work, and found no outcome


def test_the_working_folder_and_standard_input_count(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def asked(text: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "bwlint", "--stdin-filename", "pkg/new.py"],
            input=text.encode(),
            capture_output=True,
            env={**os.environ, "PYTHONPATH": str(Path(cli.__file__).parents[1])},
            cwd=project,
            timeout=120,
        )
        return done.stdout.decode()

    first = asked(SPLIT)
    assert "12.1" in first and SPLIT.splitlines()[3] in first
    assert asked("x = 1\n") == ""
    assert asked(SPLIT) == first
    here = run(capsys, "--format", "concise", "proj/pkg")
    monkeypatch.chdir(project)
    assert run(capsys, "--format", "concise", "pkg")[1] == here[1].replace("proj/", "")


def test_processes_of_a_pool_fill_the_index_and_are_told_by_it(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collect, "SERIAL_BELOW", 0)
    monkeypatch.setattr(collect, "CHUNK", 2)
    fresh = run(capsys, "--no-cache", "--jobs", "2", "proj")
    assert run(capsys, "--jobs", "2", "proj") == fresh
    write(project / "include/mine.cuh", OTHER_HEADER)
    fresh = run(capsys, "--no-cache", "--jobs", "2", "proj")
    with counting(monkeypatch) as count:
        assert run(capsys, "--jobs", "2", "proj") == fresh
        assert run(capsys, "proj") == fresh
    assert count["read"] == 0


def test_a_read_only_home_and_a_damaged_index_change_nothing(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = run(capsys, "proj")
    file = next((project.parent / "cache").rglob("*.sqlite3"))
    file.write_bytes(file.read_bytes()[:6000])
    code, out, error = run(capsys, "proj")
    assert (code, out) == first[:2]
    assert error.count("it is thrown away") == 1
    monkeypatch.setenv("BWLINT_CACHE_DIR", "/proc/nothing")
    assert run(capsys, "proj") == first


def test_an_index_within_the_tree_is_nothing_that_a_run_sees(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BWLINT_CACHE_DIR", ".cache")
    first = run(capsys, "proj", ".cache")
    monkeypatch.setattr(command, "outcome_of", lambda *_: pytest.fail("it ran"))
    assert run(capsys, "proj", ".cache") == first


def test_a_run_leaves_the_index_within_its_limit(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run(capsys, "proj")
    whole = Store().count()
    monkeypatch.setattr(store, "LIMIT", 20_000)
    monkeypatch.setattr(store, "_SHRUNK", 5_000)
    run(capsys, "proj/pkg")
    assert Store().count() < whole
    assert Store().size() < 50_000


def test_what_is_damaged_within_a_row_changes_nothing(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A row whose sum is right, and which holds something else."""
    monkeypatch.setattr(kept, "packed", lambda thing: b"nothing that was packed")
    fresh = run(capsys, "--no-cache", "proj")
    assert run(capsys, "proj") == fresh
    assert run(capsys, "proj") == fresh
