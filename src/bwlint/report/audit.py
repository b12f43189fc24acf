"""A ledger: for people (the most suspicious rows with their tables), for a spreadsheet, and as JSON, an API (described
by `audit.schema.json`; version 1 gains keys but loses none)."""

from __future__ import annotations

import csv
import textwrap
from collections.abc import Iterable, Iterator
from io import StringIO
from itertools import islice, pairwise
from typing import Any

from bwlint.model.escape import visible
from bwlint.model.ledger import Answer, Ledger, Row, RowForm, RowKind, RowPlace
from bwlint.model.naming import counted
from bwlint.report import Setting, text
from bwlint.report.inspection_table import shortened
from bwlint.report.snippet import Paint, columns
from bwlint.report.write import plain, written

FEW = 30
"""Rows that are shown unless told otherwise: an hour's work."""
SHORT_FINGERPRINT = 12

_LEAST_WIDTH = 40
_CELL = 5
_BAR = "  |"
_INDENT = "    "
_FEW_PLACES = 2
# A sentence that is longer is somebody's whole message.
_MOST_LINES = 3
_STYLES: dict[RowKind, str] = {"fail": "error", "review": "warning", "open": "note", "pass": "good"}
_KINDS: dict[RowKind, str] = {
    "fail": "fail: bwlint check reports it as wrong.",
    "review": "review: chips are treated differently, and you have to say whether that is right.",
    "open": "open: bwlint cannot tell what this decides.",
    "pass": "pass: nothing to do.",
}
_GLYPHS = {"yes": "■", "no": "□", "may": "◧", "error": "!", "-": "-", "?": "?", "else": "0"}
_VERDICTS = (
    "VERDICT: fine (the row becomes a pass), broken (it becomes a fail), later (it stays, and --fail-on leaves it out)"
)
_LETTERS = {**_GLYPHS, "yes": "Y", "no": "N", "may": "m", "error": "E"}
_MEANINGS = {
    "yes": "yes",
    "no": "no",
    "may": "depends on more than the chip",
    "error": "error",
    "-": "the chip does not get here",
    "?": "bwlint does not know",
    "arm": "branch of the chain",
    "else": "else",
}


def as_text(ledger: Ledger, setting: Setting, top: int = FEW, hidden: int = 0) -> str:
    """What the signs mean, the first `top` rows, or all where that is 0, and how to see the rest and the `hidden`."""
    if not ledger.rows:
        return ""
    shown = ledger.rows[:top] if top else ledger.rows
    width = max(setting.width, _LEAST_WIDTH)
    paint = text.painter(setting.color)
    lines: list[str] = []
    told = " ".join(_KINDS[kind] for kind in _KINDS if any(row.kind == kind for row in shown))
    lines += [*textwrap.wrap(f"Most suspicious first. {told}", width)]
    lines += [*(textwrap.wrap(_legend(shown, setting), width) if any(row.table for row in shown) else ()), ""]
    for rank, row in enumerate(shown, 1):
        lines += [*_block(rank, row, setting, width, paint), ""]
    if left := len(ledger.rows) - len(shown):
        lines.append(f"and {left:,} more: --top 0 shows all, --kind and --subject fewer")
    if hidden:
        lines.append(f"and {hidden:,} that only name a chip or an amount: --kind open shows them")
    lines.append(f"decide: bwlint audit --decide {shown[0].fingerprint[:SHORT_FINGERPRINT]} VERDICT --reason WHY")
    lines += textwrap.wrap(_VERDICTS, width)
    return "".join(f"{line}\n" for line in lines)


def _block(rank: int, row: Row, setting: Setting, width: int, paint: Paint) -> Iterator[str]:
    """The lines of one row: where and what is asked, what comes of it, why it is shown, how it is decided."""
    head = f"{rank:>2}. "
    place = _place(row.places[0], setting, width - len(head) - len(row.kind) - 2)
    yield head + paint(row.kind, _STYLES[row.kind]) + f"  {place}"
    traits = _traits(row)
    subject = visible(row.subject) or "(no name)"
    room = width - len(_INDENT) - len(traits) - 3
    yield f"{_INDENT}{paint(shortened(subject, room, room // 2), 'title')} ({traits})"
    yield from _wrapped("> ", row.question, width)
    yield from _table(row, setting, width, paint)
    for way in row.ways:
        yield from _wrapped(f"{', '.join(way.chips)}: ", way.does, width)
    if row.behind:
        yield from _wrapped("behind it: ", row.behind, width)
    yield from _wrapped("why: ", row.why, width)
    if row.decision is not None:
        yield from _wrapped(f"{row.decision.said}: ", _said(row), width)
    yield from _wrapped("", "; ".join(_rest(row)), width)


def _traits(row: Row) -> str:
    group = "" if row.group == "own" else row.group
    return ", ".join(filter(None, (FORMS[row.form], group, "rough table" if row.rough else "")))


