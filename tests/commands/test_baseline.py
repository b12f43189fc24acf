"""`bwlint baseline`, `check --baseline` and `check --since`, in git trees of their own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from repair.trees import committed, git, put

from bwlint import cli
from bwlint.sources.worktree import top_of

GATE = """import torch

def {name}(x):
    if torch.cuda.get_device_capability() != (12, 0):
        raise RuntimeError("no")
    return kernel(x)
"""
HELPER = "import torch\n\ndef cap():\n    return {what}\n"
CALLER = """from helper import cap

def fast(x):
    if cap() != (12, 0):
        raise RuntimeError("no")
    return kernel(x)
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    top_of.cache_clear()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(cli.app, list(arguments), prog_name="bwlint")


def places(*arguments: str) -> list[str]:
    """Where `check` finds something: path and line."""
    found = json.loads(invoke("check", "--format", "json", "--no-cache", "--jobs", "1", *arguments).stdout)
    return [f"{entry['path'].removeprefix('./')}:{entry['line']}" for entry in found["findings"]]


def test_a_baseline_is_adopted_and_pruned(here: Path) -> None:
    put(here, {"a.py": GATE.format(name="a"), "b.py": GATE.format(name="b")})
    made = invoke("baseline", "--no-cache", ".")
    assert made.exit_code == 0
    assert made.stderr.startswith("bwlint: 2 findings in bwlint-baseline.json\n")
    quiet = invoke("check", "--no-cache", "--baseline", "bwlint-baseline.json", ".")
    assert (quiet.exit_code, quiet.stdout) == (0, "")
    assert "no findings, 2 known before" in quiet.stderr
    put(here, {"c/moved.py": "\n\n" + GATE.format(name="a"), "new.py": GATE.format(name="new")})
    (here / "a.py").unlink()
    (here / "b.py").unlink()
    assert places("--baseline", "bwlint-baseline.json", ".") == ["new.py:4"]
    pruned = invoke("baseline", "--prune", "--no-cache", ".")
    assert pruned.stderr.startswith("bwlint: 1 finding in bwlint-baseline.json, 1 gone\n")
    (row,) = json.loads((here / "bwlint-baseline.json").read_text())["findings"]
    assert row["path"] == "c/moved.py"


def test_code_that_moves_to_another_function_stays_known(here: Path) -> None:
    put(here, {"a.py": GATE.format(name="a")})
    assert invoke("baseline", "--no-cache", ".").exit_code == 0
    put(here, {"a.py": GATE.format(name="taken_out")})
    assert places("--baseline", "bwlint-baseline.json", ".") == []
    put(here, {"a.py": GATE.format(name="taken_out") + GATE.format(name="a").partition("\n")[2]})
    assert places("--baseline", "bwlint-baseline.json", ".") == ["a.py:4"]


