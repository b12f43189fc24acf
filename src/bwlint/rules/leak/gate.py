"""leak: a gate admits a chip to something proved illegal there; a guard of the preprocessor has a lower bound alone in
a wrapper that is named after an older generation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from bwlint.chips import EVERY, NONE, ChipSet, TargetSet, spelling
from bwlint.chips.mentions import mentioned
from bwlint.chips.wording import called, have, listed, plain, them
from bwlint.evaluate.values import CHIPS, EnumMember
from bwlint.judging import claims
from bwlint.judging.chosen import Elsewhere, chooser
from bwlint.judging.claims import Claimed
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace, RelatedSpan, Remedy
from bwlint.judging.guards import Guarded, Wrapper, asked_for, wrapper_of
from bwlint.judging.siblings import namesake
from bwlint.model.expr import Expr, walk
from bwlint.model.facts import Module, Side
from bwlint.model.findings import NoFix
from bwlint.model.kinds import ANSWERS
from bwlint.rules.leak import contract, own_words, predicate, sisters
from bwlint.rules.leak.needs import draft, leaks, only_imported, with_remedy
from bwlint.world.gates import Judged, missing_row, refuses, table_name
from bwlint.world.libraries import PROOF, Need

_ONE_PART = re.compile(rf"(?:^|_)is_?{spelling.IN_NAMES}[0-9]{{1,3}}x?$", re.I)
_NUMBERED = re.compile(r"[0-9]{2}|[0-9]\.[0-9]")
"""What a text has that is the device's own, and no name that it chose."""


def check(context: Context, judged: Judged) -> Iterator[Draft]:
    if judged.in_test and judged.other.ends == "skip":
        return
    an_error_anyway = judged.in_test and refuses(judged.other)  # a test fails there, by this error or by the next
    for one in _found(context, judged):
        yield replace(one, severity="note", confidence="low") if an_error_anyway else one
    yield from _without_a_row(context, judged)


def _found(context: Context, judged: Judged) -> Iterator[Draft]:
    if judged.gate.kind == "choice":
        for side, need, wrong in leaks(context, judged):
            if need.strength == PROOF:
                one = _where_chosen(context, judged, draft(judged, side, need, wrong), wrong)
                remedy = one.remedy or NoFix(f"choose what {plain(wrong)} should use instead")
                yield replace(_unless_in_vain(context, judged, side, one, wrong), remedy=remedy)
        return
    tables = list(tensor_memory(context, judged))
    if tables:
        yield from tables
        return
    found = [one for one in predicate.untold(context, judged) if not only_imported(judged, one[1])]
    if found and contract.tells(context, judged):
        return
    if judged.in_test and judged.gate.qualname == "<module>":
        found = [one for one in found if one[1].use.how != "import"]  # what uses it there has tests of its own
    if not any(need.strength == PROOF for _, need, _ in found):
        evident = next(_evident(context, judged), None)
        if evident is not None:
            yield evident
            return
    for side, need, wrong in found:
        if need.use.how == "define" and predicate.is_told_by_name(context, judged):
            continue
        one = _confirmed(context, judged, draft(judged, side, need, wrong), wrong)
        if one.severity == "note" and need.strength != PROOF and own_words.lists(judged, wrong):
            continue  # who writes the number down means it
        one = with_remedy(context, judged, side, need, wrong, one)
        before = tuple(_let_through_before(context, judged, need, wrong))
        if isinstance(one.remedy, Remedy):
            one = replace(one, remedy=replace(one.remedy, also=tuple(span.at for span in before)))
        one = replace(one, related=(*one.related, *before, *predicate.comparisons(context, judged)))
        by_name_alone = need.use.how == "define" and judged.gate.is_a("predicate", "condition")
        if by_name_alone and _unasked(context, judged):
            one = replace(one, severity="note", confidence="low", remedy=None)
        yield _unless_in_vain(context, judged, side, _where_chosen(context, judged, one, wrong), wrong)
    if not found:
        told = list(misnamed(context, judged))
        yield from told or own_words.open_bound(context, judged)


