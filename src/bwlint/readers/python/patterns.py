"""Patterns of `match` as tests, with the names that they capture bound to their parts of the subject."""

from __future__ import annotations

import ast

from bwlint.model.expr import Expr, const, unknown
from bwlint.readers.nodes import below
from bwlint.readers.python.lower import Lowerer
from bwlint.readers.spans import span

_ALWAYS = const(True)


def as_chain(cases: list[ast.match_case]) -> list[ast.stmt]:
    """What follows where a case is not taken: the other cases as the `else` of an `if`."""
    if not cases:
        return []
    case, *others = cases
    if case.guard is None and isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None:
        return case.body
    chain = ast.If(ast.Constant(value=True), case.body, as_chain(others))
    ast.copy_location(chain, case.pattern)
    chain.end_lineno, chain.end_col_offset = case.body[-1].end_lineno, case.body[-1].end_col_offset
    return [ast.fix_missing_locations(chain)]


def test(lowerer: Lowerer, subject: Expr, case: ast.match_case) -> Expr | None:
    """What has to hold for a case to be taken; None where it always is. Captured names are bound in the scope."""
    asked = _asked(lowerer, subject, case.pattern)
    guard = [] if case.guard is None else [lowerer.lower(case.guard)]
    tests = (*(() if asked is _ALWAYS else (asked,)), *guard)
    if not tests:
        return None
    return tests[0] if len(tests) == 1 else Expr("and", (tests,), span(case.pattern))


def _asked(lowerer: Lowerer, subject: Expr, pattern: ast.pattern) -> Expr:
    at = span(pattern)
    if isinstance(pattern, ast.MatchValue):
        return Expr("cmp", ("==", (subject, lowerer.lower(pattern.value))), at)
    if isinstance(pattern, ast.MatchSingleton):
        return Expr("cmp", ("is", (subject, const(pattern.value))), at)
    if isinstance(pattern, ast.MatchOr):
        return _any(lowerer, subject, pattern)
    if isinstance(pattern, ast.MatchAs):
        inner = _ALWAYS if pattern.pattern is None else _asked(lowerer, subject, pattern.pattern)
        if pattern.name is not None:
            lowerer.scope.env[pattern.name] = subject
        return inner
    if isinstance(pattern, ast.MatchSequence) and not any(isinstance(one, ast.MatchStar) for one in pattern.patterns):
        return _sequence(lowerer, subject, pattern)
    for name in (one.name for one in below(pattern) if isinstance(one, (ast.MatchAs, ast.MatchStar))):
        if name is not None:
            lowerer.scope.env[name] = unknown(f"{name}, captured at line {pattern.lineno}")
    return unknown(f"case at line {pattern.lineno}", at)


def _any(lowerer: Lowerer, subject: Expr, pattern: ast.MatchOr) -> Expr:
    """One of several; where all are values, a member of them, as authors of an `if` would write it."""
    values = [_value(one) for one in pattern.patterns]
    if None not in values:
        members = lowerer.many([value for value in values if value is not None])
        return Expr("cmp", ("in", (subject, Expr("tuple", (members,)))), span(pattern))
    tests = [_asked(lowerer, subject, one) for one in pattern.patterns]
    return _ALWAYS if _ALWAYS in tests else Expr("or", (tuple(tests),), span(pattern))


def _sequence(lowerer: Lowerer, subject: Expr, pattern: ast.MatchSequence) -> Expr:
    value = _value(pattern)
    if value is not None:
        return Expr("cmp", ("==", (subject, lowerer.lower(value))), span(pattern))
    parts = [Expr("index", (subject, const(at))) for at in range(len(pattern.patterns))]
    tests = [_asked(lowerer, part, one) for part, one in zip(parts, pattern.patterns, strict=True)]
    size = Expr("call", (Expr("name", ("len",)), (subject,)))
    right_size = Expr("cmp", ("==", (size, const(len(parts)))), span(pattern))
    return Expr("and", ((right_size, *(one for one in tests if one is not _ALWAYS)),), span(pattern))


def _value(pattern: ast.pattern) -> ast.expr | None:
    """A pattern of nothing but values, as an expression."""
    if isinstance(pattern, ast.MatchValue):
        return pattern.value
    if isinstance(pattern, ast.MatchSequence):
        parts = [_value(one) for one in pattern.patterns]
        known = [part for part in parts if part is not None]
        return ast.copy_location(ast.Tuple(known, ast.Load()), pattern) if len(known) == len(parts) else None
    return None
