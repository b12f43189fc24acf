"""Python that computes with NVLink bandwidth, which is 0 or None on a GPU without NVLink.

Operations of kind link-speed are functions that tell it: `name` is what they give without NVLink, zero or none. Those
of kind link-use are what is done with it unasked: `name` is division (by it) or bound (a plan that falls to its least
size with it).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeGuard

from bwlint.chips.peers import tells_link_speed
from bwlint.model.details import LinkUse
from bwlint.model.facts import Operation
from bwlint.readers.nodes import FUNCTIONS, AnyFunction, below, functions
from bwlint.readers.python.sides import SPEAKS, dotted
from bwlint.readers.spans import span

ANCHORS = (b"nvlink",)
_ROUNDED = frozenset({"float", "int", "round"})
_KEEPS_ZERO = frozenset({"ceil", "floor", "int", "float", "round", "abs"})
_CATCHES = frozenset({"ZeroDivisionError", "ArithmeticError", "TypeError", "Exception", "BaseException"})
_DEEPEST = 40
"""How deep an expression is looked into."""
_MOST_HELD = 16
"""How many names of a function that hold a bandwidth are followed."""
_DIVIDES = (ast.Div, ast.FloorDiv, ast.Mod)


def may_hold(data: bytes) -> bool:
    """The prefilter: whether a file names such a function. A plain word first, since most files have none."""
    return tells_link_speed(data.decode("latin-1"))


def operations(tree: ast.Module, source: str) -> Iterator[Operation]:
    """What a parsed file tells, and does with, the bandwidth of NVLink."""
    for function, qualname, _ in functions(tree.body):
        gives = _gives(function) if tells_link_speed(function.name) else ""
        if gives:
            yield Operation("link-speed", gives, span(function), qualname=qualname)
    for scope, prefix in _scopes(tree.body, ""):
        for use in _uses(scope):
            called = LinkUse(use.called)
            yield Operation("link-use", use.name, span(use.at), detail=called, qualname=f"{prefix}{scope.name}")


def _scopes(body: Sequence[ast.stmt], prefix: str) -> Iterator[tuple[AnyFunction | ast.ClassDef, str]]:
    """Functions, for their own names, and classes, for what their methods keep in `self`."""
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield node, prefix
            yield from _scopes(node.body, f"{prefix}{node.name}.")
        elif isinstance(node, FUNCTIONS):
            yield node, prefix


# --- what a function tells


def _gives(function: AnyFunction) -> str:
    """What a function returns where there is no NVLink: zero, none, or "" where nothing shows it."""
    nodes = below(function)
    returns = [node.value for node in nodes if isinstance(node, ast.Return)]
    if any(_is_number(value, 0) for value in returns):
        return "zero"
    if any(value is None or (isinstance(value, ast.Constant) and value.value is None) for value in returns):
        return "none"
    refuses = any(isinstance(node, (ast.Raise, ast.Assert)) for node in nodes)
    if refuses or len(returns) != 1 or returns[0] is None:
        return ""
    return "zero" if _is_sum(returns[0], _summed(nodes)) else ""


def _is_number(node: ast.expr | None, number: int) -> bool:
    return isinstance(node, ast.Constant) and not isinstance(node.value, bool) and node.value == number


def _summed(nodes: Sequence[ast.AST]) -> frozenset[str]:
    """Names that begin at 0 and are only added to."""
    added = {dotted(node.target) for node in nodes if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add)}
    set_to: dict[str, list[ast.expr]] = {}
    for node in nodes:
        if isinstance(node, ast.Assign):
            set_to.setdefault(dotted(node.targets[0]), []).append(node.value)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            set_to.setdefault(dotted(node.target), []).append(node.value)
    return frozenset(name for name in added if name in set_to and all(_is_number(value, 0) for value in set_to[name]))


def _is_sum(node: ast.expr, summed: frozenset[str], depth: int = 0) -> bool:
    """A sum over links, perhaps none, or a multiple of it."""
    if isinstance(node, ast.Name):
        return node.id in summed
    if depth == _DEEPEST:
        return False
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Div)):
        scaled = isinstance(node.op, ast.Mult) and _is_sum(node.right, summed, depth + 1)
        return scaled or _is_sum(node.left, summed, depth + 1)
    if not isinstance(node, ast.Call) or not node.args:
        return False
    name = dotted(node.func)
    return (name == "sum" and len(node.args) == 1) or (name in _ROUNDED and _is_sum(node.args[0], summed, depth + 1))


# --- what is done with it


@dataclass(frozen=True, slots=True)
class _Use:
    name: str
    at: ast.expr
    called: str


@dataclass(frozen=True, slots=True)
class _Held:
    """A name that holds a bandwidth from some line on."""

    called: str
    line: int


def _uses(scope: AnyFunction | ast.ClassDef) -> Iterator[_Use]:
    nodes = sorted(below(scope), key=lambda node: getattr(node, "lineno", 0))
    held = _held(nodes, isinstance(scope, ast.ClassDef))
    divisors = [node for node in nodes if isinstance(node, ast.BinOp) and isinstance(node.op, _DIVIDES)]
    asked = {name for test in _tests(nodes) for name in _looked_at(test, held)}
    caught = _caught(nodes)
    for node in divisors:
        if id(node) in caught:
            continue
        called = _told(node.right) if isinstance(scope, FUNCTIONS) else ""
        if called:
            yield _Use("division", node, called)
        name = dotted(node.right)
        if name in held and name not in asked and node.lineno > held[name].line:
            yield _Use("division", node, held[name].called)
    for name, one in islice(held.items(), _MOST_HELD):
        if name not in asked:
            yield from _bounds(nodes, name, one)


def _held(nodes: Sequence[ast.AST], of_class: bool) -> dict[str, _Held]:
    """Names that are given the answer of such a function, and nothing else afterwards."""
    found: dict[str, _Held] = {}
    for node in nodes:
        targets = node.targets if isinstance(node, ast.Assign) else []
        if isinstance(node, (ast.AnnAssign, ast.AugAssign, ast.NamedExpr)):
            targets = [node.target]
        value = node.value if isinstance(node, (ast.Assign, ast.AnnAssign)) else None
        for target in targets:
            name = dotted(target)
            found.pop(name, None)
            if name and value is not None and name.startswith("self.") is of_class and _told(value):
                found[name] = _Held(_told(value), node.lineno)  # type: ignore[attr-defined]
    return found


def _told(node: ast.expr) -> str:
    """The function that a call asks for the bandwidth of NVLink; "" of anything else."""
    name = dotted(node.func) if isinstance(node, ast.Call) else ""
    return name if tells_link_speed(name.rpartition(".")[2]) else ""


def _tests(nodes: Sequence[ast.AST]) -> Iterator[ast.expr]:
    for node in nodes:
        if isinstance(node, (ast.If, ast.IfExp, ast.While, ast.Assert)):
            yield node.test
        elif isinstance(node, ast.BoolOp):
            yield from node.values
        elif isinstance(node, ast.comprehension):
            yield from node.ifs
        elif isinstance(node, ast.Match):
            yield node.subject
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and not _speaks(node.value):
            yield node.value  # it may refuse


def _speaks(call: ast.Call) -> bool:
    return dotted(call.func).rpartition(".")[2] in SPEAKS


def _looked_at(test: ast.expr, held: dict[str, _Held]) -> Iterator[str]:
    """The bandwidths that a test asks for, other than by dividing by them, after they are known."""
    divisors = {id(node.right) for node in below(test) if isinstance(node, ast.BinOp)}
    for node in below(test):
        if isinstance(node, (ast.Name, ast.Attribute)) and id(node) not in divisors:
            name = dotted(node)
            if name in held and (name.startswith("self.") or test.lineno > held[name].line):
                yield name


def _caught(nodes: Sequence[ast.AST]) -> frozenset[int]:
    """The nodes in attempts that catch an error of a division."""
    found: set[int] = set()
    for node in nodes:
        if isinstance(node, ast.Try) and any(map(_catches, node.handlers)):
            found.update(id(inner) for statement in node.body for inner in below(statement))
    return frozenset(found)


def _catches(handler: ast.ExceptHandler) -> bool:
    kinds = [] if handler.type is None else below(handler.type)
    return handler.type is None or any(dotted(kind) in _CATCHES for kind in kinds if isinstance(kind, ast.Name))


def _bounds(nodes: Sequence[ast.AST], name: str, one: _Held) -> Iterator[_Use]:
    """A number of which the bandwidth is a factor, and that is kept above a least one: with 0 it is always that."""
    factors, first = {name}, None
    for node in nodes:
        if getattr(node, "lineno", 0) <= one.line:
            continue
        for target, value in _assigned(node):
            if dotted(value) in factors and first is None:
                first = value
            if _is_factor(value, factors):
                factors.add(dotted(target))
        if _is_floored(node, factors):
            yield _Use("bound", first or node, one.called)
            return


def _is_floored(node: ast.AST, factors: set[str]) -> TypeGuard[ast.Call]:
    if not isinstance(node, ast.Call) or dotted(node.func) != "max" or not any(map(_is_least, node.args)):
        return False
    return any(_is_factor(argument, factors) for argument in node.args)


def _assigned(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    if not isinstance(node, ast.Assign) or len(node.targets) != 1:
        return
    target, value = node.targets[0], node.value
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        yield from zip(target.elts, value.elts, strict=True)
    else:
        yield target, value


def _is_least(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) and node.value > 0


def _is_factor(node: ast.expr, factors: set[str], depth: int = 0) -> bool:
    """Whether a value is 0 where one of some names is."""
    if isinstance(node, (ast.Name, ast.Attribute)):
        return dotted(node) in factors
    if depth == _DEEPEST:
        return False
    if isinstance(node, ast.BinOp):
        left = _is_factor(node.left, factors, depth + 1)
        if isinstance(node.op, ast.Mult):
            return left or _is_factor(node.right, factors, depth + 1)
        return left and isinstance(node.op, _DIVIDES)
    if not isinstance(node, ast.Call) or not node.args:
        return False
    name = dotted(node.func).rpartition(".")[2]
    if name in ("max", "min"):
        return all(_is_factor(argument, factors, depth + 1) for argument in node.args)
    return name in _KEEPS_ZERO and _is_factor(node.args[0], factors, depth + 1)