def test_a_configuration_names_it(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(here, {"bwlint.toml": 'baseline = "ci/known.json"\n', "src/a.py": GATE.format(name="a"), "ci/x": ""})
    (here / ".git").mkdir()
    assert "`bwlint baseline` writes one" in invoke("check", "--no-cache", ".").stderr
    assert invoke("baseline", "--no-cache", ".").stderr == "bwlint: 1 finding in ci/known.json\n"
    monkeypatch.chdir(here / "src")
    for arguments in (["a.py"], ["--diff", "--select", "BW5", "."], [str(here)]):
        known = invoke("check", "--no-cache", *arguments)
        assert (known.exit_code, known.stdout) == (0, ""), arguments
    put(here, {"src/new.py": GATE.format(name="new")})
    assert places(".") == ["new.py:4"]
    assert places("--no-baseline", "a.py") == places("--isolated", "a.py") == ["a.py:4"]
    fixed = invoke("check", "--no-cache", "--fix", ".")
    assert (fixed.exit_code, fixed.stdout, "fixed 1 finding in 1 file" in fixed.stderr) == (0, "", True), fixed.stderr
    assert "no findings, 1 known before" in fixed.stderr
    assert (here / "src/a.py").read_text() == GATE.format(name="a")
    everything = invoke("check", "--no-cache", "--fix", "--no-baseline", "a.py")
    assert "fixed 1 finding in 1 file" in everything.stderr


@pytest.mark.parametrize(
    ("options", "changed"),
    [
        ((), ["copy.py", "new.py", "old.py"]),
        (("--baseline", "known.json"), ["copy.py", "new.py"]),
        (("--since", "HEAD"), ["copy.py", "new.py"]),
        (("--baseline", "known.json", "--since", "HEAD"), ["copy.py", "new.py"]),
    ],
)
def test_a_fix_leaves_alone_what_the_report_does_not_show(
    here: Path, options: tuple[str, ...], changed: list[str]
) -> None:
    committed(here, {"old.py": GATE.format(name="old")})
    assert invoke("baseline", "--no-cache", "--file", "known.json", ".").exit_code == 0
    put(here, {"new.py": GATE.format(name="new"), "copy.py": GATE.format(name="old")})
    assert [place.partition(":")[0] for place in places(*options, ".")] == changed
    shown = invoke("check", "--no-cache", "--diff", *options, ".")
    assert f"would fix {len(changed)} findings in {len(changed)} files" in shown.stderr
    assert [name for name in ("copy.py", "new.py", "old.py") if f"+++ b/{name}" in shown.stdout] == changed
    report = invoke("check", "--no-cache", *options, ".").stderr
    assert f"{len(changed)} fixable with --fix" in report
    assert " ".join(("bwlint check --fix --diff", *options, ".\n")) in report
    assert invoke("check", "--no-cache", "--fix", *options, ".").exit_code == 0
    assert ((here / "old.py").read_text() != GATE.format(name="old")) == ("old.py" in changed)
    assert places(*options, ".") == []


def test_how_a_baseline_comes_into_use_is_said(here: Path) -> None:
    committed(here, {"a.py": GATE.format(name="a"), ".gitignore": "*.json\n"})
    told = invoke("baseline", "--no-cache", ".").stderr
    assert '`baseline = "bwlint-baseline.json"` in bwlint.toml' in told
    assert "warning: git ignores bwlint-baseline.json" in told


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            'severity = "note"\n# baseline = "bwlint-baseline.json"\n',
            'severity = "note"\nbaseline = "bwlint-baseline.json"\n',
        ),
        ('# baseline = "other.json"\n', None),
    ],
)
def test_the_line_that_init_has_written_comes_into_force(here: Path, before: str, after: str | None) -> None:
    put(here, {"a.py": GATE.format(name="a"), "bwlint.toml": before})
    told = invoke("baseline", "--no-cache", ".").stderr
    assert (here / "bwlint.toml").read_text() == (after or before)
    assert ("bwlint.toml names it now" in told) == (after is not None)
    if after is not None:
        assert "no findings, 1 known before" in invoke("check", "--no-cache", ".").stderr


def test_pruning_leaves_what_nobody_looked_for(here: Path) -> None:
    put(here, {"a/a.py": GATE.format(name="a"), "b/b.py": GATE.format(name="b"), "ci/x": ""})
    file = ("--no-cache", "--file", "ci/known.json")
    invoke("baseline", *file, "a", str(here / "b"))
    rows = json.loads((here / "ci/known.json").read_text())["findings"]
    assert [row["path"] for row in rows] == ["../a/a.py", "../b/b.py"]  # the same on every machine
    put(here, {"a/a.py": "", "b/b.py": ""})
    assert "1 finding in ci/known.json, 1 gone" in invoke("baseline", *file, "--prune", "a").stderr
    refused = invoke("baseline", *file, "--prune", "--select", "leak", ".")
    assert (refused.exit_code, "does not go with --select" in refused.stderr) == (2, True)
    assert "0 findings in ci/known.json, 1 gone" in invoke("baseline", *file, "--prune", ".").stderr


@pytest.mark.parametrize("prune", [(), ("--prune",)])
def test_a_file_that_cannot_be_read_stays_known(here: Path, prune: tuple[str, ...]) -> None:
    put(here, {"a.py": GATE.format(name="a"), "b.py": GATE.format(name="b")})
    invoke("baseline", "--no-cache", ".")
    put(here, {"a.py": "if sm_90(:\n", "b.py": ""})
    told = invoke("baseline", "--no-cache", *prune, ".").stderr
    gone = ", 1 gone" if prune else ""
    assert f"1 finding in bwlint-baseline.json{gone}, 1 of them kept from files that were not read\n" in told
    put(here, {"a.py": GATE.format(name="a")})
    assert places("--baseline", "bwlint-baseline.json", ".") == []


