"""From arguments to shipments: files, folders, wheels in folders, packages of an index, installed distributions."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from small_binaries import zipped

from bwlint.inspection.origins import Origin, files_of, origins
from bwlint.sources import wheels
from bwlint.sources.pypi import SourceError, Spec

X86 = "x-1.0-py3-none-manylinux_2_28_x86_64.whl"
ARM = "x-1.0-py3-none-manylinux2014_aarch64.whl"
ANY = "x-1.0-py3-none-any.whl"
PACKAGES = "lib/python3.12/site-packages"


def made(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"")
    return folder


def found(
    *things: str | Path, installed: Sequence[str] = (), platforms: Sequence[str] = (), scratch: Path | None = None
) -> list[Origin]:
    return list(origins([str(thing) for thing in things], installed, platforms, scratch or Path()))


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.so", True),
        ("liba.so.12.1", True),
        ("a.abi3.so", True),
        ("a.pyd", True),
        ("a.dll", True),
        ("a.exe", True),
        ("a.a", True),
        ("a.o", True),
        ("a.cubin", True),
        ("a.fatbin", True),
        ("a.ptx", True),
        ("a.py", True),
        ("a.cu", True),
        ("a.so.txt", False),
        ("so", True),
        ("CMakeLists.txt", False),
        ("a.json", False),
    ],
)
def test_what_is_wanted_of_an_archive(name: str, expected: bool) -> None:
    assert Origin("x").wanted(name) == expected


# Files and folders


@pytest.mark.parametrize(
    ("name", "tag", "machine"),
    [
        ("a.so", "", ""),
        ("missing.so", "", ""),
        ("a.tar.gz", "", ""),
        ("notes", "", ""),
        # A wheel that somebody has renamed.
        ("x.whl", "", ""),
        (X86, "manylinux_2_28_x86_64", "x86_64"),
        (ARM, "manylinux2014_aarch64", "aarch64"),
        ("x-1.0-py3-none-win_amd64.whl", "win_amd64", "x86_64"),
        # For any machine, and for several.
        (ANY, "any", ""),
        ("x-1-py3-none-macosx_10_9_x86_64.macosx_11_0_arm64.whl", "macosx_10_9_x86_64.macosx_11_0_arm64", ""),
    ],
)
def test_a_file(here: Path, name: str, tag: str, machine: str) -> None:
    """Whether it is there, its reader finds out."""
    for path in (name, f"./{name}", str(here / name)):
        assert found(path) == [Origin(path, ((path, path),), tag, machine)]


def paths(origin: Origin) -> list[str]:
    return [reported for reported, _ in origin.files]


def test_a_folder(here: Path) -> None:
    made(here / "lib", "a.so", "sub/b.cubin", "sub/c.ptx", "notes.txt", "d.py", "e.cu")
    (origin,) = found("lib")
    assert (origin.name, origin.tag, origin.machine, origin.is_named) == ("lib", "", "", False)
    assert paths(origin) == ["lib/a.so", "lib/sub/b.cubin", "lib/sub/c.ptx"]
    assert [real for _, real in origin.files] == [os.path.realpath(path) for path in paths(origin)]


@pytest.mark.parametrize("names", [[], ["a.py", "b.cu", "notes.txt", "Makefile"], [".git/a.so"], ["node_modules/a.so"]])
def test_a_folder_without_binaries(here: Path, names: list[str]) -> None:
    (here / "lib").mkdir()
    made(here / "lib", *names)
    assert found("lib") == []


def test_what_git_ignores_is_read_where_the_folder_is_named(here: Path) -> None:
    made(here / "lib", ".git/config", "build/a.so", "b.so")
    (here / "lib/.gitignore").write_text("build/\n*.so\n")
    assert paths(found("lib")[0]) == ["lib/b.so", "lib/build/a.so"]


def test_archives_in_a_folder_are_shipments_of_their_own(here: Path) -> None:
    made(here / "dist", X86, f"arm/{ARM}", "a.so", "b.zip", "c.tar.gz", "d.conda", "notes.txt", "e.a")
    names = [f"dist/{X86}", "dist/b.zip", "dist/c.tar.gz", "dist/d.conda", f"dist/arm/{ARM}"]
    loose, *rest = found("dist")
    assert paths(loose) == ["dist/a.so", "dist/e.a"]
    assert sorted(origin.name for origin in rest) == sorted(names)
    assert [paths(origin) for origin in rest] == [[origin.name] for origin in rest]
    assert {origin.name: origin.machine for origin in rest if origin.machine} == {
        f"dist/{X86}": "x86_64",
        f"dist/arm/{ARM}": "aarch64",
    }
    assert not any(origin.is_named for origin in rest)


def test_a_folder_of_one_wheel(here: Path) -> None:
    made(here / "dist", X86)
    assert [origin.name for origin in found("dist")] == [f"dist/{X86}"]


def test_archives_that_are_passed_over(here: Path) -> None:
    """In folders that no walk reads, and links, which lead to what is read anyway or to what nobody named."""
    made(here / "lib", f".git/{X86}", f"node_modules/{X86}", f"__pycache__/{X86}", "venv/pyvenv.cfg", f"venv/sub/{X86}")
    made(here, "outside.zip")
    (here / "lib/link.zip").symlink_to(here / "outside.zip")
    (here / "lib/folder.whl").mkdir()
    assert found("lib") == []


def test_what_a_folder_hides_is_said(here: Path) -> None:
    made(here / "lib", "a.txt")
    (here / "lib/gone.so").symlink_to("nowhere.so")
    os.mkfifo(here / "lib/pipe.so")
    (origin,) = found("lib")
    assert origin.files == ()
    assert {skip.path: skip.reason for skip in origin.skipped} == {
        "lib/gone.so": "symlink to nothing",
        "lib/pipe.so": "not a regular file: a FIFO",
    }


def test_several_things_in_their_order(here: Path) -> None:
    made(here, "b.so", "a.so", "lib/c.so")
    assert [origin.name for origin in found("b.so", "lib", "a.so")] == ["b.so", "lib", "a.so"]


# Packages


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> None:
    """An index that has x 1.0 for both machines and y for x86_64 alone."""

    def pip(spec: Spec, dest: Path, options: tuple[str, ...], _: int) -> str | None:
        names = {"x": (X86, ARM), "y": (X86.replace("x-1", "y-1"),), "z": (ANY.replace("x-1", "z-1"),)}[spec.name]
        for name in names:
            if name.endswith("any.whl") or name.rsplit("-", 1)[1].removesuffix(".whl") in options:
                (dest / name).write_bytes(b"")
                return None
        links = [f"  link https://files/{name}" for name in names]
        return "\n".join([*links, "ERROR: No matching distribution found for x\n"])

    monkeypatch.setattr(wheels, "pip_download", pip)


@pytest.mark.parametrize(
    ("thing", "platforms", "expected"),
    [
        ("pypi:x", (), [(X86, "manylinux_2_28_x86_64", "x86_64", ""), (ARM, "manylinux2014_aarch64", "aarch64", "")]),
        ("pypi:x==1.0", ("aarch64",), [(ARM, "manylinux2014_aarch64", "aarch64", "")]),
        (
            "pypi:y",
            (),
            [
                (X86.replace("x-1", "y-1"), "manylinux_2_28_x86_64", "x86_64", ""),
                (
                    "pypi:y",
                    "aarch64",
                    "aarch64",
                    "y 1.0 has no wheel for Linux aarch64, only for manylinux_2_28_x86_64",
                ),
            ],
        ),
        (
            "pypi:y",
            ("win_arm64",),
            [("pypi:y", "win_arm64", "", "y has no wheel for win_arm64, only for manylinux_2_28_x86_64")],
        ),
        # One wheel for every machine is one shipment.
        ("pypi:z", (), [(ANY.replace("x-1", "z-1"), "any", "", "")]),
    ],
)
@pytest.mark.usefixtures("index")
def test_a_package(
    tmp_path: Path, thing: str, platforms: tuple[str, ...], expected: list[tuple[str, str, str, str]]
) -> None:
    rows = found(thing, platforms=platforms, scratch=tmp_path)
    assert [(row.name, row.tag, row.machine, row.missing) for row in rows] == expected
    assert [paths(row) for row in rows] == [[] if missing else [name] for name, _, _, missing in expected]


@pytest.mark.usefixtures("index")
def test_a_wheel_is_there_until_the_next_one_is_asked_for(tmp_path: Path) -> None:
    seen: list[str] = []
    for origin in origins(["pypi:x"], (), (), tmp_path):
        ((_, real),) = origin.files
        assert Path(real).is_file()
        assert not any(Path(path).exists() for path in seen)
        seen.append(real)
    assert len(seen) == 2
    assert not any(Path(path).exists() for path in seen)


def test_a_package_that_has_its_content_in_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are followed once: what those ask for is theirs."""
    asks = {"x": "y==1.0", "y": "z==1.0"}

    def pip(spec: Spec, dest: Path, options: tuple[str, ...], _: int) -> None:
        metadata = f"Name: {spec.name}\nRequires-Dist: {asks[spec.name]}\n".encode()
        name = f"{spec.name}-1.0-py3-none-any.whl"
        (dest / name).write_bytes(zipped({f"{spec.name}-1.0.dist-info/METADATA": metadata}))

    monkeypatch.setattr(wheels, "pip_download", pip)
    rows = [(row.name, row.elsewhere) for row in origins(["pypi:x"], (), (), tmp_path)]
    assert rows == [("x-1.0-py3-none-any.whl", ("y==1.0",)), ("y-1.0-py3-none-any.whl", ())]
    assert not list(tmp_path.rglob("*.whl"))


