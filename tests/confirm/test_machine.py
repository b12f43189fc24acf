"""Packages whose files differ from their RECORD, and trees with changes, are said."""

from __future__ import annotations

import base64
import hashlib
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from bwlint.confirm import machine
from bwlint.confirm.machine import described
from bwlint.confirm.workbench import Device, Toolkit

FILES = {"pkg/__init__.py": b"x = 1\n", "pkg/kernel.cu": b"void k();\n"}


@pytest.fixture(autouse=True)
def no_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    """To read a whole toolkit takes a second."""
    monkeypatch.setattr(machine, "_TOOLS", ())


def install(folder: Path, files: dict[str, bytes] = FILES, name: str = "some-pkg") -> Path:
    """A distribution in a folder named site-packages; the folder."""
    site = folder / "lib" / "site-packages"
    info = site / f"{name.replace('-', '_')}-1.0.dist-info"
    info.mkdir(parents=True)
    rows = []
    for path, data in files.items():
        (site / path).parent.mkdir(parents=True, exist_ok=True)
        (site / path).write_bytes(data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
        rows.append(f"{path},sha256={digest},{len(data)}")
    rows.append(f"{info.name}/RECORD,,")
    (info / "RECORD").write_text("\n".join(rows))
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    return site


def packages(*reals: Path) -> dict[str, tuple[str, ...]]:
    found = described([str(real) for real in reals], (), "no GPU", ())
    return {package.name: package.changed for package in found.packages if package.name == "some-pkg"}


@pytest.mark.parametrize("scanned", ["pkg", "pkg/kernel.cu"])
def test_an_untouched_package(scanned: str, tmp_path: Path) -> None:
    assert packages(install(tmp_path) / scanned) == {"some-pkg": ()}


@pytest.mark.parametrize(
    ("change", "changed"),
    [
        (lambda site: (site / "pkg/kernel.cu").write_bytes(b"void k(int);\n"), ("pkg/kernel.cu",)),
        (lambda site: (site / "pkg/kernel.cu").unlink(), ("pkg/kernel.cu",)),
        (lambda site: (site / "pkg/__init__.py").write_bytes(b""), ("pkg/__init__.py",)),
        (lambda site: (site / "pkg/own.py").write_bytes(b""), ()),
    ],
)
def test_a_patched_package(change: object, changed: tuple[str, ...], tmp_path: Path) -> None:
    site = install(tmp_path)
    change(site)  # type: ignore[operator]
    assert packages(site / "pkg") == {"some-pkg": changed}
    found = described([str(site / "pkg")], (), "no GPU", ())
    assert ("some-pkg 1.0" in found.altered) is bool(changed)


def test_others_of_the_same_folder_are_not_asked(tmp_path: Path) -> None:
    site = install(tmp_path)
    (site / "other.py").write_bytes(b"")
    assert packages(site / "other.py") == {}


def test_a_hostile_record(tmp_path: Path) -> None:
    site = install(tmp_path)
    record = next(site.glob("*.dist-info")) / "RECORD"
    record.write_text(record.read_text() + '\n/dev/zero,sha256=AA,1\n../../../../etc,sha256=AA,1\n"",sha256=,\n')
    assert packages(site / "pkg")["some-pkg"][0] == "/dev/zero"


def git(folder: Path, *arguments: str) -> None:
    own = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *own, *arguments], cwd=folder, check=True, capture_output=True)


def stage(path: Path) -> None:
    path.write_text("y")
    git(path.parent, "add", path.name)


@pytest.mark.parametrize(
    ("change", "dirty"),
    [
        (lambda top: None, False),
        (lambda top: (top / "new.py").write_text(""), False),
        (lambda top: (top / "a.py").write_text("y"), True),
        (lambda top: stage(top / "a.py"), True),
    ],
)
def test_the_commit_of_a_tree(change: object, dirty: bool, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "first")
    change(tmp_path)  # type: ignore[operator]
    (found,) = described([str(tmp_path / "a.py")], (), "", ()).commits
    assert (found.path, found.dirty) == (str(tmp_path), dirty)
    assert found.commit is not None and len(found.commit) == 40


def test_no_tree(tmp_path: Path) -> None:
    assert described([str(tmp_path)], (), "", ()).commits == ()


