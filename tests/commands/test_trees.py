from __future__ import annotations

from pathlib import Path

import pytest

from bwlint.commands.trees import trees


@pytest.mark.parametrize(
    ("paths", "packages", "expected"),
    [
        (["."], [], {"work": ("",)}),
        (["./src/"], [], {"src": ("src/",)}),
        (["../work"], [], {"work": ("../work/",)}),
        (["src", "docs"], [], {"src": ("src/",), "docs": ("docs/",)}),
        (["a/src", "src"], [], {"a/src": ("a/src/",), "src": ("src/",)}),
        (["./one.py"], [], {"one.py": ("one.py",)}),
        (["src", "one.py", "src/two.py"], [], {"src": ("src/",), "2 files": ("one.py", "src/two.py")}),
        (["pypi:x"], ["pypi:x==1.0"], {"x 1.0": ("pypi:x==1.0/",)}),
        ([".", "pypi:x==1.0"], ["pypi:x==1.0"], {"x 1.0": ("pypi:x==1.0/",), "work": ("",)}),
        (["src"], ["src/x-1.0-py3-none-any.whl"], {"x-1.0-py3-none-any.whl": ("src/x-1.0-py3-none-any.whl/",)}),
        (["stdin.py"], [], {"stdin.py": ("stdin.py",)}),
    ],
)
def test_what_arguments_name(
    paths: list[str],
    packages: list[str],
    expected: dict[str, tuple[str, ...]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for folder in ("src", "docs", "a/src"):
        (tmp_path / "work" / folder).mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "work")
    assert {tree.name: tree.beginnings for tree in trees(paths, packages)} == expected
