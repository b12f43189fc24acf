"""Rows of a table that is keyed by the capability: copied for a twin, or with the shared memory that a chip has."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from bwlint.chips import Chip, ChipSet
from bwlint.chips.mentions import mentioned
from bwlint.chips.wording import plain
from bwlint.chips.words import said
from bwlint.fix import Job
from bwlint.fix.edited import apply
from bwlint.fix.meant import comments
from bwlint.fix.python.listed import behind
from bwlint.fix.python.locate import ChipLiteral, code, literal_at
from bwlint.fix.python.place import Candidate, ConditionPlace
from bwlint.fix.python.syntax import Syntax, parse
from bwlint.model.expr import Span
from bwlint.model.findings import Fix, NoFix, Proof
from bwlint.readers.spans import span
from bwlint.sources.texts import Texts

_MEMORY = ("smem_per_block_optin", "smem_per_block_default", "smem_per_sm")
_SUMS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
}
_MEASURED = re.compile(rf"{said('tuning', 'tried')}|\b(?:best|sweep|swept|profiled)\b", re.I)
_PLAIN = (ast.Constant, ast.Tuple, ast.List, ast.Set, ast.Dict, ast.Name, ast.Attribute, ast.UnaryOp)
_PARTS = (*_PLAIN, ast.expr_context, ast.unaryop)


@dataclass(frozen=True, slots=True)
class _TableRow:
    """A row of a table whose key names a chip: `index` is its place among all rows."""

    syntax: Syntax
    table: ast.Dict
    index: int
    key: ast.expr
    value: ast.expr
    literal: ChipLiteral

    def behind(self, path: str, texts: Sequence[str]) -> Candidate:
        """The edits that put other rows behind this one."""
        pairs = zip(self.table.keys, self.table.values, strict=True)
        items = [(self.syntax.start(key or value), self.syntax.end(value)) for key, value in pairs]
        return behind(self.syntax, path, items, self.index, texts)


def proposals(place: ConditionPlace) -> Iterable[Candidate] | NoFix:
    """`(12, 0): ("Blackwell", "sm_120a"),` and behind it the same for 12.1, names of targets with it."""
    row = _twin(place)
    return row if isinstance(row, NoFix) else _copied(place, row, place.change.beside(row.literal.chip))


def newest(place: ConditionPlace) -> Iterable[Candidate] | NoFix:
    """The row of the newest chip, which says nothing but names, written for those of another generation."""
    chips, row = place.change.chips, _newest(_rows(place.source, place.span) or [])
    if row is None or not _only_names(row, next(iter(chips))):
        return NoFix(f"decide the values of a row for {plain(chips)}")
    return _copied(place, row, tuple(chips))


def untold(place: ConditionPlace) -> NoFix | None:
    """Why a row may say something else for the other chip; None for names of targets, and for the same memory."""
    row = _twin(place)
    if isinstance(row, NoFix):
        return row
    chips = (row.literal.chip, *place.change.beside(row.literal.chip))
    amount = _amount(row.value)
    if amount is not None and any(all(getattr(chip, name) == amount for chip in chips) for name in _MEMORY):
        return None
    if _unit(_rows(place.source, place.span) or []) or _only_names(row, chips[1]):
        return None
    return NoFix("decide the values of the row")


def mend(job: Job) -> Fix | NoFix:
    """The fix after which a table of shared memory has rows for the chips of the remedy."""
    chips, home = job.remedy.chips, job.remedy.home or job.module
    source = job.source if home is job.module else Texts().source(home.path) or ""
    rows = _rows(source, job.at) or []
    row, counted = _newest(rows), _unit(rows)
    if row is None or not counted:
        return NoFix("not every row equals its chip's limit per block: decide what the rows count")
    held, spelled = _sizes(rows), {_amount(one.value): row.syntax.segment(one.value) for one in rows}
    wanted = {chip: (chip.smem_per_block_optin or 0) // counted for chip in chips}
    texts = [f"{code(row.literal, chip)}: {spelled.get(size, size)}" for chip, size in wanted.items()]
    edits = row.behind(home.path, texts)
    text = apply(source, edits)
    if _sizes(_rows(text, Span(*job.at[:2], text.count("\n") + 2, 0)) or []) != held | wanted:
        return NoFix("the edited table would not be as wanted")
    before = ChipSet.joining(held)
    after, title = before | chips, f"Add the rows of {plain(chips)}: write `{', '.join(texts)}`"
    return Fix("safe", "size", title, edits, Proof(before.names, before.names, after.names, after.names, job.evidence))


def _sizes(rows: Sequence[_TableRow]) -> dict[Chip, int | None]:
    return {row.literal.chip: _amount(row.value) for row in rows}


def _unit(rows: Sequence[_TableRow]) -> int:
    """The bytes that a row counts, 1 or 1024, where each is what its chip gives one block, and they differ; else 0."""
    sizes = _sizes(rows)
    for unit in (1, 1024) if len(set(sizes.values())) > 1 else ():
        if all(size is not None and size * unit == chip.smem_per_block_optin for chip, size in sizes.items()):
            return unit
    return 0


def _rows(source: str, at: Span) -> list[_TableRow] | None:
    """The rows for chips of the first table in a span; None where there is no table."""
    syntax = parse(source)
    within = syntax.within(at) if syntax is not None else ()
    table = next((node for node in within if isinstance(node, ast.Dict)), None)
    if syntax is None or table is None:
        return None
    pairs = enumerate(zip(table.keys, table.values, strict=True))
    named = ((index, key, value, literal_at(syntax, key)) for index, (key, value) in pairs if key is not None)
    return [
        _TableRow(syntax, table, index, key, value, found) for index, key, value, found in named if found is not None
    ]


def _newest(rows: Sequence[_TableRow]) -> _TableRow | None:
    """The row of the newest chip, where every key names one."""
    whole = rows and len(rows) == len(rows[0].table.keys)
    return max(rows, key=lambda row: row.literal.chip.joined) if whole else None


def _twin(place: ConditionPlace) -> _TableRow | NoFix:
    rows = _rows(place.source, place.span)
    if rows is None:
        return NoFix("the rows of this table are written elsewhere")
    twins = (row for row in rows if row.literal.chip in place.change.twins)
    return next(twins, None) or NoFix("no row of this table is for the twin")


def _only_names(row: _TableRow, chip: Chip) -> bool:
    """Whether a row says nothing but names of targets, which are written anew for another chip."""
    constants = [node for node in ast.walk(row.value) if isinstance(node, ast.Constant)]
    targets = [node for node, _ in _written(row, chip) if node is not row.key]
    told = [str(node.value) for node in constants if node not in targets]
    speaks = any(mentioned(text).exact or any(each in text for each in row.literal.chip.products) for text in told)
    return bool(targets) and all(isinstance(node.value, str) for node in constants) and not speaks


def _copied(place: ConditionPlace, row: _TableRow, chips: Iterable[Chip]) -> Iterable[Candidate] | NoFix:
    told = f"{place.gate.name.replace('_', ' ')} {place.gate.comment} {comments(place.source, place.span)}"
    if _MEASURED.search(told):
        return NoFix("its rows are measured values")
    if any(not isinstance(node, _PARTS) for node in ast.walk(row.value)) and _amount(row.value) is None:
        return NoFix("the row of the twin is computed, and not written out")
    return [row.behind(place.module.path, [_text(row, chip) for chip in chips])]


def _amount(node: ast.expr) -> int | None:
    """The number that `(100 - 1) * 1024` is."""
    if isinstance(node, ast.Constant):
        return node.value if type(node.value) is int else None
    does = _SUMS.get(type(node.op)) if isinstance(node, ast.BinOp) else None
    if does is None or not isinstance(node, ast.BinOp):
        return None
    left, right = _amount(node.left), _amount(node.right)
    return None if left is None or right is None else does(left, right)


def _text(row: _TableRow, chip: Chip) -> str:
    """The text of a row, written for another chip."""
    syntax = row.syntax
    start, end = syntax.start(row.key), syntax.end(row.value)
    text = syntax.text.source[start:end]
    for node, written in reversed(list(_written(row, chip))):
        text = text[: syntax.start(node) - start] + written + text[syntax.end(node) - start :]
    return text


def _written(row: _TableRow, chip: Chip) -> Iterator[tuple[ast.expr, str]]:
    """What to write in the place of which node: the key, and in the value names of the row's own targets."""
    named = [node for node in ast.walk(row.value) if isinstance(node, (ast.Constant, ast.Attribute))]
    for node in sorted([row.key, *named], key=span):
        found = literal_at(row.syntax, node)
        number = node is not row.key and isinstance(node, ast.Constant) and not isinstance(node.value, str)
        if found is not None and found.chip == row.literal.chip and not number:
            yield node, code(found, chip)
