"""Statements of C++, by kind."""

from __future__ import annotations

import pytest

from bwlint.readers.cuda.lexer import clean
from bwlint.readers.cuda.statements import Statement, leaves, statements


def parsed(source: str) -> tuple[Statement, ...]:
    return statements(clean(source).text, 0, len(source))


def shown(body: tuple[Statement, ...]) -> str:
    return " ".join(map(_one, body))


def _one(statement: Statement) -> str:
    words = [statement.kind]
    if statement.body:
        words.append(f"{{{shown(statement.body)}}}")
    if statement.orelse:
        words.append(f"else {{{shown(statement.orelse)}}}")
    words += [f"[{shown(inner)}]" for inner in statement.inner]
    return "".join(words)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a; b;", "expression expression"),
        ("if (a) b; else if (c) d; else e;", "if{expression}else {if{expression}else {expression}}"),
        ("if constexpr (a) { return 1; }", "if{block{return}}"),
        ("if (a) if (b) c; else d;", "if{if{expression}else {expression}}"),
        ("if (int x = f(); x > 3) g();", "if{expression}"),
        ("for (int i = 0; i < 3; ++i) f(i);", "loop{expression}"),
        ("for (;;) if (a) break;", "loop{if{break}}"),
        ("while (a) { b; }", "loop{block{expression}}"),
        ("do { a; } while (b);", "loop{block{expression}} loop{expression}"),
        (
            "switch (a) { case 1: case 2: f(); break; default: g(); }",
            "switch{block{case case expression break case expression}}",
        ),
        ("{ a; { b; } }", "block{expression block{expression}}"),
        ("return f([&] { if (a) b; });", "return[if{expression}]"),
        ("DISPATCH(x, [&] { a; b; });", "expression[expression expression]"),
        ("auto f = [](int a) mutable { return a; };", "expression[return]"),
        ('throw x("a;b");', "throw"),
        ("label: a;", "expression expression"),
        ("goto x; co_return 1;", "goto co_return"),
        ("int x{3}; y;", "expression expression"),
        ("T x = { 1, 2 };", "expression"),
        ("} a;", "expression expression"),
        ("if (a", "expression"),
        ("if a", "expression"),
        ("else a;", "block{expression}"),
        ("", ""),
    ],
)
def test_statements(source: str, expected: str) -> None:
    assert shown(parsed(source)) == expected


@pytest.mark.parametrize(
    ("source", "leaving"),
    [
        ("return;", True),
        ("a; throw x;", True),
        ("{ { return; } }", True),
        ("if (a) return; else throw x;", True),
        ("if (a) return;", False),
        ("if (a) return; else b;", False),
        ("a;", False),
        ("", False),
    ],
)
def test_what_never_falls_through(source: str, leaving: bool) -> None:
    assert leaves(parsed(source)) is leaving


def test_a_test_is_where_its_text_stands() -> None:
    source = "  if (a == b) c;"
    (statement,) = parsed(source)
    assert statement.test is not None
    assert source[slice(*statement.test)] == "a == b"
