"""C++ expressions in the expression form."""

from __future__ import annotations

from typing import Any

import pytest

from bwlint.model.expr import Expr, Span
from bwlint.readers.cuda.expressions import lower, number
from bwlint.readers.cuda.lexer import clean


def name(text: str, at: Span) -> Expr:
    return Expr("name", (text,), at)


def shown(node: Any) -> str:
    """A node as a list in brackets, operator first."""
    if isinstance(node, tuple) and not isinstance(node, Expr):
        return " ".join(map(shown, node))
    if not isinstance(node, Expr):
        return str(node)
    if node.op in ("name", "const"):
        return repr(node.args[0]) if node.op == "const" else str(node.args[0])
    return "(" + " ".join([node.op, *map(shown, node.args)]) + ")"


def lowered(source: str, preprocessor: bool = False) -> str:
    return shown(lower(clean(source), 0, len(source), name, preprocessor=preprocessor))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a || b && c", "(or a (and b c))"),
        ("a && b && c", "(and a b c)"),
        ("a | b ^ c & d == e", "(bin | a (bin ^ b (bin & c (cmp == d e))))"),
        ("a + b * c - d", "(bin - (bin + a (bin * b c)) d)"),
        ("a >> 1 > 2", "(cmp > (bin >> a 1) 2)"),
        ("a << 1 + 2", "(bin << a (bin + 1 2))"),
        ("x < y >= 3", "(cmp >= (cmp < x y) 3)"),
        ("a == 1 == true", "(cmp == (cmp == a 1) True)"),
        ("!a && !b", "(and (not a) (not b))"),
        ("!(a == b)", "(not (cmp == a b))"),
        ("-a - -b", "(bin - (neg a) (neg b))"),
        ("~a", "(bin - -1 a)"),
        ("a and not b or c", "(or (and a (not b)) c)"),
        ("a ? b : c ? d : e", "(if a b (if c d e))"),
        ("a == 1 ? b : c", "(if (cmp == a 1) b c)"),
        ("sm / 10 == 12", "(cmp == (bin // sm 10) 12)"),
    ],
)
def test_operators(source: str, expected: str) -> None:
    assert lowered(source) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a < b", "(cmp < a b)"),
        ("a < b && c > d", "(and (cmp < a b) (cmp > c d))"),
        ("a < b == c", "(cmp == (cmp < a b) c)"),
        ("f<a, b>(c)", "(call f<a,b> c)"),
        ("std::max<int>(a, b)", "(call std::max<int> a b)"),
        ("a<b>::c", "a<b>::c"),
        ("a<b<c>>::d", "a<b<c>>::d"),
        ("std::is_same_v<Arch, Sm90>", "std::is_same_v<Arch,Sm90>"),
        ("ns::a::b", "ns::a::b"),
        ("f(a)(b)", "(call (call f a) b)"),
        ("f()", "(call f )"),
        ("f(a, g(b, c))", "(call f a (call g b c))"),
        ("p->major * 10 + p->minor", "(bin + (bin * (attr p major) 10) (attr p minor))"),
        ("v[0].x", "(attr (index v 0) x)"),
        ("*p == 3", "(cmp == p 3)"),
        ('"a" "b"', "'ab'"),
        ("nullptr", "None"),
        ("std::nullopt", "None"),
    ],
)
def test_names_calls_and_templates(source: str, expected: str) -> None:
    assert lowered(source) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("static_cast<int>(x) + 1", "(bin + x 1)"),
        ("(int)x / 10", "(bin // x 10)"),
        ("(unsigned int)(x)", "x"),
        ("(int64_t) x", "x"),
        ("(std::size_t) x", "(unknown ( std :: size_t ) x)"),
        ("int(x)", "(call int x)"),
        ("(x)", "x"),
        ("((x))", "x"),
    ],
)
def test_casts(source: str, expected: str) -> None:
    assert lowered(source) == expected


@pytest.mark.parametrize(
    "source",
    ["&a", "a = b", "a, b", "[] { return 1; }()", "new int", "a <=> b", "(a", "a b", "()", "?", ""],
)
def test_what_the_form_has_no_word_for_is_unknown(source: str) -> None:
    assert lowered(source).startswith("(unknown")


def test_nested_too_deeply_is_unknown() -> None:
    assert lowered("(" * 100 + "a" + ")" * 100).startswith("(unknown")
    assert lowered("(" * 10 + "a" + ")" * 10) == "a"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("defined(A) && !defined B", "(and (defined A) (not (defined B)))"),
        ("A(1, 2) > B", "(cmp > (macro A 1 2) B)"),
        ("__has_include(<a.h>) || A", "(or (unknown __has_include ( < a . h > )) A)"),
        ("A == 1'200u", "(cmp == A 1200)"),
        ("(A)", "A"),
    ],
)
def test_conditions_of_the_preprocessor(source: str, expected: str) -> None:
    assert lowered(source, preprocessor=True) == expected


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("1200", 1200),
        ("1'200", 1200),
        ("1200uLL", 1200),
        ("0x4B0", 1200),
        ("0b101", 5),
        ("010", 8),
        ("1.5f", 1.5),
        ("1e3", 1000.0),
        ("9" * 50, float("9" * 50)),
        ("0xg", None),
        ("09", None),
        ("1.2.3", None),
        ("12_km", None),
    ],
)
def test_numbers(text: str, value: object) -> None:
    assert number(text) == value
