"""Sizes that code picks by literals: tiles and amounts of shared memory under a test, and tables by target."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from bwlint.model.details import SizeRow, SizeTable
from bwlint.model.expr import Expr, is_text, negate
from bwlint.model.facts import Operation, Path
from bwlint.model.kinds import OperationKind
from bwlint.readers.python.sides import literal_text
from bwlint.readers.python.vocabulary import JOINED, arch_text
from bwlint.readers.reads import Reads
from bwlint.readers.spans import span

MAX_SIZES = 400
MAX_CASES = 8
MAX_ROWS = 64
MAX_TESTS = 40
"""Tests above a size; of one that stands under more nobody knows when it is taken."""
MAX_DEPTH = 8
_MIN_ROWS = 3
_LARGEST_TILE = 256
"""A block of a kernel that multiplies has no longer side; those that go over elements one by one do."""
_TILE = re.compile(
    r"(?:^|_)(?:block|tile)_?(?:size_?|len_?)?(?:[a-z]{1,2}|[qk]v|head|dim|d?model)?$|^b[mnk]$|^[mnkq]_?(?:block|tile)(?:_size)?$",
    re.I,
)
_OTHER = re.compile(r"num|count|thread|warp|page|scale|quant|cache|_per_|^(?:kv_?)?block_size$")
_STAGES = re.compile(r"(?:^|_)stages?$", re.I)
_SHARED = re.compile(r"smem|shared_?mem", re.I)
LEAST_SHARED = 48 * 1024
_DEFAULT = re.compile(r"default", re.I)
_CLUSTER = re.compile(r"cluster", re.I)
_PORTABLE_AND_MORE = range(9, 17)


class Sizes:
    """Collects the sizes of one file; `gates` says what reads the device."""

    def __init__(self, gates: Reads) -> None:
        self.found: list[Operation] = []
        self._gates = gates

    def picked(self, name: str, value: Expr, node: ast.stmt, path: Path, qualname: str) -> None:
        """Note a literal that is assigned to `name`, or returned from a function of that name, under a test."""
        for tests, size in _cases(value, ()):
            here = (*path, *tests)
            if len(self.found) >= MAX_SIZES or not 0 < len(here) <= MAX_TESTS:
                continue
            sizes = [(kind, label, number) for label, number in _labelled(name, size) if (kind := _kind(label, number))]
            if not sizes or not any(self._gates.reads(test) for test in here):
                continue
            at = size.at if tests and size.at is not None else span(node)
            for kind, label, number in sizes:
                amounts = (Expr("const", (number,), size.at),)
                self.found.append(Operation(kind, label, at, amounts=amounts, path=here, qualname=qualname))

    def default(self, name: str, value: ast.expr, qualname: str) -> None:
        """Note an amount of shared memory that is taken where nobody says another."""
        number = number_of(value) if _SHARED.search(name) else None
        if number is not None and number >= LEAST_SHARED and len(self.found) < MAX_SIZES:
            amounts = (Expr("const", (number,), span(value)),)
            self.found.append(Operation("default-size", name, span(value), amounts=amounts, qualname=qualname))

    def constant(self, name: str, value: ast.expr, qualname: str) -> None:
        """Note a constant that calls itself a default."""
        if _DEFAULT.search(name):
            self.default(name, value, qualname)

    def limit(self, node: ast.If, qualname: str) -> None:
        """Note the largest cluster that a check lets pass, where its error speaks of clusters."""
        last = node.body[-1]
        if not isinstance(last, ast.Raise) or last.exc is None or len(self.found) >= MAX_SIZES:
            return
        tests = (
            node.test.values if isinstance(node.test, ast.BoolOp) and isinstance(node.test.op, ast.Or) else [node.test]
        )
        for test in tests:
            bound = _upper_bound(test)
            if bound in _PORTABLE_AND_MORE and _CLUSTER.search(literal_text(last.exc)):
                amounts = (Expr("const", (bound,), span(test)),)
                self.found.append(Operation("cluster-limit", "", span(test), amounts=amounts, qualname=qualname))
                return

    def table(self, name: str, node: ast.Dict, qualname: str) -> None:
        """Note a table from targets to numbers."""
        if not _MIN_ROWS <= len(node.keys) <= MAX_ROWS or len(self.found) >= MAX_SIZES:
            return
        rows: list[SizeRow] = []
        for key, value in zip(node.keys, node.values, strict=True):
            target, number = _target(key), number_of(value)
            if not target or number is None:
                return
            rows.append(SizeRow(target, number, span(value)))
        self.found.append(Operation("size-table", name, span(node), detail=SizeTable(tuple(rows)), qualname=qualname))


def _upper_bound(test: ast.expr) -> int | None:
    """N of `x > N`, which refuses what is larger."""
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], (ast.Gt, ast.GtE)):
        return None
    number = number_of(test.comparators[0])
    return number if number is None or isinstance(test.ops[0], ast.Gt) else number - 1


def _cases(value: Expr, tests: Path) -> Iterator[tuple[Path, Expr]]:
    """The values of a conditional expression, each with its tests."""
    if value.op != "if" or len(tests) >= MAX_CASES:
        yield tests, value
        return
    test, then, otherwise = value.args
    yield from _cases(then, (*tests, test))
    yield from _cases(otherwise, (*tests, negate(test)))


def _labelled(name: str, value: Expr) -> Iterator[tuple[str, int]]:
    """Numbers with their names: of a variable, of a tuple's members by place, of a dictionary's rows."""
    if value.op == "dict":
        for key, item in zip(*value.args, strict=True):
            number = _folded(item)
            if is_text(key) and number is not None:
                yield key.args[0], number
        return
    members = value.args[0] if value.op == "tuple" else (value,)
    for index, item in enumerate(members):
        number = _folded(item)
        if number is not None:
            yield f"{name}[{index}]" if value.op == "tuple" else name, number


def _kind(label: str, number: int) -> OperationKind | None:
    """What a number is by its name and size; None for anything else."""
    name = label.partition("[")[0].lstrip("_")
    if _STAGES.search(name):
        return "stages"
    if number >= LEAST_SHARED:
        return "shared-size" if _SHARED.search(name) else None
    if not 0 < number <= _LARGEST_TILE or _OTHER.search(name):
        return None
    return "tile" if _TILE.search(name) else None


def _folded(node: Expr, depth: int = 0) -> int | None:
    if node.op == "const":
        value = node.args[0]
        return value if isinstance(value, int) and not isinstance(value, bool) else None
    if node.op != "bin" or depth > MAX_DEPTH:
        return None
    left, right = _folded(node.args[1], depth + 1), _folded(node.args[2], depth + 1)
    return _computed(node.args[0], left, right)


def number_of(node: ast.expr, depth: int = 0) -> int | None:
    """An integer literal, or arithmetic of such."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, int) and not isinstance(node.value, bool) else None
    if not isinstance(node, ast.BinOp) or depth > MAX_DEPTH:
        return None
    left, right = number_of(node.left, depth + 1), number_of(node.right, depth + 1)
    return _computed(_OPERATORS.get(type(node.op), ""), left, right)


_OPERATORS: dict[type, str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.LShift: "<<"}


def _computed(operator: str, left: int | None, right: int | None) -> int | None:
    if left is None or right is None or max(abs(left), abs(right)) > 1 << 40:
        return None
    if operator == "<<":
        return left << right if 0 <= right <= 40 else None
    return {"+": left + right, "-": left - right, "*": left * right}.get(operator)


def _target(key: ast.expr | None) -> str:
    """The chip that a key spells, as in "9.0"; "" for no capability."""
    if isinstance(key, ast.Tuple) and len(key.elts) == 2:
        parts = [item.value for item in key.elts if isinstance(item, ast.Constant) and isinstance(item.value, int)]
        return f"{parts[0]}.{parts[1]}" if len(parts) == 2 and parts[0] * 10 + parts[1] in JOINED else ""
    value = key.value if isinstance(key, ast.Constant) else None
    if isinstance(value, int) and not isinstance(value, bool) and value in JOINED:
        return f"{value // 10}.{value % 10}"
    if not isinstance(value, str) or not arch_text(value):
        return ""
    digits = re.sub(r"\D", "", value)
    return f"{digits[:-1]}.{digits[-1]}" if len(digits) > 1 else ""