def test_no_commit_yet(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (found,) = described([str(tmp_path)], (), "", ()).commits
    assert found.commit is None


@pytest.mark.parametrize("devices", [(), (Device(0, "H100", "GPU-1", "9.0", "13.0"),)])
def test_why_there_is_no_gpu(devices: tuple[Device, ...]) -> None:
    found = described([], devices, "no libcuda.so.1", ())
    assert found.no_device == ("" if devices else "no libcuda.so.1")


@pytest.mark.parametrize(
    "record",
    [b"a\0b,sha256=x,1\n", b"\xff\xfe,sha256=x,1", b'"' + b"x" * 200_000 + b'",sha256=x,1\n', b"a\0/../b,sha256=,\r"],
)
def test_a_record_that_cannot_be_read_vouches_for_nothing(record: bytes, tmp_path: Path) -> None:
    site = install(tmp_path)
    (site / "some_pkg-1.0.dist-info/RECORD").write_bytes(record)
    found = described([str(site / "pkg/kernel.cu")], (), "no GPU", ())
    assert all(package.changed for package in found.packages)


@pytest.mark.parametrize("text", [b"", b"\xff", b"Name\n"])
def test_metadata_that_cannot_be_read(text: bytes, tmp_path: Path) -> None:
    site = install(tmp_path)
    (site / "some_pkg-1.0.dist-info/METADATA").write_bytes(text)
    (site / "pkg/kernel.cu").write_bytes(b"other")
    (package,) = described([str(site / "pkg/kernel.cu")], (), "no GPU", ()).packages
    assert package.changed == ("pkg/kernel.cu",)


Found = tuple[Toolkit, ...]


@pytest.fixture
def find(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Found]:
    """Finds with an environment, from a folder that holds nothing, beside no wheels."""
    for name in ("cwd", "scratch"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "cwd")
    monkeypatch.setattr(machine, "_wheels", lambda: iter(()))
    return lambda scanned=(), **environment: machine.find(environment, scanned, tmp_path / "scratch")


def program(path: Path, version: str = "13.5.37", *, says: str = "", mode: int = 0o755) -> Path:
    """A program that says which version it is, and leaves a mark where it ran."""
    path.parent.mkdir(parents=True, exist_ok=True)
    said = says or f"Cuda compilation tools, release 13.5, V{version}"
    path.write_text(f"#!/bin/sh\ntouch '{path}.ran'\necho '{said}'\n")
    path.chmod(mode)
    return path


def toolkit(folder: Path, version: str = "13.5.37", *names: str) -> Path:
    for name in names or ("nvcc", "ptxas"):
        program(folder / name, version)
    return folder


def ran(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*.ran"))


def test_the_newest_comes_first(tmp_path: Path, find: Callable[..., Found]) -> None:
    old, new = toolkit(tmp_path / "old", "12.9.86"), toolkit(tmp_path / "new" / "bin", "13.10.2")
    found = find(PATH=str(old), CUDA_HOME=str(new.parent))
    assert [(one.version, one.origin) for one in found] == [("13.10.2", "CUDA_HOME"), ("12.9.86", "PATH")]
    assert (found[0].nvcc, found[0].ptxas) == (new / "nvcc", new / "ptxas")


@pytest.mark.parametrize("home", ["CUDA_HOME", "CUDA_PATH"])
def test_a_home_and_path_may_name_the_same(tmp_path: Path, find: Callable[..., Found], home: str) -> None:
    folder = toolkit(tmp_path / "cuda" / "bin")
    assert len(find(**{home: str(folder.parent), "PATH": str(folder)})) == 1


def test_a_ptxas_alone_is_a_toolkit(tmp_path: Path, find: Callable[..., Found]) -> None:
    (found,) = find(PATH=str(toolkit(tmp_path / "bin", "12.9.86", "ptxas")))
    assert found.nvcc is None
    assert found.ptxas == tmp_path / "bin" / "ptxas"


def test_a_link_to_a_program_counts(tmp_path: Path, find: Callable[..., Found]) -> None:
    toolkit(tmp_path / "real")
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "ptxas").symlink_to(tmp_path / "real" / "ptxas")
    assert [one.ptxas for one in find(PATH=str(tmp_path / "links"))] == [tmp_path / "links" / "ptxas"]


def test_the_host_compiler_is_that_of_the_user(tmp_path: Path, find: Callable[..., Found]) -> None:
    folder = toolkit(tmp_path / "bin", "13.5.37", "nvcc", "ptxas", "g++")
    (found,) = find(PATH=str(folder))
    assert found.host_compiler == folder / "g++"


@pytest.mark.parametrize(
    "place",
    [
        pytest.param("tree/bin", id="in the scanned tree"),
        pytest.param("cwd/bin", id="in the current folder"),
        pytest.param("cwd", id="the current folder itself"),
        pytest.param("tree/.venv/bin", id="an environment that does not run"),
    ],
)
def test_what_lies_in_somebody_elses_folder_is_never_started(
    tmp_path: Path, find: Callable[..., Found], place: str
) -> None:
    folder = toolkit(tmp_path / place, "99.0.0", "nvcc", "ptxas", "g++")
    good = toolkit(tmp_path / "good", "13.5.37", "nvcc", "ptxas", "g++")
    found = find((str(tmp_path / "tree"),), PATH=f"{folder}{os.pathsep}{good}", CUDA_HOME=str(folder.parent))
    assert [(one.version, one.host_compiler) for one in found] == [("13.5.37", good / "g++")]
    assert ran(folder) == []


def test_a_link_into_the_tree_does_not_count(tmp_path: Path, find: Callable[..., Found]) -> None:
    folder = toolkit(tmp_path / "tree" / "bin")
    (tmp_path / "links").mkdir()
    for name in ("nvcc", "ptxas"):
        (tmp_path / "links" / name).symlink_to(folder / name)
    assert find((str(tmp_path / "tree"),), PATH=str(tmp_path / "links")) == ()
    assert ran(folder) == []


def test_beside_a_scanned_file_there_are_no_tools(tmp_path: Path, find: Callable[..., Found]) -> None:
    folder = toolkit(tmp_path / "tree")
    (folder / "a.cu").write_text("")
    assert find((str(folder / "a.cu"),), PATH=str(folder)) == ()


@pytest.mark.parametrize("entry", ["", ".", "bin", "../cwd/bin", "./bin"])
def test_a_relative_entry_of_path_does_not_count(tmp_path: Path, find: Callable[..., Found], entry: str) -> None:
    folder = toolkit(tmp_path / "cwd" / "bin")
    toolkit(tmp_path / "cwd")
    assert find(PATH=entry) == ()
    assert ran(folder) == []


def test_the_environment_that_runs_may_lie_in_the_tree(
    tmp_path: Path, find: Callable[..., Found], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = toolkit(tmp_path / "tree" / ".venv" / "bin")
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "tree" / ".venv"))
    assert len(find((str(tmp_path / "tree"),), PATH=str(folder))) == 1


