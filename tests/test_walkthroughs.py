"""What pages quote of bwlint is what it says today, where the inputs are at hand; how quotations are written anew."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
import walkthroughs
from walkthroughs import NotHad, Said, commands, is_at_hand, renewed, rewritten

ROOT = Path(__file__).parents[1]
QUOTED = sorted({(page, line) for page in walkthroughs.quoting() for line in commands(page.read_text("utf-8"))})
FINDINGS = "warning[BW1] one\n --> a.py:1:2\n  |\n\nnote[BW2] two\n --> b.py:3:4\n"
SAID = Said(FINDINGS, "skipped x: why\nbwlint: 1 warning, 1 note in 3.4 s\nbwlint: next: bwlint check\n")


@pytest.mark.parametrize(("page", "arguments"), QUOTED, ids=lambda part: str(getattr(part, "name", part)))
def test_a_page_quotes_what_is_said_today(page: Path, arguments: str, tmp_path: Path) -> None:
    if not is_at_hand(arguments):
        pytest.skip(f"`{arguments}` reads what is not in this repository: python tools/walkthroughs.py --check")
    before = page.read_text("utf-8")
    others = {one: NotHad(one) for one in commands(before) - {arguments}}
    only = re.sub(r"<!-- bwlint (.+?)( #.*)? -->", lambda mark: "" if mark[1] in others else mark[0], before)
    assert rewritten(only, lambda given: walkthroughs.said(given, tmp_path)) == only, "python tools/walkthroughs.py"


def test_the_walkthroughs_quote_nothing_that_is_not_said_again() -> None:
    for page in sorted((ROOT / "docs" / "walkthroughs").glob("*.md")):
        text = page.read_text("utf-8")
        blocks = re.findall(r"(.*)\n```(?:text|console)\n", text)
        assert blocks and all(line.startswith("<!-- bwlint ") for line in blocks), page.name
        assert len(re.findall(r"`bwlint: ", text)) == len(re.findall(r" # summary -->`bwlint: ", text)), page.name


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("<!-- bwlint check . -->\n```text\nold\n```\n", f"<!-- bwlint check . -->\n```text\n{FINDINGS}```\n"),
        (
            "<!-- bwlint check . # b.py:3 -->\n```text\n```\n",
            "<!-- bwlint check . # b.py:3 -->\n```text\nnote[BW2] two\n --> b.py:3:4\n```\n",
        ),
        (
            "<!-- bwlint check . # [BW1] -->\n```console\n$ bwlint check .\nold\n```\nmore\n```text\nown\n```\n",
            "<!-- bwlint check . # [BW1] -->\n```console\n$ bwlint check .\nwarning[BW1] one\n --> a.py:1:2\n  |\n```\n"
            "more\n```text\nown\n```\n",
        ),
        (
            "read: <!-- bwlint check . # summary -->`bwlint: 9 notes`, and `x`",
            "read: <!-- bwlint check . # summary -->`bwlint: 1 warning, 1 note`, and `x`",
        ),
        ("```text\nby hand\n```\n`bwlint: 2 notes`", "```text\nby hand\n```\n`bwlint: 2 notes`"),
    ],
)
def test_a_quotation_is_written_anew(before: str, after: str) -> None:
    assert rewritten(before, lambda arguments: SAID) == after
    assert rewritten(after, lambda arguments: SAID) == after


@pytest.mark.parametrize("words", ["c.py:9", ".py:", "summary"])
def test_what_is_no_longer_said_is_not_guessed(words: str) -> None:
    page = f"<!-- bwlint check . # {words} -->" + ("`bwlint: x`" if words == "summary" else "\n```text\nold\n```\n")
    with pytest.raises(NotHad):
        rewritten(page, lambda arguments: Said(FINDINGS, "Error: no\n"))


def _unreachable(arguments: str) -> Said:
    raise NotHad("x: pip cannot reach the package index")


@pytest.mark.parametrize(
    ("say", "check", "code", "told", "writes"),
    [
        (_unreachable, False, 1, "left as it is: x: pip cannot reach", False),
        (lambda arguments: SAID, True, 1, "is stale: python tools/walkthroughs.py", False),
        (lambda arguments: SAID, False, 0, "written", True),
    ],
)
def test_a_page_is_written_whole_or_left_as_it_is(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    say: Callable[[str], Said],
    check: bool,
    code: int,
    told: str,
    writes: bool,
) -> None:
    page, before = tmp_path / "a.md", "<!-- bwlint check pypi:x -->\n```text\nold\n```\n"
    page.write_text(before)
    assert renewed([page], say, check=check) == code
    shown = capsys.readouterr()
    assert told in shown.out + shown.err
    assert (page.read_text() != before) == writes


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("audit fixtures/leak/launched.py", True),
        ("check --severity note fixtures/leak fixtures/excluded", True),
        ("check --severity note pypi:nvidia-cudnn-frontend==1.32.0", False),
        ("inspect --platform aarch64 pypi:bitsandbytes==0.50.2", False),
        ("check --severity note llm-awq", False),
        ("check fixtures/no-such-folder", False),
    ],
)
def test_what_is_at_hand(arguments: str, expected: bool) -> None:
    assert is_at_hand(arguments) == expected
