"""The program from outside: exit codes, streams, formats, and input that nobody wishes for."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result
from effort import at_most
from repair.trees import committed

from bwlint import __version__, cli
from bwlint.commands import check
from bwlint.settings.catalog import rules

SPLIT = """import torch

def fast(x):
    if torch.cuda.get_device_capability() == (12, 0):
        return kernel(x)
    raise RuntimeError("no")
"""
GUARD = """import torch

def fast(x):
    if torch.cuda.get_device_capability() != (12, 0):
        raise RuntimeError("no")
    return kernel(x)
"""
CLEAN = "x = 1\n"
SOURCE = str(Path(__file__).parents[1] / "src")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BWLINT_DEBUG", raising=False)
    return tmp_path


def invoke(*arguments: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(cli.app, list(arguments), input=stdin, prog_name="bwlint")


def program(
    *arguments: str, stdin: bytes = b"", timeout: float = 60, **environment: str
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "bwlint", *arguments],
        input=stdin,
        env={**os.environ, "PYTHONPATH": SOURCE, **environment},
        capture_output=True,
        timeout=timeout,
        check=False,
    )


def report(*arguments: str) -> dict[str, Any]:
    """The JSON report of a run with notes."""
    result = invoke("check", "--format", "json", "--severity", "note", *arguments)
    loaded: dict[str, Any] = json.loads(result.stdout)
    return loaded


# Exit codes and streams


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["clean.py"], 0),
        (["split.py"], 1),
        (["check", "split.py"], 1),
        (["split.py", "clean.py"], 1),
        (["split.py", "--fail-on", "error"], 0),
        (["split.py", "--exit-zero"], 0),
        (["split.py", "--fail-on", "never"], 0),
        (["split.py", "--select", "leak"], 0),
        (["split.py", "--ignore", "BW101"], 0),
        (["split.py", "--select", "nothing"], 2),
        (["split.py", "--target", "sm_999"], 2),
        (["split.py", "--format", "xml"], 2),
        (["split.py", "--jobs", "0"], 2),
        (["--frobnicate"], 2),
        (["missing.py"], 2),
        (["missing.py", "split.py"], 2),
        (["pypi:../x"], 2),
        (["empty"], 3),
        (["notes.txt"], 3),
        (["broken.py"], 3),
        (["broken.py", "clean.py"], 0),
        (["empty", "--force-exclude"], 0),
        (["broken.py", "--force-exclude"], 0),
        (["explain"], 2),
        (["explain", "leak", "--gate", "x"], 2),
        (["explain", "leek"], 2),
        (["explain", "--gate", "cap =="], 2),
        (["chips", "99.9"], 2),
        (["rules"], 0),
        (["chips"], 0),
        (["--version"], 0),
        (["-h"], 0),
        (["check", "--help"], 0),
    ],
)
def test_exit_code(arguments: list[str], code: int, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "clean.py").write_text(CLEAN)
    (here / "split.py").write_text(SPLIT)
    (here / "broken.py").write_text("if torch.cuda.get_device_capability() == (12, 0:\n")
    (here / "notes.txt").write_text("sm_120\n")
    (here / "empty").mkdir()
    assert cli.run(arguments) == code
    captured = capsys.readouterr()
    if code == 2:
        assert captured.out == ""
        assert captured.err
        assert "Traceback" not in captured.err


def test_no_path_means_the_current_folder(here: Path) -> None:
    (here / "split.py").write_text(SPLIT)
    assert invoke().exit_code == invoke("--format", "concise").exit_code == 1


def test_a_broken_configuration_is_an_error(here: Path) -> None:
    (here / "split.py").write_text(SPLIT)
    (here / "bwlint.toml").write_text("selct = []\n")
    done = program("split.py")
    assert done.returncode == 2
    assert b"did you mean `select`?" in done.stderr


def test_an_internal_error_is_one_line(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> int:
        raise RuntimeError("boom\x1b[2J")

    monkeypatch.setattr(check, "run", fail)
    assert cli.run(["."]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "internal error: RuntimeError: boom\\x1b[2J" in error
    monkeypatch.setenv("BWLINT_DEBUG", "1")
    assert cli.run(["."]) == 2
    assert "Traceback" in capsys.readouterr().err


def test_a_path_of_windows_is_put_right(here: Path) -> None:
    (here / "pkg").mkdir()
    (here / "pkg" / "a.py").write_text(CLEAN)
    said = invoke("pkg\\a.py", "pkg\\b.py").stderr
    assert said == (
        "Error: pkg\\a.py: no such file or directory; did you mean `pkg/a.py`?\npkg\\b.py: no such file or directory\n"
    )
    refused = invoke("--exclude", "pkg\\a.py", ".")
    assert (refused.exit_code, "--exclude: 'pkg\\\\a.py' is no gitignore pattern" in refused.stderr) == (2, True)
    assert invoke("--exclude", r"pkg/\[a\].py", "--exclude", "pkg/[!]a].py", "--exclude", r"a\ b", ".").exit_code == 0


BROKEN = "def fast(: sm_120\n"


@pytest.mark.parametrize(
    ("files", "arguments", "code"),
    [
        ({"c.py": BROKEN}, ("--strict", "c.py"), 2),
        ({"c.py": BROKEN}, ("--strict", "--force-exclude", "c.py"), 2),
        ({"c.py": BROKEN}, ("--strict", "--exit-zero", "c.py"), 2),
        ({"c.py": BROKEN, "a.py": CLEAN}, ("--strict", "."), 2),
        ({"c.py": BROKEN}, ("c.py",), 3),
        ({"c.py": BROKEN}, ("--force-exclude", "c.py"), 0),
        ({"c.py": BROKEN, "a.py": CLEAN}, (".",), 0),
        ({"a.py": CLEAN}, ("--strict", "."), 0),
        ({"a.py": CLEAN, "bwlint.toml": 'exclude = ["a.py"]\n'}, ("--strict", "--force-exclude", "a.py"), 0),
        ({"bwlint.toml": ""}, ("--strict", "--include", "none.py", "."), 3),
    ],
)
def test_strict_ends_with_2_wherever_a_file_was_skipped(
    here: Path, files: dict[str, str], arguments: tuple[str, ...], code: int
) -> None:
    for name, content in files.items():
        (here / name).write_text(content)
    result = invoke("--no-cache", *arguments, "--quiet")
    assert result.exit_code == code
    line = "bwlint: --strict: 1 file was not read or not judged: exit code 2\n"
    assert (line in result.stderr) == (code == 2)


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, click.Abort])
def test_an_interrupt_is_a_line(
    here: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    interruption: type[BaseException],
) -> None:
    def interrupt(*_: object) -> int:
        raise interruption

    monkeypatch.setattr(check, "run", interrupt)
    assert cli.run(["."]) == 130
    assert capsys.readouterr().err == "bwlint: interrupted\n"


def test_the_report_is_on_stdout_and_all_else_on_stderr(here: Path) -> None:
    (here / "split.py").write_text(SPLIT)
    done = program("split.py", "--format", "json", "--statistics", "--verbose")
    assert json.loads(done.stdout)["version"] == 1
    assert b"1 warning" in done.stderr
    assert b"family-split" in done.stderr


# Forms of the report


def test_text_shows_the_source(here: Path) -> None:
    (here / "split.py").write_text(SPLIT)
    out = invoke("split.py").stdout
    assert "warning[BW101] family-split" in out
    assert "^^^^" in out
    assert "\x1b" not in out


def test_concise_is_a_line(here: Path) -> None:
    (here / "split.py").write_text(SPLIT)
    out = invoke("split.py", "--format", "concise").stdout
    assert out.startswith("split.py:4:8: warning[BW101] family-split: ")
    assert out.count("\n") == 1


def test_sarif(here: Path) -> None:
    (here / "split.py").write_text(SPLIT)
    log = json.loads(invoke("split.py", "--format", "sarif").stdout)
    (run,) = log["runs"]
    assert run["results"][0]["ruleId"] == "BW101"
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["BW101"]


@pytest.mark.parametrize("form", ["sarif", "github", "gitlab", "junit"])
def test_reports_for_ci_tell_paths_from_the_top_of_the_git_tree(
    form: str, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / ".git").mkdir()
    (here / "sub").mkdir()
    (here / "sub" / "split.py").write_text(SPLIT)
    monkeypatch.chdir(here / "sub")
    assert "sub/split.py" in invoke("split.py", "--format", form).stdout
    other = invoke("split.py", "--format", form, "--sarif-root", ".").stdout
    assert "split.py" in other and "sub/split.py" not in other


def test_severity_filters_what_is_shown_and_what_is_hidden_fails_on_request(here: Path) -> None:
    (here / "split.py").write_text(SPLIT)
    assert invoke("split.py", "--severity", "error").exit_code == 0
    result = invoke("split.py", "--severity", "error", "--fail-on", "warning")
    assert (result.stdout, result.exit_code) == ("", 1)
    assert "1 warning (shown with --severity warning)" in result.stderr
    quiet = invoke("split.py", "--severity", "error", "--fail-on", "note", "--quiet")
    said = "bwlint: failed on 1 finding that --severity error hides; --severity note shows all\n"
    assert (quiet.stdout, quiet.stderr, quiet.exit_code) == ("", said, 1)


@pytest.mark.parametrize(
    ("arguments", "configured", "words"),
    [
        (("check", "--since", ""), "", "--since is empty"),
        (("audit", "--since", ""), "", "--since is empty"),
        (("matrix", "--diff", ""), "", "--diff is empty"),
        (("check", "--select", ""), "", "--select names no rule"),
        (("check",), "select = []", "bwlint.toml: `select` names no rule"),
        (("check",), "select = ['']", "bwlint.toml: `select` names no rule"),
    ],
)
def test_what_names_nothing_is_wrong(here: Path, arguments: tuple[str, ...], configured: str, words: str) -> None:
    (here / "split.py").write_text(SPLIT)
    (here / "bwlint.toml").write_text(configured)
    committed(here, {})
    result = invoke(*arguments)
    assert (result.exit_code, result.stdout, words in result.stderr) == (2, "", True)


def test_output_goes_to_a_file(here: Path) -> None:
    (here / "split.py").write_text(SPLIT)
    result = invoke("split.py", "--format", "json", "--output", "report.json")
    assert result.stdout == ""
    assert json.loads((here / "report.json").read_text())["findings"]
    assert cli.run(["split.py", "--output", "no/such/folder/report"]) == 2


def test_targets_are_chips(here: Path) -> None:
    (here / "clean.py").write_text(CLEAN)
    assert report("clean.py")["targets"] == ["12.0", "12.1"]
    assert report("clean.py", "--target", "sm_90a", "--target", "10.0")["targets"] == ["9.0", "10.0"]


# Standard input and fixes


def test_standard_input(here: Path) -> None:
    assert "1 fixable with --fix" in (said := invoke("-", stdin=SPLIT).stderr) and "next: " not in said
    result = invoke("--stdin-filename", "pkg/a.py", "--format", "concise", stdin=SPLIT)
    assert result.exit_code == 1
    assert result.stdout.startswith("pkg/a.py:4:8: ")
    assert invoke("-", stdin=CLEAN).exit_code == 0
    assert invoke("--stdin-filename", "a.py", "other.py", stdin=CLEAN).exit_code == 2
    assert invoke("--stdin-filename", "a.py", "--fix", stdin=CLEAN).exit_code == 2


GUARDED = """import torch
@supported_compute_capability([100, 103{more}])
def fused(a):
    return a
