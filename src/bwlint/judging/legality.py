"""Whether instructions and atoms may stand in code that is compiled for given targets, in ptxas's words.

A PTX file names its target itself. C++ compiles for those that the guards around a place let through; which of them a
build makes is known only where a carry says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from bwlint.chips import EVERY_TARGET, NONE, ChipSet, Target, TargetSet, group
from bwlint.chips.atoms import Atom, atom
from bwlint.chips.frameworks import headers
from bwlint.chips.instructions import Form, PtxasVerdict, parse, verdict
from bwlint.chips.wording import called, plain
from bwlint.judging import claims
from bwlint.judging.claims import Claimed
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace, RelatedSpan, Remedy
from bwlint.judging.guards import defined
from bwlint.judging.path_conditions import bare
from bwlint.model.expr import Expr, Span, walk
from bwlint.model.facts import Carry, Module, Operation
from bwlint.model.findings import Confidence, NoFix, Severity
from bwlint.model.kinds import NAMED
from bwlint.world.builds import built, named_for

ChargeKind = Literal["tcgen05", "wgmma", "cta-group", "suffix", "unknown", "slow"]
"""What an instruction is charged with: it is of a group that only some chips have (a tensor core, pairs of blocks), it
wants a suffix of its target, its target lacks it otherwise, or assembles it to a routine in software."""

_GROUPS: dict[str, ChargeKind] = {"tcgen05": "tcgen05", "wgmma": "wgmma", "cta-group": "cta-group"}
_OF_OTHERS = frozenset({"tcgen05", "wgmma"})
"""Tensor cores that a chip has or has not: a file written for one is not for the other chips."""
_SHOWN = 8
_OF_THE_LIBRARY = re.compile(rf"[/\\]{headers()}[/\\]")


@dataclass(frozen=True, slots=True)
class Charge:
    """One thing to say of an instruction: of which targets, and where it is legal instead."""

    kind: ChargeKind
    severity: Severity
    targets: TargetSet
    legal: TargetSet
    message: str
    label: str
    advice: str


def legal(operation: Operation) -> TargetSet:
    """The targets that assemble an instruction or an atom; anything else is legal everywhere."""
    if operation.kind == "instruction":
        return verdict(operation.name).legal
    found = atom(operation.name) if operation.kind == "atom" else None
    return found.legal if found is not None else EVERY_TARGET


def slow(operation: Operation) -> TargetSet:
    """The targets that assemble an instruction or an atom to a routine in software."""
    if operation.kind == "instruction":
        return verdict(operation.name).slow
    found = atom(operation.name) if operation.kind == "atom" else None
    return found.slow if found is not None else TargetSet.of()


def short(operation: Operation) -> str:
    """An instruction without its operands, an atom as it is."""
    return parse(operation.name).head if operation.kind == "instruction" else operation.name


def charges_of(operation: Operation, compiled_for: TargetSet) -> tuple[Charge, ...]:
    """What is to be said of an instruction or atom in code that is compiled for these targets."""
    if operation.kind == "instruction":
        return charges(operation.name, compiled_for)
    found = atom(operation.name) if operation.kind == "atom" else None
    return _of_atom(operation.name, found, compiled_for) if found is not None else ()


def _of_atom(name: str, found: Atom, compiled_for: TargetSet) -> tuple[Charge, ...]:
    wrong, slow = compiled_for - found.legal, compiled_for & found.slow
    if wrong and found.group in _GROUPS:
        message = f"`{name}` is {found.what}, which has no code for {called(wrong.chips)}."
        kind, advice = _GROUPS[found.group], f"Keep it to {plain(found.legal.chips)}."
        return (Charge(kind, "error", wrong, found.legal, message, found.what, advice),)
    if slow:
        message = f"`{name}` is {found.what}. It has no hardware on {called(slow.chips)} and assembles to a call."
        advice = "Load for each block there."
        return (Charge("slow", "note", slow, found.legal, message, "in software", advice),)
    return ()


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
        kind = _kind(form, said, first)
        same = TargetSet.joining(t for t in left if said.refusing(t) is form and _kind(form, said, t) == kind)
        found.append(_error(head, form, kind, said, same))
        left -= same
    slow = compiled_for & said.slow
    form = said.slowing(next(iter(slow))) if slow else None
    if form is not None:
        found.append(_slow(head, form, said, slow))
    return tuple(found)


def _kind(form: Form, said: PtxasVerdict, target: Target) -> ChargeKind:
    if form.group in _GROUPS:
        return _GROUPS[form.group]
    return "suffix" if _suffixes(said, target) else "unknown"


def _suffixes(said: PtxasVerdict, target: Target) -> tuple[Target, ...]:
    """The targets of the same number, with a suffix, for which an instruction is legal."""
    return tuple(other for other in said.legal if other.number == target.number)


def _error(head: str, form: Form, kind: ChargeKind, said: PtxasVerdict, wrong: TargetSet) -> Charge:
    first = next(iter(wrong))
    words = form.words(said.statement).replace("<T>", first.name)
    message = f'`{head}` does not assemble for {wrong}. ptxas: "{words}".'
    if said.note:
        message += f" {said.note}."
    return Charge(kind, "error", wrong, said.legal, message, "refused", _advice(kind, said, wrong))


def _advice(kind: ChargeKind, said: PtxasVerdict, wrong: TargetSet) -> str:
    names = " or ".join(other.name for other in _suffixes(said, next(iter(wrong))))
    if kind == "suffix" or (names and wrong.chips <= said.legal.chips):
        return f"Compile it for {names}."
    if not said.legal:
        return "Remove it: no target has it."
    return f"Keep it to {plain(said.legal.chips)}, and give {called(wrong.chips)} another path."


def _slow(head: str, form: Form, said: PtxasVerdict, slow: TargetSet) -> Charge:
    chips = called(slow.chips)
    if form.group == "multicast":
        advice = f"Load in each block on {chips}."
    else:
        advice = (
            "Write `.shared::cta` (PTX 8.6) if the destination is the block's own: it needs neither check nor call."
        )
    message = f"On {chips} `{head}` works, but in software. It {form.advice}."
    return Charge("slow", "note", slow, said.legal, message, "in software", advice)


def drafts(context: Context, module: Module, kind: ChargeKind) -> Iterator[Draft]:
    """The findings of one rule in a file."""
    if module.language == "ptx":
        yield from _of_ptx(context, module, kind)
    else:
        yield from _of_source(context, module, kind)


def _of_ptx(context: Context, module: Module, kind: ChargeKind) -> Iterator[Draft]:
    """One finding for each kind of instruction of a PTX file, at the first of its kind."""
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
            if charge.kind == kind:
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


def claimed(operation: Operation, charge: Charge) -> Claimed:
    """What ptxas can be asked about an instruction: of a file with several, the one that its message tells of."""
    name, wrapped = short(operation), operation.kind == "atom"
    if charge.severity == "error":
        claim = claims.instruction(name, charge.targets, wrapped=wrapped, operands=_by_operands(operation, charge))
    else:
        claim = claims.slow(name, charge.targets, wrapped=wrapped)
    return Claimed(claim, operation.at)


def _by_operands(operation: Operation, charge: Charge) -> bool:
    """Whether an instruction is refused for its operands, and would not be with others."""
    if operation.kind != "instruction":
        return False
    form = verdict(operation.name).refusing(next(iter(charge.targets)))
    return form is not None and (form.operands is not None or form.count > 0)


def _draft(module: Module, charge: Charge, operations: list[Operation], chips: ChipSet) -> Draft:
    first, *others = operations
    return Draft(
        place=DraftPlace(module=module, at=first.at, admitted=chips, certain=chips),
        severity=charge.severity,
        confidence="high",
        message=charge.message,
        label=charge.label,
        advice=charge.advice,
        legal=charge.legal.chips,
        related=tuple(RelatedSpan(module, other.at, "here too") for other in others[:_SHOWN]),
        claims=(claimed(first, charge),),
    )


@dataclass(frozen=True, slots=True)
class _Placed:
    """A charge in C++ or in Python: `guarded` says that a guard asks for the target and lets it through, `gated` that
    a gate of the running program does, and `carry` what builds it. `unbuilt`: every build that is known keeps to
    targets that have it, and the guard does not.

    None is set where a macro that nobody defines in reach decides too.
    """

    operation: Operation
    charge: Charge
    guarded: bool
    gated: bool
    carry: Carry | None
    unbuilt: bool = False


def _of_source(context: Context, module: Module, kind: ChargeKind) -> Iterator[Draft]:
    """One finding for each guard, gate or build that lets something through; nothing where no such thing is known."""
    file = (module.path, module.language)  # code in a string has the path of the file around it
    if file not in context.placed:
        needs = (one for one in module.operations if one.kind in NAMED)
        placed = [one for need in needs for one in _placed(context, module, need)]
        # A file with instructions that no target of a chip has is not for that chip: its speed there is no question.
        foreign = any(one.charge.kind in _OF_OTHERS for one in placed)
        context.placed[file] = tuple(one for one in placed if not foreign or one.charge.severity == "error")
    groups: dict[object, list[_Placed]] = {}
    for one in context.placed[file]:
        asked = one.guarded or (one.carry is not None and not _is_trap(one))
        if one.charge.kind == kind and (asked or one.gated):
            key = (one.carry, one.gated, one.unbuilt, _guards(one.operation) if asked else ())
            groups.setdefault(key, []).append(one)
    for found in groups.values():
        yield _source_draft(context, module, found)


def _guards(operation: Operation) -> tuple[Expr, ...]:
    """The guards around an operation; those that ask for one macro are one, wherever they stand: it is defined once."""
    return tuple(bare(test) if test.op == "defined" else test for test in operation.path)


def _placed(context: Context, module: Module, operation: Operation) -> Iterator[_Placed]:
    if operation.kind == "atom" and _is_own(context, module, operation.name):
        return
    asked = (test for test in operation.tests if context.tree.asks_target(module, test))
    operation = replace(operation, path=(*operation.path, *asked))
    native = TargetSet.native(context.targets & context.let_to(module, operation.at))
    if native <= legal(operation) and not charges_of(operation, native):
        return
    compiled = context.tree.compiled(module, operation.path) & native
    carries = context.compiling(module, operation.qualname)
    carry = next((one for one in carries if compiled & built(one) & _told(operation, one)), None)
    unbuilt = carry is None and bool(carries or context.compiling(module))
    if unbuilt and short(operation).partition(".")[0] not in _OF_OTHERS:
        return  # every build that compiles the file keeps to targets that have it
    if carry is None and not unbuilt:  # a header, of which nobody knows who includes it
        named = context.named_above(module)
        unbuilt = bool(named) and not named & compiled
    judged = compiled & built(carry) if carry else _certain(compiled, legal(operation))
    guarded = any(_keeps_older_away(context, module, test) for test in operation.path)
    admitted = context.let_in(module, operation.at)
    sure = context.tree.surely_compiled(module, operation.path)
    for charge in charges_of(operation, judged):
        known = charge.targets <= sure
        gated = known and bool(charge.targets.chips & admitted) and not unbuilt
        written = built(carry) if carry is not None and charge.kind == "suffix" else TargetSet.of()
        if written and all(not target.suffix and target in written for target in charge.targets):
            continue  # told at the build, which has to ask for the suffix
        if not unbuilt or (guarded and known):
            yield _Placed(operation, charge, guarded and known, gated, carry if known else None, unbuilt)


def _told(operation: Operation, carry: Carry) -> TargetSet:
    """The targets for which a build is reported: what is slow there, it is for sources that it surely compiles so."""
    refused = ~legal(operation)
    return refused if carry.kind == "extension" else refused | slow(operation)


def _is_own(context: Context, module: Module, name: str) -> bool:
    """Whether the project has a function of its own under the name of an atom: what is in it is judged there."""
    files = (module.path, *(header.path for header in context.tree.headers.included(module)))
    own = [path for path in files if not _OF_THE_LIBRARY.search(path)]
    return any(context.native.defines(name, path) for path in own)


def _keeps_older_away(context: Context, module: Module, test: Expr) -> bool:
    """Whether a test asks for the target and is false of chips that never had such an instruction."""
    tree = context.tree
    return tree.asks_target(module, test) and not tree.compiled(module, (test,)).chips & group("ampere")


def _certain(compiled: TargetSet, allowed: TargetSet) -> TargetSet:
    """What can be judged without a build: chips whose targets are all refused, and what is legal, for slow paths."""
    return compiled & (allowed | ~TargetSet.native((compiled & allowed).chips))


def _source_draft(context: Context, module: Module, found: list[_Placed]) -> Draft:
    first, *others = found
    charge, chips = first.charge, first.charge.targets.chips
    severity, confidence, why = _level(next((one for one in found if not _is_trap(one)), first))
    if severity == "warning" and all(context.emitted.chosen(module, one.operation.qualname) for one in found):
        severity, why = "note", f"{why} The build stops only if an `if constexpr` picks this code."
    mends = first.guarded and charge.severity == "error"  # what is slow is right behind its guard
    guard = _to_mend(context, module, first.operation) if mends else None
    shown = found if guard else others
    related = [RelatedSpan(module, one.operation.at, short(one.operation)) for one in shown[:_SHOWN]]
    more = f" {len(others)} more like it {'are' if others[1:] else 'is'} here." if others else ""
    return Draft(
        place=DraftPlace(
            module=module, at=guard or first.operation.at, admitted=chips, certain=chips if first.carry else NONE
        ),
        severity=severity,
        confidence=confidence,
        message=f"{charge.message}{more}{why}",
        label="this guard lets it in" if guard else charge.label,
        advice=charge.advice,
        legal=charge.legal.chips,
        related=tuple(related),
        remedy=_remedy(context, module, first, guard),
        claims=(claimed(first.operation, charge),),
    )


def _remedy(context: Context, module: Module, first: _Placed, guard: Span | None) -> Remedy | NoFix | None:
    """Bound the guard that lets an instruction through, or load into the block's own shared memory."""
    if module.language != "cuda":
        return None
    charge = first.charge
    if charge.severity != "error":
        group = (
            verdict(first.operation.name).slowing(next(iter(charge.targets)))
            if first.operation.kind == "instruction"
            else None
        )
        if group is None or group.group == "multicast":
            return NoFix("nothing here shows a faster way to do it on these chips")
        why = "right only where no cluster of several blocks is launched, with PTX 8.6 (CUDA 12.8) or newer"
        said = "the destination is the block's own shared memory"
        return Remedy("space", charge.targets.chips, evidence=said, unsafe=why)
    around = next((one for one in context.guards.get(module.path, ()) if one.guard.at == guard), None)
    if around is None:
        return NoFix("a guard around it or a build without these chips would mend it: choose one")
    if charge.kind not in _OF_OTHERS:
        return NoFix("nothing here shows what these targets should run instead: add that branch")
    wrong = ChipSet.joining(
        chip for chip in around.admitted.chips if not TargetSet.native(ChipSet.of(chip.name)) & charge.legal
    )
    targets = around.admitted - TargetSet.native(wrong)
    why = "it takes a path away from these chips"
    return Remedy("guard", targets.chips, evidence=charge.message, unsafe=why, at=guard, targets=targets)


