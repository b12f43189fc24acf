"""The edits of a plan to port as a series of patches, one a step, each on top of those before it."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from bwlint.model.escape import visible
from bwlint.model.findings import Fix
from bwlint.port.table import PortStep
from bwlint.repair.changes import Changes, TextChange, moved
from bwlint.repair.patches import Series, mail, proof_of, slug, wrapped
from bwlint.repair.source import EditedFile
from bwlint.report.patches import Block
from bwlint.sources.read import SourceText, Unread
from bwlint.sources.texts import Texts
from bwlint.sources.walk import SourceFile
from bwlint.sources.worktree import base_of, relative

_MOST_NAMES = 8
_Part: TypeAlias = tuple[EditedFile, str, list[Block]]
"""A file as a patch finds it, its name there, and what the patch does to it."""


@dataclass(slots=True)
class _FileOnTheWay:
    """A file on the way: what is on disk, and the changes of that so far."""

    file: EditedFile
    text: SourceText
    done: Changes


def series(steps: Sequence[PortStep], files: Sequence[SourceFile]) -> Series:
    """The patches of the steps that have a fix, each edit in the first; `later` are those that cannot be made."""
    fixed = [step for step in steps if step.fix is not None]
    if not fixed:
        return Series({}, 0)
    known = {file.real: file for file in files}
    reals = sorted({edit.path for step in fixed if step.fix for edit in step.fix.edits})
    base = base_of(reals, os.path.realpath(os.curdir))
    states = {real: state for real in reals if (state := _state(real, known)) is not None}
    found = [(step, _parts(step, states, base)) for step in fixed]
    parts = [(step, part) for step, part in found if part]
    made = {}
    for number, (step, part) in enumerate(parts, 1):
        where = f"{relative(step.real, base)}:{step.at.line}"
        subject = visible(f"{where}: {step.fix.title}" if step.fix else where)
        name = f"{number:04}-{slug(subject)}.patch"
        made[name] = mail(base, f"[PATCH {number}/{len(parts)}] {subject}", _message(step), part)
    return Series(made, sum(part is None for _, part in found))


def _state(real: str, known: dict[str, SourceFile]) -> _FileOnTheWay | None:
    text = Texts().of(real)
    file = known.get(real)
    if text is None or file is None:
        return None
    made = EditedFile.of(file, text.source)
    return None if isinstance(made, str) else _FileOnTheWay(made, text, Changes())


def _parts(step: PortStep, states: dict[str, _FileOnTheWay], base: str) -> list[_Part] | None:
    """What a step does to each file as those before it leave it; None where one stands in its way."""
    by_file = defaultdict[str, list[TextChange]](list)
    for edit in step.fix.edits if step.fix else ():
        state = states.get(edit.path)
        if state is None:
            return None
        change = TextChange.of(edit, state.text)
        if change not in state.done.kept:
            by_file[edit.path].append(change)
    if not all(states[real].done.takes(change) for real, found in by_file.items() for change in found):
        return None
    parts = []
    for real, found in by_file.items():
        state = states[real]
        before = state.done.kept
        placed = [TextChange(moved(one.start, before), moved(one.end, before), one.text) for one in sorted(found)]
        here = _as_left(state)
        if here is None:
            return None
        edited = replace(here, changes=tuple(placed))
        parts.append((edited, relative(real, base), edited.blocks))
        for one in found:
            state.done.add(one)
    return parts


def _as_left(state: _FileOnTheWay) -> EditedFile | None:
    """The file as the steps so far leave it, as if it were on disk."""
    now = replace(state.file, changes=tuple(state.done.kept))
    after = now.after
    return None if isinstance(after, Unread) else EditedFile(now.file, after, now.codec, now.current)


def _message(step: PortStep) -> str:
    fix = step.fix
    assert fix is not None
    more = len(step.needed_by) - _MOST_NAMES
    names = ", ".join(step.needed_by[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
    return "\n\n".join(
        (
            wrapped(f"Needed by {names}." if names else step.said),
            "\n".join(wrapped(row, "    ", "      ") for row in proof_of(fix)),
            wrapped(f"{_covered(step.kind, fix)} on the chip before you apply it."),
        )
    )


def _covered(kind: str, fix: Fix) -> str:
    """What the proof of a fix says nothing about."""
    proof = fix.proof
    if (proof.before_may, proof.before_must) == (proof.after_may, proof.after_must):
        return "bwlint has read the edited code and not run it. Run it"
    return f"The proof covers the {'targets' if kind == 'build' else 'test'} alone. Run the code behind it"
