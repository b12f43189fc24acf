"""p2p-atomics at an option by capability, which does not show what connects the GPUs, and at the bandwidth of NVLink:
where there is none it is 0, and what is computed with it fails.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from bwlint.chips import NONE, ChipSet, group
from bwlint.chips.peers import proved, turned_on
from bwlint.chips.wording import called, capital, have, plain
from bwlint.evaluate.values import CHIPS
from bwlint.judging import claims
from bwlint.judging.claims import Claimed
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace, RelatedSpan
from bwlint.model.details import LinkUse, PeerSwitch
from bwlint.model.expr import Expr
from bwlint.model.facts import Module, Operation, Use
from bwlint.model.findings import Severity
from bwlint.rules.p2p_atomics import BY_HAND, RULE
from bwlint.rules.p2p_atomics.switches import advice, chosen, claimed
from bwlint.world.gates import Judged

_NO_NVLINK = group("no-nvlink")
_GIVES = {"zero": ("0", "ZeroDivisionError"), "none": ("None", "TypeError")}
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def check_file(context: Context, module: Module) -> Iterator[Draft]:
    if context.in_test(module) or not context.targets & _NO_NVLINK:
        return
    values = {one.at: one.amounts[0] for one in module.operations if one.kind == "switched"}
    for use in module.operations:
        if isinstance(use.detail, LinkUse):
            yield from _judged(context, module, use, use.detail.called)
    for switch in module.operations:
        entered = switch.detail
        if not isinstance(entered, PeerSwitch) or switch.name != "switched" or switch.at not in values:
            continue
        if not proved(entered.path, frozenset(entered.proofs)):
            yield from _by_capability(context, module, switch, entered, values[switch.at])


def check(context: Context, judged: Judged) -> Iterator[Draft]:
    """A flag of C++, which has no other way to be given an answer."""
    ours = context.targets & _NO_NVLINK
    if judged.in_test or not judged.gate.is_a("flag") or judged.module.language != "cuda":
        return
    option = turned_on(_CAMEL.sub("_", judged.gate.name).lower())
    yes = judged.sets.must & judged.sets.live
    if option is None or not ours or not ours <= yes or yes == judged.sets.live:
        return
    shown = frozenset(one.name for one in judged.module.operations if one.kind == "peer-proof")
    if not proved(option.path, shown):
        place = DraftPlace.of_gate(judged)
        yield _draft(place, option.path, option.what, ours, sure=not judged.sets.guessed)


def _by_capability(
    context: Context, module: Module, switch: Operation, entered: PeerSwitch, asked: Expr
) -> Iterator[Draft]:
    """An answer that is surely yes on our chips, whatever else it asks for."""
    ours = context.targets & _NO_NVLINK & context.let_to(module, switch.at)
    value = context.tree.value(module, asked)
    if not ours or not value.device or value.uniform:
        return
    if ours <= ChipSet.joining(chip for chip, lane in zip(CHIPS, value.lanes, strict=True) if lane is True):
        place = DraftPlace(module=module, at=switch.at, admitted=ours, certain=NONE)
        yield _draft(place, entered.path, entered.what, ours, sure=not value.guessed)


def _draft(place: DraftPlace, path: str, what: str, ours: ChipSet, *, sure: bool) -> Draft:
    alone = capital(f"{what} is {chosen(path)} by the device's capability alone")
    severity: Severity = "warning" if sure else "note"
    return Draft(
        rule=RULE,
        place=place,
        severity=severity,
        confidence="medium" if sure else "low",
        message=f"{alone}, on {called(ours)} too. {plain(ours)} {have(ours)} no NVLink.",
        label=f"{chosen(path)} for {plain(ours)} too",
        advice=advice(path),
        remedy=BY_HAND,
        claims=(claimed(path, ours, place.at),),
    )


def _judged(context: Context, module: Module, use: Operation, asked: str) -> Iterator[Draft]:
    ours = context.targets & _NO_NVLINK & context.let_to(module, use.at)
    told = _told(context, module, use, asked) if ours else None
    if told is None or (use.name == "bound" and told[1].name != "zero"):
        return
    home, speed = told
    name, divides = asked.rpartition(".")[2], use.name == "division"
    gives, error = _GIVES[speed.name]
    follows = f"this line raises {error}" if divides else "the result is 0 too, and the plan falls to its minimum"
    says = f"`{name}` gives {gives} on {called(ours)}, which {have(ours)} no NVLink"
    yield Draft(
        rule=RULE,
        place=DraftPlace(module=module, at=use.at, admitted=ours, certain=NONE),
        severity="warning" if divides else "note",
        confidence="medium" if divides else "low",
        message=f"{says}. Nothing checks for that: {follows}.",
        label=f"divides by {gives}" if divides else "becomes the bound of a plan",
        advice="Compute with the PCIe bandwidth where there is no NVLink, or refuse the plan with a message.",
        related=(RelatedSpan(home, speed.at, f"{gives} without NVLink"),),
        remedy=BY_HAND,
        claims=(Claimed(claims.other(says, ours, name), use.at),),
    )


def _told(context: Context, module: Module, use: Operation, asked: str) -> tuple[Module, Operation] | None:
    """The function of the tree that was asked for the bandwidth, if it is known what it gives without NVLink."""
    root, _, method = asked.rpartition(".")
    if root in ("self", "cls"):
        owner = use.qualname.partition(".")[0]
        return _speed(module, f"{owner}.{method}")
    node = context.evidence.definition(module, Use(asked, "call", use.at))
    home = context.tree.at(node.outline.path, node.outline.name) if node is not None else None
    return _speed(home, node.definition.qualname) if node is not None and home is not None else None


def _speed(module: Module, qualname: str) -> tuple[Module, Operation] | None:
    found = (one for one in module.operations if one.kind == "link-speed" and one.qualname == qualname)
    return next(((module, one) for one in found), None)
