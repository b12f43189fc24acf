"""Shared memory that kernels of TileLang ask for at least, in bytes, by what is written down.

`T.alloc_shared(shape, dtype)` asks for a buffer. All that one loop touches is there together, and a buffer that a
pipelined loop fills from global memory is there once for each stage. A dimension of which nothing is known counts as
one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from bwlint.model.details import Tiles
from bwlint.model.expr import Span
from bwlint.model.facts import Operation
from bwlint.readers.nodes import below, children, defaults, parameters
from bwlint.readers.python.least import Function, Values, called
from bwlint.readers.python.sides import dotted
from bwlint.readers.spans import span

ANCHORS = (b"alloc_shared",)
_BYTES = {
    **dict.fromkeys(("float64", "int64", "uint64", "double"), 8),
    **dict.fromkeys(("float32", "float", "int32", "uint32", "int"), 4),
    **dict.fromkeys(("float16", "half", "bfloat16", "int16", "uint16"), 2),
}
"""Bytes of an element by the name of its type; any other has one at least."""


def may_hold(data: bytes) -> bool:
    """The prefilter: whether a file makes buffers in shared memory."""
    return ANCHORS[0] in data


def operations(tree: ast.Module, source: str) -> tuple[Operation, ...]:
    """One operation a function at the top of the file: its largest buffer, with the bytes of all that is there at once,
    and the names of parameters with a default that make them.
    """
    return tuple(_asked(tree))


def _asked(tree: ast.Module) -> Iterator[Operation]:
    values = Values(tree)
    for function in tree.body:
        if isinstance(function, Function) and not _is_tuned(function):
            buffers = _buffers(function, values)
            total = max((_together(loop, buffers, values, function) for loop in _loops(function)), default=0)
            largest = max(buffers.values(), key=lambda one: one.bytes, default=None)
            if largest is not None:
                tiles = Tiles(max(total, largest.bytes), tuple(_chosen(function, largest.call)))
                yield Operation("tiled-shared", "", span(largest.call), detail=tiles, qualname=function.name)


def _chosen(function: Function, buffer: ast.Call) -> Iterator[tuple[str, Span]]:
    """The parameters of a function, with numbers as defaults, by which a buffer is as large, and there as often."""
    given = {one.arg: one.value for loop in _loops(function) for one in _keywords(loop.iter)}
    words = {node.id for part in (*buffer.args, *given.values()) for node in _names(part)}
    for node in below(function):
        given_to = [one.id for target in getattr(node, "targets", ()) for one in _names(target)]
        if isinstance(node, ast.Assign) and not words.isdisjoint(given_to):
            words |= {one.id for one in _names(node.value)}
    given_by_default = dict(defaults(function))
    for one in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs):
        default = given_by_default.get(one.arg)
        if one.arg in words and isinstance(default, ast.Constant) and isinstance(default.value, int):
            yield one.arg, span(one)


def _keywords(node: ast.expr) -> Sequence[ast.keyword]:
    return [one for one in node.keywords if one.arg == "num_stages"] if isinstance(node, ast.Call) else []


def _names(node: ast.expr) -> Iterator[ast.Name]:
    return (one for one in (node, *below(node)) if isinstance(one, ast.Name))


def _is_tuned(function: Function) -> bool:
    """Whether somebody tries several sizes."""
    return any("autotune" in dotted(one.func if isinstance(one, ast.Call) else one) for one in function.decorator_list)


@dataclass(frozen=True, slots=True)
class _Buffer:
    call: ast.Call
    bytes: int


def _buffers(function: Function, values: Values) -> dict[str, _Buffer]:
    found: dict[str, _Buffer] = {}
    for node in below(function):
        call = node.value if isinstance(node, ast.Assign) else None
        if isinstance(call, ast.Call) and called(call) == "alloc_shared" and call.args:
            size = values.least(call.args[0], function) * _element(call, function, values)
            found |= {name: _Buffer(call, size) for name in map(dotted, node.targets) if name}  # type: ignore[attr-defined]
    return found


def _loops(function: Function) -> Iterator[ast.For]:
    """The outermost loops of a function and of those within it."""
    waiting: list[ast.AST] = [function]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.For):
            yield node
        else:
            waiting += children(node)


def _together(loop: ast.For, buffers: Mapping[str, _Buffer], values: Values, function: Function) -> int:
    """The bytes that a loop touches, each buffer as often as it is there."""
    touched = {node.id for node in below(loop) if isinstance(node, ast.Name)} & buffers.keys()
    times = dict.fromkeys(touched, 1)
    # what a kernel within the function is handed: arrays in global memory
    arrays = {name for one in below(function) if isinstance(one, Function) for name in parameters(one)}
    for inner in (loop, *below(loop)):
        if isinstance(inner, ast.For) and isinstance(inner.iter, ast.Call) and called(inner.iter) == "Pipelined":
            given = next((one.value for one in inner.iter.keywords if one.arg == "num_stages"), None)
            stages = values.least(given, function) if given is not None else 1
            times |= dict.fromkeys(_filled(inner, arrays) & touched, stages)
    return sum(buffers[name].bytes * times[name] for name in touched)


def _filled(loop: ast.For, arrays: set[str]) -> set[str]:
    """The buffers that a loop copies into from global memory, as a whole or one element after the other."""
    found: set[str] = set()
    for node in below(loop):
        if isinstance(node, ast.Call) and called(node).endswith("copy") and len(node.args) > 1:
            found |= {_base(node.args[1])} if _base(node.args[0]) in arrays else set()
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
            read = {_base(one) for one in (node.value, *below(node.value)) if isinstance(one, ast.Subscript)}
            found |= {_base(node.targets[0])} if read & arrays else set()
    return found


def _base(node: ast.expr) -> str:
    while isinstance(node, ast.Subscript):
        node = node.value
    return dotted(node)


def _type_name(node: ast.expr) -> str:
    text = node.value if isinstance(node, ast.Constant) else dotted(node)
    return str(text).rpartition(".")[2]


def _element(call: ast.Call, function: Function, values: Values) -> int:
    given = call.args[1] if len(call.args) > 1 else next((k.value for k in call.keywords if k.arg == "dtype"), None)
    names = [_type_name(one) for one in values.all(given, function)] if given is not None else []
    return min((_BYTES.get(name, 1) for name in names), default=1)
