"""Decorators that are functions of the function: on what they skip."""

from __future__ import annotations

import ast

import pytest

from bwlint.readers.python.marking import skips_on

MARKS = "def d(n):\n    m = [pytest.mark.skipif({})]\n    def inner(f):\n        return m[0](f)\n    return {}\n"
WRAPS = (
    "def d(n):\n    def wrap(f):\n        def run(*a):\n            if cap < n:\n                {}\n"
    "            return f(*a)\n        return run\n    return wrap\n"
)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (MARKS.format("cap < n", "inner"), ["cap < n"]),
        (MARKS.replace("skipif", "skipUnless").format("cap < n", "inner"), ["not cap < n"]),
        (MARKS.format("cap < n", "m"), []),
        (MARKS.format("cap < n", "None"), []),
        (MARKS.replace("def d", "def test_d").format("cap < n", "inner"), []),
        (WRAPS.format("pytest.skip('old')"), ["cap < n"]),
        (WRAPS.format("self.skipTest('old')"), ["cap < n"]),
        (WRAPS.format("raise unittest.SkipTest('old')"), ["cap < n"]),
        (WRAPS.format("return pytest.skip('old')"), ["cap < n"]),
        (WRAPS.format("raise ValueError('old')"), []),
        (WRAPS.format("n = 2"), []),
        ("def d(f):\n    return f\n", []),
    ],
)
def test_on_what_a_decorator_skips(code: str, expected: list[str]) -> None:
    node = ast.parse(code).body[0]
    assert isinstance(node, ast.FunctionDef)
    assert [f"{'not ' if fails else ''}{ast.unparse(test)}" for test, fails in skips_on(node)] == expected
