"""leak: a gate admits a chip to something proved illegal there."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bwlint.chips import ChipSet
from bwlint.evidence import PROOF, Need
from bwlint.facts import Side
from bwlint.judge import Context, Draft, Judged, Related, refuses

NAME = "leak"
OPEN_ENDED = re.compile(r"\+|or newer|and newer|or later|and later|or above|and above|or higher|>=|≥|at least", re.I)


def check(context: Context, judged: Judged) -> Iterator[Draft]:
    if judged.in_test and judged.other.ends == "skip":
        return
    for found in leaks(context, judged):
        yield draft(NAME, judged, *found)


def leaks(context: Context, judged: Judged) -> Iterator[tuple[Side, Need, ChipSet]]:
    """Sides that a target may take and whose need is illegal there, with the chips."""
    for side in (judged.gate.yes, judged.gate.no):
        if refuses(side):
            continue
        here = judged.on(side)
        if not here & context.targets or not _device_decides(judged, side):
            continue
        need = context.need_of(judged, side)
        if need is None or not here & need.legal:
            continue
        wrong = here & context.targets & context.reach(judged, need.use.at) - need.legal
        if not wrong:
            continue
        if need.strength != PROOF and _says_newer_is_fine(judged, side):
            continue
        yield side, need, wrong


def _device_decides(judged: Judged, side: Side) -> bool:
    """The side is taken because of the device: it is not taken on every chip that gets here."""
    return judged.on(side) != judged.sets.live


def _says_newer_is_fine(judged: Judged, side: Side) -> bool:
    texts = [text.text for text in (*judged.gate.yes.texts, *judged.gate.no.texts)]
    return any(OPEN_ENDED.search(text) for text in (*texts, judged.gate.comment))


def draft(rule: str, judged: Judged, side: Side, need: Need, wrong: ChipSet) -> Draft:
    proved = need.strength == PROOF
    named = need.use.name.rpartition(".")[2] or need.use.name
    related = [Related(judged.module, need.use.at, f"`{named}` is {need.what}")]
    if need.far is not None:
        owner, use = need.far
        related.append(Related(owner, use.at, f"`{use.name}` works on {need.legal}"))
    return Draft(
        rule,
        rule,
        "warning" if proved else "note",
        ("high" if need.far is not None else "medium") if proved else "low",
        judged.module,
        judged.at,
        f"{wrong} {'is' if len(wrong) == 1 else 'are'} let through to `{named}`: {need.what}",
        f"admits {judged.on(side)}",
        f"name the chips that it works on ({need.legal}), and give {wrong} a path of its own or an error",
        judged.on(side),
        judged.sets.live & (judged.sets.must if side is judged.gate.yes else ~judged.sets.may),
        need.legal,
        judged.gate,
        tuple(related),
        evidence=need.source,
    )
