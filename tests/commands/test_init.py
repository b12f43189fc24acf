"""`bwlint init`: what it proposes for repositories of several kinds, and that it writes nothing unasked."""

from __future__ import annotations

import json
from email.message import Message
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from click.testing import CliRunner, Result
from repair.trees import committed, git, put

from bwlint import __version__, cli
from bwlint.commands.init import HookOrigin, own_origin
from bwlint.settings.config import load
from bwlint.sources.worktree import top_of

URL = "https://example.org/bwlint"
ASKED = ("--repo", URL, "--rev", "v9")


def invoke(folder: Path, *arguments: str) -> Result:
    return CliRunner().invoke(cli.app, ["init", str(folder), *ASKED, *arguments], prog_name="bwlint")


def there(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_nothing_is_written_unasked(tmp_path: Path) -> None:
    result = invoke(tmp_path)
    assert result.exit_code == 0
    assert "+++ b/bwlint.toml" in result.stdout and "+++ b/.pre-commit-config.yaml" in result.stdout
    assert "nothing was written" in result.stderr
    assert there(tmp_path) == set()


def test_an_empty_repository(tmp_path: Path) -> None:
    assert invoke(tmp_path, "--yes").exit_code == 0
    assert there(tmp_path) == {"bwlint.toml", ".pre-commit-config.yaml", ".github/workflows/bwlint.yml"}
    config = load(str(tmp_path / "bwlint.toml"))
    assert config is not None and (config.target, config.exclude) == (("sm_120", "sm_121"), ())
    hooks = yaml.safe_load((tmp_path / ".pre-commit-config.yaml").read_text())
    assert hooks == {"repos": [{"repo": URL, "rev": "v9", "hooks": [{"id": "bwlint"}]}]}
    job = yaml.safe_load((tmp_path / ".github/workflows/bwlint.yml").read_text())
    assert job["permissions"] == {"contents": "read", "security-events": "write"}
    steps = job["jobs"]["bwlint"]["steps"]
    assert f'pip install "git+{URL}@v9"' in [step.get("run") for step in steps]
    again = invoke(tmp_path, "--yes")
    assert "nothing to write" in again.stderr


def test_code_of_others_is_left_out(tmp_path: Path) -> None:
    paths = ("csrc/cutlass", "third_party/cutlass")
    modules = "".join(f'[submodule "{path}"]\n\tpath = {path}\n' for path in paths)
    put(tmp_path, {"third_party/x.cu": "", ".gitmodules": modules, "src/a.py": ""})
    invoke(tmp_path, "--yes")
    config = load(str(tmp_path / "bwlint.toml"))
    assert config is not None and config.exclude == ("/csrc/cutlass/", "/third_party/")


OTHERS = """\
# our hooks
default_stages: [pre-commit]
repos:
  - repo: https://example.org/other   # keep
    rev: v1
    hooks:
      - id: other
        args: [--fix]
"""


def test_a_hook_joins_others(tmp_path: Path) -> None:
    put(tmp_path, {".pre-commit-config.yaml": OTHERS})
    invoke(tmp_path, "--yes")
    text = (tmp_path / ".pre-commit-config.yaml").read_text()
    assert [entry["repo"] for entry in yaml.safe_load(text)["repos"]] == [URL, "https://example.org/other"]
    assert "# keep" in text and text.startswith("# our hooks\n")


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"bwlint.toml": ""}, "bwlint.toml already exists"),
        ({"pyproject.toml": "[tool.bwlint]\n"}, "pyproject.toml has [tool.bwlint] already"),
        ({".pre-commit-config.yaml": "repos: [{repo: local, hooks: []}]\n"}, "not added to"),
        ({".pre-commit-config.yaml": "repos:\n- repo: x\n  hooks:\n  - id: bwlint-fix\n"}, "has the hook already"),
        ({".pre-commit-config.yaml": "repos:\n- repo: x\n bad\n"}, "by hand"),
        ({".pre-commit-config.yaml": "repos:\nothers:\n- repo: x\n"}, "by hand"),
        ({".pre-commit-config.yaml": "- repos:\nrepos:\n- repo: x\n"}, "by hand"),
        ({"a.py": ""}, "in no git tree"),
        ({".gitlab-ci.yml": "a: 1\n"}, "add to .gitlab-ci.yml"),
        ({".github/workflows/bwlint.yml": ""}, "the workflow already exists"),
    ],
)
def test_what_is_there_stays(tmp_path: Path, files: dict[str, str], words: str) -> None:
    put(tmp_path, files)
    result = invoke(tmp_path, "--yes")
    assert words in result.stderr
    assert {name: (tmp_path / name).read_text() for name in files} == files