def _unless_in_vain(context: Context, judged: Judged, side: Side, found: Draft, wrong: ChipSet) -> Draft:
    """A note where a test picks among calls of which none runs there: what is tested has to run first."""
    other = judged.gate.no if side is judged.gate.yes else judged.gate.yes
    needs = context.evidence.of(judged.module, other) if judged.in_test else ()
    in_vain = any(one.strength == PROOF and not wrong & one.legal for one in needs)
    return replace(found, severity="note") if in_vain else found


def _where_chosen(context: Context, judged: Judged, found: Draft, wrong: ChipSet) -> Draft:
    """A finding at a test for a text, where the text is chosen: there it is mended for all who ask."""
    asked = _picked_in(context, judged)
    if asked is None:
        return found
    try:
        at = chooser(context.tree, judged.module, asked, CHIPS.index(next(iter(wrong))))
    except Elsewhere:
        at = None
    if at is None or at == judged.at:
        return found
    use = RelatedSpan(judged.module, judged.at, "this check compares the value")
    place, related = replace(found.place, at=at), (use, *found.related)
    remedy = NoFix(f"choose what {plain(wrong)} should use instead")
    return replace(
        found, place=place, related=related, remedy=remedy, confidence="low"
    )  # its own gate may say it better


def _picked_in(context: Context, judged: Judged) -> Expr | None:
    """What a test asks for that was chosen elsewhere: a parameter; a text, number or member that it compares."""
    test = judged.gate.test
    if test.op == "param":
        return test
    asked: Expr | None = test.args[1][0] if test.op == "cmp" else None
    if asked is not None and _is_picked_number(judged.module, asked):
        return asked
    lanes = context.tree.value(judged.module, asked).lanes if asked is not None else ()
    return asked if any(map(_is_choice, lanes)) else None


def _is_picked_number(module: Module, asked: Expr) -> bool:
    """`version` after `version = 5 if sm >= 100 else 3`."""
    value = module.slots[asked.args[0]] if asked.op == "var" else asked
    arms = value.args[1:] if value.op == "if" else ()
    return bool(arms) and all(arm.op == "const" and type(arm.args[0]) is int for arm in arms)


def _is_choice(lane: object) -> bool:
    """A text with no number of a chip in it, or a member of an enum."""
    return isinstance(lane, EnumMember) or (isinstance(lane, str) and not _NUMBERED.search(lane))


def _evident(context: Context, judged: Judged) -> Iterator[Draft]:
    """What the file itself says against a gate, where no name behind it is known."""
    yield from own_words.contradicted(context, judged)
    yield from own_words.guarded(context, judged)
    yield from own_words.answered(context, judged)
    yield from sisters.odd_one(context, judged)
    yield from sisters.taken_for_older(context, judged)


def _confirmed(context: Context, judged: Judged, found: Draft, wrong: ChipSet) -> Draft:
    """What a name says of a list is a warning where a namesake is there for the chips."""
    other = namesake(context, judged, wrong) if found.severity == "note" else None
    if other is None:
        return found
    theirs = other.gate.qualname.rpartition(".")[2]
    message = f"{found.message} `{theirs}` is there for {them(wrong)}."
    related = (RelatedSpan(judged.module, other.at, f"`{theirs}` is for {other.core}"), *found.related)
    return replace(found, severity="warning", confidence="medium", message=message, related=related)


def _let_through_before(context: Context, judged: Judged, need: Need, wrong: ChipSet) -> Iterator[RelatedSpan]:
    """The tests further away that send the same chips to the same use: they are to be mended, too."""
    for other in context.beside(judged.module):
        if other.gate.qualname != judged.gate.qualname or other.gate is judged.gate or other.gate.kind == "choice":
            continue
        for side, beside in ((other.gate.yes, other.gate.no), (other.gate.no, other.gate.yes)):
            if side.rest and not refuses(beside):
                continue  # they pass it by, and it lets nobody in
            if wrong & other.on(side) and other.on(side) != other.sets.live and _uses(side, need):
                yield RelatedSpan(other.module, other.at, f"this check lets {called(wrong)} through to it too")


