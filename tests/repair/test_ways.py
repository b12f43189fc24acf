"""`bwlint --fix` and its kin from outside: streams, exit codes, and what is on disk."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from repair.trees import GUARD, committed, contents, git, put

from bwlint import cli
from bwlint.commands import check
from bwlint.repair.source import EditedFile
from bwlint.sources.worktree import top_of

LATIN = "# -*- coding: latin-1 -*-\n# \xe9\n".encode("latin-1") + GUARD.encode()
TREE: dict[str, str | bytes] = {
    "plain.py": GUARD,
    "crlf.py": GUARD.replace("\n", "\r\n"),
    "mark.py": b"\xef\xbb\xbfimport torch\nif torch.cuda.get_device_capability() != (12, 0): raise OSError\n",
    "latin.py": LATIN,
    "tabs.py": GUARD.replace("    ", "\t"),
    "noend.py": GUARD.rstrip("\n"),
    "oneline.py": "import torch; assert torch.cuda.get_device_capability() == (12, 0)",
    "pkg/a b.py": GUARD,
    "pkg/\u00fc.py": GUARD,
    "CMakeLists.txt": "# \u00e9\r\nset(KIT_SUPPORTED_ARCHS 90a 120a)\r\n",
    "tests/kit.cmake": "if(KIT_ARCHS MATCHES 120a)\n\tkit_test(gemm_sm120.cu)\nendif()",
    "kernels/a.cu": "#if __CUDA_ARCH__ == 1200\n__global__ void k() {}\n#else\n#error no\n#endif\n",
    "clean.py": "x = 1\n",
}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    top_of.cache_clear()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def invoke(*arguments: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(cli.app, list(arguments), input=stdin, prog_name="bwlint", catch_exceptions=False)


def test_a_diff_is_what_a_fix_does(here: Path) -> None:
    tree = here / "tree"
    committed(tree, TREE)
    before = contents(tree)
    os.chdir(tree)
    patch = invoke("--diff").stdout_bytes
    assert contents(tree) == before
    git(tree, "apply", "--check", "-", stdin=patch)
    git(tree, "apply", "-", stdin=patch)
    applied = contents(tree)
    assert [name for name in before if applied[name] == before[name]] == ["clean.py"]
    put(tree, before)
    result = invoke("--fix")
    # what is left is a list without the f name, which nothing here shows to be right for what is behind it
    assert (result.exit_code, contents(tree)) == (1, applied)
    again = invoke("--fix")
    assert contents(tree) == applied
    assert "fixed" not in again.stderr
    assert invoke("--diff").stdout_bytes == b""
    for name, data in before.items():
        ends = b"\r\n" if b"\r\n" in data else b"\n"
        assert applied[name].count(ends) == data.count(ends)
        assert applied[name][:3] == data[:3]
    assert b"# \xe9\n" in applied["latin.py"]


@pytest.mark.parametrize("where", [".", "pkg", "pkg/deep"])
def test_git_takes_a_diff_where_the_user_stands(here: Path, where: str) -> None:
    files = {"pkg/a.py": GUARD, "pkg/deep/b.py": GUARD, "pkg/deep/pkg/deep/c.py": GUARD}
    committed(here, files)
    os.chdir(here / where)
    patch = invoke("--diff", ".").stdout_bytes
    git(Path.cwd(), "apply", "-", stdin=patch)
    changed = {name for name, data in contents(here).items() if data != files[name].encode()}
    assert changed == {name for name in files if where == "." or name.startswith(f"{where}/")}


def test_a_diff_of_files_elsewhere_says_where_it_applies(here: Path) -> None:
    committed(here / "tree", {"pkg/a.py": GUARD})
    (here / "away").mkdir()
    os.chdir(here / "away")
    for path in ("../tree/pkg", str(here / "tree" / "pkg" / "a.py")):
        result = invoke("--diff", path)
        assert result.stdout.startswith("diff --git a/pkg/a.py b/pkg/a.py\n--- a/pkg/a.py\n+++ b/pkg/a.py\n")
        assert f"apply the diff in {here / 'tree'}\n" in result.stderr
        git(here / "tree", "apply", "--check", "-", stdin=result.stdout_bytes)


def test_a_diff_can_go_to_a_file_and_comes_from_standard_input(here: Path) -> None:
    put(here, {"a.py": "x = 1\n"})
    result = invoke("--diff", "--stdin-filename", "a.py", stdin=GUARD)
    assert "+    if torch.cuda" in result.stdout
    assert (here / "a.py").read_text() == "x = 1\n"
    put(here, {"b.py": GUARD})
    assert invoke("--diff", "--output", "out.diff", "b.py").stdout == ""
    assert (here / "out.diff").read_text().startswith("diff --git a/b.py b/b.py\n--- a/b.py\n")


@pytest.mark.parametrize("select", ["family-split", "BW101", "leak"])
def test_only_selected_rules_are_fixed(here: Path, select: str) -> None:
    put(here, {"a.py": GUARD})
    invoke("--fix", "--select", select, "a.py")
    assert ((here / "a.py").read_text() == GUARD) is (select == "leak")


@pytest.mark.parametrize(
    "arguments",
    [
        ["--interactive"],
        ["--patches", "out"],
        ["--fix", "--diff", "--interactive"],
        ["--diff", "--format", "sarif:found.sarif"],
        ["--fix", "--diff", "--patches", "out"],
        ["--fix", "--interactive", "--patches", "out"],
        ["--fix", "--interactive"],
        ["--fix", "--stdin-filename", "a.py"],
    ],
)
def test_options_that_do_not_go_together(here: Path, arguments: list[str]) -> None:
    put(here, {"a.py": GUARD})
    result = invoke(*arguments, "a.py") if "--stdin-filename" not in arguments else invoke(*arguments)
    assert result.exit_code == 2
    assert "Error: " in result.stderr
    assert contents(here) == {"a.py": GUARD.encode()}


def test_a_terminal(here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    put(here, {"a.py": GUARD, "b.py": GUARD, "c.py": GUARD})
    assert "needs a terminal" in invoke("--fix", "--interactive", "a.py").stderr

    class Keyboard(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr("sys.stdin", Keyboard("a\nu\nonly that part\nq\n"))
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setattr("bwlint.commands.progress._PATIENCE", 1000)
    assert cli.run(["--fix", "--interactive", "."]) == 1
    said = capsys.readouterr().err
    assert "Apply this fix?" in said
    assert "fixed 1 finding in 1 file" in said
    assert "suppressed 1 finding by a comment" in said
    assert "[0] != 12" in (here / "a.py").read_text()
    assert "# bwlint: ignore[family-split] only that part\n" in (here / "b.py").read_text()
    assert (here / "c.py").read_text() == GUARD


def test_an_interrupted_dialog_changes_nothing(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    put(here, {"a.py": GUARD, "b.py": GUARD})
    answers = iter(["a\n"])

    def answer(question: str) -> str:
        for line in answers:
            return line
        raise KeyboardInterrupt

    monkeypatch.setattr(check, "_answer", answer)
    monkeypatch.setattr(check, "_consistent", lambda options: None)
    assert cli.run(["--fix", "--interactive", "."]) == 130
    assert contents(here) == {"a.py": GUARD.encode(), "b.py": GUARD.encode()}


def test_a_tree_with_changes_of_its_own_is_warned_of(here: Path) -> None:
    committed(here, {"a.py": GUARD, "b.py": "x = 1\n"})
    put(here, {"b.py": "x = 2\n"})
    assert "uncommitted" not in invoke("--diff", ".").stderr
    result = invoke("--fix", ".")
    assert f"bwlint: warning: {here} has uncommitted changes; " in result.stderr
    assert "uncommitted" not in invoke("--fix", ".").stderr, "nothing to write, nothing to warn of"
    git(here, "commit", "-qam", "more")
    put(here, {"a.py": GUARD})
    git(here, "commit", "-qam", "broken again")
    assert "uncommitted" not in invoke("--fix", ".").stderr


def test_a_file_that_changes_meanwhile(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(here, {"a.py": GUARD, "b.py": GUARD})
    written = check._written

    def meddle(repaired: object) -> object:
        put(here, {"a.py": GUARD + "# mine\n"})
        return written(repaired)  # type: ignore[arg-type]

    monkeypatch.setattr(check, "_written", meddle)
    result = invoke("--fix", "--format", "concise", ".")
    assert result.exit_code == 1
    assert "not fixed: a.py: changed since it was read" in result.stderr
    assert "fixed 1 finding in 1 file" in result.stderr
    assert result.stdout.startswith("a.py:4:8: "), "the report is about what is on disk"
    assert (here / "a.py").read_text() == GUARD + "# mine\n"
    assert "[0] != 12" in (here / "b.py").read_text()


def test_what_cannot_be_written_fails_the_run(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(here, {"a.py": GUARD})

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    result = invoke("--fix", "--exit-zero", "a.py")
    assert result.exit_code == 2
    assert "not fixed: a.py: cannot be written: no space left on device" in result.stderr
    assert contents(here) == {"a.py": GUARD.encode()}


def test_a_read_only_file_is_left_alone(here: Path) -> None:
    put(here, {"a.py": GUARD})
    (here / "a.py").chmod(0o444)
    result = invoke("--fix", "a.py")
    assert (result.exit_code, contents(here)) == (1, {"a.py": GUARD.encode()})
    assert "not fixed: a.py: read-only" in result.stderr


@pytest.mark.parametrize("verbose", [False, True])
def test_the_summary_gives_reasons(here: Path, verbose: bool) -> None:
    (here / "real").mkdir()
    put(here, {"real/a.py": GUARD})
    (here / "link.py").symlink_to("real/a.py")
    result = invoke("--fix", "link.py", *["--verbose"] * verbose)
    assert "did not fix 1 finding: bwlint does not write through a symbolic link\n" in result.stderr
    line = "bwlint: not fixed: link.py:4:8: family-split: bwlint does not write through a symbolic link\n"
    assert (line in result.stderr) is verbose
    assert result.exit_code == 1
    assert (here / "link.py").is_symlink()


def test_patches(here: Path) -> None:
    committed(here, {"a.py": GUARD, "pkg/b.py": GUARD})
    before = contents(here)
    result = invoke("--fix", "--patches", "out", ".")
    assert result.exit_code == 0
    assert "wrote 2 patches to out; nothing else was changed" in result.stderr
    made = {name: data for name, data in contents(here).items() if name.startswith("out/")}
    assert {name: data for name, data in contents(here).items() if name not in made} == before
    invoke("--fix", "--patches", "out", ".")
    assert {name: data for name, data in contents(here).items() if name.startswith("out/")} == made
    put(here, {"out/mine.txt": "x"})
    refused = invoke("--fix", "--patches", "out", ".")
    assert refused.exit_code == 2
    assert "has a file that is no patch of bwlint: mine.txt" in refused.stderr
    assert (here / "out" / "mine.txt").read_text() == "x"


def test_no_fixes_no_folder(here: Path) -> None:
    put(here, {"a.py": "x = 1\n"})
    assert invoke("--fix", "--patches", "out", ".").exit_code == 0
    assert not (here / "out").exists()


def test_the_report_after_a_fix_is_of_the_fixed_text(here: Path) -> None:
    put(here, {"a.py": GUARD, "b.py": GUARD.replace("(12, 0):", "(12, 0):  # only on 12.0")})
    result = invoke("--fix", "--format", "json", "--severity", "note", ".")
    report = json.loads(result.stdout)
    assert all(finding["path"] == "b.py" for finding in report["findings"])
    assert report["stats"]["files"] == 2


def test_who_comes_second_reports_what_the_first_has_left(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(here, {"a.py": GUARD, "b.py": GUARD.replace("fast", "other")})
    of, fixed = EditedFile.of, GUARD.replace("() != (12, 0)", "()[0] != 12")

    def after_the_first(*arguments: Any) -> EditedFile | str:
        put(here, {"a.py": fixed, "b.py": fixed.replace("fast", "other")})
        return of(*arguments)

    monkeypatch.setattr(EditedFile, "of", after_the_first)
    result = invoke("--fix", "--format", "concise")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "did not fix 2 findings: changed since it was read\n" in result.stderr


@pytest.mark.parametrize(("adds", "is_told"), [("true", False), ("input", True), ("false", True)])
def test_git_am_takes_patches_as_it_is_told(adds: str, is_told: bool, here: Path) -> None:
    tree = here / "tree"
    committed(tree, {"README": "kit\n"})
    put(tree, {"crlf.py": GUARD.replace("\n", "\r\n")})
    git(tree, "config", "core.autocrlf", "true" if adds == "true" else "false")
    git(tree, "add", "-A")
    git(tree, "commit", "-q", "-m", "more")
    git(tree, "config", "core.autocrlf", adds)
    os.chdir(tree)
    result = invoke("--fix", "--patches", str(here / "out"))
    assert ("git am needs --keep-cr" in result.stderr) is is_told
    options = ["--keep-cr"] if is_told else []
    git(tree, "am", "-q", *options, *(str(path) for path in sorted((here / "out").iterdir())))
    assert b"[0] != 12:\r\n" in contents(tree)["crlf.py"]
