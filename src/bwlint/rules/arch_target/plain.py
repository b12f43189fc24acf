"""arch-target where a build asks for the plain target, and what it compiles needs a suffix."""

from __future__ import annotations

from collections.abc import Iterator

from bwlint.chips import ChipSet, Target, TargetSet, known_targets
from bwlint.chips.wording import plain
from bwlint.judging import claims
from bwlint.judging.claims import Claimed
from bwlint.judging.compiled import behind, refused
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace, RelatedSpan
from bwlint.judging.legality import charges_of, claimed, short
from bwlint.model.expr import Span
from bwlint.model.facts import Carry, Module, Operation
from bwlint.model.findings import NoFix
from bwlint.rules.arch_target import RULE

_SHOWN = 8


def check_file(context: Context, module: Module) -> Iterator[Draft]:
    for carry in module.carries:
        _, listed = context.builds.list_of(module, carry) if carry.sources else (module.path, carry)
        for target in known_targets(listed.sass) if carry.sources else ():
            wanted = _suffixed(context, listed, target)
            needing = list(refused(context, behind(context, module, carry), target, wanted)) if wanted else []
            if wanted and needing:
                yield _draft(module, carry, target, wanted, needing)


def _suffixed(context: Context, carry: Carry, target: Target) -> Target | None:
    """The target of most chips with a suffix, for a plain one of an asked chip that stands alone."""
    suffixes = target.chip.suffixes
    if target.suffix or not suffixes or target.chip not in context.targets:
        return None
    if any(other.number == target.number for other in known_targets(carry.sass) if other != target):
        return None
    return Target(target.number, "f" if "f" in suffixes else "a")


def _draft(
    module: Module, carry: Carry, target: Target, wanted: Target, needing: list[tuple[Module, Operation]]
) -> Draft:
    (first_in, first), *others = needing
    file = first_in.path.rpartition("/")[2]
    more = f" (and {len(others)} more)" if others else ""
    loads = wanted.loads_on()
    return Draft(
        rule=RULE,
        place=DraftPlace(module=module, at=_flag(module, carry, target), admitted=loads, certain=loads),
        severity="warning" if carry.kind == "extension" else "error",
        confidence="medium" if carry.kind == "extension" else "high",
        message=f"{target} has no `{short(first)}`, which {file}:{first.at[0]} needs{more}",
        label="without a suffix",
        advice=f"write {wanted} (loads on {plain(loads)})",
        related=tuple(RelatedSpan(one, operation.at, f"`{short(operation)}`") for one, operation in needing[:_SHOWN]),
        remedy=NoFix("whether anything here needs the plain target, for its PTX, is not known"),
        claims=_claims(first, target),
    )


def _claims(operation: Operation, target: Target) -> tuple[Claimed, ...]:
    if charges := charges_of(operation, TargetSet.joining([target])):
        return tuple(claimed(operation, charge) for charge in charges)
    said = claims.other(f"`{short(operation)}` is not made for {target}", ChipSet.of(target.chip.name))
    return (Claimed(said, None),)


def _flag(module: Module, carry: Carry, target: Target) -> Span:
    """Where the target is written: a file with several extensions has its flags elsewhere."""
    flags = (one for one in module.carries if one.kind == "gencode" and target.name.removeprefix("sm_") in one.sass)
    return next((one.at for one in flags), carry.at) if carry.kind == "extension" else carry.at
