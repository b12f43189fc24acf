"""A pull request that adds questions, by the command that CI runs, with the engine and the reports as they are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from repair.trees import git, put

from bwlint import cli
from bwlint.settings.decisions import NAME, load
from bwlint.sources.worktree import top_of

CI = ("--since", "main", "--fail-on", "review")
OLD = """import torch


def old(x):
    if torch.cuda.get_device_capability()[0] == 9:
        return wgmma(x)
    return plain(x)
"""
HARMLESS = """import torch


def half(x):
    if torch.cuda.get_device_capability()[0] >= 8:
        return x.bfloat16()
    return x.half()
"""
SPLIT = """import torch


def only_one(x):
    cap = torch.cuda.get_device_capability()
    if cap == (12, 0):
        raise RuntimeError("not on this card")
    return kernel(x)
"""
BOUND = """import torch

from lib import tcgen05_gemm


def gemm(x):
    if torch.cuda.get_device_capability()[0] >= 10:
        return tcgen05_gemm(x)
    return x
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository on a branch that adds three files, a commit each."""
    top_of.cache_clear()
    monkeypatch.chdir(tmp_path)
    git(tmp_path, "init", "-q", "-b", "main")
    commit(tmp_path, {"pkg/__init__.py": "", "pkg/old.py": OLD, "bwlint.toml": ""})
    git(tmp_path, "checkout", "-q", "-b", "change")
    for name, text in (("harmless", HARMLESS), ("split", SPLIT), ("bound", BOUND)):
        commit(tmp_path, {f"pkg/{name}.py": text})
    return tmp_path


def commit(folder: Path, files: dict[str, str]) -> None:
    put(folder, files)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "more")


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(cli.app, ["audit", "--no-cache", "--jobs", "1", *arguments], prog_name="bwlint")


def new_rows() -> dict[str, tuple[str, str]]:
    """The kind and the fingerprint of what the change adds, by file; the worst of each."""
    found = json.loads(invoke("--since", "main", "--format", "json").stdout)["rows"]
    order = ("pass", "open", "review", "fail")
    rows = sorted(found, key=lambda row: order.index(row["kind"]))
    return {Path(row["places"][0]["path"]).stem: (row["kind"], row["fingerprint"]) for row in rows}


def decide_all() -> None:
    """Decide all that fails, one after another, as the command says at its end."""
    for _ in range(9):
        result = invoke(*CI)
        if result.exit_code == 0:
            return
        row = result.stderr.partition("--decide ")[2].split()[0]
        assert invoke("--decide", row, "fine", "--reason", "tried").exit_code == 0
    raise AssertionError(result.stderr)


def test_only_what_the_change_adds_fails(here: Path) -> None:
    rows = new_rows()
    assert rows["harmless"][0] == "pass"
    assert rows["split"][0] in ("fail", "review") and rows["bound"][0] in ("fail", "review")
    assert "old" not in rows
    result = invoke(*CI)
    assert result.exit_code == 1, result.stderr
    git(here, "checkout", "-q", "main")
    git(here, "checkout", "-q", "-b", "harmless")
    commit(here, {"pkg/harmless.py": HARMLESS})
    assert invoke(*CI).exit_code == 0


def test_it_passes_once_somebody_has_decided(here: Path) -> None:
    decide_all()
    decided = {made.fingerprint for made in load(str(here / NAME)).made}
    assert decided >= {print_ for kind, print_ in new_rows().values() if kind in ("fail", "review")}
    text = (here / NAME).read_text()
    assert 'reason = "tried"' in text and "pkg/split.py:6" in text
    # Lines move, files get other names, the branch is put on a main that has gone on.
    commit(here, {"pkg/split.py": '"""What only one can do."""\n\n# so far\n' + SPLIT})
    git(here, "mv", "pkg/bound.py", "pkg/gemms.py")
    commit(here, {})
    git(here, "checkout", "-q", "main")
    commit(here, {"pkg/old.py": "# moved down\n\n" + OLD})
    git(here, "checkout", "-q", "change")
    git(here, "rebase", "-q", "main")
    result = invoke(*CI)
    assert result.exit_code == 0, result.stdout + result.stderr
    assert (here / NAME).read_text() == text
    assert "0 gone" in invoke("--prune").stderr


def test_a_decision_falls_with_its_question(here: Path) -> None:
    decide_all()
    commit(here, {"pkg/split.py": SPLIT.replace("== (12, 0)", "== (12, 1)")})
    result = invoke(*CI)
    assert result.exit_code == 1
    assert "match no row" in result.stderr
    assert " 0 gone" not in invoke("--prune").stderr


def test_the_hook_stops_a_commit(here: Path) -> None:
    """What pre-commit runs: the state of the work tree against the last commit."""
    hook = ("--staged", "--fail-on", "review")
    assert invoke(*hook).exit_code == 0
    put(here, {"pkg/split.py": SPLIT + SPLIT.replace("only_one", "other").replace("(12, 0)", "(12, 1)")})
    assert invoke(*hook).exit_code == 1


@pytest.mark.parametrize("name", ["scratch.py", "pkg/try [1] !*.py", "notes/a b/scratch.py"])
def test_the_hook_passes_over_what_no_commit_takes_along(here: Path, name: str) -> None:
    put(here, {name: SPLIT.replace("only_one", "untracked")})
    assert invoke("--since", "HEAD", "--fail-on", "review").exit_code == 1
    assert invoke("--staged", "--fail-on", "review").exit_code == 0
    git(here, "add", "-A")
    assert invoke("--staged", "--fail-on", "review").exit_code == 1


def test_the_hook_compares_with_what_pre_commit_does(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRE_COMMIT_FROM_REF", "main")
    result = invoke("--staged", "--fail-on", "review")
    assert (result.exit_code, "new or changed since main" in result.stderr) == (1, True)