def _uses(side: Side, need: Need) -> bool:
    return any(use.at == need.use.at and use.sure for use in side.uses)


def _function(judged: Judged) -> str:
    """The name of the function that a gate stands in, or decides alone."""
    return judged.gate.name if judged.gate.kind == "predicate" else judged.gate.qualname.rpartition(".")[2]


def _unasked(context: Context, judged: Judged) -> bool:
    """Whether the function around a gate is named nowhere in its project but where it is defined."""
    search = context.search(judged.module)
    return search.complete("python") and len(search.word("python", _function(judged))) == 1


def misnamed(context: Context, judged: Judged) -> Iterator[Draft]:
    """A flag called after one generation, `is_sm8x`, that holds on later ones too."""
    if judged.gate.kind not in ANSWERS or not judged.owns_comparison or judged.in_test:
        return
    one_part = _ONE_PART.search(judged.gate.name)
    named = mentioned(judged.gate.name.replace("_", " ")).named if one_part else predicate.of_hopper(judged.gate.name)
    known = (judged.must | judged.core) if judged.gate.qualname == "<module>" else judged.must
    wrong = known & context.targets - named
    if not wrong or not named & judged.core or named & context.targets:
        return
    yield Draft(
        place=DraftPlace.of_gate(judged),
        severity="note",
        confidence="low",
        message=f"The name `{judged.gate.name}` means {plain(named)}, but it is true on {called(wrong)} too."
        f" Its users take them for {plain(named)}.",
        label=judged.told(judged.gate.yes, judged.core),
        advice="Give it an upper bound, or rename it.",
        legal=named,
    )


def tensor_memory(context: Context, judged: Judged) -> Iterator[Draft]:
    """A table of tensor memory with a row for a chip that has none."""
    if judged.gate.kind != "table" or not re.search(r"tmem|tensor_?mem", judged.gate.name, re.I):
        return
    wrong = ChipSet.where(lambda chip: chip.tmem_per_sm == 0) & judged.core & context.targets
    if not wrong:
        return
    rows = [node for node in walk(judged.gate.test) if node.op == "const" and _row_of(node.args[0], wrong)]
    yield Draft(
        category="tcgen05",
        place=DraftPlace(
            module=judged.module,
            at=rows[0].at if rows and rows[0].at else judged.at,
            admitted=judged.core,
            certain=judged.core,
            gate=judged.gate,
        ),
        severity="note" if _is_spare(judged) else "warning",
        confidence="medium",
        message=(f"This table of tensor memory has a row for {called(wrong)}, which {have(wrong)} none."),
        label="no tensor memory here",
        advice="Remove the row. Refuse a caller that looks up 12.x.",
        legal=judged.core - wrong,
        remedy=NoFix("remove the row only if no reader of the table needs it"),
        claims=(Claimed(claims.need("tensor memory", wrong, NONE, f"there is no tensor memory on {plain(wrong)}")),),
    )


def _is_spare(judged: Judged) -> bool:
    """Whether a table is read only where a library has no answer of its own: `if hasattr(library, "f"): return ...`."""
    reads = [
        path
        for function in judged.module.functions.values()
        for path, value in function.returns
        if any(node.op in ("var", "name") and judged.gate.name in node.args for node in walk(value))
    ]
    return bool(reads) and all(
        any(node.op == "name" and node.args[0] == "hasattr" for test in path for node in walk(test)) for path in reads
    )


def _row_of(key: object, chips: ChipSet) -> bool:
    return isinstance(key, str) and any(key.rstrip("af").endswith(str(chip.joined)) for chip in chips)


