"""Lower bounds of integer names, from defaults, assignments and calls."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from bwlint.readers.nodes import below, defaults, parameters
from bwlint.readers.python.sides import dotted

MAX_AMOUNT = 1 << 40
"""The largest number that is computed with: `x = x * x` a hundred times over is no size of anything."""
MAX_CALLS = 20
MAX_DEPTH = 20
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(slots=True)
class Values:
    """What names of a file are at least, by defaults, assignments and the calls that are written in it."""

    tree: ast.Module
    known: dict[tuple[str, str], int] = field(default_factory=dict)
    open: int = 0

    def least(self, node: ast.expr, function: Function | None) -> int:
        """The least that an expression may be; one where that is not known."""
        if self.open > MAX_DEPTH:
            return 1
        self.open += 1
        try:
            return min(max(1, self._least(node, function)), MAX_AMOUNT)
        finally:
            self.open -= 1

    def _least(self, node: ast.expr, function: Function | None) -> int:
        if isinstance(node, ast.Constant):
            return node.value if isinstance(node.value, int) else 1
        if isinstance(node, (ast.List, ast.Tuple)):
            return math.prod(self.least(one, function) for one in node.elts)
        if isinstance(node, ast.Name):
            return self._named(node.id, function)
        if isinstance(node, ast.IfExp):
            return min(self.least(node.body, function), self.least(node.orelse, function))
        if isinstance(node, ast.BinOp):
            return self._computed(node, function)
        return self._called(node, function) if isinstance(node, ast.Call) else 1

    def _computed(self, node: ast.BinOp, function: Function | None) -> int:
        left = self.least(node.left, function)
        right = self.least(node.right, function)
        if isinstance(node.op, ast.Add):
            return left + right
        if isinstance(node.op, ast.Mult):
            return left * right
        written = isinstance(node.right, ast.Constant)
        return left // right if isinstance(node.op, ast.FloorDiv) and written else 1

    def _called(self, node: ast.Call, function: Function | None) -> int:
        given = [self.least(one, function) for one in node.args]
        name = called(node)
        if name == "next_power_of_2" and len(given) == 1:
            return 1 << (given[0] - 1).bit_length()
        if name in ("max", "min", "int") and given:
            return {"max": max, "min": min, "int": max}[name](given)
        return 1

    def _named(self, name: str, function: Function | None) -> int:
        key = function.name if function is not None else "", name
        if key not in self.known:
            self.known[key] = 1  # whoever is computed from itself
            found = [self.least(one, where) for one, where in self._given(name, function)]
            self.known[key] = min(found, default=1)
        return self.known[key]

    def all(self, node: ast.expr, function: Function | None) -> list[ast.expr]:
        """An expression, or what a name stands for."""
        if not isinstance(node, ast.Name):
            return [node]
        return [one for one, _ in self._given(node.id, function)]

    def returned(self, name: str) -> list[ast.expr]:
        """All that a function at the top of the file gives back."""
        own = (one for one in self.tree.body if isinstance(one, Function) and one.name == name)
        ends = (node for one in own for node in below(one) if isinstance(node, ast.Return))
        return [node.value for node in ends if node.value is not None]

    def _given(self, name: str, function: Function | None) -> list[tuple[ast.expr, Function | None]]:
        """All that a name is given: in its function, as its argument, or at the top of the file."""
        own = [(value, function) for value in _assignments(function or self.tree).get(name, ())]
        parameter = name in parameters(function) if function is not None else False
        if function is not None and parameter:
            handed = list(self._handed(name, function))
            none = [one for one, _ in handed if isinstance(one, ast.Constant) and one.value is None]
            return own if none and own else [*own, *handed]
        return own or (self._given(name, None) if function is not None else [])

    def _handed(self, name: str, function: Function) -> Iterator[tuple[ast.expr, Function | None]]:
        """What calls in the file hand to a parameter, or its default."""
        default = dict(defaults(function)).get(name)
        found = _by_name(self.tree).get(function.name, [])[:MAX_CALLS]
        handed = [(around, _argument(call, name, parameters(function))) for around, call in found]
        for around, value in handed or [(None, None)]:
            if value is not None:
                yield value, around
            else:
                yield (default if default is not None else ast.Constant(1)), None


@lru_cache(maxsize=1)
def calls(tree: ast.Module) -> tuple[tuple[Function | None, ast.Call], ...]:
    """The calls of a file, each with the function at the top that is around it."""
    return tuple(
        (around if isinstance(around, Function) else None, node)
        for around in tree.body
        for node in below(around)
        if isinstance(node, ast.Call)
    )


@lru_cache(maxsize=1)
def _by_name(tree: ast.Module) -> dict[str, list[tuple[Function | None, ast.Call]]]:
    found: dict[str, list[tuple[Function | None, ast.Call]]] = {}
    for around, call in calls(tree):
        if isinstance(call.func, ast.Name):
            found.setdefault(call.func.id, []).append((around, call))
    return found


@lru_cache(maxsize=64)
def _assignments(scope: Function | ast.Module) -> dict[str, list[ast.expr]]:
    """What names are given in a function, or at the top of a file."""
    found: dict[str, list[ast.expr]] = {}
    body: Iterable[ast.AST] = scope.body if isinstance(scope, ast.Module) else below(scope)
    for node in body:
        for name, value in _assigned(node):
            found.setdefault(name, []).append(value)
    return found


def _assigned(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """What a statement gives to names; where it gives one of several, or counts on, that is not known."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Name):
                yield target.id, node.value
            elif isinstance(target, ast.Tuple):
                yield from ((name, _part(target, node.value, name)) for name in dict.fromkeys(map(dotted, target.elts)))
    elif isinstance(node, (ast.AnnAssign, ast.AugAssign)):
        known = node.value if isinstance(node, ast.AnnAssign) else None
        yield dotted(node.target), known or ast.Constant(1)
    elif isinstance(node, (ast.For, ast.comprehension)):
        yield from ((name, ast.Constant(1)) for name in dict.fromkeys(map(dotted, below(node.target))))


