"""leak at a check in front of an extension whose build compiles nothing for a chip that the check lets pass."""

from __future__ import annotations

from collections.abc import Iterator

from bwlint.chips.wording import listed, plain
from bwlint.judging import claims
from bwlint.judging.claims import Claimed
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace, RelatedSpan
from bwlint.model.facts import Carry, Hop, Module
from bwlint.rules.leak import RULE
from bwlint.world.builds import pairs_of, runs_on
from bwlint.world.gates import Judged, refuses


def check_file(context: Context, module: Module) -> Iterator[Draft]:
    """Only what an extension as a whole is built for: files that are built apart have a dispatcher in front."""
    gates = [judged for judged in context.beside(module) if _is_check(judged)]
    placed = context.builds.placed(module.path) if gates and module.language == "cuda" else ()
    alone = placed and all(carry.kind == "extension" for _, carry in placed)
    if alone and not context.builds.named_besides(module.path, placed[0][0]):
        for judged in gates:
            yield from _passing(context, judged, placed)


def _is_check(judged: Judged) -> bool:
    return refuses(judged.other) and not refuses(judged.working) and not judged.in_test


def _passing(context: Context, judged: Judged, placed: tuple[tuple[str, Carry], ...]) -> Iterator[Draft]:
    legal = runs_on(carry for _, carry in placed)
    wrong = judged.must & context.targets - legal
    if not wrong or not judged.admitted & legal:
        return
    origin, first = placed[0]
    names = dict.fromkeys(name for _, carry in placed for name in (*carry.sass, *carry.ptx))
    built = listed([f"sm_{name}" for name in names])
    pairs = [pair for _, carry in placed for pair in pairs_of(carry)]
    yield Draft(
        rule=RULE,
        place=DraftPlace.of_gate(judged),
        severity="warning",
        confidence="medium",
        message=f"lets {plain(wrong)} through, and this extension is compiled for {built} alone",
        label=f"admits {judged.admitted}",
        advice=f"refuse {plain(wrong)} here, or compile for it",
        legal=legal,
        related=(RelatedSpan(Hop(origin, first.at, ""), first.at, f"what its setup.py compiles for: {built}"),),
        cause=(origin, first.at),
        claims=(Claimed(claims.build(pairs, wrong), first.at, Hop(origin, first.at, "")),),
    )
