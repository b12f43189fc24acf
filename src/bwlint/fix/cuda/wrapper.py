"""The wrapper of the family around what a wrapper for one part holds, in every file that uses it."""

from __future__ import annotations

from bwlint.fix import Job
from bwlint.judging.drafts import RelatedSpan
from bwlint.judging.guards import for_family, name_of, wrapper_of
from bwlint.model.findings import Edit, Fix, NoFix, Proof
from bwlint.sources.texts import Texts


def mend(job: Job) -> Fix | NoFix:
    guarded = job.guarded
    wrapper = wrapper_of(job.context, guarded) if guarded is not None else None
    family = for_family(job.context, guarded, job.remedy.chips) if guarded is not None else None
    if guarded is None or wrapper is None or family is None:
        return NoFix("the wrapper is not found again in this file")
    if wrapper.unknown or not wrapper.places or len(wrapper.places) < len(wrapper.kernels):
        return NoFix(f"the uses of `{wrapper.name}` decide: look at each of them first")
    name, texts = name_of(family), Texts()
    edits = tuple(edit for place in wrapper.places for edit in _renamed(texts, place, wrapper.name, name))
    if len(edits) < len(wrapper.places):
        return NoFix("a use of the wrapper is not found again")
    before, after = guarded.sets, family.sets
    proof = Proof(before.may.names, before.must.names, after.may.names, after.must.names, job.remedy.evidence)
    return Fix("safe", "family", f"Write `{name}` in place of `{wrapper.name}`", edits, proof)


def _renamed(texts: Texts, place: RelatedSpan, old: str, new: str) -> tuple[Edit, ...]:
    """The edit of one use, where the text is the one that was read."""
    text = texts.of(place.module.path)
    found = text.region(*place.at) if text is not None else None
    if text is None or found is None:
        return ()
    return (Edit(place.module.path, found, new),) if text.source[slice(*text.bounds(found))] == old else ()