@pytest.mark.parametrize("thing", ["pypi:", "pypi:../x", "pypi:x==", "pypi:x>=1"])
def test_packages_that_are_none(thing: str) -> None:
    with pytest.raises(SourceError):
        found(thing)


# Installed distributions


def test_an_installed_distribution(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packages = tmp_path / "lib/python3.12/site-packages"
    made(packages, "x/a.so", "x/__init__.py", "x/b.cubin", "x.libs/libc.so.1")
    info = packages / "x-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: x\nVersion: 1.0\n")
    record = ["x/a.so", "x/__init__.py", "x/b.cubin", "x.libs/libc.so.1", "x/gone.so"]
    (info / "RECORD").write_text("".join(f"{path},,\n" for path in record))
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path))
    monkeypatch.setattr(sys, "path", [])
    (origin,) = found(installed=["x"])
    assert (origin.name, origin.tag, origin.machine) == ("x==1.0", "", "")
    assert paths(origin) == ["x/x/a.so", "x/x/__init__.py", "x/x/b.cubin", "x/x.libs/libc.so.1"]
    assert [skip.path for skip in origin.skipped] == ["x/x/gone.so"]
    with pytest.raises(SourceError, match="no distribution named y is installed"):
        found(installed=["y"])


@pytest.fixture(autouse=True)
def nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """No environment but those that a test makes and that of this Python, which has no such distribution."""
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        monkeypatch.delenv(variable, raising=False)


