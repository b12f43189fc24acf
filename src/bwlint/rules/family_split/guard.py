"""family-split at a guard of the preprocessor: code for one member of a family compiles to nothing for another."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bwlint.chips import ChipSet, TargetSet, families, frameworks, group
from bwlint.chips.instructions import verdict
from bwlint.chips.wording import called, marked, plain
from bwlint.evaluate.names import guess
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace, RelatedSpan, Remedy
from bwlint.judging.guards import Guarded, defined, for_family, name_of, served, served_elsewhere, tuned, wrapper_of
from bwlint.model.expr import walk
from bwlint.model.facts import Module, Side
from bwlint.model.findings import Confidence, NoFix, Severity
from bwlint.rules.family_split import reasons
from bwlint.rules.family_split.weight import spelled
from bwlint.world.builds import built, runs_on

_SECOND = group("second-consumer")
_SAME = "Both have the same instructions."
_EXACT_WRAPPER = re.compile(r"(?:^|_)(?:only|exact)(?:_|$)|(?:Only|Exact)(?![a-z])")
_CONVERTS = re.compile(frameworks.piece("converts"))
_MACROS = frozenset({"macro", "defined"})
ENDS = {
    "raise": "stops with the error beside it.",
    "exit": "succeeds, and the kernel stops at run time with the error beside it.",
}
UNUSED = "Nothing here is wrapped in"


def check_guard(context: Context, guarded: Guarded) -> Iterator[Draft]:
    parted = parts(context, guarded)
    if parted is None:
        return
    held, lost = parted
    twins = _twins(guarded, held, lost)
    if _built_once(context, guarded, lost) or _told_where_defined(context, guarded, held, lost):
        return
    if served_elsewhere(context, guarded, twins & guarded.sets.live) or _same_value(context, guarded, twins):
        return
    wrapper = wrapper_of(context, guarded)
    severity, confidence, what = _level(context, guarded, lost, twins)
    if wrapper is not None and wrapper.unused:
        severity, confidence, what = "note", "low", f" {UNUSED} `{wrapper.name}`."
    other = (RelatedSpan(guarded.module, guarded.other.at, f"{called(lost)} gets this"),) if guarded.other.at else ()
    yield Draft(
        place=DraftPlace.of_guard(guarded),
        severity=severity,
        confidence=confidence,
        message=f"This guard compiles for {marked(held)} and leaves out {called(lost)}. {_SAME}{what}",
        label=_label(guarded, held, lost),
        advice=_advice(guarded, lost),
        related=(*other, *(wrapper.places if wrapper is not None else ())),
        remedy=_remedy(context, guarded, held, lost),
        claims=(guarded.claimed((guarded.admitted & TargetSet.native(held)) | twins),),
    )


def _label(guarded: Guarded, held: ChipSet, lost: ChipSet) -> str:
    if _own_macro(guarded):
        return f"true for {plain(held)}"
    return f"compiles for {guarded.admitted & TargetSet.native(held | lost)}"


def _advice(guarded: Guarded, lost: ChipSet) -> str:
    macro = _own_macro(guarded)
    if macro:
        return f"Let {called(lost)} pass this test of `{macro}` too."
    return "Check the family (a half-open range of __CUDA_ARCH__, or every member's macro), or use a wrapper that does."


def _own_macro(guarded: Guarded) -> str:
    """The first macro that a guard tests, where none of them is the compiler's."""
    macros = [str(node.args[0]) for node in walk(guarded.guard.test) if node.op in _MACROS]
    return "" if any(name.startswith("__CUDA_ARCH") for name in macros) else next(iter(macros), "")


