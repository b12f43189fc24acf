from __future__ import annotations

import io
import os
import random
import socket
import stat
import struct
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator, Mapping
from importlib import util
from pathlib import Path
from typing import Any

import pytest
from small_binaries import tarred, zipped

from bwlint.model.findings import Skipped
from bwlint.sources import pypi
from bwlint.sources.pypi import SourceError, Spec, Unpacked, download, is_package, open_packages, parse_spec, unpack
from bwlint.sources.walk import discover
from bwlint.sources.wheels import fetch_source


def make_wheel(path: Path, members: Mapping[str, bytes | str]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def unpacked(wheel: Path) -> tuple[dict[str, str], dict[str, str]]:
    """What is in the folder afterwards, and what was refused."""
    result = unpack(wheel, wheel.parent, wheel.name)
    top = Path(result.mount.real)
    files = {str(p.relative_to(top)): p.read_text() for p in top.rglob("*") if p.is_file()}
    return files, {skip.path: skip.reason for skip in result.skipped}


def open_package(argument: str, into: Path) -> Unpacked:
    (only,) = open_packages(argument, into)
    return only


# Names


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("pypi:vllm", Spec("vllm")),
        ("pypi:vllm==0.33.0", Spec("vllm", "0.33.0")),
        ("pypi:flashinfer-python==0.6.0rc1", Spec("flashinfer-python", "0.6.0rc1")),
        ("pypi:zope.interface==1.0.post1", Spec("zope.interface", "1.0.post1")),
        ("pypi:torch==2.9.0+cu130", Spec("torch", "2.9.0+cu130")),
        ("pypi:x==v1.0-1", Spec("x", "1.0.post1")),
    ],
)
def test_a_spec(text: str, spec: Spec) -> None:
    assert parse_spec(text) == spec


@pytest.mark.parametrize(
    "text",
    [
        "vllm",
        "pypi:",
        "pypi:==1.0",
        "pypi:-r",
        "pypi:--index-url=http://evil",
        "pypi:vllm --index-url http://evil",
        "pypi:vllm\n--index-url=http://evil",
        "pypi:vllm[audio]",
        "pypi:vllm @ http://evil/x.whl",
        "pypi:http://evil/x.whl",
        "pypi:git+https://evil/x",
        "pypi:./vllm",
        "pypi:../vllm",
        "pypi:vllm;python_version>'3'",
        "pypi:vllm>=1",
        "pypi:vllm~=1.0",
        "pypi:vllm==",
        "pypi:vllm==1.*",
        "pypi:vllm===1.0",
        "pypi:vllm==1.0,<2",
        "pypi:vllm==1.0 --pre",
        "pypi:vllm==1.0\n",
        "pypi: vllm",
        "pypi:vllm_",
        "pypi:\u212aernel",  # the Kelvin sign is a k to a pattern that ignores case
        "pypi:vllm\x1b[31m",
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(SourceError) as error:
        parse_spec(text)
    assert str(error.value).isprintable()


def test_what_is_a_package(tmp_path: Path) -> None:
    (tmp_path / "a.whl").touch()
    (tmp_path / "d.whl").mkdir()
    for name in ("x-1.0.tar.gz", "x-1.0.zip", "x.tar.gz", "cases.zip"):
        (tmp_path / name).touch()
    packages = ["pypi:x", f"{tmp_path}/a.whl", f"{tmp_path}/x-1.0.tar.gz", f"{tmp_path}/x-1.0.zip"]
    assert all(map(is_package, packages))
    others = ["d.whl", "no.whl", "src", "x.tar.gz", "cases.zip", "no-1.0.tar.gz"]
    assert not any(is_package(f"{tmp_path}/{name}") for name in others)


# Unpacking


def test_only_sources_are_unpacked(tmp_path: Path) -> None:
    members: dict[str, bytes | str] = {
        "p/__init__.py": "x = 1\n",
        "p/a.pyi": "",
        "p/k.so": b"\x7fELF",
        "p-1.dist-info/RECORD": "",
        "q/": "",
    }
    wheel = make_wheel(tmp_path / "w.whl", members)
    assert unpacked(wheel) == ({"p/__init__.py": "x = 1\n", "p/a.pyi": ""}, {})


def test_paths_are_reported_below_the_wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_wheel(tmp_path / "p-1.0-py3-none-any.whl", {"p/a.py": "x", "../b.py": ""})
    (tmp_path / "into").mkdir()
    monkeypatch.chdir(tmp_path)
    package = open_package("p-1.0-py3-none-any.whl", tmp_path / "into")
    assert [file.path for file in discover([package.mount]).files] == ["p-1.0-py3-none-any.whl/p/a.py"]
    assert [skip.path for skip in package.skipped] == ["p-1.0-py3-none-any.whl/../b.py"]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("../out.py", "member with a path that leads out of the archive"),
        ("p/../../out.py", "member with a path that leads out of the archive"),
        ("/out.py", "member with a path that leads out of the archive"),
        ("//out.py", "member with a path that leads out of the archive"),
        ("p//out.py", "member with a path that leads out of the archive"),
        ("./out.py", "member with a path that leads out of the archive"),
        ("..\\out.py", "member with an unusual character in its name"),
        ("C:out.py", "member with an unusual character in its name"),
        ("p/\x1b[31m.py", "member with an unusual character in its name"),
        ("p/\u202e.py", "member with an unusual character in its name"),
    ],
)
def test_members_with_hostile_names(tmp_path: Path, name: str, reason: str) -> None:
    (tmp_path / "deep").mkdir()
    wheel = make_wheel(tmp_path / "deep/w.whl", {name: "x", "ok.py": "y"})
    assert unpacked(wheel) == ({"ok.py": "y"}, {f"w.whl/{name}": reason})
    assert not list(tmp_path.glob("*.py")) and not Path("/out.py").exists()


