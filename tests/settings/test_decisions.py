"""`bwlint-audit.toml`: what is read, what is refused, what an edit leaves alone, and what decisions make of rows."""

from __future__ import annotations

import contextlib
import time
from dataclasses import replace
from pathlib import Path

import pytest
from questions import fingerprint, make_ledger, make_row

from bwlint.model.ledger import Decision, Row, RowKind, Said
from bwlint.settings.config import ConfigError, UsageError
from bwlint.settings.decisions import NAME, Decisions, _made, apply, load, root_of
from bwlint.sources.worktree import top_of

A, B, C = (fingerprint(digit) for digit in "abc")
MINE = f"""\
# ours
version = 1
# comes from #12
[[decision]]
row = "{A}"
verdict = "fine"
reason = "measured"   # on one card
who = "me <me@example.org>"
date = 2026-11-28
places = [
  "a.py:1",
]

# two of them
# belong together
[[decision]]
verdict = 'later'
row = "{B}"
reason = '''
after
1.0'''
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / NAME


def row(**values: str) -> str:
    """A file with one decision, some values of which are others; "" leaves one out."""
    told = {"row": f'"{A}"', "verdict": '"fine"', "reason": '"r"', **values}
    return "version = 1\n[[decision]]\n" + "".join(f"{key} = {value}\n" for key, value in told.items() if value)


def test_what_people_write_is_read(file: Path) -> None:
    file.write_text(MINE)
    assert load(str(file)).made == (
        Decision(A, "fine", "measured", "me <me@example.org>", "2026-11-28"),
        Decision(B, "later", "after\n1.0"),
    )


def test_without_a_file_nothing_is_decided(file: Path) -> None:
    assert load(str(file)) == Decisions(str(file))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "`version`: expected 1, which this bwlint reads, found None"),
        ("version = 2\n", "`version`: expected 1"),
        ("version = true\n", "`version`: expected 1"),
        ("version = 1\ndecisions = []\n", "`decisions`: unknown key; did you mean `decision`?"),
        ("version = 1\ndecision = 3\n", "`decision`: expected tables ([[decision]]), found an integer"),
        ("version = 1\ndecision = [3]\n", "decision 1: expected a table, found an integer"),
        (row(row=""), "decision 1: `row`: expected 32 digits 0-9a-f, found nothing"),
        (row(row='"abc"'), "decision 1: `row`: expected 32 digits 0-9a-f, found 'abc'"),
        (row(row="12"), "`row`: expected 32 digits 0-9a-f, found an integer"),
        (row(verdict='"ok"'), "decision 1 (row aaaaaaaa): `verdict`: expected one of fine, broken, later, found 'ok'"),
        (row(verdict=""), "`verdict`: expected one of fine, broken, later, found 'nothing'"),
        (row(verdict="1"), "`verdict`: expected a string, found an integer"),
        (row(reason=""), "decision 1 (row aaaaaaaa): `reason`: expected the reason for the decision"),
        (row(reason='" "'), "`reason`: expected the reason"),
        (row(why='"r"'), "`why`: unknown key; did you mean `who`?"),
        (row(who="[]"), "`who`: expected a string, found a list"),
        (row(date='"soon"'), "`date`: expected a date such as 2026-11-28, found 'soon'"),
        (row(date="2026-11-28T10:00:00"), "`date`: expected a date such as 2026-11-28, found a date or time"),
        (row() + row().partition("\n")[2], f"decision 2: row {A} has a decision above"),
        (row(reason="r"), "not TOML"),
        (row(date="9" * 5000), "not TOML"),
        (row(who="[" * 100_000), "nested too deeply"),
        ("version = 1\n" + "a." * 500_000 + "a = 1\n", "line 2 has more than 100 dots"),
    ],
)
def test_what_is_wrong_is_named(file: Path, text: str, words: str) -> None:
    file.write_text(text)
    with pytest.raises(ConfigError) as caught:
        load(str(file))
    assert str(caught.value).startswith(f"{file}: ")
    assert words in str(caught.value)


@pytest.mark.parametrize("data", [b"version = 1\n# \xff\n", b"#\n" * (2 << 20)])
def test_what_is_no_text_or_has_no_end_is_refused(file: Path, data: bytes) -> None:
    file.write_bytes(data)
    with pytest.raises(ConfigError):
        load(str(file))


def test_a_folder_is_no_file_of_decisions(file: Path) -> None:
    file.mkdir()
    with pytest.raises(ConfigError, match="a folder"):
        load(str(file))


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"b{number}.{'a.' * 97}a = 1\n" for number in range(10_000)),
        "".join(f"[b{number}.{'a.' * 97}a]\n" for number in range(10_000)),
        "[[decision]]\n" * 150_000,
        "#\n" * 1_000_000,
        "[[decision]]\n" + "a = {}\n" * 200_000,
    ],
    ids=["keys", "tables", "decisions", "comments", "values"],
)
def test_no_file_holds_a_run_up(file: Path, text: str) -> None:
    file.write_text(f"version = 1\n{text}")
    began = time.process_time()
    with contextlib.suppress(ConfigError, UsageError):
        load(str(file)).without({A})
    assert time.process_time() - began < 30


def test_a_new_file_is_one_that_is_read(file: Path) -> None:
    made = Decision(A, "broken", "it hangs", "me <me@example.org>", "2026-11-28")
    new = Decisions(str(file)).with_one(made, make_row("a"))
    assert (
        new.text
        == f"""\
