"""Includes: which file of the tree is meant, and that nothing else is ever read."""

from __future__ import annotations

from pathlib import Path

import pytest

from bwlint.model.facts import Module
from bwlint.readers.cuda import read
from bwlint.world.headers import Headers, resolve


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A project of a few headers, and one outside of it."""
    project = tmp_path / "project"
    for name, text in {
        "pyproject.toml": "",
        "src/a.cu": "",
        "src/near.h": "",
        "src/kernels/deep.cuh": "",
        "include/lib/public.h": "",
        "csrc/own.h": "",
    }.items():
        path = project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (tmp_path / "secret.h").write_text("#define SECRET 1\n")
    return project


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("near.h", "src/near.h"),
        ("./near.h", "src/near.h"),
        ("kernels/deep.cuh", "src/kernels/deep.cuh"),
        ("kernels/../near.h", "src/near.h"),
        ("lib/public.h", "include/lib/public.h"),
        ("own.h", "csrc/own.h"),
        ("cuda_runtime.h", None),
        ("../../secret.h", None),
        ("../../../../../../etc/passwd", None),
        ("/etc/passwd", None),
        ("near.h\0", None),
        ("x" * 400, None),
        ("kernels", None),
        ("", None),
    ],
)
def test_what_an_include_names(tree: Path, text: str, expected: str | None) -> None:
    found = resolve(str(tree / "src"), text)
    assert found == (str(tree / expected) if expected else None)


def headers_of(files: dict[str, str], folder: Path) -> tuple[Headers, dict[str, Module]]:
    """Headers of a tree, read as they are asked for."""
    (folder / "pyproject.toml").write_text("")
    modules = {}
    for name, text in files.items():
        path = folder / name
        path.write_text(text)
        modules[name] = read(str(path), text)
    by_path = {module.path: module for module in modules.values()}
    return Headers(by_path.get), modules


def test_includes_are_followed_and_circles_end(tmp_path: Path) -> None:
    files = {"a.cu": '#include "b.h"', "b.h": '#include "c.h"', "c.h": '#include "b.h"\n#include "a.cu"', "d.h": ""}
    headers, modules = headers_of(files, tmp_path)
    headers.add(modules["a.cu"])
    assert [Path(module.path).name for module in headers.included(modules["a.cu"])] == ["b.h", "c.h"]


def test_an_edited_file_means_what_it_did(tmp_path: Path) -> None:
    (tmp_path / "kit.h").write_text("inline int major_of() {\n  cudaDeviceProp prop;\n  return prop.major;\n}\n")
    source = '#include "kit.h"\nint run() {{ return major_of() == {}; }}\n'
    first, second = (read(str(tmp_path / "a.cc"), source.format(number)) for number in (12, 10))
    headers = Headers(lambda path: read(path, Path(path).read_text()))
    headers.add(first)
    home = headers.meaning(first, "major_of")
    assert home is not None
    assert headers.edited(second).meaning(second, "major_of") is home


def test_who_defines_a_macro(tmp_path: Path) -> None:
    files = {"a.cu": '#include "b.h"', "b.h": "#define A 1", "c.h": "#define A 2", "d.h": "#define B 1"}
    headers, modules = headers_of(files, tmp_path)
    for module in modules.values():
        headers.add(module)
    assert headers.definers(modules["a.cu"], "A") == [modules["b.h"]]
    assert list(headers.definers(modules["a.cu"], "B")) == [modules["d.h"]]
    assert list(headers.definers(modules["d.h"], "A")) == []
