"""Instructions and atoms against the targets that compile them: what is illegal, what is slow, in ptxas's words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bwlint.chips import EVERY_TARGET, NO_TARGET, ChipSet, Target, TargetSet, atoms, instructions
from bwlint.facts import Carry, Module, Operation
from bwlint.judge import Context, Draft, Related, inside, plain


@dataclass(frozen=True, slots=True)
class Legality:
    """Where an operation assembles, where by a slow path, its group, and what ptxas says where it does not."""

    group: str
    legal: TargetSet
    slow: TargetSet
    what: str
    error: str = ""


def legality(operation: Operation) -> Legality:
    """What the tables know of an instruction or atom; anything else is legal everywhere."""
    if operation.kind == "instruction":
        verdict = instructions.verdict(operation.name)
        return Legality(verdict.group, verdict.legal, verdict.slow, head(operation.name), verdict.error)
    found = atoms.atom(operation.name) if operation.kind == "atom" else None
    if found is None:
        return Legality("", EVERY_TARGET, NO_TARGET, "")
    return Legality(found.group, found.legal, found.slow, found.what)


def head(instruction: str) -> str:
    """The opcode of an instruction with its modifiers, and no operands."""
    words = instruction.split()
    return next((word for word in words if not word.startswith("@")), instruction)


@dataclass(frozen=True, slots=True)
class Misplaced:
    """An operation on targets that do not assemble it.

    `guarded` says that a test around it asks for the target and lets it through; `carry` is the build that does.
    """

    operation: Operation
    legality: Legality
    targets: TargetSet
    guarded: bool
    carry: Carry | None


def misplaced(context: Context, module: Module) -> Iterator[Misplaced]:
    """The operations of a file that none of the targets of a chip assembles, though it may compile them."""
    native = TargetSet.native(context.targets)
    for operation in module.operations:
        found = legality(operation)
        if native <= found.legal:
            continue
        compiled = compiled_for(context, module, operation) & native
        wrong = compiled - found.legal
        if not wrong:
            continue
        carry = next((one for one in module.carries if wrong & built(one)), None)
        if carry is None:
            wrong = _on_all_of_a_chip(wrong, compiled)
        if wrong:
            yield Misplaced(operation, found, wrong, _is_guarded(context, module, operation), carry)


def compiled_for(context: Context, module: Module, operation: Operation) -> TargetSet:
    """The targets for which the place of an operation may compile; a PTX file has the one that it names."""
    if module.language == "ptx":
        return NO_TARGET.joining(Target.parse(name) for carry in module.carries for name in carry.ptx)
    return context.tree.compiled(module, operation.path)


def built(carry: Carry) -> TargetSet:
    """The targets that a build compiles device code for: those of its cubins, and of its PTX."""
    return TargetSet.of(*carry.sass, *carry.ptx)


def _on_all_of_a_chip(wrong: TargetSet, compiled: TargetSet) -> TargetSet:
    """The targets of chips none of whose own targets is right: without a build nobody knows which it is."""
    return TargetSet.where(lambda target: target in wrong and target.chip not in (compiled - wrong).chips)


def _is_guarded(context: Context, module: Module, operation: Operation) -> bool:
    return any(context.tree.asks_target(module, test) for test in operation.path)


def drafts(context: Context, module: Module, rule: str, category: str, groups: frozenset[str]) -> Iterator[Draft]:
    """One finding for each guard, and one for what no guard keeps away, of the groups that a rule is for."""
    firsts: dict[object, list[Misplaced]] = {}
    for one in misplaced(context, module):
        if one.legality.group in groups:
            key = one.operation.path if one.guarded or one.carry else ()
            firsts.setdefault((one.carry, key), []).append(one)
    for found in firsts.values():
        yield _draft(context, module, rule, category, found)


def _draft(context: Context, module: Module, rule: str, category: str, found: list[Misplaced]) -> Draft:
    first = found[0]
    chips = first.targets.chips
    severity, confidence, why = _level(first, chips)
    target = next(iter(first.targets))
    said = f": {first.legality.error.replace('<T>', target.name)}" if first.legality.error else ""
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    guard = _innermost(context, module, first.operation)
    related = [Related(module, guard, "this guard lets it through")] if guard and first.guarded else []
    related += [Related(module, one.operation.at, head(one.operation.name)) for one in found[1:4]]
    return Draft(
        rule,
        category,
        severity,
        confidence,
        module,
        first.operation.at,
        f"`{head(first.operation.name)}` does not assemble for {plain(chips)}{said}{more}{why}",
        first.legality.what,
        f"guard it by the targets that have it: {first.legality.legal}",
        chips,
        chips if first.carry else ChipSet.of(),
        first.legality.legal.chips,
        None,
        tuple(related),
    )


def _level(first: Misplaced, chips: ChipSet) -> tuple[str, str, str]:
    if first.carry is not None:
        return "error", "high", f"; {first.carry.name or 'this build'} compiles it for {plain(chips)}"
    if first.guarded:
        return "warning", "high", f"; the guard around it compiles it for {plain(chips)}"
    return "note", "low", "; no guard in this file keeps it away, a build's list of targets may"


def _innermost(context: Context, module: Module, operation: Operation) -> tuple[int, int, int, int] | None:
    """The innermost guard around an operation that asks for the target."""
    around = [
        guarded.guard.at
        for guarded in context.guards.get(module.path, ())
        if guarded.working.at is not None and inside(operation.at, guarded.working.at)
    ]
    return max(around) if around else None