def _without_a_row(context: Context, judged: Judged) -> Iterator[Draft]:
    """A strict lookup behind a gate that asks for the device and admits what the table lacks."""
    gate = judged.gate
    if not gate.is_a("lookup") or not gate.no.ends_in("raise") or judged.in_test:
        return
    missing = (context.targets & judged.sets.live) - judged.may
    if missing != context.targets or not judged.core or not missing <= context.let_in(judged.module, judged.at):
        return
    without, table = missing_row(judged), table_name(judged)
    yield Draft(
        place=DraftPlace.of_gate(judged),
        severity="warning",
        confidence="high" if judged.sets.decided else "medium",
        message=f"{called(missing)} pass the check above, but {table} has no row for {them(missing)}: {without}.",
        label=f"has rows for {plain(judged.core)}",
        advice=f"Add a row for {plain(missing)}, look it up with a default, or refuse {plain(missing)} above.",
        legal=judged.core,
        remedy=NoFix(f"measure the values of a row for {plain(missing)}"),
        claims=(
            Claimed(
                claims.need(gate.name or "table", missing, NONE, f"{table} has no row for {plain(missing)}"), judged.at
            ),
        ),
    )


def check_guard(context: Context, guarded: Guarded) -> Iterator[Draft]:
    wrapper = wrapper_of(context, guarded)
    wrong = _beyond(context, wrapper, guarded) if wrapper is not None else NONE
    if wrapper is not None and wrong:
        yield _draft(context, guarded, wrapper, wrong)


def _beyond(context: Context, wrapper: Wrapper, guarded: Guarded) -> ChipSet:
    """The targets that a guard lets through though they are not of the generation in its wrapper's name.

    One that promises later chips, `enable_sm90_or_later`, does so wrongly where it wraps a kernel for the one alone.
    """
    named = _generation(wrapper.name)
    if not named or named & context.targets:
        return NONE
    promised = mentioned(wrapper.name.replace("_", " ")).named & context.targets
    if promised and not _of_its_own(wrapper):
        return NONE
    return guarded.chips & context.targets - named


def _generation(name: str) -> ChipSet:
    """The chips whose number is in a name."""
    numbers = spelling.numbers(name)
    return EVERY & ChipSet.where(lambda chip: chip.joined in numbers)


def _draft(context: Context, guarded: Guarded, wrapper: Wrapper, wrong: ChipSet) -> Draft:
    name, kernels = wrapper.name, _of_its_own(wrapper)
    wrapped = listed([f"`{kernel}`" for kernel in kernels]) if kernels else "the kernels it wraps"
    targets = guarded.admitted - TargetSet.native(wrong)
    asked = asked_for(context, wrapper, guarded, TargetSet.native(wrong))
    sure = bool(kernels) and asked
    behind = claims.need(name, wrong, NONE, f"the kernels that `{name}` wraps do not work on {plain(wrong)}")
    return Draft(
        place=DraftPlace.of_guard(guarded),
        severity="warning" if sure else "note",
        confidence="medium" if sure else "low",
        message=(
            f"The guard in `{name}` has no upper bound: it compiles {wrapped} for {called(wrong)} too."
            f"{'' if asked else f' No build here targets {plain(wrong)}.'}"
        ),
        label=f"compiles for {guarded.chips}",
        advice="Add an upper bound where the wrapped kernels run on that generation only (wgmma, tcgen05).",
        related=wrapper.places,
        remedy=Remedy("guard", targets.chips, unsafe="the wrapped code may be right for later chips", targets=targets),
        claims=(guarded.claimed(TargetSet.native(wrong)), Claimed(behind)),
    )


def _of_its_own(wrapper: Wrapper) -> tuple[str, ...]:
    """The kernels in a wrapper that are named for its generation alone."""
    named = _generation(wrapper.name)
    return tuple(dict.fromkeys(one for one in wrapper.kernels if (own := _generation(one)) and own <= named))
