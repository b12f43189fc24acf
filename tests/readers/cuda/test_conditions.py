"""Where comparisons stand, whatever is done with them."""

from __future__ import annotations

import pytest
from effort import at_most

from bwlint.model.expr import Expr, unknown
from bwlint.readers.cuda.expressions import conditions, kept_as, lower, outside
from bwlint.readers.cuda.lexer import clean


def found(source: str, aside: tuple[tuple[int, int], ...] = ()) -> list[str]:
    code = clean(source)
    lowered = lambda start, end: lower(code, start, end, lambda name, at: Expr("name", (name,), at))  # noqa: E731
    tests = conditions(code.text, 0, len(code.text), aside, lowered)
    places = [test.at for test in tests if test.at is not None]
    return [source[code.offset(*at[:2]) : code.offset(*at[2:])] for at in places]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("ok = a == 12 && b == 0", ["a == 12 && b == 0"]),
        ("bool ok(a == 12)", ["a == 12"]),
        ("bool first = true, ok = a == 12", ["a == 12"]),
        ("run(1, a == 12, b)", ["a == 12"]),
        ("run(f(a == 12))", ["a == 12"]),
        ("return {a, a == 12}", ["a == 12"]),
        ("return Pair{a, a == 12}", ["a == 12"]),
        ("auto x = c ? a == 12 : b != 0", ["a == 12", "b != 0"]),
        ("std::map<int, bool> rows = {{1, a == 12}}", ["a == 12"]),
        ("Options o{.rows = 1, .quick = a == 12}", ["a == 12"]),
        ("kernel<<<1, 2>>>(a == 12)", ["a == 12"]),
        ("rows[i] |= !(a == 12)", ["!(a == 12)"]),
        ("std::cout << (a == 12)", []),
        ("Table<120> table", []),
        ("x = y", []),
        ("", []),
    ],
)
def test_conditions(source: str, expected: list[str]) -> None:
    assert found(source) == expected


def test_what_lies_aside_is_left_out() -> None:
    source = "run([&] { return a == 12; }, b == 0)"
    start = source.index("return")
    assert found(source, ((start, source.index("}")),)) == ["b == 0"]


@pytest.mark.parametrize(
    ("before", "name"),
    [
        ("ok = ", "ok"),
        ("options.quick = ", "quick"),
        ("rows[i] |= ", "rows"),
        ("Options o{", "o"),
        ("run(", ""),
        ("", ""),
    ],
)
def test_kept_as(before: str, name: str) -> None:
    assert kept_as(before, 0, len(before)) == name


def test_outside() -> None:
    text = "bool a = b == 1; int c = 2; void f() { bool d = e == 3; }"
    assert [text[start:end] for start, end in outside(text, lambda at: at < text.index("void"))] == [" b == 1"]


@pytest.mark.parametrize("piece", ["f(", "(a == ", "{", "a == 1, ", "f(a == 1)", "((a))", "<", "=", "[(a == 1)]"])
def test_takes_no_time(piece: str) -> None:
    text = piece * (40_000 // len(piece))
    with at_most(5):
        for _ in conditions(text, 0, len(text), (), lambda start, end: unknown("")):
            pass