@pytest.mark.parametrize(
    ("mode", "reason"),
    [
        (stat.S_IFLNK, "member that is a symlink"),
        (stat.S_IFIFO, "member that is not a regular file"),
        (stat.S_IFDIR, "member that is not a regular file"),
    ],
)
def test_members_that_are_no_files(tmp_path: Path, mode: int, reason: str) -> None:
    info = zipfile.ZipInfo("p/a.py")
    info.external_attr = (mode | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "w.whl", "w") as archive:
        archive.writestr(info, "/etc/passwd")
    assert unpacked(tmp_path / "w.whl") == ({}, {"w.whl/p/a.py": reason})


def test_an_encrypted_member(tmp_path: Path) -> None:
    data = bytearray(make_wheel(tmp_path / "w.whl", {"a.py": "x"}).read_bytes())
    for header, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(header) + flags] |= 1
    (tmp_path / "w.whl").write_bytes(data)
    assert unpacked(tmp_path / "w.whl") == ({}, {"w.whl/a.py": "encrypted member"})


def test_a_bomb(tmp_path: Path) -> None:
    wheel = make_wheel(tmp_path / "w.whl", {"bomb.py": bytes(8 * 1024**2), "small.py": bytes(100_000)})
    files, skipped = unpacked(wheel)
    assert list(files) == ["small.py"]
    assert skipped == {"w.whl/bomb.py": "member compressed more than 1 to 200"}


def test_a_bomb_that_lies_about_its_size(tmp_path: Path) -> None:
    data = bytearray(make_wheel(tmp_path / "w.whl", {"bomb.py": bytes(8 * 1024**2)}).read_bytes())
    for header, size in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        struct.pack_into("<I", data, data.index(header) + size, 1000)
    (tmp_path / "w.whl").write_bytes(data)
    files, skipped = unpacked(tmp_path / "w.whl")
    assert files == {}
    assert skipped["w.whl/bomb.py"] == "member not unpacked: larger than it says"


