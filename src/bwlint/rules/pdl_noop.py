"""pdl-noop: a kernel may start before its predecessor ends, and its wait compiles to nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bwlint.chips import NO_TARGET, ChipSet, TargetSet
from bwlint.chips.switches import left_by, macros_of_projects, switches
from bwlint.chips.switches import waits as known_waits
from bwlint.chips.wording import called, capital, marked
from bwlint.judging import claims
from bwlint.judging.claims import Claimed
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace, RelatedSpan, Remedy
from bwlint.model.expr import Span
from bwlint.model.facts import Module, Operation
from bwlint.model.findings import NoFix
from bwlint.model.rule import RuleTraits
from bwlint.world.builds import built

RULE = RuleTraits("pdl-noop", explains=2)
_EARLY = "before the one in front of it has ended"


def check_file(context: Context, module: Module) -> Iterator[Draft]:
    own = [one for one in module.operations if one.kind == "dependent-launch"]
    launches = [one for one in own if _reaches(context, module, one)]
    if own and not launches:
        return  # the host lets none of them begin early there
    waits: dict[str, list[Operation]] = defaultdict(list)
    for one in module.operations:
        if one.name in known_waits() or (one.kind == "atom" and switches(one.name)):
            waits[one.qualname].append(one)
    for function, found in waits.items():
        if not any(one.kind == "body" and one.qualname == function for one in module.operations):
            yield from _waiting(context, module, found, _launching(context, module, function, launches))
    for one in launches:
        if switches(one.name):
            yield from _waiting(context, module, [one], [_EarlyLaunch(module, one)])


@dataclass(frozen=True, slots=True)
class _EarlyLaunch:
    module: Module
    operation: Operation


def _reaches(context: Context, module: Module, launch: Operation) -> bool:
    return bool(context.let_to(module, launch.at) & context.targets)


def _launching(context: Context, module: Module, function: str, own: Sequence[Operation]) -> list[_EarlyLaunch]:
    """The launches of kernels that wait in a function: those of its file, or of the files that include it."""
    found = [_EarlyLaunch(module, one) for one in own]
    if not found:
        for code, _ in context.builds.including(module, context.tree.headers):
            found += [
                _EarlyLaunch(code, one)
                for one in code.operations
                if one.kind == "dependent-launch" and _reaches(context, code, one)
            ]
    outline = context.native.outline(module.path) if found else None
    defined = outline.definitions if outline is not None else {}
    last = function.partition("#")[0].rpartition(".")[2]
    kernels = {name.rpartition(".")[2] for name, one in defined.items() if one.kind == "kernel"}
    if last in kernels:  # another kernel's launch does not let this one begin
        found = [one for one in found if one.operation.name == last or one.operation.name not in kernels]
    return [one for one in found if not switches(one.operation.name)]


def _waiting(
    context: Context, module: Module, waits: Sequence[Operation], launches: Sequence[_EarlyLaunch]
) -> Iterator[Draft]:
    asked, origin = _asked(context, module, waits[0].qualname)
    native = TargetSet.native(context.targets)
    switched = [one for one in waits if switches(one.name)]
    if not asked and switched:
        return  # what an unknown build sets is not known
    left = NO_TARGET
    for one in waits:
        alone = left_by(one.name, _set_for(context, module)) if switches(one.name) else native
        left |= context.tree.compiled(module, one.path) & alone
    empty = (asked & native) - left if asked else TargetSet.native(context.targets - left.chips)
    if not empty or (switched and not launches):
        return
    if not launches and not left:
        return
    yield _draft(context, module, waits[0], empty, launches, origin)


def _asked(context: Context, module: Module, function: str) -> tuple[TargetSet, RelatedSpan | None]:
    """The targets that builds compile a file for, and where the first of them says so."""
    placed = context.builds.placed(module.path)
    carries = [carry for _, carry in placed] or context.compiling(module, function)
    found = TargetSet.union(map(built, carries))
    for path, carry in placed:
        build = context.builds.load(path)
        if build is not None and built(carry) & TargetSet.native(context.targets):
            return found, RelatedSpan(build, carry.at, "compiles it")
    return found, None


def _set_for(context: Context, module: Module) -> frozenset[str]:
    """The macros that the builds above a file, the file itself and its headers set."""
    builds = [context.builds.load(path) for path, _ in context.builds.placed(module.path)]
    known = (*context.builds.above(module.path), *(one for one in builds if one is not None))
    names = {one.name for build in known for one in build.operations if one.kind == "switched-on"}
    files = (module, *context.tree.headers.included(module))
    own = (name for file in files for name in macros_of_projects().intersection(file.functions))
    return frozenset((*names, *own))


def _draft(
    context: Context,
    module: Module,
    wait: Operation,
    empty: TargetSet,
    launches: Sequence[_EarlyLaunch],
    origin: RelatedSpan | None,
) -> Draft:
    sure = [one for one in launches if not one.operation.given]
    chips = context.targets & empty.chips
    guard = next((test.at for test in reversed(wait.path) if test.at and context.tree.asks_target(module, test)), None)
    what = "the kernel's own wait" if switches(wait.name) and wait.kind != "atom" else f"`{wait.name}`"
    where = called(chips) if empty == TargetSet.native(chips) else str(empty)
    says = f"{what} compiles to nothing for {where}"
    then = (
        f"The host lets the kernel begin {_EARLY}. It may then read data that is not written yet."
        if sure
        else f"If the host lets the kernel begin {_EARLY}, it may read data that is not written yet."
    )
    related = tuple(RelatedSpan(one.module, one.operation.at, "lets it begin early") for one in (sure or launches)[:1])
    return Draft(
        place=DraftPlace(module=module, at=guard or wait.at, admitted=chips, certain=chips),
        severity="warning" if sure else "note",
        confidence="high" if sure else "low",
        message=f"{capital(says)}. {then}",
        label="no wait for the kernel in front",
        advice=_advice(wait, chips),
        related=tuple(
            one for one in (*related, origin) if one is not None and not _same(one, module, guard or wait.at)
        ),
        remedy=_remedy(context, module, wait, empty),
        claims=(Claimed(claims.other(says, chips, wait.name)),),
    )


def _remedy(context: Context, module: Module, wait: Operation, empty: TargetSet) -> Remedy | NoFix:
    """A wider guard around the wait, and around what lets the next kernel begin, where the same words keep it out.

    A wait is right on every chip that has it: with nothing to wait for it does nothing. What lets the next kernel begin
    is right as long as every wait of the file is there too.
    """
    guards = {one.guard.test.at: one for one in context.guards.get(module.path, ()) if one.module is module}
    around = next((guards[test.at] for test in reversed(wait.path) if test.at in guards), None)
    if around is None or switches(wait.name):
        return NoFix("a macro of the build or a launch without the attribute would mend it: choose one")
    native = TargetSet.native(context.targets)
    others = [one for one in module.operations if one.name in known_waits()]
    left = [one for one in others if native - context.tree.compiled(module, one.path)]
    same = all(guards[one.path[-1].at].guard.text == around.guard.text for one in left if one.path[-1].at in guards)
    asked = same and all(one.path[-1].at in guards for one in left) and not around.guard.comment
    return Remedy(
        "guard",
        around.admitted.chips | empty.chips,
        evidence=f"`{wait.name}` assembles there, and with nothing to wait for it does nothing",
        unsafe=None if asked else "a kernel of this file that waits elsewhere may begin too early then",
        at=around.guard.at,
        targets=around.admitted | (empty & around.sets.live),
    )


def _same(one: RelatedSpan, module: Module, at: Span) -> bool:
    return one.module.path == module.path and one.at == at


def _advice(wait: Operation, chips: ChipSet) -> str:
    known = next((one for one in switches(wait.name) if one.since), None)
    if known is None:
        return f"Compile the wait for {called(chips)}, or launch without the attribute there."
    since = dict(known.since)
    told = " and ".join(f"{since[one]} for {marked(ChipSet.of(one))}" for one in chips.names if one in since)
    return (
        f"Set {known.macro} and build for targets with a or f, or launch without the attribute there. The macro needs"
        f" release {told}."
    )
