"""p2p-atomics at an option by capability, which does not show what connects the GPUs, and at the bandwidth of NVLink:
where there is none it is 0, and what is computed with it fails. At a limit by capability: a chip without a row has none
and takes the path at every size.
"""

from __future__ import annotations

from collections.abc import Iterator

from bwlint.chips import NONE, ChipSet, group
from bwlint.chips.peers import proofs, proved, subject
from bwlint.chips.wording import called, capital, have, plain
from bwlint.evaluate.values import CHIPS
from bwlint.judging import claims
from bwlint.judging.claims import Claimed
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace, RelatedSpan
from bwlint.model.details import LinkUse
from bwlint.model.expr import Expr, const, walk, walk_through
from bwlint.model.facts import Module, Operation, Use
from bwlint.rules.p2p_atomics import BY_HAND
from bwlint.world.gates import Judged, table_name

_NO_NVLINK = group("no-nvlink")
_GIVES = {"zero": ("0", "ZeroDivisionError"), "none": ("None", "TypeError")}
_BELOW = frozenset({"<", "<="})
_ABOVE = frozenset({">", ">="})
_NONE = const(None)
_MAX_SLOTS = 40
_FEATURE = 2
"""The first words of a table's name say what it is for: `FI_ALLREDUCE_ONE_SHOT_SIZES`."""


def check_file(context: Context, module: Module) -> Iterator[Draft]:
    if context.in_test(module) or not context.targets & _NO_NVLINK:
        return
    for use in module.operations:
        if isinstance(use.detail, LinkUse):
            yield from _judged(context, module, use, use.detail.called)


def check(context: Context, judged: Judged) -> Iterator[Draft]:
    yield from _without_limit(context, judged)


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


def _without_limit(context: Context, judged: Judged) -> Iterator[Draft]:
    limit = None if judged.in_test or judged.gate.is_a("lookup") else _limit(judged.gate.test)
    if limit is None:
        return
    ours = context.targets & _NO_NVLINK
    unlimited = _without(context, judged.module, limit) & judged.sets.live
    table = _table(context, judged, limit)
    if table is None or not ours or not ours <= unlimited:
        return
    about = subject(f"{table.gate.name} {judged.gate.name} {judged.gate.qualname}")
    if about is None or proved(about[0], proofs(" ".join(_identifiers(judged.gate.path)))):
        return
    path, what = about
    chips, earlier = plain(ours), _earlier(context, table)
    unless = f" `{earlier}` has none either, so this needs a user who sets a size." if earlier else ""
    yield Draft(
        place=DraftPlace.of_gate(judged),
        severity="note" if earlier else "warning",
        confidence="medium",
        message=(
            capital(f"{table_name(table)} has no row for {called(ours)}, and without one there is no limit here.")
            + f" {chips} can use {what} at any size, over PCIe at best.{unless}"
        ),
        label=f"no limit for {chips}",
        advice=f"Leave the path out where the table has no row, or add a row for {called(ours)}.",
        legal=table.core,
        related=(RelatedSpan(judged.module, table.gate.at, "a missing row becomes None here"),),
        remedy=BY_HAND,
        claims=(Claimed(claims.peer(path, ours), judged.at),),
    )


def _limit(test: Expr) -> Expr | None:
    """What is compared with a size, and keeps nothing out where it is None: `limit is None or size <= limit`."""
    items = test.args[0] if test.op in ("and", "or") else ()
    for item in items:
        limit = _is_missing(item) if test.op == "or" else (_variable(item) or _compared_with_none(item, "is not"))
        if limit is not None and any(_keeps_in(other, limit) is (test.op == "or") for other in items):
            return limit
    return None


def _is_missing(item: Expr) -> Expr | None:
    if item.op == "not":
        return _variable(item.args[0])
    return _compared_with_none(item, "is")


def _compared_with_none(item: Expr, operator: str) -> Expr | None:
    if item.op != "cmp" or item.args[0] != operator or _key(item.args[1][1]) != _key(_NONE):
        return None
    return _variable(item.args[1][0])


def _variable(node: Expr) -> Expr | None:
    return node if node.op == "var" else None


def _keeps_in(item: Expr, limit: Expr) -> bool | None:
    """Whether a comparison with a limit holds below it; None of what compares nothing with it."""
    if item.op != "cmp" or item.args[0] not in _BELOW | _ABOVE:
        return None
    left, right = (any(_key(node) == _key(limit) for node in walk(side)) for side in item.args[1])
    if left is right:
        return None
    return (item.args[0] in _BELOW) is right


def _key(node: Expr) -> tuple[str, tuple[object, ...]]:
    return node.op, node.args


def _without(context: Context, module: Module, limit: Expr) -> ChipSet:
    """The chips on which a limit is None, where others have one."""
    value = context.tree.value(module, limit)
    if value.uniform:
        return NONE
    return ChipSet.joining(chip for chip, lane in zip(CHIPS, value.lanes, strict=True) if lane is None)


def _table(context: Context, judged: Judged, limit: Expr) -> Judged | None:
    asked = {node.at for node in walk_through(limit, judged.module.slots, _MAX_SLOTS) if node.op == "call"}
    return next((one for one in context.within(judged) if one.gate.is_a("lookup") and one.gate.at in asked), None)


def _earlier(context: Context, table: Judged) -> str:
    """A table of the same feature with the same rows, which lets nobody through who has none; "" where there is none.

    Such a table is asked first, in whatever file, and keeps the others from the feature as long as nobody sets a size.
    """
    tables = {name: _rows(table.module, node) for name, node in table.module.names.items()}
    mine = tables.get(table.gate.name)
    feature = _words(table.gate.name)[:_FEATURE]
    alike = {name for name, rows in tables.items() if rows == mine and _words(name)[:_FEATURE] == feature}
    asked = (one for one in context.beside(table.module) if not one.gate.is_a("lookup"))
    others = alike - {table.gate.name, *(_table_of(context, one) for one in asked)}
    return min(others, default="") if mine else ""


def _rows(module: Module, node: Expr) -> frozenset[object]:
    table = module.slots[node.args[0]] if node.op == "var" else node
    return frozenset(map(_key, table.args[0])) if table.op == "dict" else frozenset()


def _table_of(context: Context, judged: Judged) -> str:
    limit = _limit(judged.gate.test)
    found = _table(context, judged, limit) if limit is not None else None
    return found.gate.name if found is not None else ""


def _words(name: str) -> list[str]:
    return [word for word in name.lower().split("_") if word]


def _identifiers(path: tuple[Expr, ...]) -> Iterator[str]:
    """The names in the tests above a place."""
    for test in path:
        for node in walk(test):
            if node.op != "const":
                yield from (arg for arg in node.args[:2] if isinstance(arg, str))
