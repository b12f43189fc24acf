"""cluster: a thread block cluster of a fixed size that nobody asked the device about, or that a builder refuses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import prod

from bwlint.chips import Chip, ChipSet, Target, group
from bwlint.chips.mentions import mentioned
from bwlint.chips.wording import called, plain
from bwlint.judging import claims
from bwlint.judging.amounts import BUILT, OURS, THEIRS, Asked, asked
from bwlint.judging.claims import Claimed
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace
from bwlint.judging.evidence import file_operations
from bwlint.judging.legality import drafts
from bwlint.model.expr import Expr, walk
from bwlint.model.facts import Module
from bwlint.model.findings import Claim, Severity
from bwlint.rules.cluster import BY_HAND
from bwlint.world.gates import Judged, refuses

_ABLE = re.compile(r"(?:support|can|enable|use)\w*_clusters?(?:_launch(?:es)?)?$", re.I)
_BLOCKS = re.compile(r"num_ctas|cluster", re.I)


def check(context: Context, judged: Judged) -> Iterator[Draft]:
    """A lower bound of the capability in place of a question whether clusters fit."""
    names = _last(judged) if judged.gate.is_a("predicate") else judged.gate.name
    switches = judged.gate.is_a("flag", "predicate") and _ABLE.search(names)
    refuses_several = judged.denies and refuses(judged.gate.yes) and _is_several(judged.gate.test)
    admitted = judged.admitted if refuses_several else judged.core
    ours = context.targets & judged.sets.live & admitted
    older = ChipSet.where(lambda chip: chip.cluster_portable == 0)
    if not (switches or refuses_several) or not judged.stands_here or ours != context.targets or older & admitted:
        return
    if (
        judged.in_test
        or not group("hopper") | group("first-blackwell") & admitted
        or _refused_besides(context, judged) & ours
    ):
        return
    yield Draft(
        place=DraftPlace(module=judged.module, at=judged.at, admitted=ours, certain=ours, gate=judged.gate),
        severity="warning" if switches else "note",
        confidence="medium",
        message=(
            f"Clusters of several blocks are taken for granted on {called(ours)} by the capability alone."
            " Multicast is emulated there, and a launch fails where a cluster does not fit."
        ),
        label="a lower bound",
        advice="Query cudaOccupancyMaxActiveClusters, or keep clusters to chips with multicast in hardware.",
        remedy=BY_HAND,
        claims=(Claimed(claims.other(f"nothing checks whether clusters fit on {plain(ours)}", ours), judged.at),),
    )


def _is_several(test: Expr) -> bool:
    """Whether one of the operands that must all hold asks for more than one block in a cluster."""
    if test.op == "and":
        return any(_is_several(item) for item in test.args[0])
    if test.op != "cmp" or test.args[0] != ">":
        return False
    parts = [arg for node in walk(test) for arg in node.args]
    return 1 in parts and any(isinstance(arg, str) and _BLOCKS.search(arg) for arg in parts)


def _refused_besides(context: Context, judged: Judged) -> ChipSet:
    """The chips that another check of the same function turns away."""
    others = (other for other in context.within(judged) if other is not judged and refuses(other.other))
    return ChipSet.union(other.sets.live - other.admitted for other in others)


def check_file(context: Context, module: Module) -> Iterator[Draft]:
    yield from drafts(context, module, "cta-group")
    for one in asked(context, module, "cluster"):
        if one.operation.name in ("picked", "last"):
            yield from _picked(one)
        elif one.operation.name.startswith("sm_"):
            yield from _built(context, one)
        else:
            yield from _launched(one)
    for one in asked(context, module, "cluster-limit"):
        yield from _let_pass(one)


def _let_pass(one: Asked) -> Iterator[Draft]:
    """A check in a file for our chips that lets clusters of more blocks pass than they take, or their builder."""
    chips = ChipSet.joining(chip for chip in one.targets.chips if chip.cluster_portable)
    sizes = [size for chip in chips if (size := _size(one, chip)) is not None]
    portable = min((chip.cluster_portable or 0 for chip in chips), default=0)
    if one.operation.name == "static" and _is_builder(one):
        yield _draft(
            one,
            severity="warning",
            message=f"The builder for {called(chips)} accepts every static cluster, but its mainloop has no multicast.",
            label="checks only that it is static",
            advice="Assert that the cluster is 1x1x1, as the other builders for these chips do.",
            chips=chips,
            claim=claims.other(f"a builder for {plain(chips)} takes clusters of several blocks", chips),
        )
    if one.meant != OURS or not sizes or max(sizes) <= portable:
        return
    yield _draft(
        one,
        severity="warning",
        message=(
            f"This accepts clusters of {max(sizes)} blocks. The portable maximum of {called(chips)} is {portable}."
        ),
        label="more than the portable maximum",
        advice=(
            "Refuse sizes that the chip does not take, or query cudaOccupancyMaxActiveClusters. Without multicast in"
            " hardware there is little to gain."
        ),
        chips=chips,
        claim=claims.cluster((max(sizes),), chips),
    )


def _is_builder(one: Asked) -> bool:
    """Whether the names of a file say that it builds for our chips."""
    folder, _, name = one.module.path.rpartition("/")
    words = name.replace("_", " ")
    return "builder" in f"{folder.rpartition('/')[2]} {words}" and bool(mentioned(words).named & one.targets.chips)


def _picked(one: Asked) -> Iterator[Draft]:
    """A literal in Python, in a function that neither asks what fits nor tells our chips from 9.0."""
    chips = ChipSet.joining(chip for chip in one.targets.chips if chip.cluster_portable)
    (size, *_) = (amount.args[0] for amount in one.operation.amounts)
    if one.meant != OURS and not one.operation.checked:
        return
    if one.meant in (THEIRS, BUILT) or any(not need.legal & chips for need in file_operations(one.module)):
        return
    gates = (judged for judged in one.context.judged[one.module.path] if _last(judged) == one.operation.qualname)
    told_apart = any(bool(chips & judged.core) != bool(group("hopper") & judged.core) for judged in gates)
    if not chips or told_apart:
        return
    last = one.operation.name == "last"
    yield _draft(
        one,
        severity="note" if last else "warning",
        message=(
            f"A cluster of {size} blocks is picked on {called(chips)} without a check that it fits. The portable"
            f" maximum is {min(chip.cluster_portable or 0 for chip in chips)}."
            f"{' Smaller ones are tried before it.' if last else ''}"
        ),
        label="more than the portable maximum",
        advice="Query cudaOccupancyMaxActiveClusters (max_active_clusters), or use at most 8 blocks.",
        chips=chips,
        claim=claims.cluster((size,), chips),
    )


def _last(judged: Judged) -> str:
    return judged.gate.qualname.rpartition(".")[2]


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
        message=f"This gives {size} blocks a cluster to a CUTLASS builder of SM{chip.joined}, which takes 1x1x1 only.",
        label="a static_assert of the builder fails",
        advice=(
            "Use Shape<_1, _1, _1>. Clusters run on this chip, but it has no multicast hardware for a mainloop to use."
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
    opted = one.operation.name == "opted"
    if one.operation.checked or opted:
        yield from _over_all(one, sizes)
    if one.operation.checked:
        return
    sizes = {chip: size for chip, size in sizes.items() if not (opted and chip.cluster_optin)}
    over = ChipSet.joining(chip for chip, size in sizes.items() if size > (chip.cluster_portable or size))
    if over:
        size = max(sizes[chip] for chip in over)
        portable = min(chip.cluster_portable or 0 for chip in over)
        yield _draft(
            one,
            severity="note" if one.meant == THEIRS or one.operation.name == "declared" else "warning",
            message=(
                f"This cluster has {size} blocks, and nothing here {'checks' if opted else 'opts in or checks'} that it"
                f" fits. The portable maximum of {called(over)} is {portable}."
            ),
            label="more than the portable maximum",
            advice=(
                "Query cudaOccupancyMaxPotentialClusterSize for what fits: an opt-in does not show it."
                if opted
                else "Set cudaFuncAttributeNonPortableClusterSizeAllowed and query cudaOccupancyMaxPotentialClusterSize"
                " for what fits. Without the attribute the launch fails with cudaErrorInvalidClusterSize."
            ),
            chips=over,
            claim=_may_not_fit(size, over)
            if opted
            else claims.cluster(_shape(one, next(chip for chip in over if sizes[chip] == size)), over),
        )
        return
    several = ChipSet.joining(chip for chip, size in sizes.items() if size > 1)
    if several and one.meant != THEIRS and not opted:
        size = max(sizes[chip] for chip in several)
        largest = one.meant == OURS and any(size == chip.cluster_portable for chip in several)
        yield _draft(
            one,
            severity="warning" if largest else "note",
            message=f"A cluster of {size} blocks is taken on {called(several)} without a check that it fits.",
            label="a fixed cluster size",
            advice=(
                "Query cudaOccupancyMaxActiveClusters and fall back to fewer blocks. Clusters of up to 8 launch on"
                " these chips if registers and shared memory fit. Multicast is emulated there, and slower."
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
            f"This cluster has {size} blocks. {called(over)} {'takes' if len(over) == 1 else 'take'} at most {most},"
            " with an opt-in."
        ),
        label="more than there is",
        advice=f"Use a cluster of at most {most} blocks.",
        chips=over,
        claim=claims.cluster(_shape(one, next(chip for chip in over if sizes[chip] == size)), over),
    )


def _may_not_fit(size: int, chips: ChipSet) -> Claim:
    return claims.other(
        f"nothing checks whether a cluster of {size} blocks of this kernel fits on {plain(chips)}", chips
    )


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
        place=DraftPlace.of_request(one, chips),
        severity=severity,
        confidence="high" if one.meant == OURS else "medium",
        message=message,
        label=label,
        advice=advice,
        remedy=BY_HAND,
        claims=(Claimed(claim, one.operation.at),),
    )
