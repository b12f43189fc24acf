"""Rows of a table that is keyed by the capability: copied for the twin of a chip that has one, or, in a table of the
shared memory that a block may have, with what a chip has.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import libcst as cst

from bwlint.chips import EVERY, Chip, ChipSet
from bwlint.chips.wording import plain
from bwlint.fix import Job
from bwlint.fix.apply import apply
from bwlint.fix.python.items import behind
from bwlint.fix.python.literals import ChipLiteral, literal
from bwlint.fix.python.place import Candidate, ConditionPlace
from bwlint.fix.python.syntax import Syntax, parse
from bwlint.model.expr import Span
from bwlint.model.facts import Gate, Module, Operation
from bwlint.model.findings import Fix, NoFix, Proof
from bwlint.readers import ReadError, again
from bwlint.readers.spans import span
from bwlint.sources.texts import Texts

_KIB = 1024
_PLAIN = (ast.Constant, ast.Tuple, ast.List, ast.Set, ast.Dict, ast.Name, ast.Attribute, ast.UnaryOp, ast.BinOp)
_PARTS = (*_PLAIN, ast.expr_context, ast.unaryop, ast.operator)


@dataclass(frozen=True, slots=True)
class _Row:
    """A row of a table; `names` is its key where that names a chip."""

    key: ast.expr
    value: ast.expr
    names: ChipLiteral | None


def proposals(place: ConditionPlace) -> Iterable[Candidate] | NoFix:
    """`(12, 0): ("Blackwell", "sm_120a"),` and behind it the same for 12.1, names of targets with it."""
    syntax = parse(place.source)
    rows = _rows(syntax, place.span) if syntax is not None else None
    if syntax is None or rows is None:
        return NoFix("the rows of this table stand elsewhere")
    for index, row in enumerate(rows):
        if row.names is not None and row.names.chip in place.change.twins:
            return _copied(place, syntax, rows, index, place.change.beside(row.names.chip))
    return NoFix("no row of this table is for the twin")


def newest(place: ConditionPlace) -> Iterable[Candidate] | NoFix:
    """The row of the newest chip, which says nothing but names, written for those of another generation."""
    chips, syntax = place.change.chips, parse(place.source)
    rows = _rows(syntax, place.span) if syntax is not None else None
    index = _last(rows or [])
    if syntax is None or rows is None or index is None or not _only_names(syntax, rows[index]):
        return NoFix(f"what a row for {plain(chips)} holds is for a person to say")
    return _copied(place, syntax, rows, index, tuple(chips))


def mend(job: Job) -> Fix | NoFix:
    """The fix after which a table of shared memory has rows for the chips of the remedy."""
    chips, home = job.remedy.chips, job.remedy.home or job.module
    source = job.source if home is job.module else Texts().source(home.path) or ""
    table = next((one for one in home.operations if one.kind == "size-table" and one.at == job.at), None)
    syntax, counted = parse(source), _unit(table) if table is not None else 0
    rows = _rows(syntax, job.at) if syntax is not None else None
    index = _last(rows or [])
    if syntax is None or rows is None or table is None or not counted:
        return NoFix("not every row is what its chip gives one block: what a row counts is for a person to say")
    like = rows[index].names if index is not None else None
    if index is None or like is None:
        return NoFix("the keys of this table are not written out")
    spelled = {size: syntax.segment(row.value) for (_, size), row in zip(_sizes(table), rows, strict=True)}
    wanted = {chip.name: (chip.smem_per_block_optin or 0) // counted for chip in chips}
    texts = [f"{_code(like, chip)}: {spelled.get(wanted[chip.name], wanted[chip.name])}" for chip in chips]
    edits = behind(syntax, home.path, _places(syntax, rows), index, texts)
    if not _holds(home, table, apply(source, edits), wanted):
        return NoFix("the edited table would not be as wanted")
    before = ChipSet.of(*(name for name, _ in _sizes(table)))
    after, title = before | chips, f"Add the rows of {plain(chips)}: write `{', '.join(texts)}`"
    return Fix("safe", "size", title, edits, Proof(before.names, before.names, after.names, after.names, job.evidence))


def told_by_facts(module: Module, gate: Gate) -> bool:
    """Whether every row of a table is what its chip gives one block of shared memory."""
    tables = [one for one in module.operations if one.kind == "size-table" and gate.at.holds(one.at)]
    return len(tables) == 1 and bool(_unit(tables[0]))


def _unit(table: Operation) -> int:
    """The bytes that a row counts, 1 or 1024, where each is what its chip gives one block; else 0."""
    known = {chip.name: chip.smem_per_block_optin for chip in EVERY}
    right = (unit for unit in (1, _KIB) if all(size * unit == known.get(name) for name, size in _sizes(table)))
    return next(right, 0)


def _sizes(table: Operation) -> list[tuple[str, int]]:
    pairs = zip(table.amounts[::2], table.amounts[1::2], strict=True)
    return [(key.args[0], value.args[0]) for key, value in pairs]


def _holds(home: Module, table: Operation, text: str, wanted: dict[str, int]) -> bool:
    """Whether the edited file has the table with the rows that it had and those wanted, and the gates that it had."""
    try:
        edited = again(home, text)
    except ReadError:
        return False
    after = next((one for one in edited.operations if (one.kind, one.name) == (table.kind, table.name)), None)
    told = dict(_sizes(after)) if after is not None else {}
    return told == {**dict(_sizes(table)), **wanted} and len(edited.gates) == len(home.gates)


def _rows(syntax: Syntax, at: Span) -> list[_Row] | None:
    """The rows of the first table in a span; None where there is none, or where it takes another one in."""
    table = next((node for node in syntax.within(at) if isinstance(node, ast.Dict)), None)
    keys = [key for key in table.keys if key is not None] if table is not None else []
    if table is None or len(keys) < len(table.keys):
        return None
    return [_Row(key, value, _literal(syntax, key)) for key, value in zip(keys, table.values, strict=True)]


def _last(rows: Sequence[_Row]) -> int | None:
    """The index of the row of the newest chip, where every key names one."""
    numbers = [row.names.chip.joined for row in rows if row.names is not None]
    return numbers.index(max(numbers)) if rows and len(numbers) == len(rows) else None


def _places(syntax: Syntax, rows: Sequence[_Row]) -> list[tuple[int, int]]:
    return [(syntax.start(row.key), syntax.end(row.value)) for row in rows]


def _only_names(syntax: Syntax, row: _Row) -> bool:
    """Whether a row holds texts alone, and names its own chip in one of them."""
    assert row.names is not None
    texts = all(isinstance(node.value, str) for node in ast.walk(row.value) if isinstance(node, ast.Constant))
    return texts and len(list(_written(syntax, row, row.names.chip))) > 1


def _copied(
    place: ConditionPlace, syntax: Syntax, rows: Sequence[_Row], index: int, chips: Iterable[Chip]
) -> Iterable[Candidate] | NoFix:
    if any(not isinstance(node, _PARTS) for node in ast.walk(rows[index].value)):
        return NoFix("the row of the twin is computed, and not written out")
    texts = [_text(syntax, rows[index], chip) for chip in chips]
    return [behind(syntax, place.module.path, _places(syntax, rows), index, texts)]


def _text(syntax: Syntax, row: _Row, chip: Chip) -> str:
    """The text of a row, written for another chip."""
    start, end = syntax.start(row.key), syntax.end(row.value)
    text = syntax.text.source[start:end]
    for node, written in reversed(list(_written(syntax, row, chip))):
        text = text[: syntax.start(node) - start] + written + text[syntax.end(node) - start :]
    return text


def _written(syntax: Syntax, row: _Row, chip: Chip) -> Iterator[tuple[ast.expr, str]]:
    """What to write in the place of which node: the key, and in the value names of the row's own targets."""
    named = [node for node in ast.walk(row.value) if isinstance(node, ast.Constant | ast.Attribute)]
    for node in sorted([row.key, *named], key=span):
        found = _literal(syntax, node)
        number = node is not row.key and isinstance(node, ast.Constant) and not isinstance(node.value, str)
        if found is not None and row.names is not None and found.chip == row.names.chip and not number:
            yield node, _code(found, chip)


def _code(like: ChipLiteral, chip: Chip) -> str:
    return cst.Module([]).code_for_node(like.write(chip))


def _literal(syntax: Syntax, node: ast.expr) -> ChipLiteral | None:
    if not isinstance(node, ast.Constant | ast.Tuple | ast.Attribute):
        return None
    try:
        return literal(cst.parse_expression(syntax.segment(node)))
    except (cst.ParserSyntaxError, ValueError):
        return None