def test_a_job_of_gitlab(tmp_path: Path) -> None:
    put(tmp_path, {".gitlab-ci.yml": "a: 1\n"})
    invoke(tmp_path, "--yes")
    assert not (tmp_path / ".github").exists()
    job = yaml.safe_load((tmp_path / ".gitlab/bwlint.yml").read_text())["bwlint"]
    assert job["artifacts"]["reports"] == {"codequality": "gl-code-quality-report.json"}


def test_a_folder_of_a_repository_is_not_its_top(tmp_path: Path) -> None:
    top_of.cache_clear()
    committed(tmp_path, {"sub/a.py": ""})
    assert f"`bwlint init {tmp_path.resolve()}`" in invoke(tmp_path / "sub").stderr
    assert "git" not in invoke(tmp_path).stderr


def test_hook_and_ci_can_audit(tmp_path: Path) -> None:
    put(tmp_path, {".gitlab-ci.yml": "a: 1\n", ".github/x": ""})
    invoke(tmp_path, "--audit", "--yes")
    hooks = yaml.safe_load((tmp_path / ".pre-commit-config.yaml").read_text())
    assert hooks["repos"][0]["hooks"] == [{"id": "bwlint"}, {"id": "bwlint-audit"}]
    steps = yaml.safe_load((tmp_path / ".github/workflows/bwlint.yml").read_text())["jobs"]["bwlint"]["steps"]
    assert steps[0] == {"uses": "actions/checkout@v4", "with": {"fetch-depth": 0}}
    (audit,) = [step for step in steps if "audit" in step.get("run", "")]
    assert audit["run"] == 'bwlint audit --since "origin/$GITHUB_BASE_REF" --fail-on review .'
    assert "github.event_name == 'pull_request'" in audit["if"]
    job = yaml.safe_load((tmp_path / ".gitlab/bwlint.yml").read_text())["bwlint-audit"]
    assert job["script"][-1] == 'bwlint audit --since "$CI_MERGE_REQUEST_DIFF_BASE_SHA" --fail-on review .'
    assert job["variables"] == {"GIT_DEPTH": 0}


def test_an_audit_is_offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for arguments, told in (((), True), (("--no-audit",), False), (("--audit",), False)):
        result = invoke(tmp_path, *arguments)
        assert ("--audit makes hooks and CI also stop" in result.stderr) == told
        assert ("bwlint-audit" in result.stdout) == ("--audit" in arguments)
    for answers, wanted in (("y\nn\n", True), ("n\nn\n", False)):
        monkeypatch.setattr("click.testing._NamedTextIOWrapper.isatty", lambda _: True, raising=False)
        result = CliRunner().invoke(cli.app, ["init", str(tmp_path), *ASKED], input=answers, prog_name="bwlint")
        assert "until somebody decides them (bwlint audit)? [y/N]" in result.stderr
        assert ("bwlint-audit" in result.stdout, there(tmp_path)) == (wanted, set())


def test_a_hook_that_is_there_lacks_the_audit(tmp_path: Path) -> None:
    put(tmp_path, {".pre-commit-config.yaml": "repos:\n- repo: x\n  hooks:\n  - id: bwlint\n"})
    assert "has the hook already; add `- id: bwlint-audit` beside it" in invoke(tmp_path, "--audit").stderr
    put(tmp_path, {".pre-commit-config.yaml": "repos:\n- repo: x\n  hooks:\n  - id: bwlint-audit\n"})
    assert "has the hook already\n" in invoke(tmp_path, "--audit").stderr


def test_a_repository_on_this_machine_is_not_that_of_ci(tmp_path: Path) -> None:
    result = CliRunner().invoke(cli.app, ["init", str(tmp_path), "--repo", "file:///a/b"], prog_name="bwlint")
    assert "CI does not get it there" in result.stderr and f"rev: v{__version__}" in result.stdout


def test_a_clone_knows_where_it_comes_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    committed(tmp_path / "cl one", {"a.py": ""})
    git(tmp_path / "cl one", "remote", "add", "origin", "git@example.org:us/bwlint.git")
    direct = json.dumps({"url": (tmp_path / "cl one").as_uri(), "dir_info": {}})
    there = SimpleNamespace(read_text=lambda _: direct, metadata=Message())
    monkeypatch.setattr("importlib.metadata.distribution", lambda _: there)
    commit = git(tmp_path / "cl one", "rev-parse", "HEAD").strip()
    assert own_origin() == HookOrigin("ssh://example.org/us/bwlint.git", commit)
    result = CliRunner().invoke(cli.app, ["init", str(tmp_path), "--rev", "v7"], prog_name="bwlint")
    assert "- repo: ssh://example.org/us/bwlint.git" in result.stdout and "rev: v7" in result.stdout


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    (tmp_path / ".pre-commit-config.yaml").write_bytes(b"\xff\xfe")
    result = invoke(tmp_path, "--yes")
    assert (result.exit_code, "not UTF-8" in result.stderr) == (2, True)
    assert there(tmp_path) == {".pre-commit-config.yaml"}
