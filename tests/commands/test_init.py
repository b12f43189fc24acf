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

ROOT = Path(__file__).parents[2]
URL = "https://example.org/bwlint"
ASKED = ("--repo", URL, "--rev", "v9")


def invoke(folder: Path, *arguments: str) -> Result:
    return CliRunner().invoke(cli.app, ["init", str(folder), *ASKED, *arguments], prog_name="bwlint")


def there(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_nothing_is_written_unasked(tmp_path: Path) -> None:
    result = invoke(tmp_path)
    assert result.exit_code == 2
    assert "+++ b/bwlint.toml" in result.stdout and "+++ b/.pre-commit-config.yaml" in result.stdout
    assert "nothing was written" in result.stderr and "add --yes to write it" in result.stderr
    assert there(tmp_path) == set()


def test_an_empty_repository(tmp_path: Path) -> None:
    assert invoke(tmp_path, "--yes").exit_code == 0
    assert there(tmp_path) == {"bwlint.toml", ".pre-commit-config.yaml", ".github/workflows/bwlint.yml"}
    config = load(str(tmp_path / "bwlint.toml"))
    assert config is not None and (config.target, config.exclude) == (("sm_120", "sm_121"), ())
    hooks = yaml.safe_load((tmp_path / ".pre-commit-config.yaml").read_text())
    assert hooks == {"repos": [{"repo": URL, "rev": "v9", "hooks": [{"id": "bwlint"}]}]}
    job = yaml.safe_load((tmp_path / ".github/workflows/bwlint.yml").read_text())
    # YAML 1.1 reads the key `on` as true.
    assert job[True] == {"pull_request": None, "push": {"branches": ["main", "master"]}}
    assert job["permissions"] == {"actions": "read", "contents": "read", "security-events": "write"}
    steps = job["jobs"]["bwlint"]["steps"]
    assert steps[0] == {"uses": "actions/checkout@v7", "with": {"persist-credentials": False}}
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
    assert [entry["repo"] for entry in yaml.safe_load(text)["repos"]] == ["https://example.org/other", URL]
    assert "# keep" in text and text.startswith("# our hooks\n")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("repos:\n# first\n- repo: a\n  hooks: []\n", ""),
        ("repos:\n  # first\n  - repo: a\n    hooks: []\n  # second\n  - repo: b\n    hooks: []\n", ""),
        ("repos:\n- repo: a\n  hooks: []\n  # not now\n", ""),
        ("repos:\n- repo: a\n  hooks: []\n\n- repo: b\n  hooks: []", ""),
        ("repos:\n- repo: a\n  hooks: []\n", "# of the service\nci:\n  skip: [a]\n"),
        ("repos:\n- repo: a\n  hooks: []\n  # not now\n", "\n# of the service\n\nci: {}\n"),
        ("repos:\n- repo: a\n  hooks: []\n", "fail_fast: true\n"),
        ("ci: {}\n# all\nrepos:\n- repo: a\n  hooks: []\n", ""),
    ],
)
def test_a_hook_comes_after_the_others(tmp_path: Path, before: str, after: str) -> None:
    put(tmp_path, {".pre-commit-config.yaml": before + after})
    invoke(tmp_path, "--yes")
    indent = "  " * ("\n  - repo" in before)
    entry = "".join(f"{indent}{row}\n" for row in (f"- repo: {URL}", "  rev: v9", "  hooks:", "  - id: bwlint"))
    assert (tmp_path / ".pre-commit-config.yaml").read_text() == f"{before.rstrip()}\n{entry}{after}"


@pytest.mark.parametrize(
    ("empty", "opened"),
    [("repos: []\n", "repos:\n"), ("repos: [ ]  # none yet\n", "repos:  # none yet\n"), ("repos: [\n]\n", "repos:\n")],
)
@pytest.mark.parametrize("after", ["", "fail_fast: true\n"])
def test_a_hook_comes_into_an_empty_list(tmp_path: Path, empty: str, opened: str, after: str) -> None:
    put(tmp_path, {".pre-commit-config.yaml": f"ci: {{}}\n{empty}{after}"})
    assert invoke(tmp_path, "--yes").exit_code == 0
    entry = f"- repo: {URL}\n  rev: v9\n  hooks:\n  - id: bwlint\n"
    assert (tmp_path / ".pre-commit-config.yaml").read_text() == f"ci: {{}}\n{opened}{entry}{after}"


