"""Rows of a table that is keyed by the capability, copied for the twin of a chip that has one."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import libcst as cst

from bwlint.chips import Chip
from bwlint.chips.mentions import mentioned
from bwlint.fix.python.items import behind
from bwlint.fix.python.literals import ChipLiteral, literal
from bwlint.fix.python.place import Candidate, ConditionPlace
from bwlint.fix.python.syntax import Syntax, parse
from bwlint.model.findings import NoFix
from bwlint.readers.spans import span

_MEMORY = ("smem_per_block_optin", "smem_per_block_default", "smem_per_sm")
_SUMS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
}
_PLAIN = (ast.Constant, ast.Tuple, ast.List, ast.Set, ast.Dict, ast.Name, ast.Attribute, ast.UnaryOp)
_PARTS = (*_PLAIN, ast.expr_context, ast.unaryop)


@dataclass(frozen=True, slots=True)
class _TwinRow:
    """The row of a table that is to be copied: which it is, and what its key names."""

    syntax: Syntax
    table: ast.Dict
    index: int
    key: ast.expr
    value: ast.expr
    literal: ChipLiteral


def proposals(place: ConditionPlace) -> Iterable[Candidate] | NoFix:
    """`(12, 0): ("Blackwell", "sm_120a"),` and behind it the same for 12.1, names of targets with it."""
    row = _twin(place)
    if isinstance(row, NoFix):
        return row
    if any(not isinstance(node, _PARTS) for node in ast.walk(row.value)) and _amount(row.value) is None:
        return NoFix("the row of the twin is computed, and not written out")
    syntax, twin = row.syntax, row.literal.chip
    rows = [_row(syntax, row.key, row.value, twin, other) for other in place.change.beside(twin)]
    items = [
        (syntax.start(key or value), syntax.end(value))
        for key, value in zip(row.table.keys, row.table.values, strict=True)
    ]
    return [behind(syntax, place.module.path, items, row.index, rows)]


def untold(place: ConditionPlace) -> NoFix | None:
    """Why a row may say something else for the other chip; None for names of targets, and for memory of which both have
    as much.
    """
    row = _twin(place)
    if isinstance(row, NoFix):
        return row
    chips = (row.literal.chip, *place.change.beside(row.literal.chip))
    amount = _amount(row.value)
    if amount is not None and any(all(getattr(chip, name) == amount for chip in chips) for name in _MEMORY):
        return None
    constants = [node for node in ast.walk(row.value) if isinstance(node, ast.Constant)]
    targets = [node for node, _ in _written(row.syntax, row.key, row.value, *chips[:2]) if node is not row.key]
    told = [str(node.value) for node in constants if node not in targets]
    speaks = any(mentioned(text).exact or any(each in text for each in chips[0].products) for text in told)
    if targets and all(isinstance(node.value, str) for node in constants) and not speaks:
        return None
    return NoFix("what stands in a row is for a person to say")


def _twin(place: ConditionPlace) -> _TwinRow | NoFix:
    syntax = parse(place.source)
    within = syntax.within(place.span) if syntax is not None else ()
    table = next((node for node in within if isinstance(node, ast.Dict)), None)
    if syntax is None or table is None:
        return NoFix("the rows of this table stand elsewhere")
    for index, (key, value) in enumerate(zip(table.keys, table.values, strict=True)):
        found = _literal(syntax, key) if key is not None else None
        if key is not None and found is not None and found.chip in place.change.twins:
            return _TwinRow(syntax, table, index, key, value, found)
    return NoFix("no row of this table is for the twin")


def _amount(node: ast.expr) -> int | None:
    """The number that `(100 - 1) * 1024` is."""
    if isinstance(node, ast.Constant):
        return node.value if type(node.value) is int else None
    does = _SUMS.get(type(node.op)) if isinstance(node, ast.BinOp) else None
    if does is None or not isinstance(node, ast.BinOp):
        return None
    left, right = _amount(node.left), _amount(node.right)
    return None if left is None or right is None else does(left, right)


def _row(syntax: Syntax, key: ast.expr, value: ast.expr, twin: Chip, chip: Chip) -> str:
    """The text of a row, written for another chip."""
    start, end = syntax.start(key), syntax.end(value)
    text = syntax.text.source[start:end]
    for node, written in reversed(list(_written(syntax, key, value, twin, chip))):
        text = text[: syntax.start(node) - start] + written + text[syntax.end(node) - start :]
    return text


def _written(syntax: Syntax, key: ast.expr, value: ast.expr, twin: Chip, chip: Chip) -> Iterator[tuple[ast.expr, str]]:
    """What to write in the place of which node: the key, and in the value names of the twin's targets."""
    named = [node for node in ast.walk(value) if isinstance(node, ast.Constant | ast.Attribute)]
    for node in sorted([key, *named], key=span):
        found = _literal(syntax, node)
        number = node is not key and isinstance(node, ast.Constant) and not isinstance(node.value, str)
        if found is not None and found.chip == twin and not number:
            yield node, cst.Module([]).code_for_node(found.write(chip))


def _literal(syntax: Syntax, node: ast.expr) -> ChipLiteral | None:
    if not isinstance(node, ast.Constant | ast.Tuple | ast.Attribute):
        return None
    try:
        return literal(cst.parse_expression(syntax.segment(node)))
    except (cst.ParserSyntaxError, ValueError):
        return None
