"""`bwlint matrix --diff`: a repository of our own with two commits and a change that is in none."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from bwlint.cli import app

OPS = """import torch

def op(x):
    if torch.cuda.get_device_capability(x.device)[0] {test}:
        raise ValueError("no")
    return x
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tree whose operation takes 10.x and 12.x at first, then 10.x alone, and 10.x to 12.x in the working tree."""
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "__init__.py").write_text("from .ops import op as op\n")
    monkeypatch.chdir(tmp_path)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run([*git, "init", "-q"], check=True)
    for test in ("not in (10, 12)", "!= 10"):
        (tmp_path / "pkg" / "ops.py").write_text(OPS.format(test=test))
        subprocess.run([*git, "add", "."], check=True)
        subprocess.run([*git, "commit", "-qm", test], check=True)
    (tmp_path / "pkg" / "ops.py").write_text(OPS.format(test="not in (10, 11, 12)"))
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["matrix", "--no-cache", "--jobs", "1", *arguments], prog_name="bwlint")


LOST = (
    "Lost: refused now, or on another path\n"
    "  pkg.op  12.x  yes -> no  pkg/ops.py:4  torch.cuda.get_device_capability(x.device)[0] != 10\n"
)


@pytest.mark.parametrize(
    "arguments",
    [("HEAD~1", "HEAD"), ("HEAD~1..HEAD",), ("HEAD~1", "HEAD", "pkg"), ("HEAD~1..HEAD", "pkg"), ("HEAD~1..HEAD", ".")],
)
def test_between_two_revisions(here: Path, arguments: tuple[str, ...]) -> None:
    result = run("--diff", *arguments)
    assert (result.exit_code, result.stdout) == (1, LOST)
    assert result.stderr == "bwlint: HEAD~1 to HEAD: 2 cells lost in 1 of 1 row\n"


def test_since_a_revision(here: Path) -> None:
    result = run("--diff", "HEAD", "--target", "11.0,spark,b200", "pkg/ops.py")
    assert result.exit_code == 0
    assert result.stdout == (
        "Gained: not refused any more, or on its own path\n  pkg.ops.op  11.0 and 12.1  no -> yes  pkg/ops.py:4  "
        "torch.cuda.get_device_capability(x.device)[0] not in (10, 11, 12)\n"
    )


def test_places_are_told_from_the_current_folder(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(here / "pkg")
    result = run("--diff", "HEAD~1..HEAD", "--format", "json", "..")
    (first, _) = json.loads(result.stdout)["changes"]
    assert (first["kind"], first["before"]["gate"]["path"], first["after"]["gate"]["path"]) == (
        "worse",
        "ops.py",
        "ops.py",
    )


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("--diff", "HEAD..HEAD"), 0, "HEAD to HEAD: no cell changed"),
        (("--diff", "HEAD", "--select", "none"), 3, "HEAD to working tree: no cell changed"),
        (("--diff", "gone"), 2, "--diff: {here} has no revision `gone`"),
        (("--diff", "HEAD", "gone"), 2, "--diff: {here} has no revision `gone`"),
        (("--diff", "HEAD", "--format", "html"), 2, "--diff has no --format html"),
        (("--diff", "HEAD", "--format", "badge"), 2, "--diff has no --format badge"),
        (("--diff", "HEAD", "--receipts", "."), 2, "--receipts does not go with --diff"),
    ],
)
def test_ends(here: Path, arguments: tuple[str, ...], code: int, said: str) -> None:
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (code, "")
    assert said.format(here=here.resolve()) in result.stderr


def test_a_tree_that_was_not_there(here: Path) -> None:
    (here / "new").mkdir()
    (here / "new" / "ops.py").write_text(OPS.format(test="!= 12"))
    result = run("--diff", "HEAD", "--target", "12.0,10.0", "new")
    assert result.exit_code == 0
    assert [line.split("  ")[1:4] for line in result.stdout.splitlines()[1:]] == [
        ["ops.op", "12.0", "- -> yes"],
    ]


def test_why_git_answers_nothing_is_said(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / ".git" / "config").write_text("[broken\n")
    assert f"--diff: {here.resolve()}: fatal: bad config line 1" in run("--diff", "HEAD").stderr
    monkeypatch.setenv("PATH", "")
    assert f"--diff: {here.resolve()}: git is not installed" in run("--diff", "HEAD").stderr
