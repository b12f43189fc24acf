"""leak without a check: a function surely runs a kernel for other chips, and nothing on the way asks for the chip,
neither the function nor any that leads to it; or an import alone enables code on every chip.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from bwlint.chips import EVERY, NONE, ChipSet
from bwlint.chips.wording import called, failing, its, plain, reached, sentence
from bwlint.judging import claims
from bwlint.judging.aside import aside, for_another_vendor, vendored
from bwlint.judging.callers import may_ask
from bwlint.judging.claims import Claimed
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace, RelatedSpan, Remedy
from bwlint.judging.evidence import claimed
from bwlint.model.expr import Span, is_text
from bwlint.model.facts import Gate, Module, Side, Use
from bwlint.model.findings import NoFix
from bwlint.model.kinds import REFUSING
from bwlint.model.naming import called_by
from bwlint.world.libraries import PROOF, Need, is_called_for_others, is_question
from bwlint.world.proofs import NeedProof, Node

_CHOICE = NoFix("decide which error to raise on the other chips, or which code to run there")
_LATER = "a later release of the library may run on other chips, and asking the device starts CUDA in this process"


def check_file(context: Context, module: Module) -> Iterator[Draft]:
    yield from _of_imports(context, module)
    yield from _of_functions(context, module)


def _of_functions(context: Context, module: Module) -> Iterator[Draft]:
    """One finding for each function and class: its calls that hand over to code for other chips."""
    if module.language != "python" or aside(context, module) or vendored(context, module):
        return
    if is_called_for_others(module.path) or for_another_vendor(context, module):
        return
    found: dict[str, list[Node]] = {}
    for node in _speaking(context, module):
        found.setdefault(node.definition.qualname.partition(".")[0], []).append(node)
    for top, nodes in found.items():
        draft = next(filter(None, (_draft(context, module, node) for node in nodes)), None)
        if draft is not None and not may_ask(context, module, top):
            yield draft


def _speaking(context: Context, module: Module) -> Iterator[Node]:
    """The functions of a file that may use code for other chips, and are not called after it themselves."""
    outline = context.evidence.outline(module.path, module.name)
    if outline is None or not any(map(is_called_for_others, (*outline.imports.values(), *outline.places))):
        return
    for name in outline.places:
        if name not in outline.classes and not is_called_for_others(name) and not is_question(name):
            yield Node(outline, outline.definitions[name])


def _draft(context: Context, module: Module, node: Node) -> Draft | None:
    """A function that surely calls what none of the chips asked about can run."""
    calls = [use for use in node.definition.uses if use.how == "call" and is_called_for_others(use.name)]
    proofs = context.evidence.of_node(node) if calls else ()
    use, proof = next(((use, proof) for proof in proofs for use in calls if _shows(context, proof, use)), (None, None))
    if use is None or proof is None:
        return None
    chips, name = called(context.targets), called_by(use.name)
    code = f"{chips} code of {its(context.targets)} own"
    says = f"`{name}` does not work on {plain(context.targets)}"
    fails = failing(proof.kind, proof.what, context.targets - proof.legal)
    hops = (RelatedSpan(hop, hop.at, hop.text) for hop in proof.hops[1:])
    others = (one for one in calls if one.at != use.at and one.sure and _fails(context, module, one))
    return Draft(
        place=DraftPlace(module=module, at=use.at, admitted=EVERY, certain=EVERY),
        severity="warning",
        confidence="medium",
        legal=proof.legal,
        message=f"Nothing checks the chip on the way to {reached(name, proof.what)}.{fails}",
        label="runs on every chip",
        advice=f"Check for {plain(proof.legal)} first. Raise a clear error, or give {code}.",
        related=(*hops, *(RelatedSpan(module, one.at, f"`{called_by(one.name)}` too") for one in others)),
        remedy=_CHOICE,
        claims=(Claimed(claims.need(name, context.targets, NONE, says), proof.hops[-1].at, proof.hops[-1]),),
    )


def _shows(context: Context, proof: NeedProof, use: Use) -> bool:
    """Whether a proof begins with a call, and speaks against all chips asked about."""
    handed_over = proof.kind == "library" or (proof.kind == "operation" and len(proof.hops) > 1)
    return handed_over and proof.hops[0].at == use.at and context.targets <= proof.against


def _fails(context: Context, module: Module, use: Use) -> bool:
    need = context.evidence.of_use(module, use)
    return need is not None and need.strength == PROOF and not need.legal & context.targets


def _of_imports(context: Context, module: Module) -> Iterator[Draft]:
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
    fails = failing(need.kind, need.what, wrong)
    used = RelatedSpan(module, need.use.at, sentence(need.use.name, need.what))
    related: tuple[RelatedSpan, ...] = (RelatedSpan(module, gate.at, "nothing else is checked here"), used)
    if gate.leaf is not None and gate.at.holds(gate.leaf):
        related = (RelatedSpan(module, gate.no.at or gate.at, f"{called(wrong)} should use this"),)
    draft = Draft(
        place=DraftPlace(module=module, at=gate.leaf or gate.at, admitted=EVERY, certain=EVERY),
        severity="warning",
        confidence="medium",
        message=f"Only the import is checked, so {called(wrong)} {use} {reached(need.use.name, need.what)}.{fails}",
        label="the import succeeds on every card",
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
