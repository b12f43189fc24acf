"""The hooks, run by pre-commit itself in a repository of their own."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bwlint.sources.kinds import BINARY, KINDS, kind_of

ROOT = Path(__file__).parents[1]
SHIPPED = ("src", "rules", "tools", "pyproject.toml", "README.md", "LICENSE", ".pre-commit-hooks.yaml")
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
    # What pip does not compile is when it is imported, and most of it never is.
    environment = {**os.environ, "PRE_COMMIT_HOME": str(folder / "home"), "PIP_COMPILE": "0"}
    return clone, commit_all(clone), environment


def run_hook(
    hook: str, user: Path, hooks: tuple[Path, str, dict[str, str]], *, commit: bool = True
) -> subprocess.CompletedProcess[str]:
    clone, revision, environment = hooks
    config = f"repos:\n- repo: {clone.as_posix()}\n  rev: {revision}\n  hooks:\n  - id: {hook}\n"
    (user / ".pre-commit-config.yaml").write_text(config)
    if commit:
        commit_all(user)
    return run_all(user, environment)


def run_all(user: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
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


@pytest.fixture(scope="module")
def installed(hooks: tuple[Path, str, dict[str, str]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel of this working tree and nothing else."""
    clone, _, _ = hooks
    folder = tmp_path_factory.mktemp("installed")
    packed = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder / "dist")]
    subprocess.run(packed, cwd=clone, check=True, capture_output=True, timeout=120)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder / "venv")], check=True, timeout=120)
    (wheel,) = (folder / "dist").glob("*.whl")
    command = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        str(folder / "venv"),
        "install",
        "-q",
        "--no-compile",
        str(wheel),
    ]
    subprocess.run(command, check=True, capture_output=True, timeout=600)
    return folder


@pytest.mark.parametrize("is_indexed", [False, True])
def test_what_init_writes_runs(
    tmp_path: Path, hooks: tuple[Path, str, dict[str, str]], installed: Path, is_indexed: bool
) -> None:
    """Of a wheel installed from its file, the hook is the one on PATH; of one that an index gave, pip installs it."""
    programs = installed / "venv" / "bin"
    environment = {**hooks[2], "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    environment.pop("PYTHONPATH", None)
    if is_indexed:
        environment |= {"PIP_FIND_LINKS": str(installed / "dist")}
    (tmp_path / "a.py").write_text("print('no GPU here')\n")
    (tmp_path / "b.txt").write_text("sm_120\n")
    commit_all(tmp_path)
    (told,) = (installed / "venv").rglob("bwlint-*.dist-info/direct_url.json")
    if is_indexed:
        told.rename(told.with_name("aside"))
    command = [str(programs / "bwlint"), "init", "--yes", "--no-audit"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    if is_indexed:
        told.with_name("aside").rename(told)
    assert done.returncode == 0, done.stderr
    assert ("  language: python\n" in done.stdout) == is_indexed
    commit_all(tmp_path)
    clean = run_all(tmp_path, environment)
    assert clean.returncode == 0, clean.stdout + clean.stderr
    assert re.search(r"^bwlint\.+Passed$", clean.stdout, re.MULTILINE)
    (tmp_path / "a.py").write_text(SPLIT)
    found = run_all(tmp_path, environment)
    assert found.returncode == 1 and "a.py:4:8" in found.stdout, found.stdout + found.stderr


def test_all_hooks_of_sources_take_the_same_files() -> None:
    hooks = {hook["id"]: hook for hook in yaml_of(ROOT / ".pre-commit-hooks.yaml")}
    assert hooks["bwlint-audit"]["files"] == hooks["bwlint"]["files"]
    assert hooks["bwlint-fix"]["files"] == hooks["bwlint"]["files"]
    assert hooks["bwlint-fix"]["types"] == hooks["bwlint"]["types"]
    for name in ("a.py", "k/b.cu", "CMakeLists.txt", "x/Dockerfile.cuda", "cmake/a.cmake", "setup.py", "ci.yml"):
        assert re.search(hooks["bwlint-fix"]["files"], name)


def test_a_hook_takes_the_files_that_its_command_reads() -> None:
    hooks = {hook["id"]: hook for hook in yaml_of(ROOT / ".pre-commit-hooks.yaml")}
    named = [name for kind in KINDS for name in (*kind.names, *(f"a{suffix}" for suffix in kind.suffixes))]
    stems = [f"{stem}{end}" for kind in KINDS for stem in kind.stems for end in ("", ".CUDA", "-dev.txt", "_12", "s")]
    others = ("README.md", "a.pyx", "notes.txt", "BUILDING", "a.environment", "libk.so.12", "K.DLL", "LICENSE")
    for name in (*named, *stems, *(f".{name}" for name in ("env", "bazelrc")), *others):
        reader = {None: None, BINARY: "bwlint-inspect"}.get(kind_of(name), "bwlint")
        for path in (name, f"a/b/{name}"):
            takes = [hook for hook in ("bwlint", "bwlint-inspect") if re.search(hooks[hook]["files"], path)]
            assert takes == ([reader] if reader else []), path


def yaml_of(path: Path) -> list[dict[str, str]]:
    loaded: list[dict[str, str]] = pytest.importorskip("yaml").safe_load(path.read_text())
    return loaded
