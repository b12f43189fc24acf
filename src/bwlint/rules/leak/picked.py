"""leak at a choice: the chip selects a function or a library option that does not run on it.

It is told in the file that chooses, wherever the call stands: there it is mended for all who ask.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from bwlint.chips import NONE, ChipSet
from bwlint.chips.wording import called, failing, plain, sentence
from bwlint.evaluate.objects import ClassValue, FunctionValue, Instance, LambdaValue, PartialValue
from bwlint.evaluate.values import CHIPS, Ref, Unknown
from bwlint.judging.chosen import Elsewhere, chooser
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace, RelatedSpan
from bwlint.judging.evidence import claimed
from bwlint.judging.siblings import other_files
from bwlint.model.details import ToldParameter
from bwlint.model.expr import Expr, Span, is_text
from bwlint.model.facts import Module, Operation, Use
from bwlint.model.findings import NoFix
from bwlint.rules.leak import contract
from bwlint.world.libraries import PROOF, Need


@dataclass(frozen=True, slots=True)
class _Picked:
    """What a call in `user` is on some chips, or is handed, and what it needs; `at` is the test or the row that picks
    it, in `module`. `in_vain` says that a test picks, of which none runs there: what is tested has to run first.
    """

    user: Module
    call: Operation
    need: Need
    wrong: ChipSet
    chips: ChipSet
    module: Module
    at: Span
    in_vain: bool


def check_file(context: Context, module: Module) -> Iterator[Draft]:
    drafts: dict[Span, Draft] = {}
    own = ((module, one) for one in module.operations if one.kind in ("picked", "told"))
    for user, call in (*own, *_calls_of_others(context, module)):
        for found in _wrong(context, user, call):
            if found.module is not module:
                continue
            one = drafts.setdefault(found.at, _draft(found))
            if found.call.at not in (related.at for related in one.related):
                drafts[found.at] = replace(one, related=(*one.related, _at_call(found)))
    yield from drafts.values()


def _calls_of_others(context: Context, module: Module) -> Iterator[tuple[Module, Operation]]:
    """The calls in other files that a text may reach which a function of this one chooses."""
    asking = {gate.qualname for gate in module.gates}
    for name in (one for one in asking if one in module.functions and "." not in one):
        if any(is_text(value) for _, value in module.functions[name].returns):
            for other, _ in other_files(context, module, name):
                yield from ((other, one) for one in other.operations if one.kind == "told")


def _wrong(context: Context, module: Module, call: Operation) -> Iterator[_Picked]:
    for chosen in _chosen_for(module, call.amounts[0]):
        yield from _wrongly_chosen(context, module, replace(call, amounts=(chosen,)))


def _chosen_for(module: Module, value: Expr) -> tuple[Expr, ...]:
    """What the calls of a file hand to a parameter, one by one; any other value alone."""
    while value.op == "var":
        value = module.slots[value.args[0]]
    return module.passed.get(value.args, ()) or (value,) if value.op == "param" else (value,)


def _wrongly_chosen(context: Context, module: Module, call: Operation) -> Iterator[_Picked]:
    value = context.tree.value(module, call.amounts[0])
    if not value.device or value.uniform:
        return
    live = ChipSet.common(context.tree.passing(module, test) for test in call.path)
    chips: dict[Use, ChipSet] = {}
    for chip, lane in zip(CHIPS, value.lanes, strict=True):
        use = _told(call, lane) if call.kind == "told" else _called(context, module, call, lane)
        if use is not None:
            chips[use] = chips.get(use, NONE) | ChipSet.joining((chip,))
    needs = {use: _need(context, module, use) for use in chips}
    for use, picked in chips.items():
        need = needs[use]
        if need is None:
            continue
        wrong = picked & live & context.targets & need.arriving - need.legal
        place = _chosen(context, module, call, wrong) if wrong else None
        if place is not None:
            in_vain = context.in_test(module) and all(
                one is not None and not wrong & one.legal for one in needs.values()
            )
            yield _Picked(module, call, need, wrong, picked & live, *place, in_vain)


def _need(context: Context, module: Module, use: Use) -> Need | None:
    need = context.evidence.of_use(module, use) or context.evidence.of_object(module, use)
    return need if need is not None and need.strength == PROOF else None


def _told(call: Operation, lane: object) -> Use | None:
    """A text that a library is handed."""
    if not isinstance(lane, str) or not isinstance(call.detail, ToldParameter):
        return None
    return Use(lane, "text", call.at, role=call.detail.parameter, call=call.name)


def _called(context: Context, module: Module, call: Operation, lane: object) -> Use | None:
    if isinstance(lane, ClassValue | Instance) and contract.breaks(context, lane.module, lane.body.qualname):
        return None  # it is told of the class
    name = _dotted(context, lane)
    return Use(_in(module, name), "call", call.at) if name else None


def _chosen(context: Context, module: Module, call: Operation, wrong: ChipSet) -> tuple[Module, Span] | None:
    try:
        at = chooser(context.tree, module, call.amounts[0], CHIPS.index(next(iter(wrong))))
    except Elsewhere as other:
        return (other.module, other.at) if other.at is not None else None
    return module, at or call.at


def _in(module: Module, name: str) -> str:
    """What a file calls something by its dotted name."""
    own = name.removeprefix(f"{module.name}.")
    return own if own.partition(".")[0] in module.names else name


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


def _draft(found: _Picked) -> Draft:
    need, wrong = found.need, found.wrong
    name = need.use.name.rpartition(".")[2]
    related = [_at_call(found)]
    related += [RelatedSpan(hop, hop.at, hop.text) for hop in need.hops]
    fails = failing(need.kind, need.what, wrong)
    return Draft(
        place=DraftPlace(module=found.module, at=found.at, admitted=found.chips, certain=found.chips),
        severity="note" if found.in_vain else "warning",
        confidence="high" if need.hops else "medium",
        message=f"This picks `{need.use.name}` for {called(wrong)}. {sentence(name, need.what)}.{fails}",
        label=f"picks `{name}` on {found.chips}",
        advice=f"Pick it for {plain(need.legal)} only. Give {called(wrong)} another kernel or an error.",
        legal=need.legal,
        related=tuple(related),
        remedy=NoFix(f"choose what {plain(wrong)} should use instead"),
        claims=(claimed(need, found.user, wrong),),
    )


def _at_call(found: _Picked) -> RelatedSpan:
    told = f"`{found.call.name}` gets `{found.need.use.name}` there"
    called = f"`{found.call.name}` is `{found.need.use.name}` there"
    return RelatedSpan(found.user, found.call.at, told if found.call.kind == "told" else called)