def test_a_tree_inside_the_environment_that_runs_is_a_tree(
    tmp_path: Path, find: Callable[..., Found], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    folder = toolkit(tmp_path / "src" / "tree" / "bin")
    assert find((str(tmp_path / "src" / "tree"),), PATH=str(folder)) == ()


@pytest.mark.parametrize(
    ("says", "mode"),
    [
        pytest.param("GNU assembler 2.40", 0o755, id="another program"),
        pytest.param("V13", 0o755, id="half a version"),
        pytest.param("", 0o644, id="not to be executed"),
    ],
)
def test_what_is_no_ptxas_does_not_count(tmp_path: Path, find: Callable[..., Found], says: str, mode: int) -> None:
    program(tmp_path / "bin" / "ptxas", says=says, mode=mode)
    assert find(PATH=str(tmp_path / "bin")) == ()


def test_a_path_that_a_shell_would_read_does_not_count(tmp_path: Path, find: Callable[..., Found]) -> None:
    folder = toolkit(tmp_path / "$(touch pwned)" / "bin")
    assert find(PATH=str(folder)) == ()


def test_nothing_installed_is_no_toolkit(find: Callable[..., Found]) -> None:
    assert find() == ()
    assert find(PATH="/nowhere", CUDA_HOME="/nowhere/cuda") == ()


RECORDS = {
    "nvidia-cuda-nvcc": "nvidia/cu13/bin/ptxas",
    "nvidia-cuda-nvcc-cu12": "nvidia/cuda_nvcc/bin/ptxas",
}


@pytest.mark.parametrize(("name", "where"), RECORDS.items())
def test_a_wheel_is_found_and_not_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, where: str
) -> None:
    site = wheel(tmp_path / "site", name, where)
    (site / "nvidia" / "__init__.py").write_text("raise SystemExit('imported')")
    monkeypatch.setattr(sys, "path", [*sys.path, str(site)])
    found = machine.find({"PATH": ""}, (), tmp_path)
    assert [(one.origin, one.ptxas) for one in found if one.version == "13.9.1"] == [(f"{name} 13.9.1", site / where)]


def test_a_wheel_in_the_current_folder_does_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    where = RECORDS["nvidia-cuda-nvcc"]
    site = wheel(tmp_path / "tree", "nvidia-cuda-nvcc", where)
    monkeypatch.chdir(site)
    monkeypatch.setattr(sys, "path", [str(site), *sys.path])
    assert [one for one in machine.find({"PATH": ""}, (), tmp_path) if one.version == "13.9.1"] == []
    assert ran(site) == []


def test_a_record_names_programs_of_a_toolkit_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = wheel(tmp_path / "site", "nvidia-cuda-nvcc", "../../elsewhere/nvidia/cu13/bin/ptxas")
    monkeypatch.setattr(sys, "path", [*sys.path, str(site)])
    assert [one for one in machine.find({"PATH": ""}, (), tmp_path) if one.version == "13.9.1"] == []


def wheel(site: Path, name: str, where: str) -> Path:
    """An installed wheel with one program in it."""
    info = site / f"{name.replace('-', '_')}-13.9.1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 13.9.1\n")
    (info / "RECORD").write_text(f"{where},,\n")
    program(site / where, "13.9.1")
    return site