def install(
    prefix: Path,
    name: str = "bw-demo",
    version: str = "1.0",
    *,
    record: str | None = "bw_demo/k.so,,\n",
    origin: object = None,
    packages: str = PACKAGES,
) -> Path:
    """Put the records and the one file of a distribution into a new environment; its folder of packages."""
    folder = prefix / packages
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    for made in (info, folder / "bw_demo"):
        made.mkdir(parents=True, exist_ok=True)
    (folder / "bw_demo/k.so").write_bytes(b"\x7fELF")
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    if record is not None:
        (info / "RECORD").write_text(record)
    if origin is not None:
        (info / "direct_url.json").write_text(origin if isinstance(origin, str) else json.dumps(origin))
    return folder


@pytest.mark.parametrize("name", ["bw-demo", "bw_demo", "BW.Demo", "bw--demo"])
def test_names_are_normalised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    folder = install(tmp_path)
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path))
    found = files_of(name)
    assert (found.name, found.version) == (name, "1.0")
    assert found.files == ((f"{name}/bw_demo/k.so", folder / "bw_demo/k.so"),)
    assert found.skipped == ()


@pytest.mark.parametrize("packages", [PACKAGES, "lib64/python3.9/site-packages", "Lib/site-packages"])
def test_where_a_prefix_keeps_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, packages: str) -> None:
    install(tmp_path, packages=packages)
    monkeypatch.setenv("CONDA_PREFIX", str(tmp_path))
    assert len(files_of("bw-demo").files) == 1