def _level(first: _Placed) -> tuple[Severity, Confidence, str]:
    chips = called(first.charge.targets.chips)
    if first.charge.severity != "error":
        return first.charge.severity, "medium", ""
    if _is_trap(first):
        return "note", "medium", f" On {chips} it is an assertion that fails. Callers decide whether they get to it."
    if first.carry is not None:
        if named_for(first.carry):
            return "note", "high", f" See {first.carry.name or 'the build'}, which builds it for {chips}."
        exact = first.carry.kind != "extension"  # of a file with several extensions it is what all have together
        said = f" The build {f'`{first.carry.name}` ' if first.carry.name else ''}compiles it for {chips}."
        return ("error", "high", said) if exact else ("warning", "medium", said)
    if first.unbuilt:
        return "note", "medium", f" This guard would compile it for {chips}, but no build here does."
    if first.guarded:
        return "warning", "high", f" This guard compiles it for {chips}."
    return "warning", "high", f" The check around it lets {chips} through."


def _is_trap(one: _Placed) -> bool:
    """Whether what the compiler makes of a wrapper harms only those who get there, and only callers say who does."""
    found = atom(one.operation.name) if one.operation.kind == "atom" else None
    return found is not None and found.traps and (not one.guarded or one.operation.given) and not one.gated


def _to_mend(context: Context, module: Module, operation: Operation) -> Span | None:
    """The innermost guard around an operation that asks for the target; of one for a macro, the guard of that."""
    guards = context.guards.get(module.path, ())
    inner = max((one for one in guards if one.working.holds(operation.at)), key=lambda one: one.guard.at, default=None)
    if inner is None:
        return None
    macros = {node.args[0] for node in walk(inner.guard.test) if node.op == "defined"}
    definers = [one.guard.at for one in guards if macros & defined(one)]
    return definers[0] if len(definers) == 1 else inner.guard.at