@pytest.mark.parametrize("text", ["repos: [{repo: local, hooks: []}]\n", "repos: &all\n- repo: x\n  hooks: []\n"])
def test_a_hook_that_cannot_be_added_can_be_pasted(tmp_path: Path, text: str) -> None:
    put(tmp_path, {".pre-commit-config.yaml": text})
    result = invoke(tmp_path, "--yes")
    pasted = yaml.safe_load(result.stderr.partition("run `bwlint init` again:\n")[2])
    assert pasted == [{"repo": URL, "rev": "v9", "hooks": [{"id": "bwlint"}]}]
    assert (result.exit_code, "written. Next" in result.stderr) == (2, False)
    assert there(tmp_path) == {".pre-commit-config.yaml"}


def test_a_configuration_that_is_no_yaml_fails(tmp_path: Path) -> None:
    put(tmp_path, {".pre-commit-config.yaml": "repos: [\n"})
    result = invoke(tmp_path, "--yes")
    assert (result.exit_code, result.stdout, "written" in result.stderr) == (2, "", False)


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"bwlint.toml": ""}, "bwlint.toml already exists"),
        ({"pyproject.toml": "[tool.bwlint]\n"}, "pyproject.toml has [tool.bwlint] already"),
        ({".pre-commit-config.yaml": "repos: [{repo: local, hooks: []}]\n"}, "not added to"),
        ({".pre-commit-config.yaml": "repos:\n- repo: x\n  hooks:\n  - id: bwlint-fix\n"}, "has the hook already"),
        ({".pre-commit-config.yaml": "repos:\n- repo: x\n bad\n"}, "by hand"),
        (
            {".pre-commit-config.yaml": "repos:\n\t- repo: x\n"},
            ".yaml is not read: line 2: found character '\\t' that",
        ),
        (
            {".pre-commit-config.yaml": "\0repos: []\n"},
            "is not read: it needs a list `repos` of entries with `repo` and `hooks`. Correct it",
        ),
        ({".pre-commit-config.yaml": "- a\n"}, "it needs a list `repos` of entries with `repo` and `hooks`"),
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


@pytest.mark.parametrize(
    ("pipeline", "stage"),
    [
        ("a: 1\n", "test"),
        ("stages: [build, test, check]\n", "test"),
        ("stages: [build, check]\n", "check"),
        ("a: !reference [b, c]\nstages:\n- verify\n- lint   # ours\n", "lint"),
        ("stages: [build, deploy]\n", "build"),
        ('stages: ["1: build"]\n', "1: build"),
        ("stages: []\n", "test"),
        ("stages: x\n", "test"),
        ("- a\n", "test"),
        ("a: [\n", "test"),
        ("", "test"),
    ],
)
def test_the_stage_is_one_that_the_pipeline_lists(tmp_path: Path, pipeline: str, stage: str) -> None:
    put(tmp_path, {".gitlab-ci.yml": pipeline})
    assert invoke(tmp_path, "--yes", "--audit").exit_code == 0
    jobs = yaml.safe_load((tmp_path / ".gitlab/bwlint.yml").read_text())
    assert {job["stage"] for job in jobs.values()} == {stage}


@pytest.mark.parametrize(
    ("origin", "is_gitlab"),
    [
        ("git@gitlab.example.org:us/kernels.git", True),
        ("https://gitlab-main.example.org/us/kernels", True),
        ("https://code.gitlab.example.org/us/kernels", True),
        ("https://github.com/us/gitlab", False),
        ("", False),
    ],
)
def test_the_origin_says_whose_ci_it_is(tmp_path: Path, origin: str, is_gitlab: bool) -> None:
    top_of.cache_clear()
    committed(tmp_path, {"a.py": ""})
    if origin:
        git(tmp_path, "remote", "add", "origin", origin)
    assert invoke(tmp_path, "--yes").exit_code == 0
    jobs = {".gitlab-ci.yml", ".gitlab/bwlint.yml"} if is_gitlab else {".github/workflows/bwlint.yml"}
    assert {name for name in there(tmp_path) if name.startswith((".gitlab", ".github"))} == jobs
    if is_gitlab:
        included = yaml.safe_load((tmp_path / ".gitlab-ci.yml").read_text())
        assert included == {"include": [{"local": ".gitlab/bwlint.yml"}]}


def test_a_folder_of_a_repository_is_not_its_top(tmp_path: Path) -> None:
    top_of.cache_clear()
    committed(tmp_path, {"sub/a.py": ""})
    refused = invoke(tmp_path / "sub", "--yes")
    assert (refused.exit_code, refused.stdout, f"`bwlint init {tmp_path.resolve()}`" in refused.stderr) == (2, "", True)
    assert there(tmp_path / "sub") == {"a.py"}
    assert "git" not in invoke(tmp_path).stderr


