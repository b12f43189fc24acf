"""Decorators that are functions of the function: on what they skip."""

from __future__ import annotations

import ast

import pytest

from bwlint.model.expr import Expr
from bwlint.readers.python import read
from bwlint.readers.python.marking import parameters, skipped

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


SKIP = 'pytest.param("fast", True, marks=pytest.mark.skipif(old, reason="no"))'
SLOW = SKIP.replace("fast", "slow")
BODY = """    if kind == "fast":
        fast()
    elif not plain:
        slow()
    else:
        other()
    end()
"""


def _test(decorator: str, body: str = BODY) -> ast.FunctionDef:
    (node,) = ast.parse(f"@{decorator}\ndef test_it(kind, plain):\n{body}").body
    assert isinstance(node, ast.FunctionDef)
    return node


@pytest.mark.parametrize(
    ("decorator", "runs"),
    [
        (f'pytest.mark.parametrize("kind, plain", [{SKIP}])', ["fast()", "end()"]),
        (f'pytest.mark.parametrize(("kind", "plain"), [("slow", True), {SKIP}])', ["fast()", "end()"]),
        (f'pytest.mark.parametrize(["kind", "plain"], values + [{SKIP}])', ["fast()", "end()"]),
        (f'pytest.mark.parametrize("kind, plain", [{SLOW}])', ["other()", "end()"]),
        (
            f'pytest.mark.parametrize("kind, plain", [{SLOW.replace("True", "False")}])',
            ["slow()", "end()"],
        ),
    ],
)
def test_the_arms_for_a_parameter_run(decorator: str, runs: list[str]) -> None:
    ((mark, body),) = skipped(_test(decorator))
    assert ast.unparse(mark) == "pytest.mark.skipif(old, reason='no')"
    assert [ast.unparse(one) for one in body] == runs


@pytest.mark.parametrize(
    "value",
    [
        'pytest.param(name, flag(), marks=[pytest.mark.slow, pytest.mark.skipif(old, reason="no")])',
        SKIP.replace('"fast", True, ', ""),
    ],
)
def test_what_nobody_knows_decides_nothing(value: str) -> None:
    ((_, body),) = skipped(_test(f'pytest.mark.parametrize("kind, plain", [{value}])'))
    assert [type(one) for one in body] == [ast.If, ast.Expr]


@pytest.mark.parametrize(
    "decorator",
    [
        "pytest.mark.parametrize()",
        f'pytest.mark.parametrize(argnames="kind, plain", argvalues=[{SKIP}])',
        'pytest.mark.parametrize("kind, plain")',
        'pytest.mark.parametrize("kind, plain", [("fast", True)])',
        'pytest.mark.parametrize("kind, plain", [pytest.param("fast", True, marks=pytest.mark.slow)])',
        'pytest.mark.parametrize("kind, plain", [pytest.param("fast", True, marks=requires)])',
        f"register({SKIP})",
        "parametrize",
    ],
)
def test_no_parameter_is_skipped(decorator: str) -> None:
    assert list(skipped(_test(decorator))) == []


def test_names_and_values() -> None:
    (mark,) = _test('pytest.mark.parametrize("kind , plain", CASES)').decorator_list
    found = parameters(mark)
    assert found is not None
    assert (found[0], ast.unparse(found[1])) == (["kind", "plain"], "CASES")
