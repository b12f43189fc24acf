"""Options that people know from other linters: several reports, whose configuration, which files, which names."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import referencing
from click.shell_completion import ShellComplete
from click.testing import CliRunner, Result
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from repair.trees import put

from bwlint import cli
from bwlint.model.findings import FAIL_ON, SEVERITIES
from bwlint.settings import catalog, config

ROOT = Path(__file__).parents[2]

GATE = """import torch

def fast(x):
    if torch.cuda.get_device_capability() != (12, 0):
        raise RuntimeError("no")
    return kernel(x)
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    put(tmp_path, {"a.py": GATE, "sub/b.py": GATE})
    return tmp_path


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(cli.app, [*arguments], prog_name="bwlint")


def checked(*arguments: str) -> list[str]:
    found = invoke("check", "--no-cache", "--format", "json", *arguments)
    return [Path(entry["path"]).name for entry in json.loads(found.stdout)["findings"]]


def test_several_reports_of_one_run(here: Path) -> None:
    result = invoke(
        "check", "--no-cache", "--format", "sarif:out.sarif", "--format", "concise", "--format", "json:x.json", "."
    )
    assert result.stdout.count("\n") == 2
    assert len(json.loads((here / "out.sarif").read_text())["runs"][0]["results"]) == 2
    assert len(json.loads((here / "x.json").read_text())["findings"]) == 2
    only = invoke("check", "--no-cache", "--format", "junit:j.xml", ".")
    assert (only.stdout, only.exit_code, (here / "j.xml").is_file()) == ("", 1, True)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--format", "json", "--format", "text"), "only one report can go to stdout"),
        (("--format", "json:/dev/stdout", "--format", "text"), "only one report can go to stdout"),
        (("--format", "json:a.json", "--format", "sarif:./a.json"), "the same file"),
        (("--format", "json:a.json", "--output", "b.json"), "--output needs a --format without a file"),
        (("--format", "json:"), "names no file"),
        (("--format", "jsn"), "'jsn' is not one of"),
        (("--format", "json:no/such/folder/a.json"), "cannot write"),
        (("--config", "none.toml"), "does not exist"),
        (("--config", "pyproject.toml"), "no table [tool.bwlint]"),
        (("--exclude", "!"), "--exclude: '!' is no gitignore pattern"),
        (("--exclude", "*a*b*c*d*e*"), "is no gitignore pattern: too many wildcards in one part"),
        (("--select", "BW9"), "unknown rule `BW9`"),
        (
            ("--target", "gb11"),
            "not a target: 'gb11' (write a card, its number, or a target such as sm_120a: 7.0 (V100), ",
        ),
    ],
)
def test_what_cannot_be_is_said(here: Path, arguments: tuple[str, ...], words: str) -> None:
    put(here, {"pyproject.toml": "[project]\nname = 'bwlint-user'\n"})
    result = invoke("check", "--no-cache", *arguments, ".")
    assert (result.exit_code, words in result.stderr) == (2, True), result.stderr


def test_whose_configuration(here: Path) -> None:
    put(here, {"sub/bwlint.toml": 'ignore = ["family-split"]\n', "mine/own.toml": 'ignore = ["BW1"]\n'})
    assert checked(".") == ["a.py"]
    assert checked("--isolated", ".") == ["a.py", "b.py"]
    assert checked("--config", "mine/own.toml", ".") == []
    assert checked("--config", "mine/own.toml", "--select", "family-split", "--ignore", "BW2", ".") == ["a.py", "b.py"]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--exclude", "sub", "."), ["a.py"]),
        (("--exclude", "*.py", "."), []),
        (("--exclude", "/b.py", "."), ["a.py", "b.py"]),
        (("--include", "sub/**", "."), ["b.py"]),
        (("--include", "*.cu", "."), []),
        (("--include", "*.py", "--exclude", "a.*", "."), ["b.py"]),
        # What is named stays, as with gitignore.
        (("--exclude", "a.py", "a.py"), ["a.py"]),
        (("--exclude", "a.py", "--force-exclude", "a.py"), []),
    ],
)
def test_which_files(here: Path, arguments: tuple[str, ...], expected: list[str]) -> None:
    assert checked(*arguments) == expected


def test_the_beginning_of_codes_names_rules() -> None:
    gates = catalog.resolve(["bw1"])
    assert {rule.code for rule in gates} == {rule.code for rule in catalog.rules() if rule.code.startswith("BW1")}
    assert catalog.resolve(["BW10,smem"]) > catalog.resolve(["leak"])
    assert catalog.resolve(["BW"]) == frozenset(catalog.rules())


@pytest.mark.parametrize("word", ["inspct", "chek", "matrx", "explian"])
def test_a_misspelt_command_is_no_path(here: Path, word: str) -> None:
    result = invoke(word, "x.whl")
    assert result.exit_code == 2
    assert f"{word!r} is neither a path nor a command; did you mean `" in result.stderr


