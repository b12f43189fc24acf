"""sm-count: code takes the multiprocessors of one product for those of the device, or memory for a product."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from bwlint.chips import Chip, ChipSet, group
from bwlint.chips.products import Product, having, named, products_of, told
from bwlint.chips.wording import called, listed
from bwlint.chips.words import nicknames, numbers
from bwlint.judging import claims
from bwlint.judging.amounts import BUILT, THEIRS, meant
from bwlint.judging.aside import aside
from bwlint.judging.claims import Claimed
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace
from bwlint.model.details import MemoryTier, MultiprocessorGroups, Multiprocessors
from bwlint.model.facts import Module, Operation
from bwlint.model.findings import Severity
from bwlint.model.kinds import BRANCHES
from bwlint.model.rule import RuleTraits
from bwlint.world.gates import Judged

RULE = RuleTraits("sm-count", explains=8, notes_stand_apart=True)
_OURS = group("consumer-blackwell")
_SERVER = group("datacenter-blackwell")
_PEAK = re.compile(r"(?:tensor_?cores?|tc)\w{0,20}_(?:t?flops|tops)|(?:t?flops|tops)\w{0,20}_tensor_?cores?", re.I)
_OUR_WORDS = re.compile(rf"{nicknames(_OURS)}|{numbers(_OURS)}|sm_?12|consumer", re.I)
_CAREFUL = re.compile(r"unstable|validated|work ?around|\bbug|\bhang|crash|illegal|wrong|see #", re.I)
"""What is done to be safe is no tuning."""
_GIB = 1 << 30


def check_file(context: Context, module: Module) -> Iterator[Draft]:
    for one in module.operations:
        if isinstance(one.detail, MemoryTier) and not aside(context, module):
            yield from _tiers(context, module, one, one.detail)
        if one.kind != "multiprocessors":
            continue
        chips = context.let_to(module, one.at) & context.targets & _OURS
        if not chips or any(not need.legal & chips for need in context.evidence.near_needs(module, one.at)):
            continue
        if isinstance(one.detail, MultiprocessorGroups):
            yield from _split(context, module, one, one.detail, chips)
        elif isinstance(one.detail, Multiprocessors) and one.name in ("fixed", "resident"):
            yield from _standing(context, module, one, one.detail, chips)
        elif isinstance(one.detail, Multiprocessors) and one.name == "reserved":
            yield from _reserved(context, module, one, one.detail.number)
        elif isinstance(one.detail, Multiprocessors):
            yield from _bound(context, module, one, one.detail.number, chips)


def _standing(
    context: Context, module: Module, one: Operation, written: Multiprocessors, chips: ChipSet
) -> Iterator[Draft]:
    """A number that is another product's, taken for the device's own."""
    number, name = written.number, written.called
    fewer = [product for product in products_of(chips) if product.multiprocessors < number]
    whose, place = having(number), context.places.get(module.path, "")
    if not whose or not fewer or meant(context, module, place, one.qualname, name) in (THEIRS, BUILT):
        return
    beside = aside(context, module)
    if one.name == "fixed" and not beside:
        yield _draft(
            context,
            module,
            one,
            fewer,
            says=f"`{name}` is {number}, as on {whose}, and nothing nearby queries the device. {told(fewer)}",
            label=f"{whose}'s number of multiprocessors",
            advice=(
                "Query multi_processor_count of the device's properties (cudaDevAttrMultiProcessorCount). Work split by"
                " this number is split for another GPU."
            ),
        )
    elif one.name == "resident":
        at_once = -(-number // fewer[0].multiprocessors)
        yield _draft(
            context,
            module,
            one,
            fewer,
            says=(
                f"`{name}` is {number}, as on {whose}. Blocks wait for each other here, so the whole grid must run at"
                f" once. {told(fewer)}"
            ),
            label="all must run at once",
            advice=(
                "Launch what fits, by cudaOccupancyMaxActiveBlocksPerMultiprocessor and cudaDevAttrMultiProcessorCount."
                f" Unless {at_once} blocks run on one multiprocessor, a cooperative launch fails"
                " (cudaErrorCooperativeLaunchTooLarge), and a barrier in the kernel hangs."
            ),
            severity="note" if beside else "warning",
        )


def _reserved(context: Context, module: Module, one: Operation, number: int) -> Iterator[Draft]:
    """So many set aside, by a test for a generation, that few are left."""
    chips = context.let_in(module, one.at) & context.targets & _OURS
    few = [product for product in products_of(chips) if product.multiprocessors < 2 * number]
    if few:
        yield _draft(
            context,
            module,
            one,
            few,
            says=f"This sets {number} multiprocessors aside for every chip that the check lets in. {told(few)}",
            label="most of a smaller part",
            advice="Set aside a share of multi_processor_count, or check for the 10.0 family if the number is for it.",
        )


def _bound(context: Context, module: Module, one: Operation, number: int, chips: ChipSet) -> Iterator[Draft]:
    few = [product for product in products_of(chips) if product.multiprocessors < number]
    if few and not aside(context, module):
        yield _draft(
            context,
            module,
            one,
            few,
            says=f"This turns away a device with fewer than {number} multiprocessors. {told(few)}",
            label="leaves smaller parts out",
            advice=(
                "If the bound is for speed, measure on these parts or let a caller lift it. If so many blocks must run"
                " at once, it is right."
            ),
        )


def _split(
    context: Context, module: Module, one: Operation, split: MultiprocessorGroups, chips: ChipSet
) -> Iterator[Draft]:
    asked = split.groups * split.each
    few = [product for product in products_of(chips) if product.multiprocessors < asked]
    if few:
        yield _draft(
            context,
            module,
            one,
            few,
            says=f"This requests {split.groups} groups of {split.each} multiprocessors, {asked} together. {told(few)}",
            label="more than the device has",
            advice="Query the number of multiprocessors first, or handle the driver's refusal.",
        )


def _draft(
    context: Context,
    module: Module,
    one: Operation,
    products: Sequence[Product],
    *,
    says: str,
    label: str,
    advice: str,
    severity: Severity = "note",
    admitted: ChipSet | None = None,
) -> Draft:
    chips = ChipSet.of(*{product.chip for product in products})
    reached = context.targets & _OURS if admitted is None else admitted
    return Draft(
        place=DraftPlace(module=module, at=one.at, admitted=reached, certain=chips),
        severity=severity,
        confidence="medium",
        message=f"{says}.",
        label=label,
        advice=advice,
        claims=(Claimed(claims.other(says, chips), one.at),),
    )


def _tiers(context: Context, module: Module, one: Operation, tier: MemoryTier) -> Iterator[Draft]:
    """An amount of memory that stands for a product."""
    chips = context.let_to(module, one.at) & context.targets & _OURS
    sizes = ((product, product.memory_gib * _GIB) for product in products_of(chips))
    taken = [product for product, size in sizes if tier.least <= size and (not tier.end or size < tier.end)]
    if taken:
        told_apart = [f"{one.name} ({one.memory_gib} GiB, {one.multiprocessors} multiprocessors)" for one in taken]
        verb = "is" if len(taken) == 1 else "are"
        yield _draft(
            context,
            module,
            one,
            taken,
            says=f"This tells a product ({one.name}) by its memory size. {listed(told_apart)} {verb} taken for it too",
            label="memory is no measure of the rest",
            advice=(
                "Check multi_processor_count or the capability where the choice is about compute. GB10's memory is its"
                " host's too."
            ),
            admitted=chips,
        )


def check(context: Context, judged: Judged) -> Iterator[Draft]:
    if aside(context, judged.module):
        return
    if _PEAK.search(judged.gate.qualname):
        yield from _rate(context, judged)
    elif judged.gate.kind in BRANCHES or judged.gate.kind == "flag":
        yield from _tuned(context, judged)


def _rate(context: Context, judged: Judged) -> Iterator[Draft]:
    """One rate for all of an open end."""
    for side in (judged.gate.yes, judged.gate.no):
        chips = judged.on(side)
        ours = chips & context.targets & _OURS
        if not ours or not chips >= _SERVER or not group("large-ampere") <= chips or judged.gate.kind not in BRANCHES:
            continue
        first = next(iter(chips))
        if not chips >= _from(first) or any(_divides(other, judged, chips) for other in context.within(judged)):
            continue
        says = (
            f"This uses one tensor-core rate for every chip from {first} on. A multiprocessor of"
            f" {called(ours)} does less in a clock than one of 10.0"
        )
        yield _of_generation(
            judged,
            says=says,
            label="one rate for all",
            advice="Add a row for 12.x, or measure. A share of this peak says little there.",
        )


def _from(first: Chip) -> ChipSet:
    return ChipSet.where(lambda chip: chip.joined >= first.joined)


def _divides(other: Judged, judged: Judged, chips: ChipSet) -> bool:
    """Whether a later test of the same function has another rate for some of the chips that a side leaves."""
    return other.gate.at > judged.gate.at and bool(other.core & chips) and bool(chips - other.core)


def _tuned(context: Context, judged: Judged) -> Iterator[Draft]:
    gate = judged.gate
    said = f"{gate.name} {gate.comment}"
    whose = named(said, _SERVER)
    ours = judged.may & judged.core & context.targets & _OURS
    if whose is None or not ours or not judged.may >= _SERVER or _OUR_WORDS.search(said) or _CAREFUL.search(said):
        return
    if not judged.stands_here or not (gate.kind == "flag" or (gate.yes.tuning and not gate.yes.empty)):
        return
    yield _of_generation(
        judged,
        says=(
            f"This is named for {whose.name} ({whose.multiprocessors} multiprocessors), but the check admits every chip"
            f" from 10.0 on. {told(products_of(ours))}"
        ),
        label=f"meant for {whose.name}",
        advice="Check for the 10.0 family if the numbers were measured on it, or measure them on 12.x too.",
    )


def _of_generation(judged: Judged, *, says: str, label: str, advice: str) -> Draft:
    wrong = judged.may & _OURS
    return Draft(
        place=DraftPlace.of_gate(judged),
        severity="note",
        confidence="low",
        message=f"{says}.",
        label=label,
        advice=advice,
        claims=(Claimed(claims.other(says, wrong)),),
    )