def _built_once(context: Context, guarded: Guarded, lost: ChipSet) -> bool:
    """Whether the builds of the file make one image for the whole family, and no code that the guard leaves out."""
    macros = (str(node.args[0]) for node in walk(guarded.guard.test) if node.op in _MACROS)
    asks_family = any("FAMILY_SPECIFIC" in name for name in macros)
    # who asks for the family's macro builds for it; of any other header nobody knows who else includes it
    carries = context.compiling(guarded.module) if asks_family else context.builds.of(guarded.module)
    refused = TargetSet.native(lost) - guarded.admitted
    return bool(carries) and lost <= runs_on(carries) and not any(built(carry) & refused for carry in carries)


def _same_value(context: Context, guarded: Guarded, twins: TargetSet) -> bool:
    """Whether all that the sibling goes without is a conversion, which its way leaves to the toolkit."""
    behind = _instructions(guarded)
    calls = (use.name for use in _landing(context, guarded, twins).uses if use.how == "call")
    return bool(behind) and all(name.startswith("cvt.") for name in behind) and any(map(_CONVERTS.fullmatch, calls))


def _told_where_defined(context: Context, guarded: Guarded, held: ChipSet, lost: ChipSet) -> bool:
    """Whether it asks for a macro of the project that the sibling lacks: the guard that defines it is the finding.

    What a macro with a chip's number enables is reported where it is enabled.
    """
    passing, twins = guarded.admitted & TargetSet.native(held), _twins(guarded, held, lost)
    switches = defined(guarded)
    for node in walk(guarded.guard.test):
        name = node.args[0] if node.op in _MACROS else ""
        if not name or name in switches or not _defined_by_guard(context, guarded.module, name):
            continue
        has = context.tree.defined_for(guarded.module, name)
        if passing <= has and not twins & has and not (switches and _has_number(name, held)):
            return True
    return False


def _defined_by_guard(context: Context, module: Module, macro: str) -> bool:
    """Whether a file of the project defines a macro under some test."""
    homes = (module,) if macro in module.functions else context.tree.definers(module, macro)
    found = (home.functions[macro] for home in homes)
    return any(one.kind == "macro" and any(path for path, _ in one.returns) for one in found)


def _remedy(context: Context, guarded: Guarded, held: ChipSet, lost: ChipSet) -> Remedy | NoFix:
    """Widen the guard by the sibling's targets: those with the suffixes that it admits for the others."""
    if _denied(guarded, held, lost):
        return NoFix(
            f"the guard leaves {plain(lost)} out by number: decide whether it should leave {plain(held)} out too"
        )
    if macros_of_part(context, guarded, held, lost):
        gained = _twins(guarded, held, lost) & guarded.sets.live
        return Remedy("macros", guarded.chips | lost, targets=guarded.admitted | gained)
    if (name := named_after(guarded, held)) is not None:
        return NoFix(f"`{name}` is named after the part that the guard asks for, and {plain(lost)} has one of its own")
    owner = name_of(guarded)
    family = for_family(context, guarded, guarded.chips | lost) if owner else None
    if family is not None:
        return Remedy("wrapper", family.chips, evidence=f"`{name_of(family)}` beside it is for {plain(family.chips)}")
    if _EXACT_WRAPPER.search(owner):
        return NoFix(f"`{owner}` is named for one part alone: what runs on the family wants another wrapper")
    gained = _twins(guarded, held, lost) & guarded.sets.live
    targets = guarded.admitted | gained
    only_errors = f"{plain(lost)} only meets an error" if guarded.other.ends in ENDS else ""
    shown = _loads_already(context, guarded, held, lost) or only_errors or served_elsewhere(context, guarded, gained)
    evidence = shown or _assembles(guarded, gained)
    return Remedy(
        "guard",
        targets.chips,
        evidence=evidence,
        unsafe=_doubt(context, guarded, lost, gained, evidence),
        targets=targets,
    )


