"""What calls write out, and the tests that come out one way because of it."""

from __future__ import annotations

import ast

import pytest

from bwlint.readers.python.given import Spoken, arguments, bound, deciding


def call(code: str) -> ast.Call:
    node = ast.parse(code, mode="eval").body
    assert isinstance(node, ast.Call)
    return node


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("f(x, 'fast')", ("0=?", "1='fast'")),
        ("f(x, way='fast')", ("0=?", "way='fast'")),
        ("f(new=True)", ("new=True",)),
        ("f(None, x)", ("0=None", "1=?")),
        ("f(x, way=Way.FAST)", ("0=?", "way=Way.FAST")),
        ("f(x, way=kit.Way.FAST)", ("0=?", "way=Way.FAST")),
        ("f(x, 128)", ("0=?", "1=128")),
        ("f(x, way)", ("0=?", "1=?")),
        ("f()", ("?=?",)),
        ("f(*args, way='fast')", ()),
        ("f(way='fast', **options)", ()),
        ("f('a text of more than forty characters, which names nothing')", ("0=?",)),
    ],
)
def test_what_a_call_writes_out(code: str, expected: tuple[str, ...]) -> None:
    assert arguments(call(code), {}) == expected


FUNCTION = "def f(self, x, way='slow', size=4, *, new=False):\n    {}"


@pytest.mark.parametrize(
    ("given", "body", "test", "expected"),
    [
        ("f(x, 'fast')", "pass", "way == 'fast'", True),
        ("f(x, 'fast')", "pass", "way != 'fast'", False),
        ("f(x, way='fast')", "pass", "way in ('fast', 'faster')", True),
        ("f(x, way='fast')", "pass", "way not in ('slow',)", True),
        ("f(x, way='fast')", "pass", "way == other", None),
        ("f(x, way='fast')", "pass", "x == 'fast'", None),
        ("f(x, way='fast')", "pass", "way.startswith('f')", None),
        ("f(x, new=True)", "pass", "new", True),
        ("f(x, new=True)", "pass", "not new", False),
        ("f(x, new=True)", "pass", "new and x", None),
        ("f(x, new=True)", "pass", "new or x", True),
        ("f(x, new=False)", "pass", "new and x", False),
        ("f(x, new=True)", "pass", "way == 'slow'", True),
        ("f(x, way=None)", "pass", "way is None", True),
        ("f(x, way=None)", "pass", "way is not None", False),
        ("f(x, way=Way.FAST)", "pass", "way == Way.FAST", True),
        ("f(x, way=Way.FAST)", "pass", "way is kit.Way.SLOW", False),
        ("f(x, way='fast')", "way = 'slow'", "way == 'fast'", None),
        ("f(x, way, new=True)", "pass", "way == 'slow'", None),
        ("f(x, size=8)", "pass", "size > 4", True),
        ("f(x, new=True)", "pass", "size >= 8", False),
        ("f(x, size=8)", "pass", "size > limit", None),
        ("f(x, way='fast')", "pass", "way > 4", None),
    ],
)
def test_how_a_test_comes_out(given: str, body: str, test: str, expected: bool | None) -> None:
    (function,) = ast.parse(FUNCTION.format(body)).body
    assert isinstance(function, ast.FunctionDef)
    decide = deciding(Spoken.of(function).held(bound(function, arguments(call(given), {}))))
    assert decide(ast.parse(test, mode="eval").body) is expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("way = x", set()),
        ("return way", set()),
        ("if way: pass", {"way"}),
        ("if not (x and way == 'fast'): pass", {"x", "way"}),
        ("return 1 if settings.way == 'fast' else 2", {".way"}),
        ("assert 'fast' == way", set()),
        ("run(x + 1, way, new=new)", {"way", "new"}),
    ],
)
def test_the_names_that_have_to_be_held_for_something_to_matter(body: str, expected: set[str]) -> None:
    (function,) = ast.parse(FUNCTION.format(body)).body
    assert isinstance(function, ast.FunctionDef)
    assert Spoken.of(function).asked - {""} == expected


def test_of_an_attribute_any_object_is_asked() -> None:
    (function,) = ast.parse(FUNCTION.format("pass")).body
    assert isinstance(function, ast.FunctionDef)
    decide = deciding(bound(function, (".way='fast'",)))
    assert decide(ast.parse("settings.way == 'fast'", mode="eval").body) is True
    assert decide(ast.parse("way == 'slow'", mode="eval").body) is None
