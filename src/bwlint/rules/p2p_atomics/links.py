"""p2p-atomics at the bandwidth of NVLink: where there is none it is 0, and what is computed with it fails."""

from __future__ import annotations

from collections.abc import Iterator

from bwlint.chips import NONE, group
from bwlint.chips.wording import plain
from bwlint.judging import claims
from bwlint.judging.claims import Claimed
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace, RelatedSpan
from bwlint.model.facts import Module, Operation, Use
from bwlint.rules.p2p_atomics import RULE

_GIVES = {"zero": ("0", "a ZeroDivisionError"), "none": ("None", "a TypeError")}
_NO_NVLINK = group("no-nvlink")


def check_file(context: Context, module: Module) -> Iterator[Draft]:
    if context.in_test(module):
        return
    for use in module.operations:
        if use.kind == "link-use":
            yield from _judged(context, module, use)


def _judged(context: Context, module: Module, use: Operation) -> Iterator[Draft]:
    ours = context.targets & _NO_NVLINK & context.let_to(module, use.at)
    told = _told(context, module, use) if ours else None
    if told is None or (use.name == "bound" and told[1].name != "zero"):
        return
    home, speed = told
    name, divides = use.amounts[0].args[0].rpartition(".")[2], use.name == "division"
    gives, error = _GIVES[speed.name]
    follows = (
        f"{error} here" if divides else "the number made of it is 0 too, and the plan falls to the least it may be"
    )
    says = f"on {plain(ours)} `{name}` gives {gives}, since there is no NVLink"
    yield Draft(
        rule=RULE,
        place=DraftPlace(module=module, at=use.at, admitted=ours, certain=NONE),
        severity="warning" if divides else "note",
        confidence="medium" if divides else "low",
        message=f"{says}, and nothing asks for that: {follows}",
        label=f"divides by {gives}" if divides else "becomes the bound of a plan",
        advice="compute with the bandwidth of PCIe where there is no NVLink, or refuse the plan in words",
        related=(RelatedSpan(home, speed.at, f"{gives} without NVLink"),),
        claims=(Claimed(claims.other(says, ours, name), use.at),),
    )


def _told(context: Context, module: Module, use: Operation) -> tuple[Module, Operation] | None:
    """The function of the tree that was asked for the bandwidth, if it is known what it gives without NVLink."""
    called = use.amounts[0].args[0]
    root, _, method = called.rpartition(".")
    if root in ("self", "cls"):
        owner = use.qualname.partition(".")[0]
        return _speed(module, f"{owner}.{method}")
    node = context.evidence.definition(module, Use(called, "call", use.at))
    home = context.tree.at(node.outline.path, node.outline.name) if node is not None else None
    return _speed(home, node.definition.qualname) if node is not None and home is not None else None


def _speed(module: Module, qualname: str) -> tuple[Module, Operation] | None:
    found = (one for one in module.operations if one.kind == "link-speed" and one.qualname == qualname)
    return next(((module, one) for one in found), None)
