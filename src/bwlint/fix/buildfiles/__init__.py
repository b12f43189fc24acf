"""Fixes in build files: add a missing sibling or family target, or drop a target that cannot compile."""

from __future__ import annotations

from collections.abc import Iterator

from bwlint.chips.wording import plain
from bwlint.fix import Job
from bwlint.fix.buildfiles import lists, spellings
from bwlint.fix.buildfiles.place import CarryPlace, possible, twins
from bwlint.fix.buildfiles.proof import Proposal, prove, reached, stated
from bwlint.fix.buildfiles.spellings import Piece
from bwlint.fix.meant import said_not_to_be
from bwlint.model.findings import Edit, Fix, NoFix, Proof
from bwlint.readers.buildfiles.places import Places
from bwlint.sources.read import SourceText

__all__ = ["mend"]

MOST_LISTS = 200
"""Of files with more, none is mended: each edit takes a reading of the whole file."""
_LONGEST_TITLE = 60


def mend(job: Job) -> Fix | NoFix:
    if len(job.module.carries) > MOST_LISTS:
        return NoFix("the file has too many lists for a proof of each edit")
    index = next((n for n, one in enumerate(stated(job.module)) if one.at == job.at), None)
    if index is None:
        return NoFix("the list is not found again in the file")
    place = CarryPlace.of(job, index)
    if isinstance(place, NoFix):
        return place
    refusal: NoFix | None = None
    for proposal in _proposals(place):
        edits = tuple(_edit(job, piece) for piece in proposal.pieces)
        if job.known.issuperset(edits):
            continue
        unsafe = "; ".join(dict.fromkeys(filter(None, (job.remedy.unsafe, proposal.unsafe))))
        words = f"{job.remedy.evidence or 'none'} (unsafe: {unsafe})" if unsafe else job.remedy.evidence
        proved = prove(job, index, proposal, edits, words)
        if isinstance(proved, Proof):
            return Fix("unsafe" if unsafe else "safe", proposal.kind, _title(proposal), edits, proved)
        refusal = refusal or proved
    return _kept(place) or refusal or _refusal(place)


def _proposals(place: CarryPlace) -> Iterator[Proposal]:
    kind = place.carry.kind
    if place.losses:
        yield from lists.dropped(place)
    elif not place.gains and place.late():
        yield from lists.moved(place)
    elif not place.gains:
        if kind != "match":
            yield from (lists.every_suffix if kind == "filter" else lists.suffixed)(place)
    elif kind == "match":
        yield from lists.tested(place)
    elif kind == "filter":
        yield from lists.accepted(place)
    elif not twins(~place.gains, place.gains) & reached(place.carry):
        yield from lists.added(place)
    else:
        yield from lists.own(place)
        yield from lists.family(place)
        yield from lists.beside(place)


def _refusal(place: CarryPlace) -> NoFix:
    carry, wanted = place.carry, place.wanting()
    if not place.gains and (late := place.late()):
        names = " and ".join(map(str, late))
        return NoFix(f"whether you still build with a CUDA that does not know {names} is your choice")
    if carry.kind == "match" and lists.is_sparse(place):
        return NoFix("sparse FP4 mma assembles for the exact (a) targets only")
    if wanted is not None and said_not_to_be(place.source, wanted):
        return NoFix(f"a comment here speaks against {wanted}")
    if place.gains and not possible(place.gains, carry) and twins(~place.gains, place.gains) & reached(carry):
        return NoFix(place.too_early())
    if wanted is not None and (release := place.too_old_for(wanted)):
        return NoFix(f"{release} does not know {wanted}: write it in a branch of its own for newer toolkits")
    if carry.kind == "option" and not place.written(carry):
        return NoFix(f"`{carry.name}` is defined elsewhere: define the flags of the family there first")
    if carry.kind == "match" and not place.written(carry):
        return NoFix("no target is written in this condition: write which suffixes it accepts")
    if wanted is not None and not twins(~place.gains, place.gains) & reached(carry):
        return NoFix(f"add {wanted} by hand: the list is not written out in one place")
    return NoFix("bwlint has no rewrite for this spelling")


def _kept(place: CarryPlace) -> NoFix | None:
    """Why a condition is not opened: what it leads to loads on others alone."""
    kept = lists.kept_there(place, ()) if place.carry.kind == "match" else None
    if kept is None:
        return None
    return NoFix(f"first build a target that {plain(place.gains)} loads: this condition leads to {kept} alone")


def _edit(job: Job, piece: Piece) -> Edit:
    span = Places(job.source).span(piece.start, piece.end)
    return Edit(job.module.path, SourceText(job.source).region(*span), piece.text)


def _title(proposal: Proposal) -> str:
    text = ", ".join(spellings.words(proposal.pieces[:1]))
    if not text or len(text) > _LONGEST_TITLE:
        return proposal.title
    piece = proposal.pieces[0]
    return f"{proposal.title}: {'add' if piece.start == piece.end else 'write'} `{text}`"
