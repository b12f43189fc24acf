"""Packages whose files differ from their RECORD, and trees with changes, are said."""

from __future__ import annotations

import base64
import hashlib
import subprocess
from pathlib import Path

import pytest

from bwlint.confirm import machine
from bwlint.confirm.machine import described
from bwlint.confirm.workbench import Device

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
