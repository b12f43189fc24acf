"""moe-plan: what a launch asks for that 12.x cannot run, or links that it does not have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bwlint.chips import NONE, ChipSet
from bwlint.chips.backends import Cards, Plan, card_words, cards, linked, plan_of
from bwlint.chips.wording import called, capital, have, listed, plain
from bwlint.judging import claims
from bwlint.judging.claims import Claimed
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace, RelatedSpan
from bwlint.model.details import PlanBranch, PlanOption
from bwlint.model.facts import Module, Operation
from bwlint.model.findings import Severity
from bwlint.model.rule import RuleTraits

RULE = RuleTraits("moe-plan")
_RELATED = 6
_FOLDERS = 4
"""How many names at the end of a path say what a file is for."""


@dataclass(frozen=True, slots=True)
class _Choice:
    """An option that goes wrong on `wrong`; `meant` says that the launch is for some of them by name."""

    option: Operation
    given: PlanOption
    plan: Plan
    wrong: ChipSet
    meant: bool


@dataclass(frozen=True, slots=True)
class _NamedPlan:
    """A test for a value, or its assignment, that leads to a plan which goes wrong on `wrong`."""

    option: Operation
    value: str
    plan: Plan
    wrong: ChipSet


def check_file(context: Context, module: Module) -> Iterator[Draft]:
    choices = list(_choices(context, module))
    meant = [one for one in choices if one.meant]
    unsaid = [one for one in choices if not one.meant]
    for one in meant:
        yield _draft(module, one, "note" if one.plan.costs else "warning", ())
    if unsaid and not meant and not context.in_test(module):
        yield _draft(module, unsaid[0], "note", unsaid[1:])
    if not context.in_test(module):
        yield from _branches(context, module)


def _choices(context: Context, module: Module) -> Iterator[_Choice]:
    asked = [(one, one.detail) for one in module.operations if isinstance(one.detail, PlanOption)]
    path = _in_path(module.path) if asked else Cards()
    for option, given in asked:
        plan = plan_of(option.name, given.value)
        wrong = context.targets - plan.legal if plan else NONE
        if plan is None or not wrong:
            continue
        near, whole, declared = map(cards, (given.near, given.in_file, given.declared))
        handled = cards(given.elsewhere).chips
        told = near or path or _in_common((declared.chips & wrong) - handled, whole, wrong)
        if wrong & told.chips:
            yield _Choice(option, given, plan, wrong & told.chips, meant=True)
        elif not told and not given.clusters and not plan.costs:
            yield _Choice(option, given, plan, wrong, meant=False)


def _in_path(path: str) -> Cards:
    """The cards of the innermost name that has some: `sm120-harness/b300_baseline/serve.sh` is for B300."""
    names = reversed(path.rsplit("/", _FOLDERS)[-_FOLDERS:])
    return next(filter(None, (cards(card_words(name)) for name in names)), Cards())


def _in_common(declared: ChipSet, whole: Cards, wrong: ChipSet) -> Cards:
    """The cards of an option apart from every card of its file: of several, those listed as hardware."""
    if declared or not whole or whole.chips <= wrong:
        return Cards(declared) if declared else whole
    return Cards(whole.chips - wrong, foreign=True)


def _draft(module: Module, one: _Choice, severity: Severity, others: list[_Choice] | tuple[()]) -> Draft:
    spelled = f"{one.option.name} {one.given.value}".strip()
    whom = called(one.wrong)
    lacks = one.plan.outcome.removeprefix("has ")
    ends = f"On {whom} it {lacks}" if lacks == one.plan.outcome else f"{whom} {have(one.wrong)} {lacks}"
    says = f"`{spelled}` ({one.plan.launcher}): {one.plan.what} {_needs(one.plan)}. {ends}."
    instead = f"{one.plan.instead}."
    advice = capital(instead) if one.meant else f"Say which GPU this launch is for. On {whom} {instead}"
    return Draft(
        place=DraftPlace(module=module, at=one.option.at, admitted=NONE, certain=NONE),
        severity=severity,
        confidence="medium" if one.meant else "low",
        message=says,
        label="the launch is for 12.x" if one.meant else "nothing says for which GPU this is",
        advice=advice,
        related=tuple(RelatedSpan(module, other.option.at, "also here") for other in others[:_RELATED]),
        claims=(Claimed(claims.other(says, one.wrong), one.option.at),),
    )


def _needs(plan: Plan, *, many: bool = False) -> str:
    made, needs = ("are", "need") if many else ("is", "needs")
    verb = f"{made} made for" if plan.costs else needs
    return (
        f"{verb} NVLink" if plan.by_links else f"{verb} compute capability {plain(plan.legal).replace(' and ', ' or ')}"
    )


def _branches(context: Context, module: Module) -> Iterator[Draft]:
    """What a name alone chooses: a finding for each value that is asked for, one for all that an option is set to."""
    found: dict[tuple[str, bool, str], list[_NamedPlan]] = {}
    for one in module.operations:
        if isinstance(one.detail, PlanBranch):
            value, is_asked = one.detail.value, one.detail.is_asked
            plan = linked(one.name, value)
            wrong = context.targets - plan.legal if plan else NONE
            if plan is not None and wrong:
                key = (one.name, is_asked, value if is_asked else "")
                found.setdefault(key, []).append(_NamedPlan(one, value, plan, wrong))
    for (name, is_asked, _), branches in found.items():
        yield _branch(module, name, branches, is_asked=is_asked)


def _branch(module: Module, name: str, branches: list[_NamedPlan], *, is_asked: bool) -> Draft:
    first, *others = branches
    values = list(dict.fromkeys(f"`{one.value}`" for one in branches))
    verb, they = ("is", "It") if len(values) == 1 else ("are", "They")
    why = f"chosen by {name} alone" if is_asked else f"set as {name}"
    says = (
        f"{listed(values)} {verb} {why}. Nothing checks the chip or the links between the GPUs. {they}"
        f" {_needs(first.plan, many=len(values) > 1)}, and {called(first.wrong)} {have(first.wrong)} none."
    )
    return Draft(
        place=DraftPlace(module=module, at=first.option.at, admitted=NONE, certain=NONE),
        severity="note",
        confidence="low",
        message=says,
        label="chosen by name alone",
        advice="Check for NVLink between the GPUs (NVML) or for the chip. Refuse with a message, or use NCCL.",
        related=tuple(RelatedSpan(module, one.option.at, "also here") for one in others[:_RELATED]),
        claims=(Claimed(claims.other(says, first.wrong), first.option.at),),
    )
