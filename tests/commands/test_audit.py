"""`bwlint audit`: what is listed, what fails, and how decisions come into their file. The ledgers are made by hand."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner, Result
from questions import fingerprint, make_ledger, make_row
from repair.trees import committed, git, put

from bwlint import cli
from bwlint.commands import audit
from bwlint.model.findings import Skipped
from bwlint.model.ledger import Decision, Ledger, Row
from bwlint.report import Setting
from bwlint.run.gather import gather
from bwlint.run.request import CheckRequest, Outcome
from bwlint.settings.config import UsageError
from bwlint.settings.decisions import NAME, Decisions, load
from bwlint.sources.worktree import top_of

FAIL, REVIEW = make_row("a", "fail"), make_row("b", "review")
OPEN, PASS = make_row("c", "open"), make_row("d", "pass")
EACH = make_ledger(FAIL, REVIEW, OPEN, PASS)
Answer = Callable[[Ledger], None]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    top_of.cache_clear()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(audit, "today", lambda: "2026-11-28")
    monkeypatch.setattr(audit, "rendered", rendered)
    put(tmp_path, {"bwlint.toml": "", "pkg/a.py": ""})
    return tmp_path


def rendered(ledger: Ledger, form: str, how: Setting, top: int, hidden: int = 0) -> str:
    """The form, a letter for each row, and how many are hidden."""
    rows = ledger.rows[: top or None] if form == "text" else ledger.rows
    return f"{form} {''.join(row.fingerprint[0] for row in rows)}{f' +{hidden}' if hidden else ''}\n"


@pytest.fixture
def answer(here: Path, monkeypatch: pytest.MonkeyPatch) -> Answer:
    """What the audit comes to from now on."""
    return lambda ledger: monkeypatch.setattr("bwlint.run.audit.audit", lambda *_: ledger)


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(cli.app, ["audit", "--no-cache", *arguments], prog_name="bwlint")


def decide(*made: Decision) -> None:
    """A file of decisions in the current folder."""
    decisions = Decisions(NAME)
    for one in made:
        decisions = decisions.with_one(one, make_row(one.fingerprint[0]))
    Path(NAME).write_text(decisions.text)


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        ((), "text ab +3"),
        (("--kind", "open"), "text cef"),
        (("--kind", "review,open"), "text bcef"),
        (("--top", "0"), "text abcef"),
        (("--subject", "*_gemm"), "text abcef"),
        (("--format", "json"), "json abcef"),
    ],
)
def test_what_only_names_something_is_shown_when_wanted(answer: Answer, arguments: tuple[str, ...], shown: str) -> None:
    names = [make_row(digit, "open", form=form) for digit, form in (("c", "name"), ("e", "text"), ("f", "amount"))]
    answer(make_ledger(FAIL, REVIEW, *names))
    assert invoke(*arguments).stdout == f"{shown}\n"


def test_names_are_shown_where_there_is_nothing_else(answer: Answer) -> None:
    answer(make_ledger(make_row("c", "open", form="unit"), PASS))
    assert invoke().stdout == "text c\n"


def test_a_list_exits_with_zero(answer: Answer) -> None:
    answer(EACH)
    result = invoke()
    assert (result.exit_code, result.stdout) == (0, "text abc\n")
    assert result.stderr == (
        "bwlint: 4 checks of the chip; for 12.0: 4 pass; for 12.1: 1 pass, 1 fail, 1 review, 1 open\n"
    )


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (("--format", "json"), "json abcd"),
        (("--format", "csv", "--kind", "open"), "csv c"),
        (("--kind", "review,open"), "text bc"),
        (("--kind", "fail", "--kind", "pass"), "text ad"),
        (("--kind", "all"), "text abcd"),
        (("--top", "1"), "text a"),
        (("--format", "json", "--top", "2"), "json ab"),
        (("--top", "0"), "text abc"),
        (("--subject", "b_gemm"), "text b"),
        (("--subject", "pkg.ops.c*", "--subject", "a_*"), "text ac"),
        (("--subject", "gemm"), "text "),
        (("--form", "guard"), "text "),
        (("--form", "guard,gate"), "text abc"),
    ],
)
def test_what_is_listed(answer: Answer, arguments: tuple[str, ...], shown: str) -> None:
    answer(EACH)
    result = invoke(*arguments)
    assert (result.exit_code, result.stdout) == (0, f"{shown}\n"), result.stderr


def test_the_text_has_thirty_rows(answer: Answer) -> None:
    answer(make_ledger(*(make_row("b", fingerprint=f"{number:032x}") for number in range(1031))))
    result = invoke("--format", "text", "--format", "json:all.json")
    assert len(result.stdout.split()[1]) == 30
    assert len(Path("all.json").read_text().split()[1]) == 1031
    assert "1,031 checks of the chip; " in result.stderr


@pytest.mark.parametrize(
    ("rows", "lowest", "code"),
    [
        ([FAIL], "fail", 1),
        ([REVIEW], "fail", 0),
        ([FAIL], "review", 1),
        ([REVIEW], "review", 1),
        ([OPEN], "review", 0),
        ([REVIEW], "open", 1),
        ([OPEN], "open", 1),
        ([PASS], "open", 0),
        ([FAIL], "never", 0),
    ],
)
def test_what_fails(answer: Answer, rows: list[Row], lowest: str, code: int) -> None:
    answer(make_ledger(*rows))
    result = invoke("--fail-on", lowest, "--kind", "pass")
    assert result.exit_code == code
    assert ("bwlint audit --decide" in result.stderr) == bool(code)


@pytest.mark.parametrize(
    ("row", "said", "lowest", "code"),
    [
        (REVIEW, "fine", "review", 0),
        (FAIL, "fine", "fail", 0),
        (REVIEW, "later", "review", 0),
        (FAIL, "later", "fail", 0),
        (REVIEW, "broken", "fail", 1),
        (PASS, "broken", "fail", 1),
    ],
)
def test_what_is_decided_fails_where_it_is_broken(answer: Answer, row: Row, said: str, lowest: str, code: int) -> None:
    answer(make_ledger(row))
    assert invoke("--decide", row.fingerprint[:6], said, "--reason", "measured").exit_code == 0
    result = invoke("--fail-on", lowest)
    assert result.exit_code == code
    assert f"1 decided: 1 {said}" in result.stderr and "mend the code" not in result.stderr
    assert ("against what check reports" in result.stderr) == (said == "fine" and row is FAIL)


def test_what_is_fine_is_no_longer_listed(answer: Answer) -> None:
    answer(EACH)
    decide(Decision(FAIL.fingerprint, "fine", "r"), Decision(REVIEW.fingerprint, "later", "r"))
    assert invoke().stdout == "text bc\n"
    assert invoke("--kind", "pass").stdout == "text ad\n"


def test_a_decision_is_written_beside_the_configuration(here: Path, answer: Answer) -> None:
    committed(here / "r", {"bwlint.toml": "", "sub/a.py": ""})
    top_of.cache_clear()
    git(here / "r", "config", "user.name", "Some Body")
    git(here / "r", "config", "user.email", "some@example.org")
    os.chdir(here / "r" / "sub")
    answer(EACH)
    result = invoke("--decide", "AAAAAA", "fine", "--decide", fingerprint("b"), "later", "--reason", " on one card ")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == (
        "bwlint: aaaaaaaaaaaa is fine in ../bwlint-audit.toml: cap == (12, 0)  # a\n"
        "bwlint: bbbbbbbbbbbb is later in ../bwlint-audit.toml: cap == (12, 0)  # b\n"
    )
    who = ("on one card", "Some Body <some@example.org>", "2026-11-28")
    assert load(str(here / "r" / NAME)).made == (
        Decision(FAIL.fingerprint, "fine", *who),
        Decision(REVIEW.fingerprint, "later", *who),
    )


def test_a_file_of_decisions_may_lie_elsewhere(here: Path, answer: Answer) -> None:
    answer(EACH)
    assert invoke("--decisions", "none.toml").exit_code == 2
    (here / "ci").mkdir()
    assert invoke("--decisions", "ci/d.toml", "--decide", "aaaaaa", "fine", "--reason", "r").exit_code == 0
    assert not (here / NAME).exists()
    assert invoke("--decisions", "ci/d.toml").stdout == "text bc\n"


def test_a_file_that_git_leaves_out_is_said(here: Path, answer: Answer) -> None:
    committed(here, {".gitignore": "*.toml\n"})
    top_of.cache_clear()
    answer(EACH)
    result = invoke("--decide", "aaaaaa", "fine", "--reason", "r")
    assert f"warning: git ignores {NAME}: `git add --force` it" in result.stderr


def test_dead_decisions_are_told_and_taken_out(here: Path, answer: Answer) -> None:
    answer(EACH)
    decide(Decision(fingerprint("e"), "fine", "r"), Decision(FAIL.fingerprint, "fine", "r"))
    text = (here / NAME).read_text()
    dead = f"bwlint: 1 decision in {NAME} match no row: --prune removes them\n"
    assert dead in invoke().stderr
    assert dead in invoke(str(here)).stderr
    for partly in (("pkg",), ("--exclude", "x", "."), ("--include", "*.py"), ("--target", "sm_120")):
        assert "match no row" not in invoke(*partly).stderr
        refused = invoke("--prune", *partly)
        assert (refused.exit_code, "whole project" in refused.stderr) == (2, True)
    assert (here / NAME).read_text() == text
    pruned = invoke("--prune")
    assert (pruned.exit_code, pruned.stdout, pruned.stderr) == (0, "", f"bwlint: 1 decision in {NAME}, 1 gone\n")
    assert [made.fingerprint for made in load(NAME).made] == [FAIL.fingerprint]
    assert invoke("--prune").stderr == f"bwlint: 1 decision in {NAME}, 0 gone\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--decide", "aaaaaa", "fine"), "--decide and --reason go together"),
        (("--reason", "r"), "--decide and --reason go together"),
        (("--decide", "aaaaaa", "fine", "--reason", " "), "--reason needs the reason"),
        (("--decide", "aaaaaa", "good", "--reason", "r"), "'good' is not one of"),
        (("--decide", "aaaaa", "fine", "--reason", "r"), "at least 6 digits"),
        (("--decide", "gemm_op", "fine", "--reason", "r"), "at least 6 digits"),
        (("--decide", "abcdef", "fine", "--reason", "r"), "no row begins with abcdef"),
        (("--decide", "777777", "fine", "--reason", "r"), "2 rows begin with 777777: 7777777"),
        (("--decide", "aaaaaa", "fine", "--reason", "r", "--prune"), "does not go with --prune"),
        (
            ("--decide", "aaaaaa", "fine", "--reason", "r", "--since", "HEAD"),
            "--since does not go with --decide or --prune",
        ),
        (("--prune", "--fail-on", "fail"), "--fail-on does not go with --decide or --prune"),
        (("--prune", "--format", "json"), "--format does not go with --decide or --prune"),
        (("--fail-on", "pass"), "'pass' is not one of"),
        (("--kind", "review,good"), "'good' is not one of"),
        (("--format", "junit"), "'junit' is not one of"),
        (("--format", "json", "--format", "text"), "only one report can go to stdout"),
        (("--config", "none.toml"), "does not exist"),
        (("--since", "HEAD"), "paths in one git tree"),
    ],
)
def test_what_cannot_be_is_said(answer: Answer, arguments: tuple[str, ...], words: str) -> None:
    sevens = [make_row("7", fingerprint="7" * 31 + end) for end in "12"]
    answer(make_ledger(*EACH.rows, *sevens))
    result = invoke(*arguments)
    assert (result.exit_code, words in result.stderr) == (2, True), result.stderr
    assert not Path(NAME).exists()


def test_a_broken_file_of_decisions_ends_the_run(here: Path, answer: Answer) -> None:
    answer(EACH)
    (here / NAME).write_text("version = 1\n[[decision]]\nrow = 'x\x1b'\n")
    result = invoke()
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"{NAME}: not TOML" in result.stderr and "\x1b" not in result.stderr


def test_what_cannot_be_scanned_is_said(here: Path, answer: Answer, monkeypatch: pytest.MonkeyPatch) -> None:
    answer(make_ledger(stats={"files": 0}, skipped=(Skipped("x\x1b.py", "a folder"),)))
    result = invoke("--verbose")
    assert (result.exit_code, result.stderr) == (
        3,
        "skipped x\\x1b.py: a folder\nbwlint: nothing was scanned\n",
    )
    decide(Decision(FAIL.fingerprint, "fine", "r"))
    for options in (("--prune",), ("--decide", "aaaaaa", "fine", "--reason", "r")):
        result = invoke(*options)
        assert (result.exit_code, result.stderr) == (3, "bwlint: nothing was scanned\n")
    assert load(NAME).made
    (here / NAME).unlink()
    answer(make_ledger())
    assert (invoke().exit_code, invoke().stderr) == (0, "bwlint: no checks of the chip\n")

    def refused(*_: object) -> Ledger:
        raise UsageError("x: no such file")

    monkeypatch.setattr("bwlint.run.audit.audit", refused)
    result = invoke()
    assert (result.exit_code, result.stderr) == (2, "Error: x: no such file\n")


def test_what_is_asked_of_the_engine(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[CheckRequest] = []

    def audited(request: CheckRequest, stack: ExitStack, advance: object) -> Ledger:
        asked.append(request)
        return make_ledger()

    monkeypatch.setattr("bwlint.run.audit.audit", audited)
    invoke(
        "--target", "sm_121", "--jobs", "2", "--no-ignore", "--exclude", "x", "--include", "*.py", "--isolated", "pkg"
    )
    assert asked == [
        CheckRequest(
            ("pkg",), ("sm_121",), use_gitignore=False, jobs=2, isolated=True, exclude=("x",), include=("*.py",)
        )
    ]


def test_decisions_ask_nothing_themselves(here: Path) -> None:
    decide(Decision(REVIEW.fingerprint, "fine", "r"))
    put(here, {"ci/own.toml": (here / NAME).read_text(), "ci/a.toml": ""})
    for named, expected in ((None, ["a.toml", "own.toml"]), ("ci/own.toml", ["a.toml"])):
        request = CheckRequest(("ci", NAME), decisions=named)
        with ExitStack() as stack:
            found = gather(request, stack).found
        assert [Path(file.real).name for file in found.files] == expected


def test_excerpts_are_read_from_the_disk(here: Path, answer: Answer, monkeypatch: pytest.MonkeyPatch) -> None:
    put(here, {"pkg/a.py": "one\ntwo\n"})
    answer(EACH)
    monkeypatch.setattr(audit, "rendered", lambda *of: json.dumps([of[2].lines("pkg/a.py"), of[2].lines("x")]))
    assert json.loads(invoke("--format", "html").stdout) == [["one\n", "two\n", ""], None]


def test_a_format_is_a_function_of_the_report(monkeypatch: pytest.MonkeyPatch) -> None:
    renders = {f"as_{form}": lambda ledger, how, *top, form=form: f"{form} {top}" for form in ("text", "json", "csv")}
    monkeypatch.setitem(sys.modules, "bwlint.report.audit", SimpleNamespace(**renders))
    page = SimpleNamespace(page=lambda *pieces: iter(pieces), of_audit=lambda ledger, how: "beside")
    monkeypatch.setitem(sys.modules, "bwlint.report.html", page)
    asked = [audit.rendered(EACH, form, Setting(), 30) for form in ("text", "json", "csv")]
    assert asked == ["text (30, 0)", "json ()", "csv ()"]
    assert [*audit.rendered(EACH, "html", Setting(subject="pkg"), 30)] == ["audit", ("json ()",), "beside", "pkg"]


@pytest.mark.parametrize(("arguments", "code"), [(("--strict",), 2), ((), 3)])
def test_a_file_that_is_not_read_alone(here: Path, arguments: tuple[str, ...], code: int) -> None:
    (here / "only").mkdir()
    (here / "only" / "c.py").write_text("def fast(: sm_120\n")
    result = invoke(*arguments, "only")
    assert result.exit_code == code
    assert ("--strict: 1 file was not read" in result.stderr) == (code == 2)


def test_since_in_a_repository_without_a_commit(here: Path) -> None:
    gate = "    if torch.cuda.get_device_capability() != (12, 0):\n        raise RuntimeError\n"
    put(here, {"pkg/a.py": f"import torch\n\ndef fast(x):\n{gate}    return kernel(x)\n"})
    git(here, "init", "-q")
    top_of.cache_clear()
    result = invoke("--since", "HEAD", "--fail-on", "review")
    assert "no revision" not in result.stderr
    assert (result.exit_code, "new or changed since HEAD" in result.stderr) == (1, True), result.stderr
    committed(here, {})
    assert invoke("--since", "HEAD", "--fail-on", "review").exit_code == 0
    assert "no revision `nowhere`" in invoke("--since", "nowhere").stderr


def test_since_a_revision(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each line of `rows` is a row, by its first letter, as of the tree that the engine is asked about."""
    roots: list[str] = []

    def audited(request: CheckRequest, stack: ExitStack, advance: object) -> Ledger:
        roots.append(os.path.realpath(request.paths[0]))
        return make_ledger(*(make_row(line[0]) for line in (Path(roots[-1]) / "rows").read_text().splitlines()))

    monkeypatch.setattr("bwlint.run.audit.audit", audited)
    committed(here, {"rows": "a\n"})
    top_of.cache_clear()
    put(here, {"rows": "b\na\n"})
    result = invoke("--since", "HEAD", "--fail-on", "review")
    assert (result.exit_code, result.stdout) == (1, "text b\n")
    assert "1 check of the chip new or changed since HEAD; for 12.0: 1 pass; for 12.1: 1 review\n" in result.stderr
    assert (
        "1 check at or above --fail-on review\nbwlint: fix the code, or decide: bwlint audit --decide bbbbbbbbbbbb "
        in (result.stderr)
    )
    assert roots[1] == str(here.resolve()) and roots[0] != roots[1]
    assert not Path(roots[0]).exists()
    decide(Decision(fingerprint("b"), "fine", "r"), Decision(fingerprint("a"), "fine", "r"))
    result = invoke("--since", "HEAD", "--fail-on", "review")
    assert (result.exit_code, "match no row" in result.stderr) == (0, False)
    assert "1 decided: 1 fine" in result.stderr
    same = invoke("--since", "HEAD~0", "--subject", "a_*")
    assert (same.exit_code, same.stderr) == (0, "bwlint: no checks of the chip new or changed since HEAD~0\n")
    none = invoke("--since", "nowhere")
    assert (none.exit_code, "no revision `nowhere`" in none.stderr) == (2, True)


@pytest.mark.parametrize(
    ("options", "told"), [((), True), (("--quiet",), False), (("--exit-zero", "--format", "json"), True)]
)
def test_check_ends_with_what_is_left(
    here: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], told: bool
) -> None:
    def counted(*arguments: object) -> Outcome:
        outcome = check(*arguments)  # type: ignore[arg-type]
        stats = {**outcome.report.stats, "questions": 1593, "questions_left": 41}
        return replace(outcome, report=replace(outcome.report, stats=stats))

    from bwlint.run.check import check

    monkeypatch.setattr("bwlint.run.check.check", counted)
    result = CliRunner().invoke(cli.app, ["check", "--no-cache", *options, "."], prog_name="bwlint")
    words = "; 1,593 places concern the chip: 41 are for you to judge\nbwlint: next: bwlint audit ."
    assert (words in result.stderr) == told
