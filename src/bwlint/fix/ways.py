"""Alternative edits for a finding that needs a person's choice, each with its own proof."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from bwlint.chips.wording import plain
from bwlint.fix import Job, mended
from bwlint.fix.laid_out import laid_out
from bwlint.model.findings import Fix, NoFix


def ways(job: Job, usual: Fix | NoFix) -> tuple[Fix, ...]:
    """What may be done about a finding, the usual first; nothing where that is safe, or there is nothing else."""
    found = [usual] if isinstance(usual, Fix) else []
    if any(fix.applicability == "safe" for fix in found):
        return ()
    for other in _others(job, found):
        fix = mended(other)
        if isinstance(fix, Fix) and all({*fix.edits} != {*one.edits} for one in found):
            found.append(replace(laid_out(job, fix), applicability="unsafe"))
    return tuple(found) if found != [usual] else ()


def _others(job: Job, found: list[Fix]) -> Iterator[Job]:
    if job.remedy.how == "carry" and found:  # one image for a family, or one for each of its members
        yield replace(job, known=frozenset(found[0].edits))
    if job.judged is None or job.remedy.how not in ("test", "admit"):
        return
    core, wanted, asked = job.judged.core, job.remedy.chips, job.context.targets
    fewer = (core | wanted & asked) - (asked - wanted)  # only chips that somebody asks for move
    legal = core if job.draft.legal is None else core & job.draft.legal  # all move on which it does not work
    for chips in {fewer: None, legal: None} if wanted <= core else (fewer,):
        if chips and chips not in (core, wanted):
            apart = plain(chips - wanted | wanted - chips)
            remedy = replace(job.remedy, chips=chips, unsafe=f"the usual edit does something else with {apart}")
            yield replace(job, remedy=remedy)