def caller(a):
    # the part that has the fused path
    if torch.cuda.get_device_capability() == (12, 0):
        a = fused(a)
    return a
"""


@pytest.mark.parametrize("on_disk", ["", GUARDED.format(more="")])
def test_what_is_given_counts_and_not_what_is_on_disk(on_disk: str, here: Path) -> None:
    if on_disk:
        (here / "a.py").write_text(on_disk)
    given = GUARDED.format(more=", 120, 121")
    result = invoke("--stdin-filename", "a.py", "--format", "concise", stdin=given)
    assert "`fused` behind it is for" in result.stdout


@pytest.mark.parametrize("data", [b"\xff\xfe arch", b"arch = (\n", b"# coding: latin-9000\narch = 1\n"])
def test_bad_standard_input_is_a_skip(data: bytes, here: Path) -> None:
    done = program("--stdin-filename", "a.py", "--verbose", stdin=data)
    assert done.returncode == 3
    assert b"skipped a.py: " in done.stderr


def test_excluded_standard_input(here: Path) -> None:
    (here / "bwlint.toml").write_text('exclude = ["gen/"]\n')
    assert invoke("--stdin-filename", "gen/a.py", stdin=SPLIT).exit_code == 1
    assert invoke("--stdin-filename", "gen/a.py", "--force-exclude", stdin=SPLIT).exit_code == 0


def test_fix_repairs_and_reports_what_is_left(here: Path) -> None:
    (here / "a.py").write_text(GUARD)
    result = invoke("--fix", "a.py")
    assert result.exit_code == 0
    assert "fixed 1 finding in 1 file: 1 family-split\n" in result.stderr
    assert "[0]" in (here / "a.py").read_text()
    assert invoke("a.py").exit_code == 0


def test_fix_can_fail_the_run(here: Path) -> None:
    (here / "a.py").write_text(GUARD)
    assert invoke("--fix", "--exit-non-zero-on-fix", "a.py").exit_code == 1
    assert invoke("--fix", "--exit-non-zero-on-fix", "a.py").exit_code == 0


def test_diff_changes_nothing(here: Path) -> None:
    (here / "a.py").write_text(GUARD)
    result = invoke("--diff", "a.py")
    assert result.exit_code == 1
    assert result.stdout.startswith("diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n")
    assert (here / "a.py").read_text() == GUARD


def test_a_fix_keeps_the_bytes_around_it(here: Path) -> None:
    data = b"\xef\xbb\xbf" + GUARD.replace("\n", "\r\n").encode() + "# é\r\n".encode()
    (here / "a.py").write_bytes(data)
    invoke("--fix", "a.py")
    fixed = (here / "a.py").read_bytes()
    assert fixed != data
    assert fixed.startswith(b"\xef\xbb\xbf")
    assert fixed.count(b"\r\n") == fixed.count(b"\n")


# Packages


def test_a_wheel(here: Path) -> None:
    with zipfile.ZipFile(here / "pkg-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("pkg/a.py", SPLIT)
        wheel.writestr("pkg/b.py", "x = 1\n")
    result = invoke("pkg-1.0-py3-none-any.whl", "--format", "concise")
    assert result.exit_code == 1
    assert result.stdout.startswith("pkg-1.0-py3-none-any.whl/pkg/a.py:4:8: ")
    # Nothing of a package is rewritten.
    assert "fixable" not in result.stderr
    assert "--fix" not in result.stderr


def test_the_level_of_a_rule_that_mostly_warns(here: Path) -> None:
    assert "\nlevel     error; behind a guard or a check a warning\n" in invoke("explain", "tcgen05").stdout


def test_no_wheel_is_an_error(here: Path) -> None:
    (here / "bad.whl").write_bytes(b"PK")
    assert cli.run(["bad.whl"]) == 2


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ("check bitsandbytes==0.50.2", "write pypi:bitsandbytes==0.50.2"),
        ("inspect flash-attn", "write pypi:flash-attn"),
        ("explain flash-attn", "bwlint inspect pypi:flash-attn says"),
        ("check lost/flash-attn", ""),
        ("check lost.py", ""),
        ("inspect lost.so", ""),
        ("explain leek", ""),
    ],
)
def test_a_name_without_the_prefix_of_a_package(here: Path, words: str, hint: str) -> None:
    result = invoke(*words.split())
    assert result.exit_code == 2
    assert hint in result.stderr
    assert ("pypi:" in result.stderr) is bool(hint)


# Input that nobody wishes for


def skips(*arguments: str) -> dict[str, str]:
    return {skip["path"]: skip["reason"] for skip in report(*arguments)["skipped"]}


def test_what_cannot_be_read_is_listed(here: Path) -> None:
    (here / "good.py").write_text(SPLIT)
    (here / "syntax.py").write_text("arch = (\n")
    (here / "encoding.py").write_bytes(b"arch = '\xe9'\n")
    (here / "large.py").write_bytes(b"arch = 120\n" * 3_000_000)
    (here / "deep.py").write_text("arch = " + "(" * 10_000 + ")" * 10_000 + "\n")
    (here / "sum.py").write_text("arch = " + "-" * 10_000 + "1\n")
    (here / "loop.py").symlink_to("loop.py")
    (here / "nul.py").write_bytes(b"arch\0 = 1\n")
    (here / "folder.py").mkdir()
    (here / "folder.py" / "inside.py").write_text(SPLIT)
    (here / "circle").symlink_to(".")
    found = report(".")
    assert {finding["path"] for finding in found["findings"]} == {"good.py", "folder.py/inside.py"}
    reasons = {skip["path"]: skip["reason"] for skip in found["skipped"]}
    assert set(reasons) == {
        *("syntax.py", "encoding.py", "large.py", "deep.py"),
        *("sum.py", "loop.py", "nul.py", "circle"),
    }
    assert "syntax error" in reasons["syntax.py"]
    assert "no encoding is declared" in reasons["encoding.py"]
    assert reasons["large.py"] == "larger than 8 MiB"
    assert "symlink loop" in reasons["loop.py"]


def test_skips_are_counted_and_listed_on_stderr(here: Path) -> None:
    (here / "good.py").write_text(CLEAN)
    (here / "bad.py").write_text("arch = (\n")
    plain, loud, quiet = invoke("."), invoke(".", "--verbose"), invoke(".", "--quiet")
    assert "no findings in what was read, 1 file skipped" in plain.stderr
    assert "skipped bad.py: syntax error" in plain.stderr
    assert quiet.stderr == ""
    assert "skipped bad.py: syntax error" in loud.stderr
    assert quiet.exit_code == loud.exit_code == 0


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root reads every file")
def test_an_unreadable_file_is_listed(here: Path) -> None:
    (here / "a.py").write_text(SPLIT)
    (here / "a.py").chmod(0)
    assert skips(".") == {"a.py": "permission denied"}


@pytest.mark.skipif(os.name != "posix", reason="names of POSIX")
def test_control_characters_never_reach_the_terminal(here: Path) -> None:
    (here / "a\x1b[2J\n.py").write_text(SPLIT.replace("(12, 0)", '(12, 0) != "\x9b"'))
    (here / "b\x1b]0;.py").write_text("arch = (\n")
    (here / os.fsdecode(b"c\xff.py")).write_text(SPLIT)
    done = program(".", "--verbose", "--severity", "note", "--statistics")
    both = (done.stdout + done.stderr).replace(b"\n", b"")
    assert b"\x1b" not in both
    assert b"\xc2\x9b" not in both
    assert done.returncode == 1


def test_a_folder_called_like_a_file(here: Path) -> None:
    (here / "x.py").mkdir()
    (here / "x.py" / "a.py").write_text(SPLIT)
    assert [finding["path"] for finding in report("x.py")["findings"]] == ["x.py/a.py"]


# The other commands


def test_rules_lists_all() -> None:
    assert invoke("rules").stdout.count("\nBW") == len(rules())


@pytest.mark.parametrize("text", ["family-split", "BW101", "bw101"])
def test_explain_a_rule(text: str) -> None:
    out = invoke("explain", "--full", text).stdout
    assert out.startswith("BW101 family-split\n")
    assert "# bwlint: ignore[family-split] reason" in out
    titles = ["Reported", "A note", "Silent", "Bad", "Good", "Confirm", "Fix", "Suppress", "Sources"]
    assert [line.partition(":")[0] for line in out.split("\n") if line.partition(":")[0] in titles] == titles


def test_the_gist_of_a_rule() -> None:
    out = invoke("explain", "family-split").stdout
    titles = [title for title in re.findall(r"^([A-Z]\w+)(?::|$)", out, re.MULTILINE) if title != "BW101"]
    assert titles == ["Confirm", "Fix", "Suppress", "Bad", "Good"]
    assert out.endswith("bwlint explain --full family-split lists what is reported, what is not, and the sources.\n")


def test_version() -> None:
    assert invoke("--version").stdout == f"bwlint {__version__}\n"


def test_chips_compares() -> None:
    out = invoke("chips", "12.0", "12.1", "sm_100").stdout
    assert "12.1" in out
    assert "*" in out


def outcomes(expression: str) -> dict[str, str]:
    result = invoke("explain", "--gate", expression)
    assert result.exit_code == 0, result.stderr
    rows = [line.split("|")[1:4:2] for line in result.stdout.splitlines() if line.startswith("| ")]
    return {chip.strip(): outcome.strip() for chip, outcome in rows[1:]}


@pytest.mark.parametrize(
    ("expression", "chips", "word"),
    [
        ("cap in [89, 120]", {"8.9", "12.0"}, "true"),
        ("cap == (12, 0)", {"12.0"}, "true"),
        ("major == 12", {"12.0", "12.1"}, "true"),
        ("self.arch // 10 == 12", {"12.0", "12.1"}, "true"),
        ("if cap == 121:", {"12.1"}, "true"),
        ("cap == 120 and enabled", {"12.0"}, "unknown"),
        ("torch.cuda.get_device_capability()[0] == 12", {"12.0", "12.1"}, "true"),
        ("current_platform.is_device_capability(120)", {"12.0"}, "true"),
    ],
)
def test_explain_a_gate(expression: str, chips: set[str], word: str) -> None:
    found = outcomes(expression)
    assert len(found) == 16
    assert {chip for chip, outcome in found.items() if outcome == word} == chips
    assert {outcome for chip, outcome in found.items() if chip not in chips} == {"false"}


def test_explain_a_gate_that_raises() -> None:
    assert set(outcomes("torch.cuda.get_device_capability() >= 9").values()) == {"raises"}


def test_explain_names_the_free_atoms() -> None:
    out = invoke("explain", "--gate", "cap == 120 and flags.enabled(1)").stdout
    assert "- depends besides the chip on: `flags.enabled(1)`\n" in out
    assert "- may be true on: 12.0 only\n- must be true on: no chip\n" in out
    assert "splits the 120f family: may be true on 12.0 (RTX 5090), false on 12.1 (GB10)" in out


@pytest.mark.parametrize(
    "expression",
    [
        "",
        "cap ==",
        "cap == 1)\nimport os\n(0",
        "cap = 1",
        "(" * 10_000 + "cap" + ")" * 10_000,
        "(" * 4_000 + "cap" + ")" * 4_000,
        "-" * 9_000 + "cap",
        "cap == '" + "a" * 1_000_000 + "'",
        "cap == '\0'",
    ],
    ids=lambda text: text[:12],
)
def test_a_hostile_gate_is_refused(expression: str) -> None:
    with at_most(10):
        result = invoke("explain", "--gate", expression)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert len(result.stderr) < 300


@pytest.mark.parametrize(
    "expression",
    [
        "9**9**9 == cap",
        "cap == 10 ** 10 ** 10",
        "cap in range(10**30)",
        "cap << 10**9 == 1",
        "cap == [x for x in range(10**9)]",
        "[[[[1]*9999]*9999]*9999] == cap",
        "cap == '{:1000000000}'.format(1)",
        "cap == int('9' * 9000)",
        "cap" + ".a" * 4_900,  # how deep is too deep depends on the Python
        "not " * 2_000 + "cap == 120",
        "cap == 1" + " or cap == 1" * 800,
        "__import__('os').system('false') == cap",
    ],
    ids=lambda text: text[:20],
)
def test_a_hostile_gate_is_answered_soon(expression: str) -> None:
    with at_most(10):
        assert cli.run(["explain", "--gate", expression]) in (0, 2)


MATRIX = {
    "pkg/__init__.py": "from .ops import fast\n",
    "pkg/ops.py": SPLIT.replace("import torch\n", "import torch\nimport os\n"),
}


def tree_of(here: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (here / name).parent.mkdir(parents=True, exist_ok=True)
        (here / name).write_text(text)


def test_a_matrix(here: Path) -> None:
    tree_of(here, MATRIX)
    result = invoke("matrix", "pkg", "--target", "12.0", "--target", "sm_121")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[:3] == [
        "        12.0  12.1",
        "pkg",
        "  fast   yes    no  ops.py:5  torch.cuda.get_device_capability() == (12, 0)",
    ]
    assert "bwlint: 1 row" in result.stderr


def test_a_matrix_as_json(here: Path) -> None:
    tree_of(here, MATRIX)
    result = invoke("matrix", "--format", "json", "--output", "m.json")
    assert (result.exit_code, result.stdout) == (0, "")
    (row,) = json.loads((here / "m.json").read_text())["rows"]
    assert (row["module"], row["name"], row["chips"]["12.1"]["support"]) == ("pkg", "fast", "no")
    assert len(row["chips"]) > 10


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("matrix", "missing"), 2, "missing"),
        (("matrix", "pkg", "--target", "sm_999"), 2, "sm_999"),
        (("matrix", "pkg", "--format", "sarif"), 2, "sarif"),
        (("matrix", "pkg", "--output", "no/where"), 2, "cannot write"),
        (("matrix", "pkg", "--select", "nothing"), 3, "0 rows"),
        (("matrix", "empty"), 3, "0 rows"),
        (("matrix", "bad"), 3, "1 file skipped"),
    ],
)
def test_what_a_matrix_cannot_do(arguments: tuple[str, ...], code: int, words: str, here: Path) -> None:
    tree_of(here, {**MATRIX, "empty/a.txt": "", "bad/__init__.py": "def f(arch=sm_120\n"})
    result = invoke(*arguments)
    assert (result.exit_code, words in result.stderr) == (code, True)


PORT = {"pkg/__init__.py": "from .ops import fast\n", "pkg/ops.py": SPLIT.replace("(12, 0)", "(10, 0)")}


def test_a_port(here: Path) -> None:
    tree_of(here, PORT)
    result = invoke("port", "pkg", "--to", "12.1", "--op", "fast", "--patches", "out", "--unproved")
    assert result.exit_code == 1
    assert "pkg.fast" in result.stdout and "[(10, 0)" not in result.stdout
    assert "wrote 1 patch to out" in result.stderr
    assert (here / "pkg/ops.py").read_text() == PORT["pkg/ops.py"]
    assert len(list((here / "out").iterdir())) == 1


def test_what_nothing_speaks_for_is_no_patch_unless_asked_for(here: Path) -> None:
    tree_of(here, PORT)
    result = invoke("port", "pkg", "--to", "sm_121", "--patches", "out", "--format", "json")
    assert (result.exit_code, json.loads(result.stdout)["chip"]) == (1, "12.1")
    assert "left out 1" in result.stderr and not (here / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("port", "pkg"), 2, "--to"),
        (("port", "pkg", "--to", "sm_999"), 2, "sm_999"),
        (("port", "missing", "--to", "12.1"), 2, "missing"),
        (("port", "pkg", "--to", "12.1", "--unproved"), 2, "--patches"),
        (("port", "pkg", "--to", "12.1", "--patches", "pkg"), 2, "has a file that is no patch of bwlint"),
        (
            ("port", "pkg", "--to", "10.0"),
            0,
            "found no operation that does not work on 10.0; 1 check is for you to judge",
        ),
        (("port", "pkg", "--to", "12.1", "--op", "nothing"), 0, "found no public operation with a check of the chip"),
        (("port", "empty", "--to", "12.1"), 3, "nothing is answered for 12.1"),
    ],
)
def test_what_a_port_cannot_do(arguments: tuple[str, ...], code: int, words: str, here: Path) -> None:
    tree_of(here, {**PORT, "empty/a.txt": ""})
    result = invoke(*arguments)
    assert (result.exit_code, words in result.stderr) == (code, True)