def _doubt(context: Context, guarded: Guarded, lost: ChipSet, twins: TargetSet, evidence: str) -> str | None:
    """Why a person should look at a wider guard; None where the sibling has nothing to lose by it."""
    chosen = not _instructions(guarded) and _own_way(guarded, _landing(context, guarded, twins))
    if chosen or _level(context, guarded, lost, twins)[0] == "note":
        return "the exact test may be meant"
    if name := tuned(guarded):
        return f"`{name}` may be chosen for this part"
    carries = context.compiling(guarded.module)
    if carries and not lost <= runs_on(carries):
        return f"no build of this file makes what {plain(lost)} loads"
    return None if evidence else f"nothing here shows that {plain(lost)} runs the guarded code"


def _loads_already(context: Context, guarded: Guarded, held: ChipSet, lost: ChipSet) -> str:
    """Code that passes, here or at another guard for the same macros, and that the sibling loads as it is."""
    names = defined(guarded)
    others = (one for one in context.guards[guarded.module.path] if names and one.module is guarded.module)
    same = (one.admitted for one in others if names <= defined(one))
    for target in TargetSet.union((guarded.admitted, *same)) & TargetSet.native(held):
        if lost <= target.loads_on():
            return f"code for {target} passes, and {plain(lost)} loads it as it is"
    return ""


def _assembles(guarded: Guarded, gained: TargetSet) -> str:
    """That instructions are all that is behind a guard, and ptxas takes each of them for what is let in."""
    behind = _instructions(guarded)
    calls = any(use.how == "call" and not use.name.endswith("_cast") for use in guarded.working.uses)
    whole = behind and not calls and all(one.kind in ("instruction", "mention") for one in guarded.operations())
    if not whole or any(gained - verdict(name).legal for name in behind):
        return ""
    return f"`{behind[0].split()[0]}` is all that is behind it, and assembles for {' and '.join(gained.names)}"


def named_after(guarded: Guarded, held: ChipSet) -> str | None:
    """The macro that says which part it is: defined by a guard that asks the compiler, with that part's number."""
    asks = any(str(node.args[0]).startswith("__CUDA_ARCH") for node in walk(guarded.guard.test) if node.op in _MACROS)
    names = sorted(defined(guarded)) if asks else []
    return next((name for name in names if _has_number(name, held)), None)


def macros_of_part(context: Context, guarded: Guarded, held: ChipSet, lost: ChipSet) -> list[str]:
    """The macros with the part's number that a guard of the project defines: this one, or one for what it asks. Where
    the sibling has one, too, there is none.
    """
    own = named_after(guarded, held)
    asked = (str(node.args[0]) for node in walk(guarded.guard.test) if node.op in _MACROS)
    names = [name for name in ([own] if own else asked) if _has_number(name, held) and not name.startswith("__")]
    pairs = [(str(one.joined), str(other.joined)) for one in held for other in lost]
    others = (name.replace(*pair) for name in names for pair in pairs)
    if any(_defined_by_guard(context, guarded.module, name) for name in others if name not in names):
        return []
    return [name for name in dict.fromkeys(names) if _defined_by_guard(context, guarded.module, name)]


def _has_number(name: str, held: ChipSet) -> bool:
    return not {str(chip.joined) for chip in held}.isdisjoint(re.findall(r"\d+", name))


def parts(context: Context, guarded: Guarded) -> tuple[ChipSet, ChipSet] | None:
    """The family members that a guard admits and refuses, where nothing else in the file serves the refused."""
    if guarded.working.empty or reasons.given(guarded.guard.comment):
        return None
    for family in families().values():
        here = family & guarded.sets.live.chips
        held, lost = guarded.chips & here, guarded.refused & here
        if not held or not lost & context.targets or (held <= _SECOND and not _denied(guarded, held, lost)):
            continue  # what is for the second one alone is a remedy for it
        if not served(context, guarded, _twins(guarded, held, lost)) and not _other_guard(
            context, guarded, family, lost
        ):
            return held, lost
    return None


def _denied(guarded: Guarded, held: ChipSet, lost: ChipSet) -> bool:
    """Whether a guard names the chips that it leaves out, and not their siblings: `__CUDA_ARCH__ != 1200`."""
    return spelled(guarded.guard.test, held | lost) == lost


