"""Which builds compile a file: those of the run, and those in the folders above it."""

from __future__ import annotations

from pathlib import Path

import pytest

from bwlint.model.expr import Span
from bwlint.model.facts import Carry
from bwlint.world.builds import Builds, ends_in, runs_on
from bwlint.world.collect import load

SETUP = """
from torch.utils.cpp_extension import CUDAExtension
flags = {flags}
CUDAExtension("name", {sources}, extra_compile_args={{"nvcc": flags}})
"""


def written(folder: Path, name: str, text: str = "") -> str:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return str(path)


def builds() -> Builds:
    return Builds((), lambda path: load(path, ""))


def chips(folder: Path, source: str) -> str:
    """The chips that run what is compiled of a source; "" where no build names it."""
    placed = builds().placed(written(folder, source))
    return str(runs_on(carry for _, carry in placed)) if placed else ""


@pytest.mark.parametrize(
    ("flags", "sources", "asked", "expected"),
    [
        ('["-gencode", "arch=compute_90a,code=sm_90a"]', '["csrc/a.cu"]', "csrc/a.cu", "9.0 only"),
        ('["-gencode", "arch=compute_90a,code=sm_90a"]', '["csrc/a.cpp"]', "csrc/a.cpp", "9.0 only"),
        ('["-gencode", "arch=compute_90a,code=sm_90a"]', '[f"csrc/{n}_{d}_sm90.cu"]', "csrc/a_b_sm90.cu", "9.0 only"),
        ('["-gencode", "arch=compute_90,code=compute_90"]', '["a.cu"]', "a.cu", "9.0 and newer"),
        ('["arch=compute_90a,code=sm_90a", "arch=compute_120f,code=sm_120f"]', '["a.cu"]', "a.cu", "9.0 and 12.x"),
        ('["-gencode", "arch=compute_90a,code=sm_90a"]', '["csrc/a.cu"]', "csrc/b.cu", ""),
        ('["-gencode", "arch=compute_90a,code=sm_90a"]', '["csrc/a.cu"]', "part/csrc/a.cu", "9.0 only"),
        ('["-gencode", "arch=compute_90a,code=sm_90a"]', '["csrc/a.cu"]', "other/a.cu", ""),
        ('["-gencode", "arch=compute_90a,code=sm_90a"]', '[f"csrc/{n}_sm90.cu"]', "csrc/a/b_sm90.cu", ""),
        ('["-O3"]', '["a.cu"]', "a.cu", ""),
        ('["arch=compute_90a,code=sm_90a", f"arch=compute_{n},code=sm_{n}"]', '["a.cu"]', "a.cu", ""),
        ('["arch=compute_90a,code=sm_90a", "arch=" + wanted]', '["a.cu"]', "a.cu", ""),
    ],
)
def test_a_setup_py(tmp_path: Path, flags: str, sources: str, asked: str, expected: str) -> None:
    written(tmp_path, "setup.py", SETUP.format(flags=flags, sources=sources))
    assert chips(tmp_path, asked) == expected


def test_no_extension_no_carry(tmp_path: Path) -> None:
    written(tmp_path, "setup.py", 'flags = ["arch=compute_90a,code=sm_90a"]\nsources = ["a.cu"]\n')
    assert chips(tmp_path, "a.cu") == ""


CMAKE = 'archs_of(ARCHS "9.0a" "${ASKED}")\nset(SRCS "csrc/a.cu")\nflags(SRCS "${SRCS}" ARCHS "${ARCHS}")\n'


@pytest.mark.parametrize(
    ("at", "asked", "expected"),
    [
        ("CMakeLists.txt", "csrc/a.cu", "9.0 only"),
        ("part/CMakeLists.txt", "part/csrc/a.cu", "9.0 only"),
        ("kernels.cmake", "csrc/a.cu", "9.0 only"),
        ("cmake/kernels.cmake", "csrc/a.cu", ""),
        ("part/CMakeLists.txt", "csrc/a.cu", ""),
        ("CMakeLists.txt", "csrc/b.cu", ""),
        ("build.txt", "csrc/a.cu", ""),
    ],
)
def test_build_files_above(tmp_path: Path, at: str, asked: str, expected: str) -> None:
    written(tmp_path, "pyproject.toml")
    written(tmp_path, at, CMAKE)
    assert chips(tmp_path, asked) == expected


def test_nothing_above_the_project_is_read(tmp_path: Path) -> None:
    written(tmp_path, "CMakeLists.txt", CMAKE)
    written(tmp_path, "project/pyproject.toml")
    assert chips(tmp_path, "project/csrc/a.cu") == ""


@pytest.mark.parametrize(
    ("sass", "ptx", "expected"),
    [
        (("90a",), (), "9.0 only"),
        (("100f",), (), "10.x"),
        (("80",), ("80",), "8.0 and newer"),
        (("120a", "121a"), (), "12.x"),
        (("999",), (), "no chip"),
        ((), (), "no chip"),
    ],
)
def test_what_runs(sass: tuple[str, ...], ptx: tuple[str, ...], expected: str) -> None:
    assert str(runs_on([Carry("list", "ARCHS", sass, ptx, Span(1, 0, 1, 5))])) == expected


@pytest.mark.parametrize(
    ("path", "source", "expected"),
    [
        ("/a/b/c.cu", "c.cu", True),
        ("/a/b/c.cu", "./b/c.cu", True),
        ("/a/b/c_sm90.cu", "c_*.cu", True),
        ("/a/b/c_x_sm90.cu", "c*_*_sm90.cu", True),
        ("/a/b/c.cu", "*.cu", True),
        ("/a/b/c_sm90.cu", "c_*sm90.cu", True),
        ("/a/b/c_sm90.cu", "c_*_sm90.cu", False),
        ("/a/b/c.cu", "bc.cu", False),
        ("/a/b/c.cu", "a/c.cu", False),
        ("/a/b/c.cu", "b*.cu", False),
        ("/a/b/aa.cu", "a*a*a.cu", False),
        ("c.cu", "b/c.cu", False),
        ("/" + "a" * 4000 + ".cu", "*a" * 8 + "b.cu", False),
    ],
)
def test_ends_of_paths(path: str, source: str, expected: bool) -> None:
    assert ends_in(path, source) == expected