def test_the_order_of_environments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path / "venv", version="1.0")
    install(tmp_path / "conda", version="2.0")
    own = install(tmp_path / "own", version="3.0")
    monkeypatch.setattr(sys, "path", ["", str(tmp_path / "no"), str(tmp_path / "a.zip"), str(own), *sys.path])
    assert files_of("bw-demo").version == "3.0"
    monkeypatch.setenv("CONDA_PREFIX", str(tmp_path / "conda"))
    assert files_of("bw-demo").version == "2.0"
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "venv"))
    assert files_of("bw-demo").version == "1.0"
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "gone"))
    assert files_of("bw-demo").version == "2.0"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        # As pip writes them.
        ("bw_demo/k.so,sha256=abc,4", None),
        ("../../../bin/demo,,", None),
        ("../../../share/demo/k.cubin,,", None),
        ('"bw_demo/a,b.so",,', None),
        ("bw_demo/__pycache__/gone.cpython-312.pyc,,", None),
        (",,", None),
        ("bw_demo/gone.so,,", "listed in the RECORD of the distribution, but missing"),
        ("bw_demo,,", "listed in the RECORD of the distribution, but missing"),
        ("../../../../outside.so,,", "recorded path that leads out of the environment"),
        ("bw_demo/../../../../../outside.so,,", "recorded path that leads out of the environment"),
        ("/etc/passwd,,", "recorded path that leads out of the environment"),
        ("bw_demo/\x1b[31m.so,,", "recorded path with an unusual character"),
    ],
)
def test_recorded_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, reason: str | None) -> None:
    prefix = tmp_path / "env"
    folder = install(prefix, record=f"{line}\n")
    for path in (
        prefix / "bin/demo",
        prefix / "share/demo/k.cubin",
        folder / "bw_demo/a,b.so",
        tmp_path / "outside.so",
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    monkeypatch.setenv("VIRTUAL_ENV", str(prefix))
    found = files_of("bw-demo")
    assert [skip.reason for skip in found.skipped] == ([reason] if reason else [])
    assert all(real.is_file() and prefix in real.parents for _, real in found.files)
    assert len(found.files) == (reason is None and line not in (",,", "bw_demo/__pycache__/gone.cpython-312.pyc,,"))


def test_a_folder_that_is_no_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = install(tmp_path, packages="vendored", record="bw_demo/k.so,,\n../beside.so,,\n")
    (tmp_path / "beside.so").touch()
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])
    found = files_of("bw-demo")
    assert [path for path, _ in found.files] == ["bw-demo/bw_demo/k.so"]
    assert [skip.path for skip in found.skipped] == ["bw-demo/../beside.so"]


def test_without_a_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path / "venv", record=None)
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "venv"))
    with pytest.raises(SourceError, match=r"bw-demo 1\.0 in .*site-packages has no RECORD of its files"):
        files_of("bw-demo")
    # A half removed one hides none that is whole.
    install(tmp_path / "conda", version="2.0")
    monkeypatch.setenv("CONDA_PREFIX", str(tmp_path / "conda"))
    assert files_of("bw-demo").version == "2.0"


@pytest.mark.parametrize(
    ("origin", "where"),
    [
        ({"url": "file:///home/me/bw%20demo", "dir_info": {"editable": True}}, "/home/me/bw demo"),
        ({"url": "file:///home/me/bw-demo", "dir_info": {"editable": False}}, None),
        ({"url": "file:///home/me/bw-demo", "dir_info": {}}, None),
        ({"url": "https://x/y.whl", "archive_info": {}}, None),
        ({"dir_info": {"editable": "yes"}}, None),
        ([], None),
        ("no json", None),
        ("[" * 100_000, None),
    ],
)
def test_editable_installs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, origin: object, where: str | None) -> None:
    install(tmp_path, origin=origin)
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path))
    if where is None:
        assert len(files_of("bw-demo").files) == 1
        return
    with pytest.raises(SourceError) as error:
        files_of("bw-demo")
    assert str(error.value) == f"bw-demo is an editable install; give its folder instead: {where}"


@pytest.mark.parametrize("name", ["", "../x", "a b", "-x", "x-", "x[y]", "x==1", "\x1b", "*"])
def test_what_is_no_name(name: str) -> None:
    with pytest.raises(SourceError, match="is not the name of a distribution") as error:
        files_of(name)
    assert str(error.value).isprintable()


def test_what_is_not_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path)
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path))
    for name in ("bw", "bw-demo2", "demo"):
        with pytest.raises(SourceError, match=f"no distribution named {name} is installed"):
            files_of(name)


def test_nothing_is_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = install(tmp_path, record="bw_demo/__init__.py,,\n")
    (folder / "bw_demo/__init__.py").write_text("raise SystemExit('imported')\n")
    (folder / "bw.pth").write_text("import bw_demo\n")
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path))
    assert len(files_of("bw-demo").files) == 1
    assert "bw_demo" not in sys.modules
