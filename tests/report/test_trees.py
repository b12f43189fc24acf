from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from bwlint.cli import app
from bwlint.report.summary import trees


@pytest.mark.parametrize(
    ("paths", "packages", "expected"),
    [
        (["."], [], {"work": ("",)}),
        (["./src/"], [], {"src": ("src/",)}),
        (["../work"], [], {"work": ("../work/",)}),
        (["src", "docs"], [], {"src": ("src/",), "docs": ("docs/",)}),
        (["a/src", "src"], [], {"a/src": ("a/src/",), "src": ("src/",)}),
        (["./one.py"], [], {"one.py": ("one.py/",)}),
        (["src", "one.py", "src/two.py"], [], {"src": ("src/",), "2 files": ("one.py/", "src/two.py/")}),
        (["pypi:x"], ["pypi:x==1.0"], {"x 1.0": ("pypi:x==1.0/",)}),
        ([".", "pypi:x==1.0"], ["pypi:x==1.0"], {"x 1.0": ("pypi:x==1.0/",), "work": ("",)}),
        (["src"], ["src/x-1.0-py3-none-any.whl"], {"x-1.0-py3-none-any.whl": ("src/x-1.0-py3-none-any.whl/",)}),
        (["stdin.py"], [], {"stdin.py": ("stdin.py/",)}),
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


GATE = """import torch

def fast(x):
    if torch.cuda.get_device_capability() != (12, 0):
        raise RuntimeError("no")
    return kernel(x)
"""
ON = "on RTX 5090 (12.0) and DGX Spark (GB10, 12.1)"
SPLIT = "1 place where 12.0 and 12.1 are treated differently"


@pytest.mark.parametrize(
    ("arguments", "ends"),
    [
        (
            ["a"],
            [
                f"a {ON}: {SPLIT}; 1 place concerns the chip: 1 is for you to judge",
                "next: bwlint audit a, bwlint check --fix --diff a",
            ],
        ),
        (["b"], [f"b {ON}: no findings"]),
        (
            ["--format", "json", "a", "b"],
            [
                "1 place concerns the chip: 1 is for you to judge",
                f"a {ON}: {SPLIT}",
                f"b {ON}: no findings",
                "next: bwlint audit a b, bwlint check --fix --diff a b",
            ],
        ),
        (
            ["--target", "spark", "a", "b/fine.py"],
            [
                "1 place concerns the chip: 1 is for you to judge",
                f"a on DGX Spark (GB10, 12.1): {SPLIT}",
                "fine.py on DGX Spark (GB10, 12.1): no findings",
                "next: bwlint audit --target spark a b/fine.py, bwlint check --fix --diff --target spark a b/fine.py",
            ],
        ),
        (["--quiet", "a", "b"], []),
        (["--exclude", "*", "a"], ["nothing was scanned"]),
    ],
)
def test_a_check_ends_with_a_verdict(
    arguments: list[str], ends: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in (("a/gate.py", GATE), ("b/fine.py", "x = 1\n")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["check", "--no-cache", "--jobs", "1", *arguments], prog_name="bwlint")
    told = [line for line in result.stderr.splitlines() if not re.match(r"bwlint: (?:no|\d+) \w+.* in \d", line)]
    assert told == [f"bwlint: {line}" for line in ends] or (told == ["bwlint: nothing was scanned"] and not ends)


@pytest.mark.parametrize(
    ("flags", "built"),
    [
        ("arch=compute_90a,code=sm_90a", ", but the only build that names targets has none for these cards"),
        ("arch=compute_120a,code=sm_120a", ""),
        ("arch=compute_80,code=compute_80", ""),
    ],
)
def test_no_findings_is_no_promise_that_it_is_built(
    flags: str, built: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "jit.py").write_text(f'FLAGS = ["-gencode={flags}"]\n')
    monkeypatch.chdir(tmp_path)
    arguments = ["check", "--no-cache", "--jobs", "1", "--target", "5090", "."]
    result = CliRunner().invoke(app, arguments, prog_name="bwlint")
    assert f"on RTX 5090 (12.0): no findings{built}; 1 place concerns the chip" in result.stderr


GATE = 'import torch\n\nif torch.cuda.get_device_capability() != (12, 0):\n    raise RuntimeError("no")\n'


@pytest.mark.parametrize(
    ("beside", "told", "order"),
    [
        (("LICENSE.txt", "README.md", "CMakeLists.txt"), "2 of 3 are in a_copy, with a licence", ["m.py", "a_copy"]),
        (("LICENSE", "README.md"), "", ["a_copy"]),
        (("README.md", "setup.py"), "", ["a_copy"]),
    ],
)
def test_what_comes_with_another_project_is_told_last(
    beside: tuple[str, ...], told: str, order: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {"pyproject.toml": "", "a_copy/src/a.py": GATE, "a_copy/src/b.py": GATE, "m.py": GATE}
    for name, text in {**files, **{f"a_copy/{name}": "" for name in beside}}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["check", "--no-cache", "--jobs", "1", "."], prog_name="bwlint")
    shown = [line.partition("--> ")[2].partition("/")[0].partition(":")[0] for line in result.stdout.splitlines()]
    assert list(filter(None, shown)) == order
    assert (told in result.stderr) if told else ("of their own" not in result.stderr)
    inside = CliRunner().invoke(app, ["check", "--no-cache", "--jobs", "1", "a_copy"], prog_name="bwlint")
    assert "of their own" not in inside.stderr