@pytest.mark.parametrize(("folder", "is_said"), [("sub/deep", True), ("sub", True), (".", False)])
def test_without_a_path_the_whole_repository_is_set_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str, is_said: bool
) -> None:
    top_of.cache_clear()
    committed(tmp_path, {"sub/deep/a.py": ""})
    monkeypatch.chdir(tmp_path / folder)
    result = CliRunner().invoke(cli.app, ["init", *ASKED, "--yes"], prog_name="bwlint")
    assert result.exit_code == 0
    assert (f"this sets up {tmp_path.resolve()}, the top of the repository" in result.stderr) == is_said
    assert (tmp_path / ".github/workflows/bwlint.yml").exists() and (tmp_path / "bwlint.toml").exists()
    assert there(tmp_path / "sub") == {"deep/a.py"}


def test_without_a_path_or_a_git_tree_the_current_folder_is_set_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    top_of.cache_clear()
    put(tmp_path, {"sub/a.py": ""})
    monkeypatch.chdir(tmp_path / "sub")
    result = CliRunner().invoke(cli.app, ["init", *ASKED, "--yes"], prog_name="bwlint")
    assert "is in no git tree" in result.stderr
    assert "sub/bwlint.toml" in there(tmp_path) and "bwlint.toml" not in there(tmp_path)


def test_hook_and_ci_can_audit(tmp_path: Path) -> None:
    put(tmp_path, {".gitlab-ci.yml": "a: 1\n", ".github/x": ""})
    invoke(tmp_path, "--audit", "--yes")
    hooks = yaml.safe_load((tmp_path / ".pre-commit-config.yaml").read_text())
    assert hooks["repos"][0]["hooks"] == [{"id": "bwlint"}, {"id": "bwlint-audit"}]
    steps = yaml.safe_load((tmp_path / ".github/workflows/bwlint.yml").read_text())["jobs"]["bwlint"]["steps"]
    assert steps[0]["with"] == {"fetch-depth": 0, "persist-credentials": False}
    (audit,) = [step for step in steps if "audit" in step.get("run", "")]
    assert audit["run"] == 'bwlint audit --since "origin/$GITHUB_BASE_REF" --fail-on review .'
    assert "github.event_name == 'pull_request'" in audit["if"]
    jobs = yaml.safe_load((tmp_path / ".gitlab/bwlint.yml").read_text())
    # The pipeline of a merge request takes the place of the branch's: without a rule the check is in neither.
    merge_request, default = (rule["if"] for rule in jobs["bwlint"]["rules"])
    assert (merge_request, default) == (
        '$CI_PIPELINE_SOURCE == "merge_request_event"',
        "$CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH",
    )
    job = jobs["bwlint-audit"]
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


def test_a_workflow_that_was_edited_stays(tmp_path: Path) -> None:
    put(tmp_path, {".github/workflows/bwlint.yml": "on: [push]\n"})
    told = invoke(tmp_path, "--yes", "--audit").stderr
    assert "the workflow already exists without an audit: rename bwlint.yml" in told
    assert (tmp_path / ".github/workflows/bwlint.yml").read_text() == "on: [push]\n"


