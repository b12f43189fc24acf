"""Rows of a table that is keyed by the capability, copied for the twin of a chip that has one."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

import libcst as cst

from bwlint.chips import Chip
from bwlint.fix.python.items import behind
from bwlint.fix.python.literals import ChipLiteral, literal
from bwlint.fix.python.place import Candidate, ConditionPlace
from bwlint.fix.python.syntax import Syntax, parse
from bwlint.model.findings import NoFix
from bwlint.readers.spans import span

_PLAIN = (ast.Constant, ast.Tuple, ast.List, ast.Set, ast.Dict, ast.Name, ast.Attribute, ast.UnaryOp)
_PARTS = (*_PLAIN, ast.expr_context, ast.unaryop)


def proposals(place: ConditionPlace) -> Iterable[Candidate] | NoFix:
    """`(12, 0): ("Blackwell", "sm_120a"),` and behind it the same for 12.1, names of targets with it."""
    syntax = parse(place.source)
    within = syntax.within(place.span) if syntax is not None else ()
    table = next((node for node in within if isinstance(node, ast.Dict)), None)
    if syntax is None or table is None:
        return NoFix("the rows of this table stand elsewhere")
    for index, key in enumerate(table.keys):
        found = _literal(syntax, key) if key is not None else None
        if found is not None and found.chip in place.change.twins:
            return _copied(place, syntax, table, index, found)
    return NoFix("no row of this table is for the twin")


def _copied(
    place: ConditionPlace, syntax: Syntax, table: ast.Dict, index: int, found: ChipLiteral
) -> Iterable[Candidate] | NoFix:
    key, value = table.keys[index], table.values[index]
    if any(not isinstance(node, _PARTS) for node in ast.walk(value)):
        return NoFix("the row of the twin is computed, and not written out")
    rows = [_row(syntax, key, value, found.chip, other) for other in place.change.beside(found.chip)]
    items = [
        (syntax.start(key or value), syntax.end(value)) for key, value in zip(table.keys, table.values, strict=True)
    ]
    return [behind(syntax, place.module.path, items, index, rows)]


def _row(syntax: Syntax, key: ast.expr | None, value: ast.expr, twin: Chip, chip: Chip) -> str:
    """The text of a row, written for another chip."""
    assert key is not None
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
