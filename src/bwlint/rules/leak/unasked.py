"""leak without a check: a function surely runs a kernel for other chips, and nothing on the way asks for the chip."""

from __future__ import annotations

from collections.abc import Iterator

from bwlint.chips import EVERY
from bwlint.chips.wording import called, lacking, plain, reached
from bwlint.judging.aside import aside, for_another_vendor, vendored
from bwlint.judging.callers import is_named_for_others, may_ask
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace, RelatedSpan
from bwlint.model.facts import Module
from bwlint.model.findings import NoFix
from bwlint.model.naming import called_by
from bwlint.rules.leak import RULE
from bwlint.sources.texts import Texts
from bwlint.world.libraries import is_question
from bwlint.world.proofs import NeedProof, Node

_PROVING = frozenset({"operation", "library"})
_CHOICE = NoFix("decide which error to raise on the other chips, or which code to run there")


def check_file(context: Context, module: Module) -> Iterator[Draft]:
    """One finding for each function: the first of its calls that hands over to code for other chips."""
    if module.language != "python" or aside(context, module) or vendored(context, module):
        return
    outline = context.evidence.outline(module.path, module.name)
    if outline is None or is_named_for_others(module.path) or for_another_vendor(context, module):
        return
    lines, told = (Texts().source(module.path) or "").splitlines(), set[str]()
    for name, at in outline.places.items():
        top = name.partition(".")[0]
        passed = top in told or name in outline.classes or is_named_for_others(name) or is_question(name)
        if not passed and any(map(is_named_for_others, lines[at.line - 1 : at.end_line])):
            draft = _judged(context, module, Node(outline, outline.definitions[name]))
            if draft is not None:
                told.add(top)
                yield draft


def _judged(context: Context, module: Module, node: Node) -> Draft | None:
    own = node.definition
    proofs = (one for one in context.evidence.of_node(node) if one.kind in _PROVING and len(one.hops) > 1)
    proof = next((one for one in proofs if context.targets <= one.against), None)
    calls = (use for use in own.uses if use.how == "call" and proof is not None and use.at == proof.hops[0].at)
    use = next((one for one in calls if is_named_for_others(one.name)), None)
    if proof is None or use is None or may_ask(context, module, own.qualname.partition(".")[0]):
        return None
    return Draft(
        rule=RULE,
        place=DraftPlace(module=module, at=use.at, admitted=EVERY, certain=EVERY),
        severity="warning",
        confidence="medium",
        legal=proof.legal,
        message=_message(context, called_by(use.name), proof),
        label="runs on every chip",
        advice=f"Check for {plain(proof.legal)} first. Raise a clear error, or give {called(context.targets)} other code.",
        related=tuple(RelatedSpan(hop, hop.at, hop.text) for hop in proof.hops[1:]),
        remedy=_CHOICE,
    )


def _message(context: Context, name: str, proof: NeedProof) -> str:
    lacks = lacking(proof.kind, proof.what, context.targets - proof.legal)
    return f"Nothing checks the chip on the way to {reached(name, proof.what)}.{lacks}"
