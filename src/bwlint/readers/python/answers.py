"""What a function makes of nvidia-smi's answer, tried on that of a card with memory of its own and on one without."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, cast

from bwlint.chips.products import memory_queries, no_answer
from bwlint.evaluate.interpreter import Interpreter
from bwlint.evaluate.objects import EvaluationFrame, OutsideNames
from bwlint.evaluate.sources import Sources, printed_columns
from bwlint.evaluate.values import Raises, Unknown, Vec
from bwlint.model.expr import Expr
from bwlint.model.facts import Module
from bwlint.readers.nodes import below
from bwlint.readers.python.lower import Lowerer

_ROW = "| 30%   45C    P8    12W / 350W | {:>19} |   3%   Default |"
_ANSWERS = (("1024MiB / 24576MiB", "1024 MiB"), (no_answer("table"), no_answer("column")))
"""In the table and as a column, of a card with memory of its own and of one without."""
_TABLE = re.compile(r"nvidia-smi(?:\s*\|\s*grep\s+['\"]?([\w%/]+)['\"]?)?")


def failing(
    block: ast.AST, kept: Mapping[str, ast.expr], caught: Mapping[int, bool]
) -> tuple[ast.expr, bool | None] | None:
    """The first expression that tells one answer from the other, with whether the row is left out (None: error)."""
    trials = [_AnswerTrial(partial(_printed, answers)) for answers in _ANSWERS]
    for name, value in kept.items():
        for trial in trials:
            trial.bind(ast.Name(name), trial.value(value))
    for node in sorted((one for one in below(block) if isinstance(one, ast.stmt)), key=lambda one: one.lineno):
        heads = [one for one in ast.iter_child_nodes(node) if isinstance(one, ast.expr | ast.withitem)]
        parts = [one for head in heads for one in below(head) if isinstance(one, ast.expr)]
        if test := next((one for one in _tests(node, parts) if _tells_apart(one, trials)), None):
            skips = isinstance(node, ast.If) and isinstance(node.body[-1], ast.Continue)
            return test, skips and trials[1].value(test) is True
        for part in reversed(parts):
            if _fails(part, trials):
                return part, caught.get(id(part))
        for target, given in _given(node):
            values = _values(given, trials)
            values = _differing(*values) if isinstance(node, ast.For) else values
            if [trial.bind(target, value) for trial, value in zip(trials, values, strict=True)] == [True, False]:
                return given, caught.get(id(given))
    return None


def _printed(answers: tuple[str, str], command: str) -> Vec | None:
    in_table, in_column = answers
    if table := _TABLE.fullmatch(command):
        row = _ROW.format(in_table)
        return Vec((row if re.search(table[1] or "", row) else "",))
    memory = Vec((in_column.removesuffix(" MiB") if "nounits" in command else in_column,))
    return printed_columns(command, dict.fromkeys(memory_queries("column"), memory))


class _Nobody:
    """Knows no name outside of a block."""

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *_, **__: None


class _AnswerTrial:
    """The names of a block where commands print one of their answers."""

    def __init__(self, prints: Callable[[str], Vec | None]) -> None:
        self._lowerer = Lowerer([])
        self._run = Interpreter(cast(OutsideNames, _Nobody()), Sources(prints=prints))

    def value(self, node: ast.expr) -> Any:
        found = self._lowerer.lower(node)
        self._run.start()
        module = Module(path="", language="python", slots=tuple(self._lowerer.slots))
        return self._run.evaluate(found, EvaluationFrame(module)).only()

    def bind(self, target: ast.expr, value: Any) -> bool:
        """Names take their parts of a value: whether it has as many."""
        if isinstance(target, ast.Name):
            self._lowerer.scope.env[target.id] = Expr("known", (Vec((value,)),))
        if not isinstance(target, ast.Tuple | ast.List):
            return True
        fits = isinstance(value, list | tuple | str) and len(value) == len(target.elts)
        parts = value if fits else [Unknown()] * len(target.elts)
        bound = [self.bind(one, part) for one, part in zip(target.elts, parts, strict=True)]
        return fits and all(bound)


def _values(node: ast.expr, trials: Sequence[_AnswerTrial]) -> tuple[Any, Any]:
    having, lacking = (trial.value(node) for trial in trials)
    return having, lacking


def _is_known(value: Any) -> bool:
    return all(map(_is_known, value)) if isinstance(value, list | tuple) else not isinstance(value, Unknown | Raises)


def _fails(node: ast.expr, trials: Sequence[_AnswerTrial]) -> bool:
    if not isinstance(node, ast.Call | ast.Subscript | ast.ListComp | ast.GeneratorExp):
        return False
    having, lacking = _values(node, trials)
    if isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice):
        rows, none = _values(node.value, trials)
        if rows and isinstance(rows, list) and none == []:
            return True
    return _is_known(having) and not _is_known(lacking)


def _tests(node: ast.stmt, parts: Sequence[ast.expr]) -> Iterator[ast.expr]:
    if isinstance(node, ast.If | ast.While | ast.Assert):
        yield node.test
    for one in parts:
        yield from [one.test] if isinstance(one, ast.IfExp) else one.values[:-1] if isinstance(one, ast.BoolOp) else []


def _tells_apart(test: ast.expr, trials: Sequence[_AnswerTrial]) -> bool:
    """Whether a test has another answer on each, or one that is not known of what is another."""
    having, lacking = _values(test, trials)
    if _is_known(having) or _is_known(lacking):
        return _is_known(lacking) and bool(having) != bool(lacking)
    inner = [one for one in below(test) if isinstance(one, ast.Name | ast.Call | ast.Subscript)]
    pairs = [pair for pair in (_values(one, trials) for one in inner) if _is_known(pair[0])]
    return any(one != other for one, other in pairs) and all(_is_known(other) for _, other in pairs)


def _given(node: ast.stmt) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The targets of a statement, and what they take."""
    match node:
        case ast.Assign([target], value) | ast.AnnAssign(target, _, ast.expr() as value):
            yield target, value
        case ast.With(items) | ast.AsyncWith(items):
            yield from ((one.optional_vars, one.context_expr) for one in items if one.optional_vars is not None)
        case ast.For(ast.Tuple([_, target]), ast.Call(ast.Name("enumerate"), [rows, *_])) | ast.For(target, rows):
            yield target, rows


def _differing(having: Any, lacking: Any) -> tuple[Any, Any]:
    """The row of an answer that is another on each; a process gives lines."""
    if isinstance(having, str) and isinstance(lacking, str):
        having, lacking = having.splitlines(), lacking.splitlines()
    alike = isinstance(having, list) and isinstance(lacking, list) and len(having) == len(lacking)
    pairs = zip(having, lacking, strict=True) if alike else ()
    return next((pair for pair in pairs if pair[0] != pair[1]), (Unknown(), Unknown()))
