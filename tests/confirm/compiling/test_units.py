"""Which files a file reaches, where they are found, and who reaches a header."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bwlint.confirm.compiling.units import IncludeTree


def tree(root: Path, files: dict[str, str]) -> IncludeTree:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return IncludeTree.at(str(root))


def including(*names: str) -> str:
    return "".join(f"#include {name if name[0] == '<' else repr(name).replace(chr(39), chr(34))}\n" for name in names)


FOUND = {
    "beside": ({"a.cu": including("b.h"), "b.h": ""}, []),
    "below an include folder": ({"src/a.cu": including("x/b.h"), "include/x/b.h": ""}, ["include"]),
    "of a vendored project": ({"a.cu": including("<x/b.hpp>"), "3rdparty/p/inc/x/b.hpp": ""}, ["3rdparty/p/inc"]),
    "through a header": (
        {"a.cu": including("i/b.h"), "i/b.h": including("<y/c.h>"), "lib/y/c.h": ""},
        ["lib"],
    ),
    "two of a kind: the nearer": (
        {"one/a.cu": including("<x/b.h>"), "one/inc/x/b.h": "", "two/inc/x/b.h": ""},
        ["one/inc"],
    ),
    "a header that is next to one found": (
        {"src/a.cu": including("<x/b.h>"), "inc/x/b.h": including("c.h"), "inc/x/c.h": ""},
        ["inc"],
    ),
    "a name of its own": ({"src/a.cu": including("<helpers.cuh>"), "lib/helpers.cuh": ""}, ["lib"]),
    "a circle": (
        {"a.cu": including("x/b.h"), "x/b.h": including("<y/c.h>"), "l/y/c.h": including("<y/c.h>", "a.cu")},
        ["l"],
    ),
    "the system's": ({"a.cu": including("<math.h>", "<string.h>", "<vector>"), "x/math.h": "", "y/vector": ""}, []),
    "nobody's": ({"a.cu": including("<torch/all.h>", "missing.h")}, []),
    "absolute": ({"a.cu": including("/etc/passwd", "</etc/passwd>")}, []),
    "above the tree": ({"src/a.cu": including("../../../etc/passwd", "<../x.h>"), "x.h": ""}, []),
    "itself": ({"a.cu": including("a.cu")}, []),
    "not asked for": ({"a.cu": "// #include <x/b.h>\nint include;\n", "inc/x/b.h": ""}, []),
    "in a folder of git": ({"a.cu": including("<x/b.h>"), ".git/x/b.h": ""}, []),
}  # fmt: skip


@pytest.mark.parametrize(("files", "folders"), FOUND.values(), ids=FOUND.keys())
def test_folders_are_found(tmp_path: Path, files: dict[str, str], folders: list[str]) -> None:
    found = tree(tmp_path, files)
    unit = next(name for name in files if name.endswith("a.cu"))
    assert found.folders(str(tmp_path / unit)) == tuple(str(tmp_path / folder) for folder in folders)


def test_who_includes_a_header(tmp_path: Path) -> None:
    found = tree(
        tmp_path,
        {
            "lib/x/sm120_gemm.h": "",
            "lib/x/outer.h": including("sm120_gemm.h"),
            "lib/x/near.cu": including("outer.h"),
            "tests/other_gemm.cu": including("<x/outer.h>"),
            "tests/b_sm120_of_a_longer_name.cu": including("<x/outer.h>"),
            "tests/none_sm120_gemm.cu": including("<x/missing.h>"),
        },
    )
    units = [os.path.relpath(unit, tmp_path) for unit in found.including(str(tmp_path / "lib/x/sm120_gemm.h"))]
    assert units == ["lib/x/near.cu", "tests/b_sm120_of_a_longer_name.cu", "tests/other_gemm.cu"]


def test_neither_pipes_nor_devices_nor_links_out_of_it_are_walked(tmp_path: Path) -> None:
    root = tmp_path / "tree"
    found = tree(root, {"a.cu": including("pipe.h", "zero.h", "round.h", "<x/b.h>")})
    os.mkfifo(root / "pipe.h")
    (root / "zero.h").symlink_to("/dev/zero")
    (root / "round.h").symlink_to(root / "round.h")
    (root / "loop").symlink_to(root)
    assert found.folders(str(root / "a.cu")) == ()
    assert IncludeTree.at(str(root)).folders(str(root / "a.cu")) == ()


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("#include <" + "a" * 1_000_000, id="a long name"),
        pytest.param('#include "' + "../" * 100 + 'x.h"\n', id="far up"),
        pytest.param("#include <\0>\n#include <\x01\x02>\n", id="letters of no name"),
        pytest.param("\n" * 2_000_000 + "#include <x/b.h>\n", id="far down"),
        pytest.param('#include "x/b.h"\n' * 50_000, id="again and again"),
    ],
)
def test_hostile_text_ends(tmp_path: Path, text: str) -> None:
    assert len(tree(tmp_path, {"a.cu": text}).folders(str(tmp_path / "a.cu"))) == 0


def test_what_a_file_lacks(tmp_path: Path) -> None:
    found = tree(
        tmp_path,
        {
            "a.cu": including("b.h", "<vector>", "<gtest/gtest.h>", "<known.h>"),
            "b.h": including("<gtest/gtest.h>", "<x/none.h>"),
            "c.cu": including("<known.h>"),
            "known/known.h": "",
        },
    )
    found.by_name.clear()
    known = (str(tmp_path / "known"),)
    assert found.missing(str(tmp_path / "a.cu"), known) == {"gtest/gtest.h", "x/none.h"}
    assert found.missing(str(tmp_path / "c.cu"), known) == set()
