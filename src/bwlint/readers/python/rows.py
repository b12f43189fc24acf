"""Tables of what kernels are launched with, by the type of their elements: `T[dtype]["BLOCK"]`, `**TABLE[dtype]`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from bwlint.readers.python.least import Function, Values
from bwlint.readers.python.sides import dotted

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