@pytest.mark.parametrize("name", ["", "check", "audit", "help"])
def test_help_by_name(name: str) -> None:
    told = invoke("help", *filter(None, [name]))
    assert told.exit_code == 0
    assert told.stdout.splitlines()[2:] == invoke(*filter(None, [name]), "--help").stdout.splitlines()[2:]
    assert invoke("help", "chekc").exit_code == 2


def test_help_is_whole_and_in_groups() -> None:
    commands = invoke("--help").stdout.partition("Commands:")[2]
    assert "..." not in commands
    assert sum(re.match(r"  [a-z]+ ", line) is not None for line in commands.splitlines()) == len(cli.app.commands)
    told = invoke("check", "--help").stdout
    heads = re.findall(r"^([A-Z].*):$", told, re.M)
    assert heads[:2] == ["What to look for", "Report"] and heads[-1] == "Options"
    assert told.partition("Repair:")[2].split()[0] == "--fix"
    shown = set(re.findall(r"^  (?:-\w, )?--([a-z-]+)", told, re.M))
    assert {one.replace("_", "-") for one in ("fix", "jobs", "output", "full", "strict", "help")} <= shown
    assert [line for line in invoke("chips", "--help").stdout.splitlines() if line.endswith(":")] == ["Options:"]


@pytest.mark.parametrize("word", ["inspct", "sub", "a.py", "nothing"])
def test_a_path_is_a_path(here: Path, word: str) -> None:
    if word == "inspct":
        (here / word).mkdir()
    assert "did you mean" not in invoke(word).stderr


def test_nothing_fails_that_is_not_shown(here: Path) -> None:
    assert invoke("check", "--no-cache", "--severity", "error", ".").exit_code == 0
    assert invoke("check", "--no-cache", "--severity", "error", "--fail-on", "warning", ".").exit_code == 1
    assert invoke("check", "--no-cache", "--severity", "note", ".").exit_code == 1


def test_no_findings_is_not_said_of_nothing(here: Path) -> None:
    (here / "empty").mkdir()
    result = invoke("check", "--no-cache", "empty")
    assert (result.exit_code, result.stderr) == (3, "bwlint: nothing was scanned\n")


@pytest.mark.parametrize(
    ("command", "code", "left"),
    [("check", 1, ""), ("baseline", 0, ""), ("audit", 0, ""), ("inspect", 3, "bwlint: nothing was scanned\n")],
)
def test_quiet_is_for_every_report(here: Path, command: str, code: int, left: str) -> None:
    (here / "bwlint.toml").write_text('baseline = "known.json"\n' if command == "baseline" else "")
    loud, quiet = invoke(command, "a.py"), invoke(command, "-q", "a.py")
    assert (loud.exit_code, quiet.exit_code) == (code, code)
    assert len(quiet.stderr) < len(loud.stderr) and quiet.stderr.endswith(left)
    assert left or not quiet.stderr


def test_quiet(here: Path) -> None:
    result = invoke("check", "--no-cache", "-q", "a.py")
    assert (result.exit_code, result.stderr) == (1, "")
    assert invoke("check", "--no-cache", "-q", "--fix", "a.py").stderr == ""


def test_color(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = ("check", "--no-cache", "a.py")
    assert "\x1b[" not in invoke(*asked).stdout
    assert "\x1b[" in invoke(*asked, "--color", "always").stdout
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[" in invoke(*asked).stdout
    assert "\x1b[" not in invoke(*asked, "--color", "never").stdout
    monkeypatch.setenv("FORCE_COLOR", "0")
    assert "\x1b[" not in invoke(*asked).stdout
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in invoke(*asked).stdout
    for wish, is_painted in (("auto", False), ("always", True)):
        invoke(*asked, "--color", wish, "--format", "text:out.txt")
        assert ("\x1b[" in (here / "out.txt").read_text()) is is_painted


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("variables", "is_linked"),
    [
        ({}, False),
        ({"TERM_PROGRAM": "vscode"}, True),
        ({"VTE_VERSION": "6800"}, True),
        ({"VTE_VERSION": "4205"}, False),
        ({"KITTY_WINDOW_ID": "1"}, True),
        ({"TERM_PROGRAM": "vscode", "CI": "true"}, False),
        ({"TERM_PROGRAM": "vscode", "NO_COLOR": "1"}, False),
    ],
)
def test_places_are_links_where_a_terminal_has_them(
    here: Path, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], is_linked: bool
) -> None:
    from bwlint.commands.terminal import setting

    for name in ("CI", "TERM_PROGRAM", "VTE_VERSION", "KITTY_WINDOW_ID", "WT_SESSION", "KONSOLE_VERSION", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "stdout", Screen())
    assert setting({"output": None, "form": "text"}).links is is_linked
    assert not setting({"output": "a.txt", "form": "text", "color": "always"}).links