def _part(target: ast.Tuple, value: ast.expr, name: str) -> ast.expr:
    several = value.elts if isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts) else []
    found = [one for place, one in zip(target.elts, several, strict=False) if dotted(place) == name]
    return found[0] if found else ast.Constant(1)


def _argument(call: ast.Call, name: str, parameters: Sequence[str]) -> ast.expr | None:
    by_name = next((one.value for one in call.keywords if one.arg == name), None)
    place = parameters.index(name)
    if by_name is None and any(isinstance(one, ast.Starred) for one in call.args[: place + 1]):
        return ast.Constant(1)
    return by_name if by_name is not None or place >= len(call.args) else call.args[place]


def called(call: ast.Call) -> str:
    """The last word of what a call calls."""
    return dotted(call.func).rpartition(".")[2]


_BITS = {
    **dict.fromkeys(("float8_e4m3fn", "float8_e5m2", "float8e4nv", "float8e5", "int8", "uint8"), 8),
    **dict.fromkeys(("float16", "half", "bfloat16", "int16"), 16),
    **dict.fromkeys(("float32", "float", "tfloat32", "int32"), 32),
}


@dataclass(frozen=True, slots=True)
class LaunchRow:
    """A launch with the numbers of a row in the place of what looks them up, and the bits of an element in it."""

    call: ast.Call
    bits: int
    at: ast.expr


def by_type(call: ast.Call, function: Function | None, values: Values) -> Iterator[LaunchRow]:
    """A launch as each row of its table has it."""
    found = (_table(one.value, function, values) for one in call.keywords)
    table = next((one for one in found if one is not None), None)
    if table is None:
        return
    for key, row in zip(table.keys, table.values, strict=True):
        bits = _BITS.get(dotted(key).rpartition(".")[2]) if isinstance(key, ast.Attribute) else None
        if key is not None and bits is not None and isinstance(row, ast.Dict):
            handed = [one for word in call.keywords for one in _handed(word, row, table, function, values)]
            yield LaunchRow(ast.copy_location(ast.Call(call.func, call.args, handed), call), bits, key)


def _handed(
    word: ast.keyword, row: ast.Dict, table: ast.Dict, function: Function | None, values: Values
) -> Iterator[ast.keyword]:
    if _table(word.value, function, values) is not table:
        yield word
        return
    numbers = {
        one.value: number for one, number in zip(row.keys, row.values, strict=True) if isinstance(one, ast.Constant)
    }
    if word.arg is None:
        yield from (ast.keyword(str(name), number) for name, number in numbers.items())
    elif isinstance(word.value, ast.Subscript) and isinstance(word.value.slice, ast.Constant):
        yield ast.keyword(word.arg, numbers.get(word.value.slice.value, word.value))


def _table(node: ast.expr, function: Function | None, values: Values) -> ast.Dict | None:
    """The table in a row of which something is looked up, or which is handed on by the row."""
    inner = node.value if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) else node
    if isinstance(inner, ast.Name):
        given = values.all(inner, function)
        inner = given[0] if len(given) == 1 else inner
    if not isinstance(inner, ast.Subscript) or not isinstance(inner.value, ast.Name):
        return None
    held = values.all(inner.value, function)
    if len(held) == 1 and isinstance(held[0], ast.Call) and isinstance(held[0].func, ast.Name):
        held = values.returned(held[0].func.id)
    return held[0] if len(held) == 1 and isinstance(held[0], ast.Dict) else None
