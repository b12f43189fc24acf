"""empty-body: a build compiles a kernel for a chip, and the guard around its whole body leaves nothing of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from bwlint.chips import ChipSet, TargetSet, group
from bwlint.chips.wording import called
from bwlint.judging import claims
from bwlint.judging.claims import Claimed
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace, RelatedSpan
from bwlint.model.expr import Span
from bwlint.model.facts import Carry, Module, Operation
from bwlint.model.findings import NoFix
from bwlint.model.rule import RuleTraits
from bwlint.world.builds import built

RULE = RuleTraits("empty-body", follows="always")


def check_file(context: Context, module: Module) -> Iterator[Draft]:
    kernels: dict[tuple[str, Span], list[Operation]] = defaultdict(list)
    for operation in module.operations:
        if operation.kind in ("body", "trap"):
            kernels[operation.name, operation.at].append(operation)
    if not kernels:
        return
    for carry in context.builds.of(module):
        asked = built(carry) & TargetSet.native(context.targets)
        for (name, at), parts in kernels.items():
            if empty := asked - TargetSet.union(context.tree.compiled(module, part.path) for part in parts):
                guard = next((test.at for part in parts for test in reversed(part.path) if test.at), None)
                found = _draft(context, module, name, at, carry, empty)
                found = replace(found, claims=tuple(_claims(context, module, parts, asked, empty)))
                yield replace(found, related=(RelatedSpan(module, guard, "the guard"),)) if guard else found


def _claims(
    context: Context, module: Module, parts: list[Operation], asked: TargetSet, empty: TargetSet
) -> Iterator[Claimed]:
    """The tests that keep each part of a body from the targets for which it is empty, each once."""
    guards = {guarded.guard.at: guarded for guarded in context.guards.get(module.path, ())}
    told: set[Span] = set()
    for part in parts:
        left = empty
        for test in part.path:
            guarded = guards.get(test.at) if test.at is not None else None
            kept = left - context.tree.compiled(module, (test,))
            if guarded is None or not kept:
                continue
            left -= kept
            if guarded.guard.at not in told:
                told.add(guarded.guard.at)
                yield guarded.claimed(asked)
        if left:
            says = f"no code of `{part.name}` is compiled for {left}"
            yield Claimed(claims.other(says, left.chips, part.name), part.at)


def _draft(context: Context, module: Module, name: str, at: Span, carry: Carry, empty: TargetSet) -> Draft:
    chips = context.targets & ChipSet.joining(chip for target in empty for chip in target.loads_on())
    meant = built(carry).chips <= group("consumer-blackwell")
    return Draft(
        place=DraftPlace(module=module, at=at, admitted=chips, certain=chips),
        severity="warning" if meant else "note",
        confidence="high" if meant else "low",
        message=(
            f"{carry.name or 'A build'} compiles `{name}` for {empty}, where its guard removes the whole body."
            f" On {called(chips)} it runs and writes nothing."
        ),
        label="the guard around the body is false",
        advice="Widen the guard, build the file for other targets, or refuse the launch on the host.",
        remedy=NoFix("a wider guard, other targets or a check on the host would mend it: choose one"),
    )
