from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from bwlint.sources.installed import files_of
from bwlint.sources.pypi import SourceError

PACKAGES = "lib/python3.12/site-packages"


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
