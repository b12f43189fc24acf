"""leak: a question for support that says yes on a chip which the thing itself refuses."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bwlint.chips import NONE, ChipSet
from bwlint.chips.wording import plain
from bwlint.judging import claims
from bwlint.judging.claims import Claimed
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace, RelatedSpan
from bwlint.model.facts import Module, Use
from bwlint.rules.leak import RULE
from bwlint.rules.leak.needs import bounded
from bwlint.world.gates import Judged
from bwlint.world.proofs import NeedProof

_QUESTION = re.compile(r"_*(?:supports?|can_(?:use|run)|is|has)_(\w+?)(?:_(?:supported|available|usable|eligible))?$")
_SAYS = frozenset({"list", "gate", "build"})


def check_file(context: Context, module: Module) -> Iterator[Draft]:
    if context.in_test(module):
        return
    for judged in context.beside(module):
        if judged.module is not module or judged.gate.kind != "predicate" or judged.sets.guessed:
            continue
        for proof in _proofs(context, judged):
            wrong = context.targets & judged.sets.live & judged.sets.core & proof.against
            if wrong:
                yield _draft(judged, wrong, proof)
                break


def _proofs(context: Context, judged: Judged) -> Iterator[NeedProof]:
    """What the thing says of itself that a question is named after, where the file has it or imports it."""
    asked = _QUESTION.match(judged.gate.name)
    if asked is None or "." in judged.gate.qualname:
        return
    for name in (asked[1], f"_{asked[1]}"):
        for proof in context.evidence.proofs(judged.module, Use(name, "call", judged.gate.at)):
            if proof.kind in _SAYS and proof.hops:
                yield proof


def _draft(judged: Judged, wrong: ChipSet, proof: NeedProof) -> Draft:
    return Draft(
        rule=RULE,
        place=DraftPlace.of_gate(judged),
        severity="warning",
        confidence="medium",
        message=f"`{judged.gate.name}` says yes on {plain(wrong)}, where {proof.what}",
        label=f"true on {judged.core}",
        advice="give the question the bounds that the thing itself has",
        legal=proof.legal,
        related=tuple(RelatedSpan(hop, hop.at, hop.text) for hop in proof.hops[:8]),
        remedy=bounded(judged, wrong, f"on {plain(wrong)} {proof.what}"),
        claims=(_behind(proof, wrong),),
    )


def _behind(proof: NeedProof, wrong: ChipSet) -> Claimed:
    name = proof.where.rpartition(".")[2]
    claim = claims.need(name, wrong, NONE, f"`{name}` does not work on {plain(wrong)}")
    return Claimed(claim, proof.hops[-1].at, proof.hops[-1])
