"""Tests with parameters: what runs for one that a mark skips."""

from __future__ import annotations

import ast

import pytest

from bwlint.readers.python.params import parameters, skipped

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
