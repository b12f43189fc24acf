"""Places of builds that leave a chip out, or make nothing that it loads: what the rules of builds warn of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from bwlint.chips import ChipSet, chip, siblings
from bwlint.fix import Job, mended
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, Remedy
from bwlint.model.facts import Module
from bwlint.model.findings import Fix, NoFix
from bwlint.rules import checks, file_checks
from bwlint.sources.texts import Texts
from bwlint.world.gates import TEST_FILE


def left_out(context: Context, modules: Iterable[Module], name: str) -> Iterator[Draft]:
    """The warnings of the rules of builds after which the chip `name` is to have something, the first of each line.
    They are asked about its family: what one member has is what the other lacks.
    """
    family = replace(context, targets=siblings(chip(name)) | ChipSet.of(name))
    seen = set[tuple[str, int]]()
    for module in modules:
        for draft in _drafts(family, module):
            meant = isinstance(draft.remedy, Remedy) and name in draft.remedy.chips
            place = (draft.module.path, draft.at[0])
            if draft.severity != "note" and meant and place not in seen:
                seen.add(place)
                yield draft


def _drafts(context: Context, module: Module) -> Iterator[Draft]:
    if TEST_FILE.search(context.places[module.path]):
        return
    for rule, check in checks():
        for judged in context.judged[module.path] if rule.asks_builds else ():
            yield from check(context, judged)
    for rule, check_file in file_checks():
        if rule.asks_builds:
            yield from check_file(context, module)


def mending(context: Context, draft: Draft, root: str) -> Fix | NoFix:
    """The edit that the rule knows, or why there is none."""
    source = Texts().source(draft.module.path)
    if source is None:
        return NoFix("the file cannot be read again")
    assert isinstance(draft.remedy, Remedy)
    judged = next((one for one in context.judged[draft.module.path] if one.gate is draft.gate), None)
    return mended(Job(context, draft, draft.remedy, judged, root, source))
