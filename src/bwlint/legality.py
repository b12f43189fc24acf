"""Whether an instruction may stand in code that is compiled for given targets, in ptxas's words.

`charges` is for any language: it takes the instruction and the targets of the code around it. `drafts` makes
findings of them for PTX files, which name their target themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bwlint.chips import ChipSet, Target, TargetSet
from bwlint.chips.instructions import Form, Verdict, parse, verdict
from bwlint.facts import Module, Operation
from bwlint.judge import Context, Draft, Related, plain

_RULES = {"tcgen05": "tcgen05", "wgmma": "wgmma", "cta-group": "cluster"}
_CATEGORIES = {
    "tcgen05": "tcgen05",
    "wgmma": "wgmma",
    "cluster": "cluster",
    "tma-slow-path": "cluster",
    "suffix-lost": "arch-target",
    "illegal-instruction": "other",
}
_SHOWN = 8


@dataclass(frozen=True, slots=True)
class Charge:
    """One thing to say of an instruction: by which rule, of which targets, and where it is legal instead."""

    rule: str
    category: str
    severity: str
    targets: TargetSet
    legal: TargetSet
    message: str
    label: str
    advice: str


def charges(instruction: str, compiled_for: TargetSet) -> tuple[Charge, ...]:
    """What ptxas makes of an instruction in code that is compiled for these targets: errors first, then slow paths."""
    said = verdict(instruction)
    head = parse(instruction).head
    found = []
    left = compiled_for - said.legal
    while left:
        first = next(iter(left))
        form = said.refusing(first)
        if form is None:
            break
        rule = _rule(form, said, first)
        same = TargetSet.joining(t for t in left if said.refusing(t) is form and _rule(form, said, t) == rule)
        found.append(_error(head, form, rule, said, same))
        left -= same
    slow = compiled_for & said.slow
    form = said.slowing(next(iter(slow))) if slow else None
    if form is not None:
        found.append(_slow(head, form, said, slow))
    return tuple(found)


def _rule(form: Form, said: Verdict, target: Target) -> str:
    if form.group in _RULES:
        return _RULES[form.group]
    return "suffix-lost" if _suffixes(said, target) else "illegal-instruction"


def _suffixes(said: Verdict, target: Target) -> tuple[Target, ...]:
    """The targets of the same number, with a suffix, for which an instruction is legal."""
    return tuple(other for other in said.legal if other.number == target.number)


def _error(head: str, form: Form, rule: str, said: Verdict, wrong: TargetSet) -> Charge:
    first = next(iter(wrong))
    words = form.words(said.statement).replace("<T>", first.name)
    message = f'ptxas refuses `{head}` for {wrong}: "{words}"'
    if said.note:
        message += f" ({said.note})"
    return Charge(rule, _CATEGORIES[rule], "error", wrong, said.legal, message, "refused", _advice(rule, said, first))


def _advice(rule: str, said: Verdict, target: Target) -> str:
    if rule == "suffix-lost":
        names = " or ".join(other.name for other in _suffixes(said, target))
        return f"compile it for {names}"
    if not said.legal:
        return "no target has it"
    return f"keep it to {plain(said.legal.chips)}, and give {target.chip} a path of its own"


def _slow(head: str, form: Form, said: Verdict, slow: TargetSet) -> Charge:
    chips = plain(slow.chips)
    if form.group == "multicast":
        advice = f"give {chips} a load by each block"
    else:
        advice = "where the destination is the block's own, `.shared::cta` (PTX 8.6) makes neither test nor call"
    message = f"on {chips} `{head}` becomes {form.advice}"
    return Charge("tma-slow-path", "cluster", "note", slow, said.legal, message, "calls the driver", advice)


def drafts(context: Context, module: Module, rule: str) -> Iterator[Draft]:
    """The findings of one rule in a PTX file, one for each kind of instruction, at the first of its kind."""
    target = _own_target(module)
    if target is None:
        return
    chips = target.jits_on() & context.targets
    if not chips:
        return  # which chips a file serves at all is a question of its target, not of its instructions
    kinds: dict[str, tuple[Charge, list[Operation]]] = {}
    for operation in module.operations:
        if operation.kind != "instruction":
            continue
        for charge in _of_file(operation.name, target, chips):
            if charge.rule == rule:
                kinds.setdefault(charge.message, (charge, []))[1].append(operation)
    for charge, operations in kinds.values():
        yield _draft(module, charge, operations, chips)


def _own_target(module: Module) -> Target | None:
    """The target that a PTX file names; None for one of no chip that is known."""
    for carry in module.carries:
        for name in carry.ptx:
            try:
                return Target.parse(name)
            except ValueError:
                return None
    return None


def _of_file(instruction: str, target: Target, chips: ChipSet) -> Iterator[Charge]:
    """Errors count for the file's own target, slow paths for the chips that compile it."""
    wrong = [charge for charge in charges(instruction, TargetSet.of(target.name)) if charge.severity == "error"]
    if wrong:
        yield from wrong
        return
    slow = TargetSet.native(chips) & verdict(instruction).slow
    yield from charges(instruction, slow)


def _draft(module: Module, charge: Charge, operations: list[Operation], chips: ChipSet) -> Draft:
    first, *others = operations
    return Draft(
        charge.rule,
        charge.category,
        charge.severity,
        "high",
        module,
        first.at,
        charge.message,
        charge.label,
        charge.advice,
        chips,
        chips,
        charge.legal.chips,
        related=tuple(Related(module, other.at, "here too") for other in others[:_SHOWN]),
    )
