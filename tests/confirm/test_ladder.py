"""The files of findings, by the paths that a report gives."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bwlint.confirm.ladder import places


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    top = Path(os.path.realpath(tmp_path))
    (top / "src/pkg").mkdir(parents=True)
    for name in ("src/pkg/__init__.py", "src/pkg/a.py", "pyproject.toml", "x.whl", "loose.cu"):
        (top / name).write_text("")
    return top


@pytest.mark.parametrize(
    ("path", "real", "root"),
    [
        ("src/pkg/a.py", "src/pkg/a.py", ""),
        ("loose.cu", "loose.cu", ""),
        ("x.whl/lib/a.so", "x.whl", ""),
        ("x.whl", "x.whl", ""),
        ("gone.cu", None, None),
        ("src/gone.cu", None, None),
        ("pypi:some==1/a.py", None, None),
        ("", None, None),
        ("x" * 5000, None, None),
        ("a/" * 5000, None, None),
        ("a\0b", None, None),
        ("\ud800/a", None, None),
    ],
)
def test_a_report_of_a_project(path: str, real: str | None, root: str | None, tree: Path) -> None:
    found = places((), lambda path: str(tree / path) if path else "", {})(path)
    assert found.real == (str(tree / real) if real is not None else "")
    assert found.root == (str(tree / root) if root is not None else "")


def test_the_root_is_the_scanned_folder_or_the_project_around_it(tree: Path) -> None:
    (tree / "out/lib").mkdir(parents=True)
    (tree / "out/lib/pyproject.toml").write_text("")
    (tree / "out/lib/b.cu").write_text("")
    locate = places((str(tree), str(tree / "src")), lambda path: str(tree / path), {})
    assert locate("src/pkg/a.py").root == str(tree)
    assert locate("loose.cu").root == str(tree)
    assert locate("out/lib/b.cu").root == str(tree)
    assert places((), lambda path: str(tree / path), {})("out/lib/b.cu").root == str(tree / "out/lib")


def test_a_package_that_was_fetched(tree: Path) -> None:
    locate = places((), str, {"pypi:some==1": str(tree / "x.whl")})
    assert locate("pypi:some==1/lib/a.so").real == str(tree / "x.whl")
    assert locate("pypi:some==11/lib/a.so").real == ""
