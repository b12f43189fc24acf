"""cluster: a thread block cluster of a fixed size that nobody asked the device about, or that a builder refuses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from math import prod

from bwlint.chips import Chip, ChipSet, Target, TargetSet, group
from bwlint.chips.instructions import verdict
from bwlint.chips.wording import plain
from bwlint.judging import claims
from bwlint.judging.amounts import BUILT, OURS, THEIRS, Asked, asked
from bwlint.judging.claims import Claimed
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace
from bwlint.judging.legality import drafts
from bwlint.model.expr import Expr, walk
from bwlint.model.facts import Module
from bwlint.model.findings import Claim, Severity
from bwlint.rules.cluster import RULE
from bwlint.world.gates import Judged, refuses

_CTA_GROUP = re.compile(r"cta_?group", re.I)
_PAIR_OF_BLOCKS = "cp.async.bulk.tensor.2d.cta_group::2.shared::cluster.global.tile.mbarrier::complete_tx::bytes"


def check(context: Context, judged: Judged) -> Iterator[Draft]:
    """A guard that refuses pairs of blocks for some chips without them, and forgets others."""
    if not judged.denies or not refuses(judged.gate.yes) or not _asks_for_pairs(judged.gate.test):
        return
    refused, legal = judged.core, _having_pairs()
    wrong = context.targets & judged.sets.live - refused - legal
    if not refused or refused & legal or not wrong or _refused_besides(context, judged) & wrong:
        return
    yield Draft(
        rule=RULE,
        place=DraftPlace(module=judged.module, at=judged.at, admitted=wrong, certain=wrong, gate=judged.gate),
        severity="warning",
        confidence="medium",
        message=(
            f"pairs of blocks (cta_group::2) are refused for {plain(refused)} and let through for {plain(wrong)}, which"
            f" {'has' if len(wrong) == 1 else 'have'} none either"
        ),
        label=f"refuses {refused}",
        advice=f"refuse them wherever the chip is not one of {plain(legal)}",
        legal=legal,
        claims=(Claimed(_no_pairs(wrong)),),
    )


@cache
def _having_pairs() -> ChipSet:
    """The chips that have cta_group::2, by the table of instructions."""
    return verdict(_PAIR_OF_BLOCKS).legal.chips


def _no_pairs(chips: ChipSet) -> Claim:
    return claims.instruction(_PAIR_OF_BLOCKS, TargetSet.native(chips))


def _asks_for_pairs(test: Expr) -> bool:
    """Whether one of the operands that must all hold is `cta_group == 2`, or a member TWO of an enumeration."""
    if test.op == "and":
        return any(_asks_for_pairs(item) for item in test.args[0])
    if test.op != "cmp" or test.args[0] not in ("==", "is"):
        return False
    parts = [arg for node in walk(test) for arg in node.args]
    return (2 in parts or "TWO" in parts) and any(isinstance(arg, str) and _CTA_GROUP.search(arg) for arg in parts)


def _refused_besides(context: Context, judged: Judged) -> ChipSet:
    """The chips that another check of the same function turns away."""
    found = ChipSet.of()
    for other in context.judged[judged.module.path]:
        if other is not judged and other.gate.qualname == judged.gate.qualname and refuses(other.other):
            found |= other.sets.live - other.admitted
    return found


def check_file(context: Context, module: Module) -> Iterator[Draft]:
    yield from drafts(context, module, RULE, "cta-group")
    for one in asked(context, module, "cluster"):
        if one.operation.name.startswith("sm_"):
            yield from _built(context, one)
        else:
            yield from _launched(one)
    for one in asked(context, module, "cluster-limit"):
        yield from _let_pass(one)


def _let_pass(one: Asked) -> Iterator[Draft]:
    """A check in a file for our chips that lets clusters of more blocks pass than are portable there."""
    chips = ChipSet.joining(chip for chip in one.targets.chips if chip.cluster_portable)
    sizes = [size for chip in chips if (size := _size(one, chip)) is not None]
    portable = min((chip.cluster_portable or 0 for chip in chips), default=0)
    if one.meant != OURS or not sizes or max(sizes) <= portable:
        return
    yield _draft(
        one,
        severity="note",
        message=(
            f"the check lets clusters of {max(sizes)} blocks pass; the portable maximum of {plain(chips)} is {portable}"
        ),
        label="more than the portable maximum",
        advice=(
            "refuse what the chip does not take, or ask cudaOccupancyMaxActiveClusters: without multicast in"
            " hardware there is little to gain"
        ),
        chips=chips,
        claim=claims.cluster((max(sizes),), chips),
    )


def _built(context: Context, one: Asked) -> Iterator[Draft]:
    """A shape for a CUTLASS builder of the consumer parts, which has no multicast to program."""
    try:
        chip = Target.parse(one.operation.name).chip
    except ValueError:
        return
    if chip not in group("consumer-blackwell") & context.targets:
        return
    size = _size(one, chip)
    if size is None or size == 1:
        return
    yield _draft(
        one,
        severity="warning",
        message=f"a cluster of {size} blocks for a CUTLASS builder of SM{chip.joined}, which takes 1x1x1 alone",
        label="a static_assert of the builder fails",
        advice=(
            "use Shape<_1, _1, _1>: clusters run on this chip, but it has no multicast hardware for a mainloop to use"
        ),
        chips=ChipSet.joining([chip]),
        claim=claims.builder(_shape(one, chip), ChipSet.joining([chip])),
    )


def _launched(one: Asked) -> Iterator[Draft]:
    if one.meant == BUILT:
        return
    sizes = {
        chip: size for chip in one.targets.chips if chip.cluster_portable and (size := _size(one, chip)) is not None
    }
    if one.operation.checked:
        yield from _over_all(one, sizes)
        return
    over = ChipSet.joining(chip for chip, size in sizes.items() if size > (chip.cluster_portable or size))
    if over:
        size = max(sizes[chip] for chip in over)
        portable = min(chip.cluster_portable or 0 for chip in over)
        yield _draft(
            one,
            severity="note" if one.meant == THEIRS or one.operation.name == "declared" else "warning",
            message=(
                f"a cluster of {size} blocks, and nothing here opts in or asks; the portable maximum of"
                f" {plain(over)} is {portable}"
            ),
            label="more than the portable maximum",
            advice=(
                "set cudaFuncAttributeNonPortableClusterSizeAllowed and ask"
                " cudaOccupancyMaxPotentialClusterSize what fits:"
                " without, the launch fails with cudaErrorInvalidClusterSize"
            ),
            chips=over,
            claim=claims.cluster(_shape(one, next(chip for chip in over if sizes[chip] == size)), over),
        )
        return
    several = ChipSet.joining(chip for chip, size in sizes.items() if size > 1)
    if several and one.meant != THEIRS:
        size = max(sizes[chip] for chip in several)
        yield _draft(
            one,
            severity="note",
            message=f"a cluster of {size} blocks is taken on {plain(several)} without asking whether it fits",
            label="a fixed cluster size",
            advice=(
                "clusters of up to 8 do launch on these chips where the blocks' registers and shared memory fit; ask"
                " cudaOccupancyMaxActiveClusters and fall back to fewer. Multicast within a cluster is software here"
            ),
            chips=several,
            claim=_may_not_fit(size, several),
        )


def _over_all(one: Asked, sizes: dict[Chip, int]) -> Iterator[Draft]:
    """Larger than what a chip takes at all, where that is known."""
    over = ChipSet.joining(chip for chip, size in sizes.items() if chip.cluster_optin and size > chip.cluster_optin)
    if not over:
        return
    size = max(sizes[chip] for chip in over)
    most = min(chip.cluster_optin or 0 for chip in over)
    yield _draft(
        one,
        severity="note" if one.meant == THEIRS or one.operation.name == "declared" else "warning",
        message=(
            f"a cluster of {size} blocks; {plain(over)} {'takes' if len(over) == 1 else 'take'} at most {most}, with an"
            " opt-in"
        ),
        label="more than there is",
        advice=f"take a cluster of at most {most} blocks",
        chips=over,
        claim=claims.cluster(_shape(one, next(chip for chip in over if sizes[chip] == size)), over),
    )


def _may_not_fit(size: int, chips: ChipSet) -> Claim:
    return claims.other(f"nothing asks whether a cluster of {size} blocks of this kernel fits on {plain(chips)}", chips)


def _size(one: Asked, chip: Chip) -> int | None:
    """Blocks in the cluster, or what they cannot exceed."""
    shape = _shape(one, chip)
    return prod(shape) if shape else None


def _shape(one: Asked, chip: Chip) -> tuple[int, ...]:
    """The same in each dimension; () where one is not known."""
    values = [one.most(amount, chip) for amount in one.operation.amounts]
    known = tuple(value for value in values if value is not None and value >= 1)
    return known if len(known) == len(values) else ()


def _draft(
    one: Asked, *, severity: Severity, message: str, label: str, advice: str, chips: ChipSet, claim: Claim
) -> Draft:
    return Draft(
        rule=RULE,
        place=DraftPlace.of_request(one, chips),
        severity=severity,
        confidence="high" if one.meant == OURS else "medium",
        message=message,
        label=label,
        advice=advice,
        claims=(Claimed(claim, one.operation.at),),
    )
