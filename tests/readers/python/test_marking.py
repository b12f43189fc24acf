"""Decorators that are functions of the function: on what they skip."""

from __future__ import annotations

import pytest

from bwlint.model.expr import Expr
from bwlint.readers.python import read

ASKED = "cap = torch.cuda.get_device_capability()"
MARKS = (
    "def d(n):\n    {asked}\n    m = [pytest.mark.skipif({})]\n"
    "    def inner(f):\n        return m[0](f)\n    return {}\n"
)
WRAPS = (
    "def d(n):\n    def wrap(f):\n        def run(*a):\n"
    "            {asked}\n            if cap < n:\n                {}\n"
    "            return f(*a)\n        return run\n    return wrap\n"
)
LATE = (
    "def d(n, most=99):\n    def wrap(f):\n        {asked}\n        mark = pytest.mark.{}(n <= cap[0] <= most)\n"
    "        return mark(f)\n    return wrap\n"
)


def skipped_on(code: str) -> list[str]:
    """The operators of the tests on which `d` skips."""
    returns = read("a.py", f"import pytest\nimport torch\n\n\n{code}", "a", False).functions["d"].returns
    ((_, value),) = returns[:1]
    if value.op != "call" or value.args[0] != Expr("import", ("pytest.mark", "skipif")):
        return []
    (test,) = value.args[1]
    return [one.op for one in (test.args[0] if test.op == "or" else (test,))]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (MARKS.format("cap < n", "inner", asked=ASKED), ["cmp"]),
        (MARKS.replace("skipif", "skipUnless").format("cap < n", "inner", asked=ASKED), ["not"]),
        (MARKS.format("cap < n", "m", asked=ASKED), []),
        (MARKS.format("cap < n", "None", asked=ASKED), []),
        (WRAPS.format("pytest.skip('old')", asked=ASKED), ["cmp"]),
        (WRAPS.format("self.skipTest('old')", asked=ASKED), ["cmp"]),
        (WRAPS.format("raise unittest.SkipTest('old')", asked=ASKED), ["cmp"]),
        (WRAPS.format("return pytest.skip('old')", asked=ASKED), ["cmp"]),
        (WRAPS.format("return pytest.mark.skip(reason='old')(f)", asked=ASKED), ["cmp"]),
        (WRAPS.format("raise ValueError('old')", asked=ASKED), ["cmp"]),
        (WRAPS.format("n = 2", asked=ASKED), []),
        (LATE.format("skipif", asked=ASKED), ["cmp"]),
        (LATE.format("skipUnless", asked=ASKED), ["not"]),
        (f"def d(f):\n    {ASKED}\n    return f if cap else None\n", []),
    ],
)
def test_on_what_a_decorator_skips(code: str, expected: list[str]) -> None:
    assert skipped_on(code) == expected


def test_a_test_is_no_decorator() -> None:
    code = MARKS.replace("def d", "def test_d").format("cap < n", "inner", asked=ASKED)
    found = read("a.py", f"import pytest\nimport torch\n\n\n{code}", "a", False).functions["test_d"].returns
    assert found[0][1].op != "call"
