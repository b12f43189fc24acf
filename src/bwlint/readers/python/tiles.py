"""Shared memory that kernels of TileLang ask for at least, in bytes, by what is written down.

`T.alloc_shared(shape, dtype)` asks for a buffer. All that one loop touches is there together, and a buffer that a
pipelined loop fills from global memory is there once for each stage. A dimension of which nothing is known counts as
one.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from bwlint.model.expr import Expr, const
from bwlint.model.facts import Operation
from bwlint.readers.nodes import below
from bwlint.readers.python.sides import dotted
from bwlint.readers.spans import span

_ALLOCATES = b"alloc_shared"
_BYTES = {
    **dict.fromkeys(("float64", "int64", "uint64", "double"), 8),
    **dict.fromkeys(("float32", "float", "int32", "uint32", "int"), 4),
    **dict.fromkeys(("float16", "half", "bfloat16", "int16", "uint16"), 2),
}
"""Bytes of an element by the name of its type; any other has one at least."""
MAX_CALLS = 20
MAX_DEPTH = 20
Function = ast.FunctionDef | ast.AsyncFunctionDef


def may_hold(data: bytes) -> bool:
    """The prefilter: whether a file makes buffers in shared memory."""
    return _ALLOCATES in data


def operations(tree: ast.Module, source: str) -> tuple[Operation, ...]:
    """One operation a function at the top of the file: its largest buffer, with the bytes of all that is there at once,
    and the names of parameters with a default that make them.
    """
    return tuple(_asked(tree))


def _asked(tree: ast.Module) -> Iterator[Operation]:
    values = _Values(tree)
    for function in tree.body:
        if isinstance(function, Function) and not _is_tuned(function):
            buffers = _buffers(function, values)
            total = max((_together(loop, buffers, values, function) for loop in _loops(function)), default=0)
            largest = max(buffers.values(), key=lambda one: one.bytes, default=None)
            if largest is not None:
                amounts = const(max(total, largest.bytes)), *_chosen(function, largest.call)
                yield Operation("tiled-shared", "", span(largest.call), amounts=amounts, qualname=function.name)


def _chosen(function: Function, buffer: ast.Call) -> Iterator[Expr]:
    """The parameters of a function, with numbers as defaults, by which a buffer is as large, and there as often."""
    given = {one.arg: one.value for loop in _loops(function) for one in _keywords(loop.iter)}
    words = {node.id for part in (*buffer.args, *given.values()) for node in _names(part)}
    for node in below(function):
        if isinstance(node, ast.Assign) and not words.isdisjoint(_targets(node)):
            words |= {one.id for one in _names(node.value)}
    for one in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs):
        default = _default(function, one.arg)
        if one.arg in words and isinstance(default, ast.Constant) and isinstance(default.value, int):
            yield const(one.arg, span(one))


def _keywords(node: ast.expr) -> Sequence[ast.keyword]:
    return [one for one in node.keywords if one.arg == "num_stages"] if isinstance(node, ast.Call) else []


def _names(node: ast.expr) -> Iterator[ast.Name]:
    return (one for one in (node, *below(node)) if isinstance(one, ast.Name))


def _targets(node: ast.Assign) -> set[str]:
    return {one.id for target in node.targets for one in _names(target)}


def _is_tuned(function: Function) -> bool:
    """Whether somebody tries several sizes."""
    return any("autotune" in dotted(one.func if isinstance(one, ast.Call) else one) for one in function.decorator_list)


@dataclass(frozen=True, slots=True)
class _Buffer:
    call: ast.Call
    bytes: int


def _buffers(function: Function, values: _Values) -> dict[str, _Buffer]:
    found: dict[str, _Buffer] = {}
    for node in below(function):
        call = node.value if isinstance(node, ast.Assign) else None
        if isinstance(call, ast.Call) and _called(call) == "alloc_shared" and call.args:
            size = values.least(call.args[0], function) * values.element(call, function)
            found |= {name: _Buffer(call, size) for name in map(dotted, node.targets) if name}  # type: ignore[attr-defined]
    return found


def _called(call: ast.Call) -> str:
    return dotted(call.func).rpartition(".")[2]


def _loops(function: Function) -> Iterator[ast.For]:
    """The outermost loops of a function and of those within it."""
    waiting: list[ast.AST] = [function]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.For):
            yield node
        else:
            waiting += ast.iter_child_nodes(node)


def _together(loop: ast.For, buffers: Mapping[str, _Buffer], values: _Values, function: Function) -> int:
    """The bytes that a loop touches, each buffer as often as it is there."""
    touched = {node.id for node in below(loop) if isinstance(node, ast.Name)} & buffers.keys()
    times = dict.fromkeys(touched, 1)
    for inner in (loop, *below(loop)):
        if isinstance(inner, ast.For) and isinstance(inner.iter, ast.Call) and _called(inner.iter) == "Pipelined":
            given = next((one.value for one in inner.iter.keywords if one.arg == "num_stages"), None)
            stages = values.least(given, function) if given is not None else 1
            times |= dict.fromkeys(_filled(inner, _arrays(function)) & touched, stages)
    return sum(buffers[name].bytes * times[name] for name in touched)


def _arrays(function: Function) -> set[str]:
    """What a kernel within a function is handed: arrays in global memory."""
    return {name for one in below(function) if isinstance(one, Function) for name in _parameters(one)}


def _filled(loop: ast.For, arrays: set[str]) -> set[str]:
    """The buffers that a loop copies into from global memory, as a whole or one element after the other."""
    found: set[str] = set()
    for node in below(loop):
        if isinstance(node, ast.Call) and _called(node).endswith("copy") and len(node.args) > 1:
            found |= {_base(node.args[1])} if _base(node.args[0]) in arrays else set()
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
            read = {_base(one) for one in (node.value, *below(node.value)) if isinstance(one, ast.Subscript)}
            found |= {_base(node.targets[0])} if read & arrays else set()
    return found


def _base(node: ast.expr) -> str:
    while isinstance(node, ast.Subscript):
        node = node.value
    return dotted(node)


@dataclass(slots=True)
class _Values:
    """What names of a file are at least, by defaults, assignments and the calls that are written in it."""

    tree: ast.Module
    known: dict[tuple[str, str], int] = field(default_factory=dict)
    open: int = 0

    def element(self, call: ast.Call, function: Function) -> int:
        """Bytes of an element of a buffer."""
        given = call.args[1] if len(call.args) > 1 else next((k.value for k in call.keywords if k.arg == "dtype"), None)
        names = [_type_name(one) for one in self._all(given, function)] if given is not None else []
        return min((_BYTES.get(name, 1) for name in names), default=1)

    def least(self, node: ast.expr, function: Function | None) -> int:
        """The least that an expression may be; one where that is not known."""
        if self.open > MAX_DEPTH:
            return 1
        self.open += 1
        try:
            return max(1, self._least(node, function))
        finally:
            self.open -= 1

    def _least(self, node: ast.expr, function: Function | None) -> int:
        if isinstance(node, ast.Constant):
            return node.value if isinstance(node.value, int) else 1
        if isinstance(node, ast.List | ast.Tuple):
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
        name = _called(node)
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

    def _all(self, node: ast.expr, function: Function | None) -> list[ast.expr]:
        """An expression, or what a name stands for."""
        if not isinstance(node, ast.Name):
            return [node]
        return [one for one, _ in self._given(node.id, function)]

    def _given(self, name: str, function: Function | None) -> list[tuple[ast.expr, Function | None]]:
        """All that a name is given: in its function, as its argument, or at the top of the file."""
        body: Iterable[ast.AST] = below(function) if function is not None else self.tree.body
        own = [(value, function) for node in body for value in _assigned(node, name)]
        parameter = name in _parameters(function) if function is not None else False
        if function is not None and parameter:
            handed = list(self._handed(name, function))
            none = [one for one, _ in handed if isinstance(one, ast.Constant) and one.value is None]
            return own if none and own else [*own, *handed]
        return own or (self._given(name, None) if function is not None else [])

    def _handed(self, name: str, function: Function) -> Iterator[tuple[ast.expr, Function | None]]:
        """What calls in the file hand to a parameter, or its default."""
        default = _default(function, name)
        calls = list(islice(self._calls(function.name), MAX_CALLS))
        handed = [(around, _argument(call, name, _parameters(function))) for around, call in calls]
        for around, value in handed or [(None, None)]:
            if value is not None:
                yield value, around
            else:
                yield (default if default is not None else ast.Constant(1)), None

    def _calls(self, name: str) -> Iterator[tuple[Function | None, ast.Call]]:
        for around in self.tree.body:
            for node in below(around):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name:
                    yield (around if isinstance(around, Function) else None), node


def _type_name(node: ast.expr) -> str:
    text = node.value if isinstance(node, ast.Constant) else dotted(node)
    return str(text).rpartition(".")[2]


def _assigned(node: ast.AST, name: str) -> Iterator[ast.expr]:
    """What a statement gives to a name; where it gives one of several, or counts on, that is not known."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Name) and target.id == name:
                yield node.value
            elif isinstance(target, ast.Tuple) and any(dotted(one) == name for one in target.elts):
                yield _part(target, node.value, name)
    elif isinstance(node, ast.AnnAssign | ast.AugAssign) and dotted(node.target) == name:
        yield node.value if isinstance(node, ast.AnnAssign) and node.value is not None else ast.Constant(1)
    elif isinstance(node, ast.For | ast.comprehension) and any(dotted(one) == name for one in below(node.target)):
        yield ast.Constant(1)


def _part(target: ast.Tuple, value: ast.expr, name: str) -> ast.expr:
    several = value.elts if isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts) else []
    found = [one for place, one in zip(target.elts, several, strict=False) if dotted(place) == name]
    return found[0] if found else ast.Constant(1)


def _parameters(function: Function) -> list[str]:
    return [one.arg for one in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)]


def _default(function: Function, name: str) -> ast.expr | None:
    positional = [*function.args.posonlyargs, *function.args.args]
    pairs: Sequence[tuple[ast.arg, ast.expr | None]] = [
        *zip(reversed(positional), reversed(function.args.defaults), strict=False),
        *zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True),
    ]
    return next((value for one, value in pairs if one.arg == name), None)


def _argument(call: ast.Call, name: str, parameters: Sequence[str]) -> ast.expr | None:
    by_name = next((one.value for one in call.keywords if one.arg == name), None)
    place = parameters.index(name)
    if by_name is None and any(isinstance(one, ast.Starred) for one in call.args[: place + 1]):
        return ast.Constant(1)
    return by_name if by_name is not None or place >= len(call.args) else call.args[place]
