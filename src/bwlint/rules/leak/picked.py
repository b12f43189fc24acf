"""leak at a choice: the device picks what is called, and picks what does not run there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bwlint.chips import EVERY, NONE, ChipSet
from bwlint.chips.wording import plain
from bwlint.evaluate.objects import ClassValue, FunctionValue, Instance, LambdaValue, PartialValue
from bwlint.evaluate.values import CHIPS, Ref, Unknown
from bwlint.judging.chosen import Elsewhere, chooser
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace, RelatedSpan
from bwlint.judging.evidence import claimed
from bwlint.model.expr import Span
from bwlint.model.facts import Module, Operation, Use
from bwlint.rules.leak import RULE
from bwlint.world.libraries import PROOF, Need


@dataclass(frozen=True, slots=True)
class _Picked:
    """What a call is on some chips, and what it needs; `at` is the test or the row that picks it."""

    call: Operation
    need: Need
    wrong: ChipSet
    chips: ChipSet
    at: Span


def check_file(context: Context, module: Module) -> Iterator[Draft]:
    for call in module.operations:
        if call.kind == "picked":
            for found in _wrong(context, module, call):
                yield _draft(module, found)


def _wrong(context: Context, module: Module, call: Operation) -> Iterator[_Picked]:
    (callee,) = call.amounts
    value = context.tree.value(module, callee)
    if not value.device or value.uniform:
        return
    live = _live(context, module, call)
    chips: dict[str, ChipSet] = {}
    for chip, lane in zip(CHIPS, value.lanes, strict=True):
        if name := _dotted(context, lane):
            chips[name] = chips.get(name, NONE) | ChipSet.joining((chip,))
    for name, picked in chips.items():
        need = context.evidence.of_use(module, Use(_in(module, name), "call", call.at))
        if need is None or need.strength != PROOF:
            continue
        wrong = picked & live & context.targets & need.arriving - need.legal
        if wrong:
            try:
                at = chooser(context.tree, module, callee, CHIPS.index(next(iter(wrong)))) or call.at
            except Elsewhere:
                continue
            yield _Picked(call, need, wrong, picked & live, at)


def _in(module: Module, name: str) -> str:
    """What a file calls something by its dotted name."""
    own = name.removeprefix(f"{module.name}.")
    return own if own.partition(".")[0] in module.names else name


def _live(context: Context, module: Module, call: Operation) -> ChipSet:
    reached = EVERY
    for test in call.path:
        reached &= context.tree.passing(module, test)
    return reached


def _dotted(context: Context, lane: object) -> str:
    """The name of what a value is, calls, or is an instance of; "" of anything else."""
    if isinstance(lane, PartialValue):
        return _dotted(context, lane.function)
    if isinstance(lane, LambdaValue) and lane.body.op == "call":
        return _dotted(context, context.tree.value(lane.frame.module, lane.body.args[0]).only())
    if isinstance(lane, FunctionValue):
        return f"{lane.module.name}.{lane.function.qualname}"
    if isinstance(lane, ClassValue | Instance):
        return f"{lane.module.name}.{lane.body.qualname}"
    if isinstance(lane, Ref):
        return lane.name
    return lane.key if isinstance(lane, Unknown) and "." in lane.key and ":" not in lane.key else ""


def _draft(module: Module, found: _Picked) -> Draft:
    need, wrong = found.need, found.wrong
    name = need.use.name.rpartition(".")[2]
    related = [RelatedSpan(module, found.call.at, f"`{found.call.name}` is `{need.use.name}` there")]
    related += [RelatedSpan(hop, hop.at, hop.text) for hop in need.hops]
    return Draft(
        rule=RULE,
        place=DraftPlace(module=module, at=found.at, admitted=found.chips, certain=found.chips),
        severity="warning",
        confidence="high" if need.hops else "medium",
        message=f"picks `{need.use.name}` for {plain(wrong)}: {need.what}",
        label=f"picks `{name}` on {found.chips}",
        advice=f"{need.what} works on {need.legal}: give {plain(wrong)} what runs there, or an error",
        legal=need.legal,
        related=tuple(related),
        claims=(claimed(need, module, wrong),),
    )
