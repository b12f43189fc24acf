"""What changed in a matrix between two revisions: for a terminal, for a pull request, and as JSON
(`matrix-changes.schema.json`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bwlint.chips import EVERY, ChipSet, sold_chips
from bwlint.chips.products import cards
from bwlint.chips.wording import plain as in_words
from bwlint.matrix.table import KINDS, NO, Cell, CellChange, CellGate, ChangeKind, MatrixChanges
from bwlint.model.escape import visible
from bwlint.model.naming import counted
from bwlint.report import Setting
from bwlint.report.matrix import WORDS, cell_json, name
from bwlint.report.text import folded
from bwlint.report.words import aligned, code, plain, table
from bwlint.report.write import picked, written

_TITLES: dict[ChangeKind, str] = {
    "worse": "Lost: refused now, or on another path",
    "better": "Gained: not refused any more, or on its own path",
    "other": "Decided by a check now, or by none any more",
    "new": "New operations, where they are not refused",
    "gone": "Removed operations, where they were not refused",
}
_CELLS: dict[ChangeKind, str] = {"worse": "lost", "better": "gained", "other": "otherwise changed"}
_ROWS: dict[ChangeKind, str] = {"new": "new", "gone": "removed"}
_ABSENT = "-"
_FEW = 2
"""Chips that are named by their cards."""


@dataclass(frozen=True, slots=True)
class _Line:
    """What is true of several chips: `gate` decides now, or did where no check is left."""

    kind: ChangeKind
    name: str
    before: str
    after: str
    gate: CellGate | None


def text(found: MatrixChanges, setting: Setting) -> str:
    """A block for each kind of change, a line for each operation; "" where nothing changed."""
    blocks = []
    for kind, lines in _by_kind(found):
        rows = [
            (
                f"  {visible(line.name)}",
                _chips(chips, found.chips),
                f"{line.before} -> {line.after}",
                visible(_reason(line)),
            )
            for line, chips in lines.items()
        ]
        blocks.append("\n".join([_TITLES[kind], *folded(aligned(rows), setting)]) + "\n")
    return "\n".join(blocks)


def markdown(found: MatrixChanges, setting: Setting) -> str:
    """The same as tables, with a sentence above."""
    lines = [f"### Operations by card, {code(found.before)} to {code(found.after)}", "", f"{summary(found)}.", ""]
    for kind, changes in _by_kind(found):
        rows = [
            (code(line.name), _cards(chips, found.chips), f"{line.before} → {line.after}", _shown(line.gate))
            for line, chips in changes.items()
        ]
        lines += [f"**{_TITLES[kind]}**", "", *table(("operation", "on", "change", "decided by"), *rows)]
    return "".join(f"{line}\n" for line in lines)


def json(found: MatrixChanges, setting: Setting) -> str:
    return written(
        setting.version,
        targets=found.chips,
        changes=[_change(change) for change in found.changes],
        **picked(found, "before", "after", "asked", "rows", "skipped"),
    )


def summary(found: MatrixChanges) -> str:
    """``2 cells lost, 1 gained in 2 of 31 rows; 1 file skipped``."""
    counts = Counter(change.kind for change in found.changes)
    parts = [f"{counts[kind]} {word}" for kind, word in _CELLS.items() if counts[kind]]
    if parts:
        number, _, word = parts[0].partition(" ")
        rows = {name(change) for change in found.changes if change.kind in _CELLS}
        parts[0] = f"{counted(int(number), 'cell')} {word}"
        parts[-1] += f" in {len(rows)} of {counted(found.rows, 'row')}"
    for kind, word in _ROWS.items():
        names = {name(change) for change in found.changes if change.kind == kind}
        parts += [counted(len(names), f"{word} row")] if names else []
    same = "no cell changed in what was read" if found.skipped else "no cell changed"
    skipped = [f"{counted(len({file.path for file in found.skipped}), 'file')} skipped"] if found.skipped else []
    return "; ".join([", ".join(parts) or same, *skipped])


def _by_kind(found: MatrixChanges) -> Iterator[tuple[ChangeKind, dict[_Line, list[str]]]]:
    for kind in KINDS:
        lines: dict[_Line, list[str]] = {}
        for change in found.changes:
            if change.kind == kind and not (kind in _ROWS and _is_refused(change)):
                lines.setdefault(_line(change), []).append(change.chip)
        if lines:
            yield kind, lines


def _is_refused(change: CellChange) -> bool:
    return NO in [cell.word for cell in (change.before, change.after) if cell is not None]


def _line(change: CellChange) -> _Line:
    gates = [cell.gate for cell in (change.after, change.before) if cell is not None and cell.gate is not None]
    return _Line(change.kind, name(change), _word(change.before), _word(change.after), gates[0] if gates else None)


def _word(cell: Cell | None) -> str:
    return _ABSENT if cell is None else WORDS[cell.word]


def _chips(chips: Sequence[str], shown: Sequence[str]) -> str:
    """Some of the chips shown in words; of most of all that are sold, those that are none of them."""
    some, sold = ChipSet.of(*chips), ChipSet.joining(sold_chips())
    by_others = in_words(EVERY - (sold - some))
    return by_others if by_others.startswith("every") and ChipSet.of(*shown) == sold else in_words(some)


def _cards(chips: Sequence[str], shown: Sequence[str]) -> str:
    return cards(chips) if len(chips) <= _FEW else _chips(chips, shown)


def _reason(line: _Line) -> str:
    return f"{line.gate.path}:{line.gate.line}  {line.gate.text}" if line.gate else ""


def _shown(gate: CellGate | None) -> str:
    if gate is None:
        return ""
    return f"{plain(f'{gate.path}:{gate.line}')} {code(gate.text) if gate.text else ''}".rstrip()


def _change(change: CellChange) -> dict[str, object]:
    return {
        **picked(change, "module", "name", "chip", "kind"),
        "backend": change.backend or None,
        "before": None if change.before is None else cell_json(change.before),
        "after": None if change.after is None else cell_json(change.after),
    }
