"""The remedy of a leak: the check without the chips on which the guarded code does not work.

Safe is that where an instruction, an error that is raised or what is compiled shows that it fails there, and who is
left out is refused or skipped: nobody loses what worked. Who would reach another arm, a table of libraries, names and
words are for a person to look at, and chips are never sent to an arm that is not for them either.
"""

from __future__ import annotations

from bwlint.chips import EVERY, NONE, ChipSet, group, spelling
from bwlint.chips.mentions import mentioned
from bwlint.chips.wording import plain, them
from bwlint.judging.context import Context
from bwlint.judging.drafts import Remedy
from bwlint.judging.evidence import handed_out
from bwlint.model.expr import walk
from bwlint.model.facts import Module, Side
from bwlint.model.findings import NoFix
from bwlint.model.naming import spoken
from bwlint.world.gates import Judged, operands, refuses
from bwlint.world.libraries import PROOF, Need

SHOWN_BY_TREE = ("operation", "gate", "build")
"""What proves without a table of libraries that something fails: an instruction, an error raised, what is compiled."""
_OWN_KIND = group("hopper") | group("datacenter-blackwell") | group("thor") | group("announced")
_RENAMED = group("renamed")


def bounded(
    context: Context,
    judged: Judged,
    side: Side,
    wrong: ChipSet,
    why: str,
    *,
    lacking: ChipSet = NONE,
    doubt: str | None = None,
) -> Remedy | NoFix:
    """The test that lets the `wrong` chips reach a side no more, and is as it was on all others.

    With them go those of `lacking`, whole generations of what it does not work on either. `doubt` says why a person
    should look at it, beyond that who is left out may reach another arm.
    """
    passing = {chip.major for chip in judged.on(side) - lacking - wrong}
    gone = wrong | ChipSet.joining(chip for chip in lacking if chip.major not in passing)
    if side is judged.gate.no and _names_each(judged):
        gone = wrong  # nobody asks for more names in a list of those that are kept out
    chips = judged.core - gone if side is judged.gate.yes else judged.core | gone
    if doubt is not None and judged.gate.kind != "list" and numbered(context, judged, wrong):
        return NoFix(f"this check names {plain(wrong)} by number: decide whether that is meant")
    other = judged.gate.no if side is judged.gate.yes else judged.gate.yes
    # who asks a predicate decides what becomes of its no: `fix` looks there
    if judged.gate.kind != "predicate" and not refuses(other) and not _tells_and_leaves(judged, other):
        apart = not other.rest or side.ends_in("return", "continue")
        exact = bool(judged.on(other)) and judged.on(other) <= _OWN_KIND and not other.empty
        if apart and (exact or _is_for_others(context, judged.module, other, gone & context.targets)):
            return NoFix(f"neither branch is for {plain(wrong)}: add one, or an error")
        if (said := _handed_on(context, judged, other, gone & context.targets)) is not None:
            return said
        doubt = doubt or f"{plain(gone)} may need another code path once this check keeps them out"
    if judged.gate.position > 0:
        doubt = doubt or f"other chips have branches of their own here, and {plain(gone)} may need one"
    return Remedy("test", chips, evidence=why, unsafe=doubt)


def _names_each(judged: Judged) -> bool:
    """Whether a test is a list of chips, or one chip: `major == 9`, `cap in (80, 90)`."""
    asked = [node.args[0] for node in walk(judged.gate.test) if node.op == "cmp"]
    return bool(asked) and all(operator in ("==", "in") for operator in asked)


def numbered(context: Context, judged: Judged, chips: ChipSet) -> bool:
    """Whether a test writes some of the chips down by their numbers."""
    asked = [one for one in operands(judged.gate.test) if context.tree.value(judged.module, one).device]
    of_device = asked or [judged.gate.test]  # 12 in `cuda_at_least(12, 8)` is no chip
    written = [node.args[0] for node in walk(tuple(of_device)) if node.op == "const"]
    numbers = {*written, *(number for one in written if isinstance(one, str) for number in spelling.numbers(one))}
    return any({chip.major, chip.joined} & numbers for chip in chips)


def _handed_on(context: Context, judged: Judged, side: Side, chips: ChipSet) -> NoFix | None:
    """Why chips are not sent to a side: in C++ a later test takes them, and nothing shows that its arm is for them.

    The body of a kernel may be compiled for older chips alone: it would run there, and write nothing.
    """
    later = (one for one in context.within(judged) if side.holds(one.gate.at))
    for one in later if judged.module.language == "cuda" else ():
        denied, yes = refuses(one.gate.yes), one.core & chips
        arm, taken = (one.gate.no, chips - yes) if denied else (one.gate.yes, yes)
        known = numbered(context, one, taken) or context.evidence.works(one.module, arm) is not None
        if taken and not known and not refuses(arm):
            run = f"{plain(taken)} would then run the branch at line {one.at.line}"
            return NoFix(f"{run}, and nothing shows that it works there: add a branch for {them(taken)}")
        chips = NONE if refuses(one.gate.no) else chips - yes
    return None


def _tells_and_leaves(judged: Judged, side: Side) -> bool:
    """Whether all that a side does is to say something, in a function that gives nothing back: `print(...); return`."""
    function = judged.module.functions.get(judged.gate.qualname)
    given = [value for _, value in function.returns] if function is not None else []
    nothing = side.value is not None and side.value.op == "const" and side.value.args[0] is None
    plain_end = side.ends == "return" and nothing and bool(side.texts) and not side.uses
    return plain_end and all(value.op == "raise" or value.args[:1] == (None,) for value in given)


def doubted(need: Need, name: str, *, skips: bool = False) -> str | None:
    """Why a need may be none. `skips`: a test that fails there today is skipped, which no user of the code notices."""
    if need.strength != PROOF:
        return f"only the name of `{name}` says so"
    if skips or need.kind in SHOWN_BY_TREE or is_named_for_others(name, EVERY - need.legal):
        return None
    return f"a later release of the library behind `{name}` may run there"


def is_named_for_others(name: str, gone: ChipSet) -> bool:
    """Whether a name says chips that have instructions of their own, and none of those that are to go: `GemmSm100`."""
    named = mentioned(spoken(name).replace("_", " ")).named - _RENAMED
    return bool(named) and named <= _OWN_KIND and not named & gone


def _is_for_others(context: Context, module: Module, side: Side, chips: ChipSet) -> bool:
    """Whether what a side reaches works on none of some chips, or is named for who has instructions of its own."""
    if any(not need.legal & chips for need in context.evidence.of(module, side)):
        return True
    return any(is_named_for_others(use.name.rpartition(".")[2], chips) for use in handed_out(side) if use.sure)
