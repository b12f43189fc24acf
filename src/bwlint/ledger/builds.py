"""Audit rows for builds: the targets of a list, a flag or a variable."""

from __future__ import annotations

from collections.abc import Iterator

from bwlint.judging.aside import aside_marks
from bwlint.judging.context import Context
from bwlint.ledger.question import MOST_TEXT, Question, Table, columns, shape
from bwlint.model.facts import Carry, Module
from bwlint.model.ledger import RowPlace
from bwlint.world.builds import exactly_one_of, runs_on


def of_builds(context: Context, module: Module) -> Iterator[Question]:
    """The lists and flags of a file; flags of one group are one question."""
    lists: dict[tuple[str, str, str, str], list[Carry]] = {}
    for carry in module.carries:
        lists.setdefault((carry.kind, carry.name, carry.qualname, carry.group), []).append(carry)
    for carries in lists.values():
        yield _list(context, module, carries)


def _list(context: Context, module: Module, carries: list[Carry]) -> Question:
    first, asked = carries[0], context.targets
    covered = runs_on(carries)
    is_known = any(carry.sass or carry.ptx for carry in carries)
    table: Table = tuple((chip, "yes" if chip in covered else "no") for chip in columns(asked) if is_known)
    marks = {f"is-{first.kind}", *shape(table, asked.names)}
    named = sorted({name for carry in carries for name in (*carry.sass, *carry.ptx)}, key=lambda n: (len(n), n))
    if named and not asked & covered:
        marks.add("builds-nothing-for-asked")
    if exactly_one_of(carries) & asked:
        marks.add("builds-for-one-twin")
    if any(name.endswith("a") and name.startswith("12") for name in named):
        marks.add("exact-target")
    if not named:
        marks.add("no-target-is-known")
    if first.sources:
        marks.add("names-its-sources")
    marks |= aside_marks(context, module)
    text = f"{first.name} {first.text or ', '.join(named)}".strip()
    return Question(
        form="build",
        subject=first.name or module.path.rpartition("/")[2],
        text=" ".join(text.split())[:MOST_TEXT],
        places=tuple(RowPlace(module.path, c.at.line, max(c.at.line, c.at.end_line), "built for") for c in carries),
        table=table,
        marks=frozenset(marks),
        behind=f"targets: {', '.join(named)}" if named else "",
        unknown="" if named else "bwlint does not know the targets of this build",
    )
