"""suffix-lost: code that wants a suffix of its target which the target does not have."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bwlint.chips import Chip, ChipSet, Target, TargetSet
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace, RelatedSpan, Remedy
from bwlint.judging.guards import Guarded, defined, served
from bwlint.judging.legality import legal
from bwlint.model.findings import NoFix
from bwlint.model.rule import RuleTraits
from bwlint.rules.family_split.guard import ENDS, named_after

RULE = RuleTraits("suffix-lost", explains=9)
_OF_EXACT = re.compile(r"(?<=\d)A(?=_|$)")
"""The suffix in a macro that is called after a target: `HAS_SM121A_MMA`."""


def check_guard(context: Context, guarded: Guarded) -> Iterator[Draft]:
    if guarded.working.empty:
        return
    lost = [chip for chip in context.targets if _family_target_lost(guarded, chip)]
    if not lost or _needs_exact(guarded, lost) or served(context, guarded, _family_targets(lost)):
        return
    if _has_family_macro(context, guarded, _family_targets(lost)):
        return
    own = ", ".join(Target(chip.joined, "a").name for chip in lost)
    names = ", ".join(Target(chip.joined, "f").name for chip in lost)
    fails = guarded.other.ends in ENDS
    yield Draft(
        place=DraftPlace.of_guard(guarded),
        severity="warning" if fails else "note",
        confidence="high" if fails else "medium",
        message=(
            f"This guard is true for {own} and false for {names}. A build for {names} "
            + ENDS.get(guarded.other.ends, "loses the code behind it.")
        ),
        label=f"compiles for {guarded.admitted & TargetSet.native(context.targets)}",
        advice="Check for the family too: __CUDA_ARCH_FAMILY_SPECIFIC__, or the f macro of the library.",
        related=(RelatedSpan(guarded.module, guarded.other.at, "an f build gets this"),) if guarded.other.at else (),
        remedy=_remedy(guarded, lost),
        claims=(guarded.claimed(TargetSet.joining(Target(chip.joined, "a") for chip in lost) | _family_targets(lost)),),
    )


def _remedy(guarded: Guarded, lost: list[Chip]) -> Remedy | NoFix:
    if (name := named_after(guarded, ChipSet.joining(lost))) is not None:
        return NoFix(f"`{name}` is named after the target that the guard asks for")
    targets = guarded.admitted | _family_targets(lost)
    return Remedy(
        "guard",
        targets.chips,
        evidence="no instruction that bwlint sees behind it needs the `a` target",
        unsafe="code that bwlint does not see may need the `a` target",
        targets=targets,
    )


def _family_target_lost(guarded: Guarded, chip: Chip) -> bool:
    if "f" not in chip.suffixes:
        return False
    own, family = Target(chip.joined, "a"), Target(chip.joined, "f")
    return own in guarded.admitted and family in guarded.sets.live - guarded.admitted


def _has_family_macro(context: Context, guarded: Guarded, targets: TargetSet) -> bool:
    """Whether every macro behind a guard has another one for the family: `SM121A_ENABLED` and `SM121F_ENABLED`."""
    names = {name: _OF_EXACT.sub("F", name) for name in defined(guarded)}
    module, defined_for = guarded.module, context.tree.defined_for
    return bool(names) and all(
        name != other and other in module.functions and targets <= defined_for(module, other)
        for name, other in names.items()
    )


def _needs_exact(guarded: Guarded, lost: list[Chip]) -> bool:
    """Whether something behind the guard assembles for the a target alone."""
    return any(_family_targets(lost) - legal(one) for one in guarded.operations())


def _family_targets(chips: list[Chip]) -> TargetSet:
    return TargetSet.joining(Target(chip.joined, "f") for chip in chips)
