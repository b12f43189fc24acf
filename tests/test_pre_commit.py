"""The hooks, run by pre-commit itself in a repository of their own."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SHIPPED = ("src", "rules", "pyproject.toml", "README.md", "LICENSE", ".pre-commit-hooks.yaml")
SPLIT = """import torch

def fast(x):
    if torch.cuda.get_device_capability() != (12, 0):
        raise RuntimeError("no")
    return kernel(x)
"""
IDENTITY = ("-c", "user.name=bwlint", "-c", "user.email=bwlint@example.org", "-c", "commit.gpgsign=false")


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *IDENTITY, *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def commit_all(folder: Path) -> str:
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "all")
    return git(folder, "rev-parse", "HEAD")


def has_index(folder: Path) -> bool:
    """Whether pip can fetch what the hook's environment is built with."""
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--dest", str(folder), "hatchling"]
    return subprocess.run(command, capture_output=True, timeout=120, check=False).returncode == 0


@pytest.fixture(scope="module")
def hooks(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, dict[str, str]]:
    """A clone of this working tree with its revision, and the environment to run pre-commit in."""
    if shutil.which("git") is None:
        pytest.skip("no git")
    pytest.importorskip("pre_commit")
    folder = tmp_path_factory.mktemp("hooks")
    if not has_index(folder):
        pytest.skip("no package index to build the hook's environment from")
    clone = folder / "bwlint"
    clone.mkdir()
    for name in SHIPPED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, clone / name, ignore=shutil.ignore_patterns("__pycache__"))
        elif (ROOT / name).is_file():
            shutil.copy(ROOT / name, clone / name)
    return clone, commit_all(clone), {**os.environ, "PRE_COMMIT_HOME": str(folder / "home")}


def run_hook(
    hook: str, user: Path, hooks: tuple[Path, str, dict[str, str]], *, commit: bool = True
) -> subprocess.CompletedProcess[str]:
    clone, revision, environment = hooks
    config = f"repos:\n- repo: {clone.as_posix()}\n  rev: {revision}\n  hooks:\n  - id: {hook}\n"
    (user / ".pre-commit-config.yaml").write_text(config)
    if commit:
        commit_all(user)
    return subprocess.run(
        [sys.executable, "-m", "pre_commit", "run", "--all-files", "--verbose", "--color=never"],
        cwd=user,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def test_the_hook_fails_on_a_finding(tmp_path: Path, hooks: tuple[Path, str, dict[str, str]]) -> None:
    (tmp_path / "a.py").write_text(SPLIT)
    (tmp_path / "b.txt").write_text("sm_120\n")
    done = run_hook("bwlint", tmp_path, hooks)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "a.py:4:8" in done.stdout
    assert "exit code: 1" in done.stdout


def test_the_hook_passes_a_clean_tree_and_excluded_files(
    tmp_path: Path, hooks: tuple[Path, str, dict[str, str]]
) -> None:
    (tmp_path / "gen").mkdir()
    (tmp_path / "gen" / "a.py").write_text(SPLIT)
    (tmp_path / "bwlint.toml").write_text('exclude = ["gen/"]\n')
    done = run_hook("bwlint", tmp_path, hooks)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_fixing_hook_rewrites(tmp_path: Path, hooks: tuple[Path, str, dict[str, str]]) -> None:
    (tmp_path / "a.py").write_text(SPLIT)
    (tmp_path / "b.cu").write_text("// sm_120\nint x;\n")
    (tmp_path / "CMakeLists.txt").write_text("set(KIT_SUPPORTED_ARCHS 90a 120a)\n")
    done = run_hook("bwlint-fix", tmp_path, hooks)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "files were modified by this hook" in done.stdout
    assert "fixed 2 findings in 2 files: 1 arch-target, 1 family-split" in done.stdout
    assert "warning" not in done.stdout.partition("fixed 2")[0], "what is staged needs no warning"
    assert (tmp_path / "a.py").read_text() != SPLIT
    assert (tmp_path / "CMakeLists.txt").read_text() == "set(KIT_SUPPORTED_ARCHS 90a 120a 121a)\n"
    assert sorted(path.name for path in tmp_path.glob(".bwlint-*")) == []
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-q", "-m", "fixed")
    again = run_hook("bwlint-fix", tmp_path, hooks, commit=False)
    assert again.returncode == 0, again.stdout + again.stderr


def test_all_hooks_of_sources_take_the_same_files() -> None:
    hooks = {hook["id"]: hook for hook in yaml_of(ROOT / ".pre-commit-hooks.yaml")}
    assert hooks["bwlint-audit"]["files"] == hooks["bwlint"]["files"]
    assert hooks["bwlint-fix"]["files"] == hooks["bwlint"]["files"]
    assert hooks["bwlint-fix"]["types"] == hooks["bwlint"]["types"]
    for name in ("a.py", "k/b.cu", "CMakeLists.txt", "x/Dockerfile.cuda", "cmake/a.cmake", "setup.py", "ci.yml"):
        assert re.search(hooks["bwlint-fix"]["files"], name)


def yaml_of(path: Path) -> list[dict[str, str]]:
    loaded: list[dict[str, str]] = pytest.importorskip("yaml").safe_load(path.read_text())
    return loaded