@pytest.mark.parametrize(
    ("files", "arguments", "said"),
    [
        ({}, (".",), ""),
        ({"a/a.py": ""}, (".",), "1 entry of known.json is no longer found: bwlint baseline --prune ."),
        ({"a/a.py": ""}, ("a",), "1 entry of known.json is no longer found: bwlint baseline --prune a"),
        ({"a/a.py": "", "b/b.py": ""}, (), "2 entries of known.json are no longer found: bwlint baseline --prune ."),
        ({"a/a.py": ""}, ("b",), ""),
        ({"a/a.py": "if sm_90(:\n"}, (".",), ""),
        ({"a/a.py": "", "c/c.py": GATE.format(name="a")}, (".",), ""),
        ({"a/a.py": ""}, ("--select", "leak", "."), ""),
        ({"a/a.py": ""}, ("--force-exclude", "a/a.py"), ""),
        ({"a/a.py": ""}, ("--no-baseline", "."), ""),
    ],
)
def test_entries_that_are_gone_are_counted(
    here: Path, files: dict[str, str], arguments: tuple[str, ...], said: str
) -> None:
    put(
        here, {"a/a.py": GATE.format(name="a"), "b/b.py": GATE.format(name="b"), "bwlint.toml": 'baseline="known.json"'}
    )
    assert invoke("baseline", "--no-cache", ".").exit_code == 0
    put(here, files)
    told = [line for line in invoke("check", "--no-cache", *arguments).stderr.split("\n") if "--prune" in line]
    assert told == ([f"bwlint: {said}"] if said else [])
    if said:
        number = said.partition(" ")[0]
        assert f"{number} gone" in invoke("baseline", "--no-cache", *told[0].partition("baseline ")[2].split()).stderr


def test_files_outside_of_the_paths_stay_known(here: Path) -> None:
    put(here, {f"{name}/{name}.py": GATE.format(name=name) for name in ("a", "ab", "b")})
    assert invoke("baseline", "--no-cache", ".").stderr.startswith("bwlint: 3 findings in bwlint-baseline.json\n")
    put(here, {"a/a.py": GATE.format(name="other"), "a/new.py": GATE.format(name="new")})
    made = invoke("baseline", "--no-cache", "a").stderr
    assert made.startswith("bwlint: 4 findings in bwlint-baseline.json, 2 of them kept from files outside PATHS\n")
    assert places("--baseline", "bwlint-baseline.json", ".") == []
    (here / "a/new.py").unlink()
    assert invoke("baseline", "--no-cache", "a", "b").stderr.startswith(
        "bwlint: 3 findings in bwlint-baseline.json, 1 of them kept from files outside PATHS\n"
    )
    assert invoke("baseline", "--no-cache", ".").stderr.startswith("bwlint: 3 findings in bwlint-baseline.json\n")


@pytest.mark.parametrize(
    ("options", "total", "kept"),
    [
        ((), 1, 0),
        (("--select", "leak"), 2, 2),
        (("--select", "BW1,leak"), 1, 0),
        (("--ignore", "family-split"), 2, 2),
        (("--ignore", "leak"), 1, 0),
        (("--target", "hopper"), 2, 2),
        (("--target", "5090,spark"), 3, 2),
    ],
)
def test_what_a_run_does_not_look_for_stays_known(here: Path, options: tuple[str, ...], total: int, kept: int) -> None:
    put(here, {"a.py": GATE.format(name="a"), "b.py": GATE.format(name="b")})
    assert invoke("baseline", "--no-cache", ".").stderr.startswith("bwlint: 2 findings in bwlint-baseline.json\n")
    put(here, {"a.py": "", "b.py": GATE.format(name="other")})
    told = invoke("baseline", "--no-cache", *options, ".").stderr.partition("\n")[0]
    number = f"{total} finding{'s' * (total != 1)} in bwlint-baseline.json"
    why = f", {kept} of them kept from files outside PATHS, from other rules or for other chips" if kept else ""
    assert told == f"bwlint: {number}{why}"


