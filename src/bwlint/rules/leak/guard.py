"""leak at a guard of the preprocessor: a lower bound in a wrapper that is named after an older generation."""

from __future__ import annotations

from collections.abc import Iterator

from bwlint.chips import NONE, ChipSet, TargetSet
from bwlint.chips.mentions import mentioned
from bwlint.chips.wording import plain
from bwlint.judging import claims
from bwlint.judging.claims import Claimed
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace, RelatedSpan, Remedy
from bwlint.judging.guards import Guarded
from bwlint.judging.wrappers import wrapper
from bwlint.model.expr import Span
from bwlint.model.facts import Module
from bwlint.model.findings import NoFix
from bwlint.rules.leak import RULE


def check_guard(context: Context, guarded: Guarded) -> Iterator[Draft]:
    owner = guarded.guard.qualname.rpartition(".")[0].rpartition(".")[2]
    wrong = _beyond(context, owner, guarded) if context.wrappers.get(owner) is guarded else ChipSet.of()
    if wrong:
        yield _draft(guarded.module, guarded.guard.at, owner, wrong, guarded)


def check_file(context: Context, module: Module) -> Iterator[Draft]:
    """Where such a wrapper is put around a kernel."""
    for operation in module.operations:
        guarded = wrapper(context, module, operation)
        wrong = _beyond(context, operation.name, guarded) if guarded is not None else ChipSet.of()
        if guarded is not None and wrong:
            yield _draft(module, operation.at, operation.name, wrong, guarded)


def _beyond(context: Context, name: str, guarded: Guarded) -> ChipSet:
    """The targets that a guard lets through though they are not of the generation in its wrapper's name."""
    named = mentioned(name.replace("_", " ")).named
    return guarded.chips & context.targets - named if named and not named & context.targets else ChipSet.of()


def _draft(module: Module, at: Span, name: str, wrong: ChipSet, guarded: Guarded) -> Draft:
    behind = claims.need(name, wrong, NONE, f"what `{name}` wraps does not work on {plain(wrong)}")
    return Draft(
        rule=RULE,
        place=DraftPlace(module=module, at=at, admitted=guarded.chips, certain=guarded.certain.chips),
        severity="note",
        confidence="low",
        message=f"`{name}` has a lower bound for a guard and compiles what it wraps for {plain(wrong)} too",
        label=f"compiles for {guarded.chips}",
        advice="give the guard an upper bound where what is wrapped is of that generation alone (wgmma, tcgen05)",
        related=(RelatedSpan(guarded.module, guarded.guard.at, "the guard"),) if at != guarded.guard.at else (),
        remedy=(
            _remedy(guarded, wrong)
            if at == guarded.guard.at
            else NoFix("the guard of the wrapper is what is to be mended")
        ),
        claims=(guarded.claimed(TargetSet.native(wrong)), Claimed(behind)),
    )


def _remedy(guarded: Guarded, wrong: ChipSet) -> Remedy:
    targets = guarded.admitted - TargetSet.native(wrong)
    return Remedy("guard", targets.chips, unsafe="what is wrapped may be right for later chips", targets=targets)