def _twins(guarded: Guarded, held: ChipSet, lost: ChipSet) -> TargetSet:
    """The targets of the refused chips whose like the guard admits for the others: sm_121a where it admits sm_120a."""
    suffixes = {target.suffix for target in guarded.admitted & TargetSet.native(held)}
    return TargetSet.where(lambda target: target.chip in lost and target.suffix in suffixes)


def _other_guard(context: Context, guarded: Guarded, family: ChipSet, lost: ChipSet) -> bool:
    """Whether another guard of the file is there for just the refused members, and does the same for them."""
    mine = _shapes(guarded)
    for other in context.guards[guarded.module.path]:
        if other is guarded or other.guard.qualname != guarded.guard.qualname or other.working.empty:
            continue
        later = other.guard.position and other.guard.chain != guarded.guard.chain
        if later or not other.chips & family or other.chips & family - lost:
            continue
        if not mine or mine & _shapes(other):
            return True
    return False


def _shapes(guarded: Guarded) -> set[str]:
    """The macros that a guard defines, without their numbers: SM120_ENABLED and SM121_ENABLED are one shape."""
    defined = (use.name for use in guarded.working.uses if use.how == "define")
    return {re.sub(r"\d+", "#", name) for name in defined} if guarded.working.tuning else set()


def _level(context: Context, guarded: Guarded, lost: ChipSet, twins: TargetSet) -> tuple[Severity, Confidence, str]:
    """Severity, confidence, and what becomes of the sibling in words."""
    if reasons.hinted(guarded.guard.comment):
        return "note", "low", " A comment says this exact part: nothing is wrong if that is meant."
    sure: Confidence = "medium" if _handed_over(guarded) else "high"
    named = [use.name for use in guarded.working.uses if use.how == "define"]
    if guarded.working.tuning and named:
        return "warning", sure, f" `{named[0]}` is not defined for {plain(lost)}."
    landing = _landing(context, guarded, twins)
    if landing.ends in ENDS:
        return "warning", sure, f" A build for {plain(lost)} {ENDS[landing.ends]}"
    if landing.empty:
        return "warning", sure, f" For {plain(lost)} it compiles to nothing."
    behind = _instructions(guarded)
    if behind and all(twins <= verdict(name).legal for name in behind):
        return "warning", "medium", f" {plain(lost)} takes another path, though `{behind[0]}` assembles for it too."
    own = "" if behind else _own_way(guarded, landing)
    return (
        ("warning", "medium", f" {plain(lost)} takes another path without `{own}`.") if own else ("note", "medium", "")
    )


def _instructions(guarded: Guarded) -> list[str]:
    return [one.name for one in guarded.operations() if one.kind == "instruction"]


def _own_way(guarded: Guarded, landing: Side) -> str:
    """A function that is called behind the guard, and not where the sibling lands, which calls something else."""
    there = {use.name for use in landing.uses} if landing.ends not in ENDS else set()
    mine = (use.name for use in guarded.working.uses if use.how == "call" and use.name not in there)
    return next(mine, "") if there else ""


def _landing(context: Context, guarded: Guarded, twins: TargetSet) -> Side:
    """What compiles for the sibling: the arm of the chain that admits it, or what stands in all that may."""
    if guarded.denies or not guarded.guard.chain:
        return guarded.other
    side = guarded.other
    for arm in guarded.module.guards:
        if arm.chain != guarded.guard.chain or arm.position <= guarded.guard.position:
            continue
        sets = context.tree.target_sets(guarded.module, arm)
        if sets is None:
            return side
        if twins & sets.may:
            return arm.yes
        side = arm.no
    return side


def _handed_over(guarded: Guarded) -> bool:
    """Whether a macro counts as the target by its name alone: a build gives it its value."""
    macros = (str(node.args[0]) for node in walk(guarded.guard.test) if node.op in _MACROS)
    return any(guess(name) is not None for name in macros if not name.startswith("__"))