def test_a_repository_on_this_machine_is_not_that_of_ci(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    distributed(monkeypatch, None)
    result = CliRunner().invoke(cli.app, ["init", str(tmp_path), "--repo", "file:///a/b"], prog_name="bwlint")
    assert "CI does not get it there" in result.stderr and f"rev: v{__version__}" in result.stdout
    assert "# Replace this by what CI can install" in result.stdout


@pytest.mark.parametrize(
    ("repository", "action"),
    [
        ("https://github.com/us/bwlint", "us/bwlint@v9"),
        ("https://github.com/us/bwlint.git", "us/bwlint@v9"),
        ("https://github.com/us/bw.lint/", "us/bw.lint@v9"),
        ("ssh://git@github.com/us/bwlint.git", "us/bwlint@v9"),
        ("git@github.com:us/bwlint.git", "us/bwlint@v9"),
        ("https://gitlab.example.org/us/bwlint", ""),
        ("https://github.com.example.org/us/bwlint", ""),
        ("https://example.org/github.com/us/bwlint", ""),
        ("https://github.com/us", ""),
        ("https://github.com/us/bwlint/tree/main", ""),
        ("file:///github.com/us/bwlint", ""),
        ("", ""),
    ],
)
def test_the_action_of_a_repository(repository: str, action: str) -> None:
    assert HookOrigin(repository, "v9").action == action


@pytest.mark.parametrize("audit", [False, True])
def test_github_uses_the_action(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, audit: bool) -> None:
    distributed(monkeypatch, None)
    arguments = ["init", str(tmp_path), "--repo", "https://github.com/us/bwlint", "--yes", *["--audit"] * audit]
    assert CliRunner().invoke(cli.app, arguments, prog_name="bwlint").exit_code == 0
    checkout, action = yaml.safe_load((tmp_path / ".github/workflows/bwlint.yml").read_text())["jobs"]["bwlint"][
        "steps"
    ]
    assert (checkout["with"].get("fetch-depth") == 0) == audit
    assert action["uses"] == f"us/bwlint@v{__version__}"
    inputs = yaml.safe_load((ROOT / "action.yml").read_text())["inputs"]
    assert set(action.get("with", {})) == ({"since", "audit"} if audit else set())
    assert set(action.get("with", {})) <= set(inputs)


def distributed(monkeypatch: pytest.MonkeyPatch, direct: str | None, repository: str = "") -> None:
    """Have bwlint installed from somewhere, as its distribution tells: PEP 610, and [project.urls]."""
    told = Message()
    if repository:
        told["Project-URL"] = f"Repository, {repository}"
    there = SimpleNamespace(read_text=lambda _: direct, metadata=told)
    monkeypatch.setattr("importlib.metadata.distribution", lambda _: there)


WHEEL = json.dumps({"url": "file:///a/bwlint-0.1.0-py3-none-any.whl", "archive_info": {}})
COMMIT = json.dumps({"url": "https://example.org/us/bwlint", "vcs_info": {"vcs": "git", "commit_id": "c0ffee"}})
ORIGINS = [
    (None, "", HookOrigin(is_indexed=True)),
    (WHEEL, "", HookOrigin()),
    (None, URL, HookOrigin(URL, f"v{__version__}", is_indexed=True)),
    (WHEEL, f"{URL}/", HookOrigin(URL, f"v{__version__}")),
    (COMMIT, URL, HookOrigin("https://example.org/us/bwlint", "c0ffee")),
]


@pytest.mark.parametrize(("direct", "repository", "origin"), ORIGINS)
def test_where_this_copy_came_from(
    monkeypatch: pytest.MonkeyPatch, direct: str | None, repository: str, origin: HookOrigin
) -> None:
    distributed(monkeypatch, direct, repository)
    assert own_origin() == origin


@pytest.mark.parametrize("audit", [False, True])
@pytest.mark.parametrize(
    ("direct", "installed", "told"),
    [
        (WHEEL, {"language": "system"}, True),
        (None, {"language": "python", "additional_dependencies": [f"bwlint=={__version__}"]}, False),
    ],
)
def test_without_a_repository_the_hook_is_local(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    direct: str | None,
    installed: dict[str, object],
    told: bool,
    audit: bool,
) -> None:
    distributed(monkeypatch, direct)
    put(tmp_path, {".gitlab-ci.yml": "a: 1\n", ".github/x": "", ".pre-commit-config.yaml": OTHERS})
    result = CliRunner().invoke(cli.app, ["init", str(tmp_path), "--yes", *["--audit"] * audit], prog_name="bwlint")
    assert (result.exit_code, "runs the bwlint on PATH" in result.stderr) == (0, told)
    other, local = yaml.safe_load((tmp_path / ".pre-commit-config.yaml").read_text())["repos"]
    assert (local["repo"], other["repo"]) == ("local", "https://example.org/other")
    shipped = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    names = ("bwlint", "bwlint-audit") if audit else ("bwlint",)
    own = [{**hook, **installed} for hook in shipped if hook["id"] in names]
    assert local["hooks"] == [{key: value for key, value in hook.items() if key != "description"} for hook in own]
    for path in (".github/workflows/bwlint.yml", ".gitlab/bwlint.yml"):
        written = (tmp_path / path).read_text()
        assert written.count(f'pip install "bwlint=={__version__}"\n') == written.count("pip install") >= 1
        assert written.count("# Replace this by what CI can install") == told * written.count("pip install")
        assert yaml.safe_load(written)


@pytest.mark.parametrize("direct", [WHEEL, None, COMMIT])
def test_what_is_written_asks_no_chip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, direct: str | None) -> None:
    distributed(monkeypatch, direct)
    put(tmp_path, {".gitlab-ci.yml": "a: 1\n", ".github/x": ""})
    assert CliRunner().invoke(cli.app, ["init", str(tmp_path), "--yes", "--audit"], prog_name="bwlint").exit_code == 0
    found = CliRunner().invoke(cli.app, ["audit", "--format", "json", "--no-cache", str(tmp_path)], prog_name="bwlint")
    assert [row["text"] for row in json.loads(found.stdout)["rows"]] == []


