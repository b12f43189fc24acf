"""The words of findings and of the pages of rules: docs/style.md, as far as a program can hold them to it."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bwlint.settings import catalog

ROOT = Path(__file__).parent.parent
REPORTS = sorted((ROOT / "tests" / "golden").glob("*.json"))

MOST_WORDS = 25
# Code and what a tool prints count as one word.
_CODE = re.compile(r"`[^`]*`|\"[^\"]*\"|\([^()]*:\d+[^()]*\)")
_END = re.compile(r"(?<=[.?!])\s+")
_FENCE = re.compile(r"^```.*?^```", re.M | re.S)
FORBIDDEN = re.compile(
    r"\bis told\b|\bcomes? to\b|\bis none\b|\bways\b|\bhanded\b|\bgoes wrong\b|\bthrough to\b[^.]*\bby it to\b"
    r"|\bwhom\b|\bthere is to\b|\bwho asks it\b|\bsays? yes\b|\bthe same(?=[.,;:]|$)"
    r"|(?<!\bno )\bsuch(?! as\b)|^(?:What|Who)\b[^?]*$"
    r"|\bnobody\b|\bends in an error\b|\bis for a person to\b"
    r"|\bwill do\b|\bspeaks? of\b|\bstands? elsewhere\b|\bpicked here\b|\bchecks this\b|\bcontainers?, "
    r"|\bgoes unnoticed\b|\bfor the author\b|\bto be looked at\b|\bis not shown\b|\bits twin\b|\btaken as passed\b"
    r"|\bexact part only\b|\bthe a target\b|\bbecomes a test\b|\basks? (?:it|the same)\b|\bwhat is behind\b"
    r"|\bleads? to here\b",
    re.I,
)
OF_A_PAGE = re.compile(
    r"\bis told\b|\btold of\b|\bwhom\b|\bthere is to\b|\bis for a person to\b|\bnothing is said of\b|\bcomes to\b"
    r"|\bnobody has decided\b|\bthe question\b(?! )",
    re.I,
)
"""Turns that no page and no first line of a module has: there "ways" and "handed" may be the field's own words."""
_LATER_ALONE = re.compile(r"(?<![\d.])12\.1(?![\da-z]|\.\d)")
BESIDE_ITS_PRODUCT = re.compile(r"12\.1 \(GB10\)|GB10 \(12\.1\)|12\.0 and 12\.1|12\.1 \(GB10")


def sentences(text: str) -> list[str]:
    return _END.split(text)


def words_of(sentence: str) -> int:
    return len(_CODE.sub("code", sentence).split())


def said() -> Iterator[tuple[str, str, str]]:
    """All that the golden reports say: the rule, what it is, the words."""
    seen = set[tuple[str, str, str]]()
    for path in REPORTS:
        for finding in json.loads(path.read_text(encoding="utf-8"))["findings"]:
            name = finding["name"]
            texts = [("message", finding["message"]), ("advice", finding.get("advice") or "")]
            texts += [("related", one["message"]) for one in finding["related"]]
            for kind, text in texts:
                if text and (name, kind, text) not in seen:
                    seen.add((name, kind, text))
                    yield name, kind, text


def beside() -> Iterator[tuple[str, str, str]]:
    """What the golden reports say beside that: at the place, of the fix, of what `confirm` tests."""
    for path in REPORTS:
        for finding in json.loads(path.read_text(encoding="utf-8"))["findings"]:
            fix = finding["fix"] or {"title": "", "proof": {}}
            texts = [finding.get("label"), finding["fix_refused"], fix["title"], (fix["proof"] or {}).get("evidence")]
            yield from ((finding["name"], "beside", text) for text in texts if text)
            yield from ((finding["name"], "claim", claim["says"]) for claim in finding["claims"])


def written() -> Iterator[tuple[str, str, str]]:
    """The pages that people write, and the first line of each module."""
    for page in (ROOT / "CHANGELOG.md", ROOT / "README.md", *(ROOT / "docs").glob("*.md")):
        if page.name != "style.md":
            text = _FENCE.sub("", page.read_text(encoding="utf-8"))
            yield from ((page.name, "page", line) for line in text.splitlines())
    for module in sorted((ROOT / "src").rglob("*.py")):
        first = (ast.get_docstring(ast.parse(module.read_bytes())) or "").partition("\n")[0]
        yield str(module.relative_to(ROOT)), "module", first


def pages() -> Iterator[tuple[str, str, str]]:
    """All that the rules say of themselves: the rule, the section, the words."""
    for rule in catalog.rules():
        texts = (rule.summary, rule.why, rule.confirm, rule.fix, *rule.reported, *rule.note, *rule.silent)
        yield from ((rule.name, "page", " ".join(text.split())) for text in texts)


def together() -> Iterator[tuple[str, str]]:
    for path in REPORTS:
        for finding in json.loads(path.read_text(encoding="utf-8"))["findings"]:
            yield finding["name"], f"{finding['message']} {finding.get('advice') or ''}"


def _long(texts: Iterator[tuple[str, str, str]]) -> list[str]:
    found = [(name, one) for name, _, text in texts for one in sentences(text) if words_of(one) > MOST_WORDS]
    return [f"{name}: {words_of(one)} words: {one}" for name, one in found]


@pytest.mark.parametrize("texts", [said, pages])
def test_sentences_are_short(texts: Any) -> None:
    assert _long(texts()) == []


def _turns(texts: Iterator[tuple[str, str, str]], forbidden: re.Pattern[str]) -> list[tuple[str, str, str]]:
    return [
        (name, match[0], text)
        for name, _, text in texts
        for one in sentences(_CODE.sub("code", text))
        if (match := forbidden.search(one))
    ]


@pytest.mark.parametrize("texts", [said, beside, pages])
def test_no_forbidden_turns(texts: Any) -> None:
    assert _turns(texts(), FORBIDDEN) == []


def test_no_forbidden_turns_in_pages_and_first_lines() -> None:
    assert len([name for name, kind, _ in written() if kind == "module"]) > 500
    assert _turns(written(), OF_A_PAGE) == []


def test_messages_and_remedies_are_sentences() -> None:
    """They begin with a capital letter, a number or code, and end with one full stop."""
    wrong = [
        (name, text)
        for name, kind, text in said()
        if kind != "related" and not re.fullmatch(r"[A-Z0-9`][^\n]*[^.\s]\.", text)
    ]
    assert wrong == []


def test_gb10_stands_beside_its_number() -> None:
    """Few know 12.1: whoever reads it for the first time reads the product, too."""
    wrong = [
        (name, text)
        for name, text in together()
        if (first := _LATER_ALONE.search(_CODE.sub("code", text)))
        and not BESIDE_ITS_PRODUCT.match(_CODE.sub("code", text), first.start())
        and not BESIDE_ITS_PRODUCT.match(_CODE.sub("code", text), max(first.start() - 9, 0))
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("This check is true on 12.0.", 6),
        ("`a b c` refuses all but 10.x", 5),
        ('`mma` does not assemble. ptxas: "not supported on .target".', 6),
    ],
)
def test_code_counts_as_one_word(text: str, count: int) -> None:
    assert words_of(text) == count


@pytest.mark.parametrize(
    "text",
    [
        "and who asks it lets 12.x through",
        "`f` says yes on 12.x",
        "What follows fails.",
        "This text says that 12.x will do.",
        "the rows of this table stand elsewhere",
        "what is behind the guard works on 12.x too",
        "no instruction behind it needs the a target",
    ],
)
def test_forbidden_turns_are_found(text: str) -> None:
    assert FORBIDDEN.search(text)
