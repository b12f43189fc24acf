"""Code behind a gate that does not work on a chip the gate lets in.

Probes ask no device and turn away who lacks an instruction: `if not supports().wgmma: skip`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from bwlint.chips import EVERY, NONE, ChipSet, group, siblings, words
from bwlint.chips.mentions import OPEN_ENDED, mentioned
from bwlint.chips.wording import called, does, failing, plain, reached, refused_but, sentence, them
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace, RelatedSpan, Remedy
from bwlint.judging.evidence import claimed
from bwlint.judging.probes import turn_away
from bwlint.model.expr import Span, is_text
from bwlint.model.facts import Side, Use
from bwlint.model.findings import NoFix
from bwlint.model.kinds import ANSWERS
from bwlint.model.naming import called_by, spoken
from bwlint.rules.leak import own_words
from bwlint.rules.leak.bounds import bounded, doubted
from bwlint.world.gates import Judged, answers_no, refuses
from bwlint.world.libraries import PROOF, Libraries, Need, instruction

_OLD_NAMES = group("renamed")
_UNNUMBERED = re.compile(r"(?!not\b|.*\b\d).{1,60}")  # in such a check nobody sees that it asks for a chip
_COMPILED = re.compile(r"_*triton_", re.I)
_TRUE_OF_LATER = re.compile(rf"(?:^|_)(?:{words.said('kept-by-later')})(?:_(?:supported|available|support))?$")


def leaks(
    context: Context, judged: Judged, apart: frozenset[Span] = frozenset()
) -> Iterator[tuple[Side, Need, ChipSet]]:
    """Sides that a target may take and whose need is illegal there, with the chips. Uses `apart` are told elsewhere."""
    for side in (judged.gate.yes, judged.gate.no):
        if refuses(side):
            continue
        if side.rest and not _leaves(judged.gate.yes if side is judged.gate.no else judged.gate.no):
            continue
        if not judged.sets.core and not judged.sets.must:
            continue  # nothing is decided but by what is not known
        here = judged.on(side)
        if not here & context.targets or not judged.decides(side):
            continue
        need = _need(context, judged, side, apart)
        if need is None or not (here & need.legal or need.kind == "build"):
            continue  # a side that works nowhere is misread, unless nobody compiled it for who is sent there
        if need.ordering and judged.in_test:
            continue  # a test that lays data out and back again runs anywhere
        if side.rest and side is not judged.working and need.strength != PROOF:
            continue  # much follows an arm, and a name is no evidence that it is for who comes there
        others = judged.sets.live - here
        kept = (others or EVERY - here) - _OLD_NAMES
        picks = kept <= need.legal and not _runs_into_it(judged, side, need)
        if picks or _on_both_sides(context, judged, need) or _partial_guard(judged):
            continue  # the gate picks among the chips that it works on, or guards one configuration
        wrong = here & context.targets & context.reach(judged, need.use.at) & need.arriving - need.legal
        if not wrong or turn_away(context, judged, wrong, need.use.at):
            continue
        texts = (text.text for text in (*judged.gate.yes.texts, *judged.gate.no.texts))
        if need.strength != PROOF and any(map(OPEN_ENDED.search, (*texts, judged.gate.comment))):
            continue  # its own words say that newer chips are fine
        yield side, need, wrong


def _need(context: Context, judged: Judged, side: Side, apart: frozenset[Span]) -> Need | None:
    """What a side uses; else what the reason of the refusal, the enclosing names, or the file say."""
    found = context.need_of(judged, side, apart) or _returned(context.evidence.libraries, judged, side)
    if (found is not None and found.strength == PROOF) or side is not judged.working:
        return found
    at = judged.at
    if _says_so(judged.gate.comment, judged.admitted & context.targets):
        return found  # the author names the chip
    libraries, path = context.evidence.libraries, judged.module.path
    reason = judged.other.texts[0].text if refuses(judged.other) and judged.other.texts else ""
    if reason and _says_so(reason, context.targets):
        return found  # so does the refusal
    if reason:
        named = libraries.by_name(path, (reason,), at, "text")
        if named is not None:
            return named
    by_kind = judged.gate.is_a("predicate", "list", "skipif", "helper-call")
    if (by_kind or judged.other.ends == "skip" or answers_no(judged.other)) and not _of_compiled(judged):
        named = libraries.by_name(path, (judged.gate.name, *judged.gate.qualname.split(".")), at)
        if named is not None:
            return named
    chosen = context.evidence.backend_above(judged) if refuses(judged.other) else None
    if chosen is not None:
        return chosen
    inside_kernel = judged.gate.qualname.partition(".")[0] in judged.module.uses
    answers = judged.gate.kind in ANSWERS and not inside_kernel and not is_true_of_later(judged.gate.name)
    alone = answers or refuses(judged.other)
    of_one_test = judged.gate.kind == "skipif" and bool(judged.working.uses)  # what the others of the file do is theirs
    if alone and not of_one_test and context.only_question(judged):
        near = next((one for one in context.evidence.near_needs(judged.module, at) if _of_class(judged, one)), None)
        if near is not None:
            return near
    named = instruction(judged.gate.comment, at) or _instruction_in(judged)
    return named if named is not None and named.strength == PROOF else found or named


def _of_compiled(judged: Judged) -> bool:
    """Whether a test calls kernels that a compiler makes for every chip: a library in its name is that of a layout."""
    return judged.in_test and any(
        use.sure and use.how == "call" and _COMPILED.match(use.name.rpartition(".")[2]) for use in judged.working.uses
    )


def is_true_of_later(name: str) -> bool:
    """Whether a name asks for what all later chips have: who asks it and needs more than that is to ask for more."""
    return _TRUE_OF_LATER.search(spoken(name)) is not None


def _of_class(judged: Judged, need: Need) -> bool:
    """Whether an operation is in the class that a gate answers for, where it answers for one alone."""
    body = judged.module.classes.get(judged.gate.qualname.partition(".")[0])
    return body is None or need.use in judged.module.uses.get(body.qualname, ())


def _leaves(side: Side) -> bool:
    """Whether a chip that takes a side does not reach what follows."""
    return refuses(side) or answers_no(side) or side.ends_in("return", "continue")


def _runs_into_it(judged: Judged, side: Side, need: Need) -> bool:
    """Whether a chip that takes this branch, or is not skipped, reaches an error raised for it."""
    error = need.strength == PROOF and need.kind == "gate"
    return error and (judged.other.ends == "skip" or not side.rest)


def _says_so(text: str, chips: ChipSet) -> bool:
    """Whether a text names chips one by one, and not by "and newer"."""
    said = mentioned(text)
    return not said.open_ended and bool(said.named & chips)


def _returned(libraries: Libraries, judged: Judged, side: Side) -> Need | None:
    """The backend that a side returns by its name; what it is for, the function says that returns it."""
    value = side.value
    if value is None or not is_text(value) or side.ends != "return":
        return None
    role = judged.gate.qualname.rpartition(".")[2]
    return libraries.need(judged.module.path, Use(value.args[0], "text", value.at or judged.at, role=role))


def _instruction_in(judged: Judged) -> Need | None:
    for text in (*judged.gate.yes.texts[:1], *judged.gate.no.texts[:1]):
        found = instruction(text.text, judged.at)
        if found is not None:
            return found
    return None


def _partial_guard(judged: Judged) -> bool:
    """`if backend == "xqa" and cap < 9: skip` guards one configuration, and says nothing of the others."""
    return refuses(judged.other) and judged.denies and not judged.sets.must


def _on_both_sides(context: Context, judged: Judged, need: Need) -> bool:
    """Both branches need the same: what is around the gate is for those chips, and the gate picks a variant.

    A function that keeps other chips out itself does not leave that to what is around it.
    """
    if _refuses_itself(context, judged):
        return False
    sides = [context.need_of(judged, side) for side in (judged.gate.yes, judged.gate.no)]
    if all(found is not None and found.legal == need.legal for found in sides):
        return True
    return (judged.gate.no.rest or judged.gate.yes.rest) and _in_what_follows(context, judged, need)


def _refuses_itself(context: Context, judged: Judged) -> bool:
    """Whether the function of a gate refuses chips by another gate, whatever else it is asked for."""
    others = (one for one in context.within(judged) if one.gate is not judged.gate and not _partial_guard(one))
    return any(refuses(side) and one.on(side) for one in others for side in (one.gate.yes, one.gate.no))


def _in_what_follows(context: Context, judged: Judged, need: Need) -> bool:
    """`if x: return f(); ... return f_too()`: a chip that does not take the branch reaches the same need."""
    other = judged.gate.no if judged.gate.no.rest else judged.gate.yes
    here = judged.gate.yes if other is judged.gate.no else judged.gate.no
    if refuses(here) or (here.at is not None and not here.at.holds(need.use.at)):
        return False
    found = context.evidence.of(judged.module, other, sure=False)
    same = (one for one in found if one.strength == PROOF and one.legal == need.legal)
    return any(context.let_to(judged.module, one.use.at, judged) & context.targets for one in same)


def draft(judged: Judged, side: Side, need: Need, wrong: ChipSet) -> Draft:
    meant = own_words.asks_by_name(judged, wrong) or own_words.lists(judged, wrong)
    proved = need.strength == PROOF and not (need.use.is_a("define", "text") and meant)
    named = need.use.name if need.use.how == "text" else called_by(need.use.name)
    related = [RelatedSpan(hop, hop.at, hop.text) for hop in need.hops]
    if need.use.at != judged.at:
        related.insert(0, RelatedSpan(judged.module, need.use.at, sentence(named, need.what)))
    subject = _subject(judged)
    return Draft(
        category="test-gate" if judged.in_test else None,
        place=DraftPlace.of_side(judged, side),
        severity="warning" if proved else "note",
        confidence=("high" if need.hops else "medium") if proved else "low",
        message=said(subject, need, wrong, short=judged.falls_short_of(side)),
        label=judged.told(side),
        advice=_advice(judged, side, need, wrong),
        legal=need.legal,
        related=tuple(related),
        cause=(need.hops[-1].path, need.hops[-1].at) if need.hops and need.kind in ("gate", "list") else None,
        claims=(claimed(need, judged.module, wrong),),
    )


def _written_for(judged: Judged, chips: ChipSet) -> bool:
    """Whether a check lets nobody in but some chips and others of their family."""
    return judged.sets.decided and bool(judged.admitted) and judged.admitted <= ChipSet.union(map(siblings, chips))


def _subject(judged: Judged) -> str:
    if judged.is_declared:
        return "This declaration"
    return f"The check `{judged.gate.text}`" if _UNNUMBERED.fullmatch(judged.gate.text) else "This check"


def _advice(judged: Judged, side: Side, need: Need, wrong: ChipSet) -> str:
    if _written_for(judged, wrong) and need.pairs:
        return f"The check is for {called(wrong)} alone, so the build is at fault: compile this code for {them(wrong)}."
    if any(pair[-1].isdigit() for pair in need.pairs):  # what is built for a plain target has no chip's own instruction
        return f"Refuse {called(wrong)} here, or compile this code for {them(wrong)}."
    if judged.in_test:
        return f"Skip it on {refused_but(need.legal, 'all chips')}."
    right = plain(need.legal & judged.on(side) or need.legal)  # of those that come there today
    if judged.falls_short_of(side):
        return f"Add a branch or an error for {called(wrong)}. The one taken now is for {right}."
    if judged.is_declared:
        bound = f"Declare {right} only"
    else:
        bound = f"Bound the check to {right}" if side is judged.gate.yes else f"Let only {right} get past this check"
    return f"{bound}. Give {called(wrong)} another kernel or an error."


def said(subject: str, need: Need, wrong: ChipSet, *, short: bool = False) -> str:
    """What lets chips through to what does not work there, or leaves it to those that fall short of it, in words."""
    named = need.use.name if need.use.how == "text" else called_by(need.use.name)
    if need.use.how == "define":
        admits = f"{subject} is false on {called(wrong)}" if short else f"{subject} lets {called(wrong)} in"
        told = does(need.what)
        by_name = f"By its name `{named}`, the code {told}." if told.startswith("uses ") else f"`{named}` {told}."
        return f"{admits}. {by_name}{f' If so, it fails on {plain(wrong)}.' if told.startswith('uses ') else ''}"
    where = need.where.partition("<")[0]
    last = named if where.rpartition(".")[2] in ("", "__init__", named) else where
    further = f"`{named}` and on to " if last != named else ""
    fails = failing(need.kind if need.strength == PROOF else "name", need.what, wrong)
    leads = (
        f"is false on {called(wrong)}. The other branch takes {them(wrong)}"
        if short
        else f"lets {called(wrong)} through"
    )
    return f"{subject} {leads} to {further}{reached(last, need.what)}.{fails}"


def only_imported(judged: Judged, need: Need) -> bool:
    """Whether something of the tree is imported and not used behind a gate: nothing of it runs before it is called."""
    name = need.use.name.rpartition(".")[2]
    used = (use for use in judged.working.uses if use.how != "import")
    of_tree = need.use.how == "import" and need.kind != "library"
    return of_tree and not any(name in use.name.split(".") for use in used)


def with_remedy(context: Context, judged: Judged, side: Side, need: Need, wrong: ChipSet, found: Draft) -> Draft:
    """A bound in front of what does not work there ends below the chips that lack it, and keeps all others."""
    if found.severity == "note":
        return found
    if need.pairs and _written_for(judged, wrong):
        return replace(
            found, remedy=NoFix(f"the build is to be mended, not the check: add a target for {plain(wrong)}")
        )
    other = judged.gate.no if side is judged.gate.yes else judged.gate.yes
    there = NONE if refuses(other) or answers_no(other) or other.empty else judged.sets.live - judged.on(side)
    if there and other.at is not None and there <= ChipSet.union(map(siblings, wrong)):
        wanted = judged.core | wrong if side is judged.gate.no else judged.core - wrong
        remedy = Remedy("test", wanted, unsafe=f"the branch for {plain(there)} has not run on {plain(wrong)} yet")
        advice = f"Let {called(wrong)} into the branch for {plain(there)} at line {other.at[0]}."
        return replace(found, advice=advice, remedy=remedy)
    here = judged.on(side) & context.reach(judged, need.use.at) & need.arriving
    name = need.use.name if need.use.how == "text" else need.use.name.rpartition(".")[2]
    skips = judged.in_test and other.ends == "skip"
    why, doubt = sentence(name, need.what), doubted(need, name, skips=skips)
    lacking = here - need.legal if need.strength == PROOF else NONE
    return replace(found, remedy=bounded(context, judged, side, wrong, why, lacking=lacking, doubt=doubt))