def test_a_file_that_is_no_baseline_is_not_written_over(here: Path) -> None:
    put(here, {"a.py": GATE.format(name="a"), "bwlint-baseline.json": "<<<<<<< ours\n"})
    refused = invoke("baseline", "--no-cache", ".")
    assert (refused.exit_code, "remove it to write a new one" in refused.stderr) == (2, True)
    assert (here / "bwlint-baseline.json").read_text() == "<<<<<<< ours\n"
    (here / "bwlint-baseline.json").write_text("")
    assert invoke("baseline", "--no-cache", ".").stderr.startswith("bwlint: 1 finding in bwlint-baseline.json\n")


def test_since_a_revision(here: Path) -> None:
    committed(here, {"old.py": GATE.format(name="old"), "helper.py": HELPER.format(what="(9, 0)"), "caller.py": CALLER})
    assert places("--since", "HEAD", ".") == []
    put(
        here, {"new.py": GATE.format(name="new"), "helper.py": HELPER.format(what="torch.cuda.get_device_capability()")}
    )
    # The caller has not changed: what its gate asks has.
    assert places("--since", "HEAD", ".") == ["caller.py:4", "new.py:4"]


def test_what_git_tracks_though_ignore_files_name_it_was_there(here: Path) -> None:
    put(here, {"old.py": GATE.format(name="old")})
    git(here, "init", "-q")
    git(here, "add", ".")
    committed(here, {".gitignore": "old.py\n"})
    assert places("--since", "HEAD", ".") == []


NAMED_FOR_IT = """import torch

def is_trtllm_gen_allowed():
    return torch.cuda.get_device_capability()[0] in (10, 12)
"""
ASKED = """from named import is_trtllm_gen_allowed

def pick(x):
    return "fast" if is_trtllm_gen_allowed() else "slow"
"""


@pytest.mark.parametrize("known", [("--since", "HEAD"), ("--baseline", "known.json")])
def test_a_note_that_becomes_a_warning_is_new(here: Path, known: tuple[str, str]) -> None:
    committed(here, {"named.py": NAMED_FOR_IT, "pick.py": ""})
    assert invoke("baseline", "--no-cache", "--file", "known.json", ".").stderr.startswith("bwlint: 1 finding in")
    assert places("--severity", "note", *known, ".") == []
    put(here, {"pick.py": ASKED})
    assert places("--severity", "note", *known, ".") == places("--severity", "warning", *known, ".") == ["named.py:4"]
    git(here, "add", "-A")
    git(here, "commit", "-qm", "asked")
    assert invoke("baseline", "--no-cache", "--file", "known.json", ".").exit_code == 0
    assert places(*known, ".") == []
    put(here, {"pick.py": ""})
    assert places("--severity", "note", *known, ".") == []


def test_since_before_the_first_commit(here: Path) -> None:
    put(here, {"a.py": GATE.format(name="a")})
    git(here, "init", "-q")
    assert places("--since", "HEAD", ".") == ["a.py:4"]


def test_a_changed_line_is_shown_though_it_says_the_same(here: Path) -> None:
    text = GATE.format(name="old")
    committed(here, {"old.py": text})
    put(here, {"old.py": "\n" + text})
    assert places("--since", "HEAD", "old.py") == []
    put(here, {"old.py": text.replace("(12, 0):", "(12, 0):  # slow elsewhere")})
    assert places("--since", "HEAD", "old.py") == ["old.py:4"]
    git(here, "mv", "old.py", "other.py")
    put(here, {"other.py": text})
    assert places("--since", "HEAD", ".") == []


