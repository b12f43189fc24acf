"""sm-count: a number of multiprocessors that is written down."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bwlint.chips import ChipSet, group
from bwlint.chips.products import Product, having, products_of, told
from bwlint.judging import claims
from bwlint.judging.amounts import BUILT, THEIRS, meant
from bwlint.judging.aside import aside
from bwlint.judging.claims import Claimed
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace
from bwlint.model.facts import Module, Operation
from bwlint.model.findings import Severity
from bwlint.rules.sm_count import RULE

_OURS = group("consumer-blackwell")


def check_file(context: Context, module: Module) -> Iterator[Draft]:
    for one in module.operations:
        if one.kind != "multiprocessors":
            continue
        chips = context.let_to(module, one.at) & context.targets & _OURS
        if not chips or any(not need.legal & chips for need in context.evidence.near_needs(module, one.at)):
            continue
        if one.name in ("fixed", "resident"):
            yield from _standing(context, module, one, chips)
        elif one.name == "reserved":
            yield from _reserved(context, module, one)
        elif one.name == "at-least":
            yield from _bound(context, module, one, chips)
        else:
            yield from _split(context, module, one, chips)


def _standing(context: Context, module: Module, one: Operation, chips: ChipSet) -> Iterator[Draft]:
    """A number that is another product's, taken for the device's own."""
    number, name = (amount.args[0] for amount in one.amounts)
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
            says=f"`{name}` is {number}, as {whose} has, and nothing near asks the device: {told(fewer)}",
            label=f"{whose}'s number of multiprocessors",
            advice=(
                "ask for multi_processor_count of the device's properties (cudaDevAttrMultiProcessorCount): what is"
                " sized or split by this number is so for another GPU"
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
                f"`{name}` is {number}, as {whose} has, and blocks wait for each other here, so that all of the grid"
                f" have to run at once: {told(fewer)}"
            ),
            label="all have to run at once",
            advice=(
                "take what fits, by cudaOccupancyMaxActiveBlocksPerMultiprocessor and cudaDevAttrMultiProcessorCount:"
                f" unless {at_once} blocks run on one multiprocessor, a cooperative launch is refused"
                " (cudaErrorCooperativeLaunchTooLarge), and a barrier in the kernel waits for ever"
            ),
            severity="note" if beside else "warning",
        )


def _reserved(context: Context, module: Module, one: Operation) -> Iterator[Draft]:
    """So many set aside, by a test for a generation, that few are left."""
    chips = context.let_in(module, one.at) & context.targets & _OURS
    number = one.amounts[0].args[0]
    few = [product for product in products_of(chips) if product.multiprocessors < 2 * number]
    if few:
        yield _draft(
            context,
            module,
            one,
            few,
            says=f"{number} multiprocessors are set aside for every chip that the test lets in, and {told(few)}",
            label="most of a smaller part",
            advice="set aside a share of multi_processor_count, or ask for the family of 10.0 if the number is for it",
        )


def _bound(context: Context, module: Module, one: Operation, chips: ChipSet) -> Iterator[Draft]:
    number = one.amounts[0].args[0]
    few = [product for product in products_of(chips) if product.multiprocessors < number]
    if few and not aside(context, module):
        yield _draft(
            context,
            module,
            one,
            few,
            says=f"a device with fewer than {number} multiprocessors is turned away here: {told(few)}",
            label="leaves smaller parts out",
            advice=(
                "where the bound is one of speed, measure on these parts or let a caller lift it; where so many blocks"
                " have to run at once, it is right"
            ),
        )


def _split(context: Context, module: Module, one: Operation, chips: ChipSet) -> Iterator[Draft]:
    groups, each = (amount.args[0] for amount in one.amounts)
    few = [product for product in products_of(chips) if product.multiprocessors < groups * each]
    if few:
        yield _draft(
            context,
            module,
            one,
            few,
            says=f"{groups} groups of {each} multiprocessors are asked for, {groups * each} together: {told(few)}",
            label="more than the device has",
            advice="ask for the number of multiprocessors first, or take the driver's refusal for an answer",
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
) -> Draft:
    chips = ChipSet.of(*{product.chip for product in products})
    return Draft(
        rule=RULE,
        place=DraftPlace(module=module, at=one.at, admitted=context.targets & _OURS, certain=chips),
        severity=severity,
        confidence="medium",
        message=says,
        label=label,
        advice=advice,
        claims=(Claimed(claims.other(says, chips), one.at),),
    )