def _place(place: RowPlace, setting: Setting, room: int) -> str:
    """``path:line``; a long path loses folders behind its first."""
    found = f"{visible(place.path)}:{place.line}"
    first, *folders, name = found.split("/") if "/" in found else ("", found)
    while columns(found) > room and folders:
        folders = folders[1:]
        found = "/".join((first, "...", *folders, name))
    return text.linked(shortened(found, room, room // 4), place.path, setting)


def _wrapped(head: str, said: str, width: int) -> Iterator[str]:
    """`said` behind its head, its further lines below its first; what goes beyond a few lines is cut."""
    said = visible(said)
    room = width - len(_INDENT)
    # `textwrap` counts characters, of which some take two columns.
    room = room if columns(said) == len(said) else room // 2
    later = head if head == "> " else " " * min(len(head), 12)
    found = textwrap.wrap(
        said,
        room,
        initial_indent=head,
        subsequent_indent=later,
        max_lines=_MOST_LINES,
        placeholder=" ...",
        break_on_hyphens=False,
    )
    yield from (f"{_INDENT}{line}" for line in found)


def _table(row: Row, setting: Setting, width: int, paint: Paint) -> Iterator[str]:
    """Chips above their answers, as many at a time as fit; a bar behind the asked ones."""
    verdicts = dict(row.verdicts)
    rest = iter(row.table)
    while part := list(islice(rest, (width - len(_INDENT) - len(_BAR)) // _CELL)):
        bars = [
            _BAR if chip in verdicts and beside not in verdicts else "" for (chip, _), (beside, _) in pairwise(part)
        ]
        cells = list(zip(part, [*bars, ""], strict=True))
        yield _INDENT + "".join(f"{chip:>{_CELL}}{bar}" for (chip, _), bar in cells)
        signs = "".join(_sign(answer, verdicts.get(chip), setting.color, paint) + bar for (chip, answer), bar in cells)
        yield _INDENT + signs


def _sign(answer: Answer, verdict: RowKind | None, color: bool, paint: Paint) -> str:
    """An answer right below its chip; that of an asked one in the colour of its verdict."""
    sign = (_GLYPHS if color else _LETTERS).get(answer) or answer.removeprefix("arm ")
    return " " * (_CELL - len(sign)) + (paint(sign, _STYLES[verdict]) if verdict else sign)


def _said(row: Row) -> str:
    decision = row.decision
    assert decision is not None
    told = " ".join(part for part in (decision.who, decision.date) if part)
    return " ".join(part for part in (decision.reason, f"({told})" if told else "") if part) or "no reason given"


def _rest(row: Row) -> Iterator[str]:
    """What a row is called by, its verdicts where they differ, and how much more there is of it."""
    yield f"id {row.fingerprint[:SHORT_FINGERPRINT]}"
    if len({kind for _, kind in row.verdicts}) > 1:
        yield ", ".join(f"{kind} for {chip}" for chip, kind in row.verdicts)
    others = [f"{place.path}:{place.line}{f' ({place.says})' * bool(place.says)}" for place in row.places[1:]]
    if others:
        more = len(others) - _FEW_PLACES
        yield "also " + ", ".join(others[:_FEW_PLACES] + [counted(more, "more place")] * (more > 0))
    if row.same_subject:
        yield f"{counted(len(row.same_subject), 'more row')} about {row.subject}"


def _legend(rows: Iterable[Row], setting: Setting) -> str:
    """What the signs mean, those that occur."""
    found = {"arm" if answer.startswith("arm ") else answer for row in rows for _, answer in row.table}
    signs = {**(_GLYPHS if setting.color else _LETTERS), "arm": "1, 2"}
    told = "; ".join(f"{signs[answer]} {meaning}" for answer, meaning in _MEANINGS.items() if answer in found)
    return f"Below each chip stands its answer: {told}. The checked chips are left of |."


def as_json(ledger: Ledger, setting: Setting) -> str:
    """`ledger` as JSON. Keys keep their order: in a table the asked chips come first."""
    return written(
        setting.version,
        sort_keys=False,
        targets=ledger.targets,
        rows=[row_json(row) for row in ledger.rows],
        skipped=plain(ledger.skipped),
        stats=dict(ledger.stats),
        stale_decisions=plain(ledger.stale),
    )


def row_json(row: Row) -> dict[str, Any]:
    """A row of a ledger as other reports show it, too."""
    return {**plain(row), "verdicts": dict(row.verdicts), "table": dict(row.table)}


_FORMULA = ("=", "+", "-", "@")
"""What a spreadsheet takes for the beginning of a formula, which may run programs."""


def as_csv(ledger: Ledger, setting: Setting) -> str:
    """`ledger` as CSV with a header; a column for the verdict of each asked chip."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    heads = ("score", "form", "group", "subject", "question", "path", "line", "places", "why")
    writer.writerow(("rank", "kind", *ledger.targets, *heads, "fingerprint", "decision", "reason"))
    for rank, row in enumerate(ledger.rows, 1):
        writer.writerow(_harmless(cell) for cell in _cells(rank, row, ledger.targets))
    return text.getvalue()


def _cells(rank: int, row: Row, targets: tuple[str, ...]) -> Iterator[str | int]:
    verdicts, first = dict(row.verdicts), row.places[0]
    yield from (rank, row.kind, *(verdicts.get(chip, "") for chip in targets))
    yield from (row.score, row.form, row.group, row.subject, row.question, first.path, first.line)
    yield from (len(row.places), row.why, row.fingerprint)
    yield from ("", "") if row.decision is None else (row.decision.said, row.decision.reason)


def _harmless(cell: str | int) -> str | int:
    if isinstance(cell, int):
        return cell
    text = visible(cell)
    return f"'{text}" if text.startswith(_FORMULA) else text


FORMS: dict[RowForm, str] = {
    "gate": "check at run time",
    "guard": "preprocessor check",
    "build": "architectures that a build compiles for",
    "list": "list of the chips that something is for",
    "table": "table by chip",
    "amount": "amount that chips differ in",
    "finding": "finding of check",
    "asked": "comparison that bwlint cannot evaluate",
    "name": "generation in a name",
    "product": "product name of a card",
    "unit": "instruction or link that some chips lack",
    "text": "text for people that names chips",
    "word": "architecture name that nothing compares",
}
