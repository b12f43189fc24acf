"""`bwlint matrix`: the public operations of a tree, and the chips each works on."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase

from bwlint.chips import EVERY, ChipSet, parse_targets, sold_chips
from bwlint.matrix.cells import Cells, GatePlace, Ruling
from bwlint.matrix.rows import ANSWERS, VALIDATES, Interfaces, RowEntry, entries, span_of
from bwlint.matrix.table import FALLBACK, NO, UNKNOWN, YES, Cell, CellGate, Matrix, MatrixRow
from bwlint.model.expr import Span
from bwlint.model.facts import Module
from bwlint.model.ledger import Row
from bwlint.model.progress import Advance, each, quiet
from bwlint.run.check import left_to_decide, told_of_text, unread
from bwlint.run.engine import Linked, linked
from bwlint.run.gather import Gathered, gather
from bwlint.run.request import CheckRequest
from bwlint.settings.config import UsageError
from bwlint.sources.faults import contained
from bwlint.sources.texts import Names, Texts
from bwlint.sources.walk import SourceFile
from bwlint.world.budget import Budget
from bwlint.world.gates import TEST_FILE

MAX_TEXT = 200
"""Characters of a gate that are shown."""

_HELPER = re.compile(r"(?:get|gen|load|build|make|is|has|can|should|check|validate|require|warn|log)_|(?:run|main)$")
"""Functions that prepare or ask, and that users of an operation do not call by themselves."""

_SPACE = re.compile(r"\s+")


def matrix(
    paths: Sequence[str],
    targets: Sequence[str] = (),
    select: Sequence[str] = (),
    jobs: int | None = None,
    stack: ExitStack | None = None,
    advance: Advance = quiet,
    whole: bool = False,
) -> Matrix:
    """The matrix of what `paths` offer. `select` are patterns for names, such as `*attention*`. With `whole`, rows that
    tell no chips apart are among the others. Raises UsageError and ConfigError."""
    with ExitStack() as own:
        gathered = gather(CheckRequest(tuple(paths), jobs=jobs, target=tuple(targets)), stack or own, advance)
        return _matrix(gathered, _chips(targets), select, whole)


def _chips(targets: Sequence[str]) -> tuple[str, ...]:
    if not targets:
        return tuple(chip.name for chip in sold_chips())
    try:
        return parse_targets(targets)[0].names
    except ValueError as error:
        raise UsageError(str(error)) from None


@dataclass(frozen=True, slots=True)
class JudgedRows:
    """The rows of a tree before they are told: `kept` tell chips apart, `alike` do not, `unasked` have no
    gate. `judge` has judged them in `world`."""

    world: Linked
    judge: Cells
    kept: tuple[tuple[RowEntry, Ruling], ...]
    alike: tuple[tuple[RowEntry, Ruling], ...]
    unasked: tuple[str, ...]
    table: _TableBuilder
    apart: Mapping[GatePlace, ChipSet]
    """Errors of C++ that no row meets, each with the chips that it turns away."""


def judged_rows(gathered: Gathered, chips: tuple[str, ...], select: Sequence[str]) -> JudgedRows:
    """The rows of what was gathered, with the gates of each; `select` as for `matrix`."""
    files = tuple(file for file in gathered.found.files if file.kind == "python")
    budget = Budget.of(None, (file.real for file in files))
    interfaces = Interfaces.of(files, budget)
    world = linked(gathered.collected, gathered.sources, budget, gathered.settings.libraries())
    judge = Cells.of(world, interfaces)
    refusing = _of_modules(gathered, _refusing_in)
    asked = frozenset(name for name in refusing if select and selected(name, select))  # nobody has to hand it on
    wanted = [
        entry
        for entry in entries(interfaces, _of_modules(gathered, _gated_in) | asked, refusing, world.native.compiled)
        if selected(f"{entry.module}.{entry.name}", select)
    ]
    near = next(iter(gathered.found.files), None)
    table = _TableBuilder(
        chips, gathered.texts, gathered.names, {file.real: file for file in files}, near, interfaces.path
    )
    judged = []
    for entry in each(gathered.advance, "rating", wanted):
        with contained(entry.site.path if entry.site else interfaces.path(entry.module), f"asking for {entry.name}"):
            judged.append((entry, judge.ruling(entry)))
    unasked = tuple(
        f"{entry.module}.{entry.name}"
        for entry, ruling in judged
        if (entry.site or entry.bound) and not entry.backend and not ruling
    )
    kept = tuple(_kept(judged))
    known = {(entry.module, entry.name) for entry, _ in kept}
    alike = tuple((entry, ruling) for entry, ruling in judged if (entry.module, entry.name) not in known)
    return JudgedRows(world, judge, kept, alike, unasked, table, _apart(gathered, world, judged))


def _apart(gathered: Gathered, world: Linked, judged: Iterable[tuple[RowEntry, Ruling]]) -> Mapping[GatePlace, ChipSet]:
    met = {place for _, ruling in judged for places in ruling.refused.values() for place in places}
    found: dict[GatePlace, ChipSet] = {}
    for file, module in ((path, one) for path, one in gathered.collected.modules if one.language == "cuda"):
        for name in module.functions if not TEST_FILE.search(file.path) else ():
            for error in world.native.refusals.errors(module, name):
                place = GatePlace(module.path, error.at)
                if error.kind == "gate" and error.legal and place not in met:
                    found[place] = EVERY - error.legal
    return found


def _matrix(gathered: Gathered, chips: tuple[str, ...], select: Sequence[str], whole: bool) -> Matrix:
    rows = judged_rows(gathered, chips, select)
    above = {(entry.module, entry.name) for entry, _ in rows.kept if entry.backend is None}
    left = left_to_decide(gathered, told_of_text(gathered, rows.world).rows)
    made = [
        _with_left(rows.table.row(entry, ruling, (entry.module, entry.name) in above), span_of(entry), left)
        for entry, ruling in (*rows.kept, *(rows.alike if whole else ()))
    ]
    skipped = tuple(sorted(set(unread(gathered)), key=lambda skip: (skip.path, skip.reason)))
    scanned = len(gathered.found.files) - len(gathered.collected.skipped)
    asked = ChipSet.of(*chips)
    apart = tuple(rows.table.gate(place) for place, away in rows.apart.items() if away & asked and asked - away)
    return Matrix(chips, tuple(made), rows.unasked, scanned, skipped, gathered.targets.names, left, apart)


def _with_left(row: MatrixRow, at: Span | None, left: Iterable[Row]) -> MatrixRow:
    """A row with how many questions that are left to decide stand within its definition."""
    last = row.line if at is None else max(row.line, at.end_line)
    inside = (any(place.path == row.path and row.line <= place.line <= last for place in one.places) for one in left)
    return replace(row, left=sum(inside))


def _of_modules(gathered: Gathered, find: Callable[[Module], Iterable[str]]) -> frozenset[str]:
    return frozenset(name for _, module in gathered.collected.modules for name in find(module))


def _gated_in(module: Module) -> Iterable[str]:
    """Definitions that declare where they work, or answer it."""
    for gate in module.gates:
        if gate.kind == "list" and gate.qualname == "<module>":
            yield f"{module.name}.{gate.name}"
        elif gate.kind == "list" and gate.name == "__init__":
            yield f"{module.name}.{gate.qualname}"
        elif gate.kind == "predicate" and gate.qualname in module.classes and "." not in gate.qualname:
            yield f"{module.name}.{gate.qualname}"  # a bound that its class gives
    for qualname in module.functions:
        owner, _, name = qualname.rpartition(".")
        if owner and "." not in owner and (ANSWERS.fullmatch(name) or VALIDATES.fullmatch(name)):
            yield f"{module.name}.{owner}"


def _refusing_in(module: Module) -> Iterable[str]:
    """Functions with a gate in them, or with a choice of values by the device."""
    for gate in module.gates:
        if gate.qualname in module.functions and "." not in gate.qualname and not _HELPER.match(gate.qualname):
            yield f"{module.name}.{gate.qualname}"


def selected(name: str, patterns: Sequence[str]) -> bool:
    """Whether one of the patterns, if there are any, holds for a full name or for its last part."""
    last = name.rpartition(".")[2]
    return not patterns or any(fnmatchcase(name, pattern) or fnmatchcase(last, pattern) for pattern in patterns)


def _kept(judged: Sequence[tuple[RowEntry, Ruling]]) -> list[tuple[RowEntry, Ruling]]:
    """The rows that tell chips apart, with the operation or the table around them."""
    telling = {
        (entry.module, entry.name)
        for entry, ruling in judged
        if 0 < len(ruling.refused) < len(EVERY) or 0 < len(ruling.other) < len(EVERY)
    }
    return [
        (entry, ruling)
        for entry, ruling in judged
        if (entry.module, entry.name) in telling and (entry.backend is None or ruling or entry.backend.stands_for)
    ]


@dataclass(frozen=True, slots=True)
class _TableBuilder:
    """Turns rulings into rows with reported paths and the text of gates."""

    chips: tuple[str, ...]
    texts: Texts
    names: Names
    files: Mapping[str, SourceFile]
    near: SourceFile | None
    paths: Callable[[str], str]
    """The real path of a module."""
    _gates: dict[GatePlace, CellGate] = field(default_factory=dict)

    def row(self, entry: RowEntry, ruling: Ruling, below: bool = False) -> MatrixRow:
        """A row as reports show it; `below` says that its operation stands above it."""
        at = span_of(entry)
        path = entry.site.path if entry.site else ""
        if entry.bound:
            path = entry.bound[0].outline.path
        elif entry.site is None and entry.check is not None:
            path, at = entry.check.path, entry.check.offer.at
        elif entry.site is None:
            path = self.paths(entry.module)
        cells = {chip: self._cell(ruling, chip) for chip in self.chips}
        backend = entry.backend.name if entry.backend else ""
        nested = below and entry.backend is not None
        return MatrixRow(entry.module, entry.name, backend, self._reported(path), at[0] if at else 1, cells, nested)

    def _cell(self, ruling: Ruling, chip: str) -> Cell:
        if chip in ruling.refused:
            return Cell(NO, self.gate(ruling.refused[chip][0]))
        if chip in ruling.other:
            arm, place = ruling.other[chip]
            return Cell(FALLBACK, self.gate(place), arm)
        return Cell(YES, self.gate(ruling.by)) if ruling.by else Cell(UNKNOWN)

    def gate(self, place: GatePlace) -> CellGate:
        if place not in self._gates:
            self._gates[place] = self._read(place)
        return self._gates[place]

    def _read(self, place: GatePlace) -> CellGate:
        line, column, end_line, end_column = place.at
        text = self.texts.of(place.path)
        code = "" if text is None else _slice(text.lines, line, column, end_line, end_column)
        return CellGate(self._reported(place.path), line, column + 1, code)

    def _reported(self, real: str) -> str:
        near = self.files.get(real, self.near)
        return real if near is None else self.names.reported(real, near)


def _slice(lines: Sequence[str], line: int, column: int, end_line: int, end_column: int) -> str:
    """The code of a span in one line; columns count bytes."""
    found = [text.encode("utf-8", "surrogatepass") for text in lines[line - 1 : min(end_line, line + 20)]]
    if not found:
        return ""
    if len(found) == end_line - line + 1:
        found[-1] = found[-1][:end_column]
    found[0] = found[0][column:]
    code = b" ".join(found).decode("utf-8", "replace")
    return _SPACE.sub(" ", code).strip()[:MAX_TEXT]
