"""The binaries of a tree that `bwlint check` scans."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from libraries import arm
from small_binaries import cubin, elf, static_library, wheel, zipped

from bwlint import cli

ARM = "x-1.0-py3-none-manylinux2014_aarch64.whl"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli.app, list(arguments), prog_name="bwlint")


def checked(*arguments: str) -> list[str]:
    result = run("check", "--severity", "note", "--format", "json", *arguments)
    return sorted(f"{each['severity']} {each['name']} {each['path']}" for each in json.loads(result.stdout)["findings"])


def tree(files: Mapping[str, bytes]) -> None:
    for name, data in files.items():
        path = Path("tree", name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        # Silent.
        ({"a.py": b"x = 1\n", "lib/a.so": arm("sm_120f")}, []),
        ({"a.so": arm("sm_120f"), "b.so": elf([])}, []),
        # A wheel or an archive in a tree is no part of it.
        ({"a.py": b"x = 1\n", f"dist/{ARM}": wheel({"x/a.so": arm("sm_120a")})}, []),
        ({"a.py": b"x = 1\n", "dist/x.zip": zipped({"x/a.so": arm("sm_120a")})}, []),
        # But where nothing else is there, wheels are what is meant.
        ({ARM: wheel({"x/a.so": arm("sm_120a")})}, [f"warning arch-target tree/{ARM}/x/a.so"]),
        ({f"dist/{ARM}": wheel({"x/a.so": arm("sm_120a")})}, []),
        (
            {ARM: wheel({"x/bin/ptxas": b"\0Cuda compilation tools, release 12.8, V12.8.93\0"})},
            [f"warning toolchain tree/{ARM}/x/bin/ptxas"],
        ),
        (
            {ARM: wheel({"x/bin/ptxas": b"\0Cuda compilation tools, release 13.0, V13.0.88\0"})},
            [],
        ),
        # Binaries of a folder belong together.
        ({"lib/a.so": arm("sm_120a")}, ["warning arch-target tree/lib/a.so"]),
        ({"lib/a.so": arm("sm_120f"), "lib/b.so": arm("sm_90a")}, ["note arch-target tree/lib/b.so"]),
        ({"one/a.so": arm("sm_120f"), "two/b.so": arm("sm_80 sm_90")}, ["error arch-target tree/two/b.so"]),
        ({"a.a": static_library({"a.o": arm("sm_120a")})}, ["warning arch-target tree/a.a"]),
        # What tests read, nobody ships.
        ({"pyproject.toml": b"", "tests/data/a.so": arm("sm_120a")}, ["note arch-target tree/tests/data/a.so"]),
        ({"pyproject.toml": b"", "tests/data/a.so": arm("sm_80")}, ["note arch-target tree/tests/data/a.so"]),
        ({"pyproject.toml": b"", "latest/a.so": arm("sm_120a")}, ["warning arch-target tree/latest/a.so"]),
        # Nor what lies built among the examples.
        (
            {"pyproject.toml": b"", "example/kit/bin/a.so": arm("sm_80"), "example/kit/bin/b.so": arm("sm_80")},
            ["note arch-target tree/example/kit/bin"],
        ),
        ({"pyproject.toml": b"", "kit/a.so": arm("sm_80")}, ["warning arch-target tree/kit/a.so"]),
    ],
)
def test_check_reads_the_binaries_of_a_tree(files: Mapping[str, bytes], expected: list[str]) -> None:
    tree(files)
    assert checked("tree") == expected


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["tree"], []),
        (["tree", "--no-ignore"], ["warning arch-target tree/build/a.so", "warning arch-target tree/c.so"]),
        (["tree/c.so"], ["warning arch-target tree/c.so"]),
        (["tree/build"], ["warning arch-target tree/build/a.so"]),
        (["tree/c.so", "--force-exclude"], []),
        (["tree", "tree/c.so"], ["warning arch-target tree/c.so"]),
    ],
)
def test_what_git_ignores_is_read_when_named(arguments: Sequence[str], expected: list[str]) -> None:
    tree({"build/a.so": arm("sm_120a"), "c.so": arm("sm_120a"), "a.py": b"x = 1\n"})
    tree({".gitignore": b"build/\n*.so\n", ".git/config": b""})
    assert checked(*arguments) == expected


def test_check_reads_the_binaries_of_a_wheel() -> None:
    Path(ARM).write_bytes(wheel({"x/a.so": arm("sm_120a"), "x/__init__.py": b""}))
    assert checked(ARM) == [f"warning arch-target {ARM}/x/a.so"]


BOTH = ["warning arch-target tree/a.so", "warning arch-target tree/b.so"]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ("", BOTH),
        ('ignore = ["arch-target"]\n', []),
        ('target = ["sm_90"]\n', ["note arch-target tree/a.so"]),
        ('exclude = ["*.so"]\n', []),
        ('[per-file-ignores]\n"*.so" = ["arch-target"]\n', []),
        ('[per-file-ignores]\n"*.cubin" = ["arch-target"]\n', BOTH),
        # Of one file of a folder, whichever comes first.
        ('[per-file-ignores]\n"a.so" = ["arch-target"]\n', ["warning arch-target tree/b.so"]),
        ('[per-file-ignores]\n"b.so" = ["arch-target"]\n', ["warning arch-target tree/a.so"]),
    ],
)
def test_settings_of_a_tree(settings: str, expected: list[str]) -> None:
    tree({"a.so": arm("sm_120a"), "b.so": arm("sm_80 sm_90"), "bwlint.toml": settings.encode()})
    assert checked("tree") == expected


def test_settings_for_the_objects_of_a_static_library() -> None:
    tree({"a.a": static_library({"a.o": arm("sm_120a")}), "bwlint.toml": b""})
    assert checked("tree") == ["warning arch-target tree/a.a"]
    tree({"bwlint.toml": b'[per-file-ignores]\n"a.a" = ["arch-target"]\n'})
    assert checked("tree") == []


def test_check_counts_skipped_binaries() -> None:
    tree({"a.py": b"x = 1\n", "cut.cubin": cubin(120)[:100]})
    result = run("check", "-v", "tree")
    assert result.exit_code == 0
    assert "tree/cut.cubin" in result.stderr


def test_build_files_beside_what_they_have_built() -> None:
    tree({"a.so": arm("sm_120a"), "build.sh": b"nvcc -gencode arch=compute_121,code=sm_121 a.cu\n"})
    document = json.loads(run("check", "--format", "json", "tree").stdout)
    (finding,) = [each for each in document["findings"] if each["path"] == "tree/a.so"]
    assert [(place["path"], place["message"]) for place in finding["related"]] == [
        ("tree/build.sh", "the build asks for sm_121 here")
    ]
    tree({"build.sh": b"nvcc -gencode arch=compute_90,code=sm_90 a.cu\n"})
    document = json.loads(run("check", "--format", "json", "tree").stdout)
    (finding,) = [each for each in document["findings"] if each["path"] == "tree/a.so"]
    assert finding["related"] == []