def test_files_that_are_named_have_had_other_names(here: Path) -> None:
    committed(here, {"old.py": GATE.format(name="old"), "sub/b.py": GATE.format(name="b"), "bwlint.toml": ""})
    git(here, "mv", "old.py", "new.py")
    git(here, "mv", "sub", "dir")
    assert places("--since", "HEAD", "new.py") == places("--since", "HEAD", "dir") == []
    assert places("--since", "HEAD", "--include", "/dir/", ".") == []
    text = GATE.format(name="old")
    put(here, {"new.py": text.replace("(12, 0):", "(12, 0):  # slow elsewhere")})
    assert places("--since", "HEAD", "new.py", "dir/b.py") == ["new.py:4"]


def test_since_in_submodules_and_second_work_trees(here: Path) -> None:
    (here / "m").mkdir()
    committed(here / "m", {"m.py": GATE.format(name="m")})
    (here / "r").mkdir()
    committed(here / "r", {"a.py": GATE.format(name="a")})
    git(here / "r", "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(here / "m"), "ext")
    git(here / "r", "commit", "-qm", "ext")
    git(here / "r", "worktree", "add", "-q", str(here / "w"), "HEAD")
    put(here, {"r/ext/new.py": GATE.format(name="new"), "w/new.py": GATE.format(name="new")})
    assert places("--since", "HEAD", "r") == ["r/ext/new.py:4"]
    assert places("--since", "HEAD", "r/ext") == ["r/ext/new.py:4"]
    assert places("--since", "HEAD", "w") == ["w/new.py:4"]


def test_since_in_a_clone_that_lacks_something(here: Path) -> None:
    (here / "r").mkdir()
    committed(here / "r", {"a.py": GATE.format(name="a"), "b.py": GATE.format(name="b")})
    git(here, "clone", "-q", "--depth=1", (here / "r").as_uri(), "shallow")
    assert places("--since", "HEAD", "shallow") == []
    none = invoke("check", "--no-cache", "--since", "HEAD~1", "shallow")
    assert (none.exit_code, "shallow clone: `git fetch --unshallow`" in none.stderr) == (2, True)
    blob = git(here / "r", "rev-parse", "HEAD:a.py").strip()
    (here / "r" / ".git" / "objects" / blob[:2] / blob[2:]).unlink()  # as in a partial clone
    lacking = invoke("check", "--no-cache", "--format", "concise", "--since", "HEAD", "r")
    assert lacking.stdout.startswith("r/a.py:4:8: ") and "r/b.py" not in lacking.stdout
    assert "no content here for 1 of the files of HEAD" in lacking.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--since", "nowhere", "."), "no revision `nowhere`"),
        (("--since", "", "."), "--since is empty: it needs a revision of git"),
        (("--since", "--output=x", "."), "no revision `--output=x`"),
        (("--since", "HEAD", "-"), "not standard input"),
        (("--since", "nowhere", "--fix", "."), "no revision `nowhere`"),
        (("--baseline", "gone.json", "."), "`bwlint baseline` writes one"),
        (("--baseline", "gone.json", "--diff", "."), "`bwlint baseline` writes one"),
        (("--baseline", "gone.json", "--no-baseline", "."), "does not go with --no-baseline"),
    ],
)
def test_what_does_not_work_is_said(here: Path, arguments: tuple[str, ...], words: str) -> None:
    committed(here, {"old.py": GATE.format(name="old")})
    result = invoke("check", "--no-cache", *arguments)
    assert result.exit_code == 2
    assert words in result.stderr


def test_the_remedy_of_git_is_passed_on(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    committed(here, {"a.py": ""})
    remedy = f"git config --global --add safe.directory {here}"
    program = here.parent / "bin" / "git"
    put(program.parent, {"git": f"#!/bin/sh\nprintf 'fatal: dubious\\nCall:\\n\\n\\t{remedy}\\n' >&2\nexit 128\n"})
    program.chmod(0o755)
    monkeypatch.setattr("bwlint.sources.worktree._program", lambda _: str(program))
    result = invoke("check", "--no-cache", "--since", "HEAD", ".")
    assert (result.exit_code, f"fatal: dubious: `{remedy}`" in result.stderr) == (2, True), result.stderr


def test_since_needs_a_git_tree(here: Path) -> None:
    put(here, {"a.py": "x = 1\n"})
    result = invoke("check", "--no-cache", "--since", "HEAD", ".")
    assert (result.exit_code, "paths in one git tree" in result.stderr) == (2, True)