# Decisions about the rows of `bwlint audit`; --decide adds to it.
version = 1

[[decision]]
row = "{A}"
verdict = "broken"
reason = "it hangs"
who = "me <me@example.org>"
date = "2026-11-28"
question = "cap == (12, 0)  # a"
subject = "pkg.ops.a_gemm"
places = ["pkg/a.py:4"]
"""
    )
    file.write_text(new.text)
    assert load(str(file)) == new == replace(new, made=(made,))


@pytest.mark.parametrize(
    "text",
    [
        'a "quoted" \\ path\\n',
        "several\r\nlines\tand a tab",
        "it's \x00\x1b[31m\x7f\x9f and \u202e\u2028",
        "\U0001f680 \U000e0041 ünï",
        '"""',
        "[[decision]]\n# no comment",
        "n\ud800ne",
    ],
)
def test_any_text_comes_back(file: Path, text: str) -> None:
    odd = make_row("a", question=text, subject=text)
    new = Decisions(str(file)).with_one(Decision(A, "fine", text, text), odd)
    file.write_text(new.text, encoding="utf-8", newline="")
    (made,) = load(str(file)).made
    kept = text.replace("\ud800", "?")
    assert (made.reason, made.who) == (kept, kept)
    assert new.made == (made,)
    assert new.text.isprintable() is False and "\x1b" not in new.text and "\u202e" not in new.text


def decided(text: str) -> Decisions:
    """A file with that text."""
    return Decisions(NAME, text, _made(NAME, text.encode()))


def test_what_is_there_stays_where_it_is() -> None:
    third = decided(MINE).with_one(Decision(C, "fine", "c"), make_row("c"))
    assert third.text.startswith(MINE + "\n[[decision]]\n")
    assert [made.fingerprint for made in third.made] == [A, B, C]
    again = third.with_one(Decision(B, "broken", "b"), make_row("b"))
    assert [(made.fingerprint, made.said) for made in again.made] == [(A, "fine"), (B, "broken"), (C, "fine")]
    assert "# two of them\n# belong together\n[[decision]]\n" in again.text and "after" not in again.text
    assert again.text.count("\n\n[[decision]]\n") == 1
    assert (
        again.without({A, C}).text
        == MINE.partition("# comes from")[0]
        + again.text.partition("]\n\n")[2].partition("\n\n[[decision]]")[0]
        + "\n\n"
    )


def test_a_file_without_a_line_end_or_with_those_of_windows() -> None:
    for text in (MINE.rstrip("\n"), MINE.replace("\n", "\r\n"), "version = 1"):
        known = decided(text)
        new = known.with_one(Decision(C, "fine", "c"), make_row("c"))
        assert new.text.startswith(text)
        assert new.made[:-1] == known.made


def test_pruning_what_is_not_there_changes_nothing() -> None:
    known = decided(MINE)
    assert known.without({C}) is known
    assert known.without({A, B}).made == ()


@pytest.mark.parametrize(
    "text",
    [
        "version = 1\ndecision = [{row = 'X', verdict = 'fine', reason = 'r'}]\n".replace("X", B),
        row(who="'''\n[[decision]]\n'''") + row(row=f'"{B}"').partition("\n")[2],
    ],
)
def test_what_is_written_in_another_form_is_for_hands(text: str) -> None:
    with pytest.raises(UsageError, match="edit it by hand"):
        decided(text).without({B})


def test_a_file_does_not_grow_beyond_what_is_read() -> None:
    with pytest.raises(UsageError, match="too large"):
        Decisions("x").with_one(Decision(A, "fine", "r" * (2 << 20)), make_row("a"))


def verdicts(row: Row) -> list[RowKind]:
    return [kind for _, kind in row.verdicts]


@pytest.mark.parametrize(
    ("kind", "said", "then", "each"),
    [
        ("review", "fine", "pass", ["pass", "pass"]),
        ("fail", "fine", "pass", ["pass", "pass"]),
        ("open", "broken", "fail", ["pass", "fail"]),
        ("pass", "broken", "fail", ["fail", "fail"]),
        ("review", "later", "review", ["pass", "review"]),
    ],
)
def test_what_a_decision_makes_of_a_row(kind: RowKind, said: Said, then: RowKind, each: list[RowKind]) -> None:
    decision = Decision(A, said, "as measured")
    ledger = apply(make_ledger(make_row("a", kind), make_row("c")), [decision, Decision(B, "fine", "b")])
    row, other = ledger.rows
    assert (row.kind, verdicts(row)) == (then, each)
    assert row.decision == replace(decision, was=kind)
    assert row.why == ("12.1 is treated unlike 12.0" if said == "later" else "decided: as measured")
    assert other == make_row("c")
    assert ledger.stale == (Decision(B, "fine", "b"),)


def test_where_the_file_lies(tmp_path: Path) -> None:
    top_of.cache_clear()
    real = tmp_path.resolve()
    (real / "r" / "sub").mkdir(parents=True)
    assert root_of(None, str(real / "r" / "sub")) == str(real / "r" / "sub")
    top_of.cache_clear()
    (real / "r" / ".git").mkdir()
    assert root_of(None, str(real / "r" / "sub")) == str(real / "r")
    assert root_of(str(real / "r" / "sub" / "bwlint.toml"), str(real)) == str(real / "r" / "sub")