@pytest.mark.parametrize("direct", [WHEEL, None])
@pytest.mark.parametrize("others", ["", OTHERS])
def test_an_audit_joins_what_was_written_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, direct: str | None, others: str
) -> None:
    distributed(monkeypatch, direct)
    put(
        tmp_path,
        {".gitlab-ci.yml": "a: 1\n", ".github/x": "", **({".pre-commit-config.yaml": others} if others else {})},
    )
    for wish in ("--no-audit", "--audit"):
        assert CliRunner().invoke(cli.app, ["init", str(tmp_path), "--yes", wish], prog_name="bwlint").exit_code == 0
    *_, first, second = yaml.safe_load((tmp_path / ".pre-commit-config.yaml").read_text())["repos"]
    assert [hook["id"] for entry in (first, second) for hook in entry["hooks"]] == ["bwlint", "bwlint-audit"]
    assert {"name", "entry", "language"} <= second["hooks"][0].keys()  # without these pre-commit refuses a local hook
    for path in (".github/workflows/bwlint.yml", ".gitlab/bwlint.yml"):
        assert "--fail-on review" in (tmp_path / path).read_text()
    again = CliRunner().invoke(cli.app, ["init", str(tmp_path), "--yes", "--audit"], prog_name="bwlint")
    assert "nothing to write" in again.stderr


def test_a_revision_is_one_of_a_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    distributed(monkeypatch, WHEEL)
    result = CliRunner().invoke(cli.app, ["init", str(tmp_path), "--rev", "v9"], prog_name="bwlint")
    assert (result.exit_code, "name it with --repo URL" in result.stderr) == (2, True)


def test_a_revision_of_digits_stays_a_word(tmp_path: Path) -> None:
    arguments = ["init", str(tmp_path), "--repo", URL, "--rev", "1234567", "--yes"]
    assert CliRunner().invoke(cli.app, arguments, prog_name="bwlint").exit_code == 0
    assert yaml.safe_load((tmp_path / ".pre-commit-config.yaml").read_text())["repos"][0]["rev"] == "1234567"


def test_a_clone_knows_where_it_comes_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    committed(tmp_path / "cl one", {"a.py": ""})
    git(tmp_path / "cl one", "remote", "add", "origin", "git@example.org:us/bwlint.git")
    distributed(monkeypatch, json.dumps({"url": (tmp_path / "cl one").as_uri(), "dir_info": {}}))
    commit = git(tmp_path / "cl one", "rev-parse", "HEAD").strip()
    assert own_origin() == HookOrigin("ssh://example.org/us/bwlint.git", commit)
    result = CliRunner().invoke(cli.app, ["init", str(tmp_path), "--rev", "v7"], prog_name="bwlint")
    assert "- repo: ssh://example.org/us/bwlint.git" in result.stdout and "rev: v7" in result.stdout


@pytest.mark.parametrize("is_tagged", [False, True])
def test_of_a_named_repository_the_revision_is_one_that_there_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_tagged: bool
) -> None:
    committed(tmp_path / "clone", {"a.py": ""})
    if is_tagged:
        git(tmp_path / "clone", "tag", f"v{__version__}")
    distributed(monkeypatch, json.dumps({"url": (tmp_path / "clone").as_uri(), "dir_info": {"editable": True}}))
    commit = git(tmp_path / "clone", "rev-parse", "HEAD").strip()
    result = CliRunner().invoke(cli.app, ["init", str(tmp_path), "--repo", URL], prog_name="bwlint")
    assert f"rev: {f'v{__version__}' if is_tagged else commit}\n" in result.stdout
    distributed(monkeypatch, COMMIT)
    result = CliRunner().invoke(cli.app, ["init", str(tmp_path), "--repo", URL], prog_name="bwlint")
    assert "rev: c0ffee\n" in result.stdout


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    (tmp_path / ".pre-commit-config.yaml").write_bytes(b"\xff\xfe")
    result = invoke(tmp_path, "--yes")
    assert (result.exit_code, "not UTF-8" in result.stderr) == (2, True)
    assert there(tmp_path) == {".pre-commit-config.yaml"}