@pytest.mark.parametrize(("columns", "output", "width"), [("60", None, 60), ("", None, 120), ("60", "a.txt", 120)])
def test_columns_hold_in_a_pipe(monkeypatch: pytest.MonkeyPatch, columns: str, output: str | None, width: int) -> None:
    from bwlint.commands.terminal import setting

    monkeypatch.setenv("COLUMNS", columns)
    how = setting({"output": output, "form": "text"})
    assert (how.width, how.folds) == (width, width == 60)
    monkeypatch.setattr(sys, "stdout", Screen())
    assert setting({"output": output, "form": "text"}).folds is (output is None)


def test_schemas() -> None:
    names = invoke("schema").stdout.split()
    assert {"findings", "config", "matrix"} <= set(names)
    for name in names:
        printed = json.loads(invoke("schema", name).stdout)
        Draft202012Validator.check_schema(printed)
        # What is printed refers to nothing outside: whoever validates has no other file.
        registry: Any = referencing.Registry()
        registry = registry.with_resource(printed["$id"], referencing.Resource.from_contents(printed)).crawl()
        outside = {one for one in re.findall(r'"\$ref": "([^"#]+)', json.dumps(printed)) if one not in registry}
        assert outside == set()
    wrong = invoke("schema", "finding")
    assert (wrong.exit_code, "known: audit, config, " in wrong.stderr) == (2, True)


def test_the_schema_of_the_configuration_has_its_keys() -> None:
    schema = json.loads(invoke("schema", "config").stdout)
    assert schema["properties"].keys() == {*config._KEYS, "sources"}
    sources = schema["properties"]["sources"]["properties"]
    assert sources.keys() == config._SOURCE_KEYS.keys()
    assert tuple(sources["capability-functions"]["additionalProperties"]["enum"]) == config.FORMS
    severity, fail_on = (schema["properties"][key]["enum"] for key in ("severity", "fail-on"))
    assert (severity, fail_on) == ([*SEVERITIES], [*FAIL_ON])


def test_the_page_has_every_key_of_the_configuration() -> None:
    page = (ROOT / "docs" / "configuration.md").read_text()
    assert [key for key in (*config._KEYS, *config._SOURCE_KEYS) if not re.search(rf"\b{key}(?: =|\]\])", page)] == []
    assert [form for form in config.FORMS if f"`{form}`" not in page] == []


@pytest.mark.parametrize(
    ("words", "typed", "first", "others"),
    [
        ("", "", "file", {"check", "baseline", "init"}),
        ("", "src/", "file", set()),
        ("", "in", "file", {"init", "inspect"}),
        ("check", "src/a", "file", set()),
        ("check --format", "s", "plain", {"sarif"}),
        ("check --target", "sm_12", "plain", {"sm_120", "sm_121"}),
        ("explain", "family", "plain", {"family-split"}),
        ("schema", "conf", "plain", {"config"}),
    ],
)
def test_completion(words: str, typed: str, first: str, others: set[str]) -> None:
    found = ShellComplete(cli.app, {}, "bwlint", "_BWLINT_COMPLETE").get_completions(words.split(), typed)
    assert found[0].type == first  # bash takes plain words after it, and offers files where there are none
    assert others <= {item.value for item in found if item.type == "plain"}
    assert bool(others) == any(item.type == "plain" for item in found)


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("bwlint ins", "inspect"),
        ("bwlint check --select fam", "family-split"),
        ("bwlint check --sev", "--severity"),
        ("bwlint som", "some.py"),
    ],
)
def test_fish_completes(typed: str, offered: str, tmp_path: Path) -> None:
    """The script that click makes for it; the one for zsh asks the same of `ShellComplete`, and takes a terminal."""
    if not (fish := shutil.which("fish")):
        pytest.skip("no fish")
    program = tmp_path / "bin/bwlint"
    program.parent.mkdir()
    source = str(Path(cli.__file__).parents[1])
    code = f"import sys; sys.path.insert(0, {source!r}); from bwlint.cli import main; main()"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -c {shlex.quote(code)} "$@"\n')
    program.chmod(0o755)
    (tmp_path / "some.py").write_text("")
    script = f"_BWLINT_COMPLETE=fish_source bwlint | source; complete -C {shlex.quote(typed)}"
    environment = {**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}", "HOME": str(tmp_path)}
    done = subprocess.run(
        [fish, "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60, check=True
    )
    assert offered in [line.partition("\t")[0] for line in done.stdout.splitlines()], done.stderr


def test_a_shell_is_told_what_a_word_may_become() -> None:
    environment = {"_BWLINT_COMPLETE": "bash_complete", "COMP_WORDS": "bwlint check --select lea", "COMP_CWORD": "3"}
    script = "from bwlint.cli import main; main()"
    source = str(Path(cli.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": source, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout == "plain,leak\n", done.stderr
