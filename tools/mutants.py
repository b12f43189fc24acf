"""Changes to a source that its tests should notice: one place each, for `mutate.py`."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, TypeVar

_Node = TypeVar("_Node", bound=ast.AST)
_COMPARISONS: Mapping[type[ast.cmpop], type[ast.cmpop]] = {
    **{ast.Eq: ast.NotEq, ast.Is: ast.IsNot, ast.In: ast.NotIn, ast.Lt: ast.LtE, ast.Gt: ast.GtE},
    **{ast.NotEq: ast.Eq, ast.IsNot: ast.Is, ast.NotIn: ast.In, ast.LtE: ast.Lt, ast.GtE: ast.Gt},
}
_SETS: Mapping[type[ast.operator], ast.operator] = {
    ast.BitAnd: ast.BitOr(),
    ast.BitOr: ast.BitAnd(),
    ast.Sub: ast.BitAnd(),
}
_WORDS = (("error", "warning", "note"), ("high", "medium", "low"))
_UNSEEN = frozenset({"annotation", "returns", "decorator_list", "msg"})
"""Fields of nodes that no test is to notice: types, decorators, messages of assertions."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A file in which the bytes from `start` to `end` are another text; `before` and `after` are for people."""

    file: str
    line: int
    kind: str
    before: str
    after: str
    start: int
    end: int
    text: str

    def applied(self, source: bytes) -> bytes:
        return source[: self.start] + self.text.encode() + source[self.end :]


@dataclass(frozen=True, slots=True)
class _Change:
    """What takes the place of a node; of a large one only the part that changes is shown."""

    kind: str
    old: ast.expr
    new: ast.expr
    before: str = ""
    after: str = ""


def places(file: str, source: bytes) -> list[list[Mutant]]:
    """Each place of a file that can be changed, with all its mutants."""
    starts = [0]
    for row in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(row))

    def mutant(change: _Change) -> Mutant:
        old, new = change.old, ast.unparse(change.new)
        end = starts[(old.end_lineno or 0) - 1] + (old.end_col_offset or 0)
        before, after = (change.before, change.after) if change.before else (ast.unparse(old), new)
        start = starts[old.lineno - 1] + old.col_offset
        return Mutant(file, old.lineno, change.kind, before, after, start, end, f"({new})")

    return [[mutant(change) for change in changes] for changes in _below(ast.parse(source), "")]


def _below(node: ast.AST, result: str) -> Iterator[list[_Change]]:
    """The places of a node and of all below it; `result` is what the function around it is said to return."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        result = ast.unparse(node.returns) if node.returns else ""
    yield from _of_node(node, result)
    for name, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and name not in _UNSEEN and not _is_unseen(node, name, child):
                yield from _below(child, result)


def _is_unseen(parent: ast.AST, name: str, child: ast.AST) -> bool:
    """Docstrings, texts with places for values, names of types, `__all__`, what is for type checkers."""
    if isinstance(child, ast.JoinedStr) or (isinstance(parent, ast.Expr) and isinstance(child, ast.Constant)):
        return True
    if isinstance(parent, ast.Subscript) and name == "slice" and isinstance(child, ast.Tuple):
        return True
    if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name):
        return parent.func.id == "isinstance" and child in parent.args[1:]
    if isinstance(child, ast.If) and isinstance(child.test, ast.Name):
        return child.test.id == "TYPE_CHECKING"
    if not isinstance(child, ast.Assign) or not isinstance(child.targets[0], ast.Name):
        return False
    target = child.targets[0].id
    is_alias = target.strip("_")[:1].isupper() and not target.isupper() and isinstance(parent, ast.Module)
    return is_alias or target == "__all__"


def _of_node(node: ast.AST, result: str) -> Iterator[list[_Change]]:
    match node:
        case ast.Compare(ops=ops):
            for at, op in enumerate(ops):
                other = _COMPARISONS[type(op)]()
                yield [_Change("comparison", node, _with(node, ops=[*ops[:at], other, *ops[at + 1 :]]))]
        case ast.BoolOp(op=op, values=values):
            yield [_Change("and or", node, _with(node, op=ast.Or() if isinstance(op, ast.And) else ast.And()))]
            for at, value in enumerate(values):
                left = [*values[:at], *values[at + 1 :]]
                yield [_Change("operand", node, _with(node, values=left) if left[1:] else left[0], ast.unparse(value))]
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield [_Change("not", node, operand)]
        case ast.BinOp(op=op) if type(op) in _SETS:
            yield [_Change("set operator", node, _with(node, op=_SETS[type(op)]))]
        case ast.Constant(value=value):
            if found := [_Change("constant", node, ast.Constant(other)) for other in _others(value)]:
                yield found
        case ast.Call():
            yield from ([change] for change in _swapped(node))
        case ast.Return(value=ast.expr() as value) if ast.unparse(value) != "None":
            new = ast.UnaryOp(ast.Not(), value) if result == "bool" else ast.Constant(None)
            yield [_Change("return", value, new)]
        case ast.If(test=test) | ast.IfExp(test=test):
            yield [_Change("condition", test, ast.Constant(value)) for value in (True, False)]
        case ast.comprehension(ifs=tests):
            yield from ([_Change("condition", test, ast.Constant(value)) for value in (True, False)] for test in tests)
        case ast.List(elts=elements) | ast.Tuple(elts=elements, ctx=ast.Load()) | ast.Set(elts=elements):
            if found := list(_shortened(node, elements)):
                yield found


def _with(node: _Node, **fields: Any) -> _Node:
    new = copy(node)
    for name, value in fields.items():
        setattr(new, name, value)
    return new


def _others(value: object) -> Sequence[int | str]:
    """What else a constant may be: severities and confidences are words of a few."""
    if isinstance(value, bool):
        return (not value,)
    if isinstance(value, int):
        return (value + 1, value - 1)
    return [other for words in _WORDS if value in words for other in words if other != value]


def _swapped(call: ast.Call) -> Iterator[_Change]:
    """A call with two arguments that stand side by side and look alike, the one for the other."""
    for at, (one, two) in enumerate(zip(call.args, call.args[1:], strict=False)):
        if _alike(one, two):
            new = _with(call, args=[*call.args[:at], two, one, *call.args[at + 2 :]])
            yield _Change("swap", call, new, *_shown(one, two))
    for at, (first, second) in enumerate(zip(call.keywords, call.keywords[1:], strict=False)):
        if first.arg and second.arg and _alike(first.value, second.value):
            swapped = [_with(first, value=second.value), _with(second, value=first.value)]
            new = _with(call, keywords=[*call.keywords[:at], *swapped, *call.keywords[at + 2 :]])
            yield _Change("swap", call, new, *_shown(first.value, second.value))


def _alike(one: ast.expr, two: ast.expr) -> bool:
    return _shape(one) == _shape(two) != "Starred" and ast.unparse(one) != ast.unparse(two)


def _shape(node: ast.expr) -> str:
    if isinstance(node, ast.Constant):
        return type(node.value).__name__
    return {"JoinedStr": "str", "Attribute": "Name"}.get(type(node).__name__, type(node).__name__)


def _shown(one: ast.expr, two: ast.expr) -> tuple[str, str]:
    return f"{ast.unparse(one)}, {ast.unparse(two)}", f"{ast.unparse(two)}, {ast.unparse(one)}"


def _shortened(node: ast.List | ast.Tuple | ast.Set, elements: Sequence[ast.expr]) -> Iterator[_Change]:
    for at, element in enumerate(elements):
        new = _with(node, elts=[*elements[:at], *elements[at + 1 :]])
        yield _Change("element", node, new, ast.unparse(element))
