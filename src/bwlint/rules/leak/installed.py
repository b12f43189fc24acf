"""leak without a check: an import alone enables code on every chip."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from bwlint.chips import EVERY, ChipSet
from bwlint.chips.wording import called, lacking, plain, reached, sentence
from bwlint.judging.aside import aside
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace, RelatedSpan, Remedy
from bwlint.judging.evidence import claimed
from bwlint.model.expr import Span, is_text
from bwlint.model.facts import Gate, Module, Side, Use
from bwlint.model.kinds import REFUSING
from bwlint.rules.leak import RULE
from bwlint.world.libraries import PROOF, Need

_LATER = "a later release of the library may run on other chips, and asking the device starts CUDA in this process"


def check_file(context: Context, module: Module) -> Iterator[Draft]:
    found: dict[Span, Draft] = {}
    for gate in module.gates:
        draft = _judged(context, module, gate) if gate.kind == "installed" else None
        if draft is not None:
            first = found.setdefault(draft.at, draft)
            found[draft.at] = first if first is draft else replace(first, related=(*first.related, *draft.related))
    yield from found.values()


def _judged(context: Context, module: Module, gate: Gate) -> Draft | None:
    need = _need(context, module, gate)
    if need is None:
        return None
    wrong = context.let_to(module, need.use.at) & context.targets & need.arriving - need.legal
    if not wrong or not _works(context, module, gate.no, wrong):
        return None
    use = "uses" if len(wrong) == 1 else "use"
    lacks = lacking(need.kind, need.what, wrong)
    used = RelatedSpan(module, need.use.at, sentence(need.use.name, need.what))
    related: tuple[RelatedSpan, ...] = (RelatedSpan(module, gate.at, "nothing else is checked here"), used)
    if gate.leaf is not None and gate.at.holds(gate.leaf):
        related = (RelatedSpan(module, gate.no.at or gate.at, f"{called(wrong)} should use this"),)
    draft = Draft(
        rule=RULE,
        place=DraftPlace(module=module, at=gate.leaf or gate.at, admitted=EVERY, certain=EVERY),
        severity="warning",
        confidence="medium",
        message=f"Only an import is checked before {called(wrong)} {use} {reached(need.use.name, need.what)}.{lacks}",
        label="shows that it is installed, and not that the chip runs it",
        advice=f"Use it on {plain(need.legal)} only, and the other path on {called(wrong)}.",
        related=related,
        remedy=Remedy(
            "imported", need.legal, evidence=f"for {plain(need.legal)}: {need.what}", unsafe=_LATER, at=gate.leaf
        ),
        claims=(claimed(need, module, wrong),),
    )
    return replace(draft, severity="note") if aside(context, module) else draft  # there it is compared with


def _need(context: Context, module: Module, gate: Gate) -> Need | None:
    """What is used where a module is there; where only its name is chosen there, what the module itself needs."""
    used = [one for one in context.evidence.of(module, gate.yes) if one.strength == PROOF]
    value = gate.yes.value
    if not used and value is not None and (value.op == "attr" or is_text(value)):
        return context.evidence.of_use(module, Use(gate.name, "import", value.at or gate.at))
    return next(iter(used), None)


def _works(context: Context, module: Module, instead: Side, chips: ChipSet) -> bool:
    """Whether a chip that skips a path reaches another one that nothing shows to fail."""
    if instead.ends in REFUSING or not instead.uses:
        return False
    needs = [one for one in context.evidence.of(module, instead, sure=False) if one.strength == PROOF]
    return not needs or any(chips <= one.legal for one in needs)