@pytest.mark.parametrize(
    ("limit", "value", "reason"),
    [
        ("LARGEST_FILE", 2 * 1024**2, "member larger than 2 MiB"),
        ("LARGEST_TOTAL", 3 * 1024**2, "archive with more than 0 GiB of source"),
    ],
)
def test_limits_of_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, value: int, reason: str) -> None:
    monkeypatch.setattr(pypi, limit, value)
    noise = random.Random(1).randbytes(2 * 1024**2 + 1).hex()[: 2 * 1024**2 + 1]
    wheel = make_wheel(tmp_path / "w.whl", {"a.py": "x", "b.py": noise, "c.py": noise})
    files, skipped = unpacked(wheel)
    assert "a.py" in files and skipped["w.whl/c.py"] == reason


def test_too_many_members(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pypi, "MOST_MEMBERS", 2)
    wheel = make_wheel(tmp_path / "w.whl", {f"{n}.txt": "" for n in range(3)})
    with pytest.raises(SourceError, match="more than 2 members"):
        unpack(wheel, tmp_path, "w.whl")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_names_that_meet(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "w.whl", "w") as archive:
        for name in ("a.py", "a.py", "a.py/b.py", "d.py/e.py", "d.py"):
            archive.writestr(name, name)
    files, skipped = unpacked(tmp_path / "w.whl")
    assert files == {"a.py": "a.py", "d.py/e.py": "d.py/e.py"}
    assert skipped["w.whl/a.py"] == skipped["w.whl/d.py"] == "member named twice"
    assert "w.whl/a.py/b.py" in skipped


def test_a_damaged_member(tmp_path: Path) -> None:
    wheel = tmp_path / "w.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("a.py", "something")
        archive.writestr("b.py", "b")
    wheel.write_bytes(wheel.read_bytes().replace(b"something", b"different"))
    files, skipped = unpacked(wheel)
    assert files == {"b.py": "b"}
    assert skipped["w.whl/a.py"] == "member not unpacked: its checksum is wrong"


