"""leak at a guard of the preprocessor: a lower bound in a wrapper that is named after an older generation."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bwlint.chips import EVERY, NONE, ChipSet, TargetSet, spelling
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
from bwlint.sources.search import search_of
from bwlint.sources.tree import package_root


def check_guard(context: Context, guarded: Guarded) -> Iterator[Draft]:
    owner = guarded.guard.qualname.rpartition(".")[0].rpartition(".")[2]
    wrong = _beyond(context, owner, guarded) if context.wrappers.get(owner) is guarded else ChipSet.of()
    if wrong:
        yield _draft(context, guarded.module, guarded.guard.at, owner, wrong, guarded)


def check_file(context: Context, module: Module) -> Iterator[Draft]:
    """Where such a wrapper is put around a kernel."""
    for operation in module.operations:
        guarded = wrapper(context, module, operation)
        wrong = _beyond(context, operation.name, guarded) if guarded is not None else ChipSet.of()
        if guarded is not None and wrong:
            yield _draft(context, module, operation.at, operation.name, wrong, guarded)


def _beyond(context: Context, name: str, guarded: Guarded) -> ChipSet:
    """The targets that a guard lets through though they are not of the generation in its wrapper's name.

    One that promises later chips, `enable_sm90_or_later`, does so wrongly where it wraps a kernel for the one alone.
    """
    named = _generation(name)
    if not named or named & context.targets:
        return ChipSet.of()
    promised = mentioned(name.replace("_", " ")).named & context.targets
    if promised and _wrapped(context, name, guarded.module) is None:
        return ChipSet.of()
    return guarded.chips & context.targets - named


def _generation(name: str) -> ChipSet:
    """The chips whose number is in a name."""
    numbers = spelling.numbers(name)
    return EVERY & ChipSet.where(lambda chip: chip.joined in numbers)


def _draft(context: Context, module: Module, at: Span, name: str, wrong: ChipSet, guarded: Guarded) -> Draft:
    behind = claims.need(name, wrong, NONE, f"what `{name}` wraps does not work on {plain(wrong)}")
    kernel = _wrapped(context, name, module, at)
    of_its_own, wrapped = kernel is not None, kernel or "what it wraps"
    return Draft(
        rule=RULE,
        place=DraftPlace(module=module, at=at, admitted=guarded.chips, certain=guarded.certain.chips),
        severity="warning" if of_its_own else "note",
        confidence="medium" if of_its_own else "low",
        message=f"`{name}` has a lower bound for a guard and compiles {wrapped} for {plain(wrong)} too",
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


def _wrapped(context: Context, name: str, module: Module, at: Span | None = None) -> str | None:
    """A kernel that the project wraps so, and that is named for the generation of the wrapper alone; the one at a place
    where there is one.
    """
    if context.native is None:
        return None
    argument = re.compile(rf"\b{re.escape(name)}\s*<\s*(?:\w+\s*::\s*)*(?P<kernel>\w+)")
    hits = search_of(package_root(module.path), context.native.searches).word("cuda", name)
    for hit in sorted(hits, key=lambda hit: at is None or (hit.file.real, hit.line) != (module.path, at[0])):
        found = argument.search(hit.text)
        if found and (own := _generation(found["kernel"])) and own <= _generation(name):
            return f"`{found['kernel']}`"
    return None


def _remedy(guarded: Guarded, wrong: ChipSet) -> Remedy:
    targets = guarded.admitted - TargetSet.native(wrong)
    return Remedy("guard", targets.chips, unsafe="what is wrapped may be right for later chips", targets=targets)
