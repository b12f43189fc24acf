"""Which programs count as tools, and which never do."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from bwlint.confirm import tools
from bwlint.confirm.workbench import Toolkit

Found = tuple[Toolkit, ...]


@pytest.fixture
def find(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Found]:
    """Finds with an environment, from a folder that holds nothing, beside no wheels."""
    for name in ("cwd", "scratch"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "cwd")
    monkeypatch.setattr(tools, "_wheels", lambda: iter(()))
    return lambda scanned=(), **environment: tools.find(environment, scanned, tmp_path / "scratch")


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
    found = tools.find({"PATH": ""}, (), tmp_path)
    assert [(one.origin, one.ptxas) for one in found if one.version == "13.9.1"] == [(f"{name} 13.9.1", site / where)]


def test_a_wheel_in_the_current_folder_does_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    where = RECORDS["nvidia-cuda-nvcc"]
    site = wheel(tmp_path / "tree", "nvidia-cuda-nvcc", where)
    monkeypatch.chdir(site)
    monkeypatch.setattr(sys, "path", [str(site), *sys.path])
    assert [one for one in tools.find({"PATH": ""}, (), tmp_path) if one.version == "13.9.1"] == []
    assert ran(site) == []


def test_a_record_names_programs_of_a_toolkit_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = wheel(tmp_path / "site", "nvidia-cuda-nvcc", "../../elsewhere/nvidia/cu13/bin/ptxas")
    monkeypatch.setattr(sys, "path", [*sys.path, str(site)])
    assert [one for one in tools.find({"PATH": ""}, (), tmp_path) if one.version == "13.9.1"] == []


def wheel(site: Path, name: str, where: str) -> Path:
    """An installed wheel with one program in it."""
    info = site / f"{name.replace('-', '_')}-13.9.1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 13.9.1\n")
    (info / "RECORD").write_text(f"{where},,\n")
    program(site / where, "13.9.1")
    return site