@pytest.mark.parametrize("data", [b"", b"PK", b"not a zip" * 100, b"PK\x05\x06" + b"\xff" * 18])
def test_what_is_no_archive(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "w.whl").write_bytes(data)
    with pytest.raises(SourceError, match=r"w\.whl: not a readable wheel"):
        unpack(tmp_path / "w.whl", tmp_path, "w.whl")


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_damaged_archives_raise_nothing_else(tmp_path: Path, method: int) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name in ("p/a.py", "p/b.py"):
            archive.writestr(name, "x = 1\n" * 50)
    chance = random.Random(method)
    for _ in range(150):
        data = bytearray(buffer.getvalue())
        for _ in range(chance.randint(1, 4)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        (tmp_path / "w.whl").write_bytes(data)
        try:
            unpack(tmp_path / "w.whl", tmp_path, "w.whl")
        except SourceError:
            continue
    # Only what this test and `unpack` made is there: nothing was written elsewhere.
    assert all(path.name == "w.whl" or path.name.startswith("unpacked-") for path in tmp_path.iterdir())


# Downloading


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that pip takes wheels from, instead of any index."""
    folder = tmp_path / "index"
    folder.mkdir()
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_TRUSTED_HOST", "index.example")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def put(index: Path, version: str, tag: str = "py3-none-any") -> None:
    info = f"bwdemo-{version}.dist-info"
    members = {
        "bwdemo/__init__.py": f"v = {version!r}\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: bwdemo\nVersion: {version}\nRequires-Dist: no\n",
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {tag}\n",
        f"{info}/RECORD": "",
    }
    make_wheel(index / f"bwdemo-{version}-{tag}.whl", members)


@pytest.mark.parametrize(("argument", "version"), [("pypi:bwdemo", "2.0"), ("pypi:bwdemo==1.0", "1.0")])
def test_a_package_by_name(index: Path, tmp_path: Path, argument: str, version: str) -> None:
    put(index, "1.0")
    put(index, "2.0")
    package = open_package(argument, tmp_path)
    (file,) = discover([package.mount]).files
    assert file.path == f"pypi:bwdemo=={version}/bwdemo/__init__.py"
    assert Path(file.real).read_text() == f"v = '{version}'\n"


@pytest.mark.parametrize("tag", ["cp38-abi3-manylinux1_x86_64", "cp312-cp312-manylinux_2_31_x86_64"])
def test_a_wheel_for_another_machine(
    index: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tag: str
) -> None:
    put(index, "1.0", tag)
    # This machine may well be one that the wheel is for.
    options: list[tuple[str, ...]] = []
    real = pypi.pip_download

    def first_fails(spec: Spec, dest: Path, extra: tuple[str, ...]) -> str | None:
        options.append(extra)
        return real(spec, dest, extra) if extra else "ERROR: No matching distribution found for bwdemo"

    monkeypatch.setattr(pypi, "pip_download", first_fails)
    assert download(Spec("bwdemo"), tmp_path).name == f"bwdemo-1.0-{tag}.whl"
    assert len(options) == 2
    assert "Linux x86-64" in capsys.readouterr().err


def test_a_preview_is_not_scanned_for_a_release(
    index: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(index, "2.0.dev1")
    assert download(Spec("bwdemo"), tmp_path).name == "bwdemo-2.0.dev1-py3-none-any.whl"
    sources(index, "bwdemo-1.0.tar.gz", {"bwdemo-1.0/setup.py": b""})
    assert download(Spec("bwdemo"), tmp_path).name == "bwdemo-1.0.tar.gz"
    assert "scanning its sources" in capsys.readouterr().err
    assert download(Spec("bwdemo", "2.0.dev1"), tmp_path).name == "bwdemo-2.0.dev1-py3-none-any.whl"


def test_a_package_that_is_not_there(index: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SourceError, match=r"No matching distribution found for bwdemo==3\.0") as error:
        open_package("pypi:bwdemo==3.0", tmp_path)
    assert str(error.value).startswith("pip cannot download bwdemo==3.0:\n  ")
    assert capsys.readouterr().err == ""


def sources(index: Path, name: str, members: Mapping[str, bytes]) -> Path:
    file = index / name
    file.write_bytes(tarred(members, "gz") if name.endswith(".gz") else zipped(members))
    return file


@pytest.mark.parametrize("name", ["bwdemo-1.0.tar.gz", "bwdemo-1.0.zip"])
def test_a_source_distribution_is_read_and_not_built(
    index: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    ran = str(tmp_path / "ran").encode()
    members = {
        "bwdemo-1.0/setup.py": b"open('" + ran + b"', 'w')\n",
        "bwdemo-1.0/pyproject.toml": b"[build-system]\nrequires = []\nbuild-backend = 'evil'\nbackend-path = ['.']\n",
        "bwdemo-1.0/evil.py": b"open('" + ran + b"', 'w')\n",
        "bwdemo-1.0/k.cu": b"__global__ void k() {}\n",
        "bwdemo-1.0/PKG-INFO": b"",
    }
    sources(index, name, members)
    package = open_package("pypi:bwdemo", tmp_path)
    read = [file.path.removeprefix("pypi:bwdemo==1.0/") for file in discover([package.mount]).files]
    assert sorted(read) == ["evil.py", "k.cu", "pyproject.toml", "setup.py"]
    assert not (tmp_path / "ran").exists()
    assert capsys.readouterr().err == "bwdemo: no wheel: it is built on your machine; scanning its sources\n"


def test_the_sources_of_the_version_that_is_asked_for(index: Path, tmp_path: Path) -> None:
    for version in ("1.0", "1.5", "2.0b1", "2.0"):
        sources(index, f"bwdemo-{version}.tar.gz", {f"bwdemo-{version}/a.py": b""})
    sources(index, "other-9.0.tar.gz", {})
    assert download(Spec("bwdemo"), tmp_path).name == "bwdemo-2.0.tar.gz"
    assert download(Spec("bwdemo", "1.5"), tmp_path).name == "bwdemo-1.5.tar.gz"
    with pytest.raises(SourceError, match=r"bwdemo: the index has no version 3\.0; the newest is 2\.0"):
        download(Spec("bwdemo", "3.0"), tmp_path)


def test_a_wheel_comes_before_the_sources(index: Path, tmp_path: Path) -> None:
    put(index, "1.0")
    sources(index, "bwdemo-1.0.tar.gz", {"bwdemo-1.0/a.py": b""})
    assert download(Spec("bwdemo"), tmp_path).suffix == ".whl"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("../out.py", "member with a path that leads out of the archive"),
        ("/out.py", "member with a path that leads out of the archive"),
        ("p/../../out.py", "member with a path that leads out of the archive"),
        ("p/\x1b[31m.py", "member with an unusual character in its name"),
    ],
)
def test_sources_with_hostile_names(tmp_path: Path, name: str, reason: str) -> None:
    (tmp_path / "deep").mkdir()
    file = sources(tmp_path / "deep", "p-1.0.tar.gz", {"p-1.0/ok.py": b"y", name: b"x"})
    assert unpacked(file) == ({"ok.py": "y"}, {f"p-1.0.tar.gz/{name}": reason})
    assert not list(tmp_path.glob("*.py")) and not Path("/out.py").exists()


def test_links_in_sources_are_not_followed(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "p-1.0.tar.gz", "w:gz") as archive:
        for kind, target in ((tarfile.SYMTYPE, "/etc/passwd"), (tarfile.LNKTYPE, "../../secret.py")):
            row = tarfile.TarInfo(f"p-1.0/{kind.decode()}.py")
            row.type, row.linkname = kind, target
            archive.addfile(row)
        archive.addfile(tarfile.TarInfo("p-1.0/ok.py"))
    files, skipped = unpacked(tmp_path / "p-1.0.tar.gz")
    assert (files, set(skipped.values())) == ({"ok.py": ""}, {"member that is a link"})


def test_a_bomb_of_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pypi, "LARGEST_TOTAL", 3 * 1024**2)
    members = {"p-1.0/a.py": b"x", "p-1.0/data.bin": bytes(8 * 1024**2), "p-1.0/z.py": b"z"}
    file = sources(tmp_path, "p-1.0.tar.gz", members)
    files, skipped = unpacked(file)
    assert files == {"a.py": "x"}
    assert skipped == {"p-1.0.tar.gz": "archive not read to its end: more than 0 GiB unpacked"}


@pytest.mark.parametrize("cut", [10, 200, 1500])
def test_sources_that_are_cut_short(tmp_path: Path, cut: int) -> None:
    noise = random.Random(1).randbytes(2000).hex().encode()
    file = sources(tmp_path, "p-1.0.tar.gz", {"p-1.0/a.py": noise, "p-1.0/b.py": noise})
    file.write_bytes(file.read_bytes()[:cut])
    try:
        _, skipped = unpacked(file)
    except SourceError as error:
        assert "not a readable archive" in str(error)
    else:
        assert skipped


def test_sources_that_cannot_be_fetched(index: Path, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"x-1\.0\.tar\.gz cannot be fetched"):
        fetch_source(f"file://{tmp_path}/gone/x-1.0.tar.gz", tmp_path)
    assert not list(tmp_path.glob("*.gz"))


def test_no_pip_of_the_scanned_tree_is_run(index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(index, "1.0")
    (tmp_path / "pip").mkdir()
    (tmp_path / "pip/__main__.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    monkeypatch.chdir(tmp_path)
    assert download(Spec("bwdemo"), Path()).is_file()
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("failure", "message"),
    [
        (subprocess.TimeoutExpired("pip", 600), "no answer within 10 minutes"),
        (FileNotFoundError(2, "No such file or directory"), "cannot be run: No such file or directory"),
    ],
)
def test_pip_that_does_not_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: Exception, message: str
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise failure

    monkeypatch.setattr(subprocess, "run", fail)
    with pytest.raises(SourceError, match=message):
        download(Spec("bwdemo"), tmp_path)


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commands: list[list[str]] = []

    def run(command: list[str], **options: Any) -> subprocess.CompletedProcess[bytes]:
        commands.append(command)
        return subprocess.CompletedProcess(command, 1, b"line\n\x1b[31mred\n" + b"more\n" * 3)

    monkeypatch.setattr(subprocess, "run", run)
    with pytest.raises(SourceError) as error:
        download(Spec("bwdemo", "1.0"), tmp_path)
    assert str(error.value).splitlines()[1:] == ["  line", "  ?[31mred", *["  more"] * 3]
    (command,) = commands
    assert command[:4] == [sys.executable, "-m", "pip", "download"]
    assert {"--only-binary", ":all:", "--no-deps", "--disable-pip-version-check"} < set(command)
    assert command[-1] == "bwdemo==1.0"


def test_refused_members_are_findings_contract(tmp_path: Path) -> None:
    wheel = make_wheel(tmp_path / "w.whl", {"/a.py": ""})
    assert unpack(wheel, tmp_path, "w").skipped == (
        Skipped("w//a.py", "member with a path that leads out of the archive"),
    )


def test_an_environment_without_pip_uses_the_one_that_python_brings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = util.find_spec
    monkeypatch.setattr(util, "find_spec", lambda name: None if name == "pip" else real(name))
    command = pypi.pip_command()
    assert command is not None
    if "_bundled" not in command[-1]:
        pytest.skip("this Python brings no pip")
    done = subprocess.run(
        [*command, "--version"], capture_output=True, text=True, timeout=60, check=False, cwd=tmp_path
    )
    assert (done.returncode, done.stdout.startswith("pip ")) == (0, True), done.stderr


def test_no_pip_at_all_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(util, "find_spec", lambda name: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SourceError, match="there is no pip, in this Python or on PATH"):
        download(Spec("six", None), tmp_path)


@pytest.fixture
def closed_port() -> Iterator[int]:
    """A port of this machine at which nobody answers, as long as the test runs."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))  # without listen(): a connection is refused
        yield held.getsockname()[1]


@pytest.mark.parametrize(("by", "argument"), [("index", "pypi:bwdemo"), ("proxy", "pypi:bwdemo==1.0")])
def test_an_index_out_of_reach_is_asked_once_and_said_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, closed_port: int, by: str, argument: str
) -> None:
    for name in ("PIP_EXTRA_INDEX_URL", "PIP_NO_INDEX", "PIP_FIND_LINKS", "no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_TRUSTED_HOST", "index.example")
    address = f"http://127.0.0.1:{closed_port}"
    monkeypatch.setenv("PIP_INDEX_URL", f"{address}/simple" if by == "index" else "http://index.example/simple")
    monkeypatch.setenv("PIP_PROXY", address if by == "proxy" else "")
    runs: list[list[str]] = []
    real = subprocess.run

    def run(command: list[str], **how: Any) -> Any:
        runs.append(command)
        return real(command, **how)

    monkeypatch.setattr(subprocess, "run", run)
    with pytest.raises(SourceError) as error:
        open_package(argument, tmp_path)
    assert len(runs) == 1 and runs[0][runs[0].index("--retries") + 1] == "1"
    said = str(error.value)
    assert said.startswith(f"{argument[5:]}: pip cannot reach the package index") and "\n" not in said
    assert said.endswith("check the network, PIP_INDEX_URL and the proxy, or give bwlint a wheel or a folder")


@pytest.mark.parametrize(
    ("said", "runs"),
    [
        ("ERROR: No matching distribution found for x\n", 1),
        ("WARNING: Retrying (Retry(total=0)) after connection broken by 'ReadTimeoutError(...)': /simple/x/\n", 2),
        ("WARNING: Retrying (Retry(total=0)) after connection broken by 'RemoteDisconnected(...)': /simple/x/\n", 2),
        (None, 1),
    ],
)
def test_an_index_that_answers_badly_is_tried_as_often_as_pip_likes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str | None, runs: int
) -> None:
    options: list[tuple[str, ...]] = []

    def ask(_spec: Spec, _dest: Path, given: tuple[str, ...], _seconds: int) -> tuple[int, str]:
        options.append(given)
        return (0, "") if said is None else (1, said)

    monkeypatch.setattr(pypi, "ask_pip", ask)
    assert pypi.pip_download(Spec("x"), tmp_path, ("-vv",)) == said
    assert options == [("--retries", "1", "-vv"), ("-vv",)][:runs]
