"""excluded: a chip falls into an error, None or another chip's path though the thing behind the gate works there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from bwlint.chips import NONE, ChipSet, TargetSet, group, siblings, words
from bwlint.chips.mentions import from_generation, mentioned, of_generation
from bwlint.chips.queries import names_model
from bwlint.chips.spelling import IN_NAMES, member, spelled
from bwlint.chips.wording import called, capital, plain, reached, sentence, them
from bwlint.judging import claims
from bwlint.judging.behind import looked_into, naming, only_got, only_of_constants
from bwlint.judging.claims import Claimed
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace, RelatedSpan, Remedy
from bwlint.judging.evidence import claimed
from bwlint.model.details import Glued
from bwlint.model.expr import Expr, Span, is_text, negate, walk, walk_through
from bwlint.model.facts import Gate, Module
from bwlint.model.findings import Confidence, NoFix, Severity
from bwlint.model.kinds import ANSWERS, BRANCHES, LISTED
from bwlint.model.naming import spoken
from bwlint.rules.family_split.reasons import certified
from bwlint.rules.family_split.weight import names_members
from bwlint.rules.leak.bounds import numbered
from bwlint.rules.leak.own_words import behind
from bwlint.world.builds import runs_on
from bwlint.world.gates import Judged, answers_no, missing_row, refuses, refuses_others, table_name
from bwlint.world.libraries import is_called_for_others
from bwlint.world.native import admits

_AMPERE = group("ampere")
_SMALL_SHARED = group("small-shared")
_LARGE_AMPERE = group("large-ampere")
_HOPPER = group("hopper")
_DATACENTER = group("datacenter-blackwell")
_NAMED_TO_REFUSE = group("after-datacenter")
_B200 = group("first-blackwell")
_ANNOUNCED = group("announced") | group("renamed")
_SMALL_PARTS = (
    "This check picks chips with 99 KiB of shared memory a block."
    " 12.x have that too, but take the path for chips with more: a block may not fit there, or run slower."
)
_OPEN = "Run the code behind this check on 12.x. If it works, let 12.x in. If not, say so in a comment."
_COMPILED = re.compile(words.said("compiled-there"), re.I)
_NAME = re.compile(r"(?i)(?<![a-z])blackwell(?![a-z])")
_PART = re.compile(r"(?i)ultra|data-?cent|[bg]b?[123]00|thor|consumer|geforce")
_AVOIDED = re.compile(words.said("refusal", "avoided"), re.I)
_MEASURED = re.compile(words.said("measured-in-names"), re.I)
_MEANT = re.compile(rf"\b{words.said('on-purpose')}\b", re.I)
_KNOWN = re.compile(words.said("avoided", "refusal", "untried", "left-out"), re.I)
_SENTENCE = re.compile(r"[.;](?:\s|$)|\n\s*\n")
_QUESTION = re.compile(words.said("support"), re.I)
_INDIRECT = frozenset({"<", "<=", ">", ">=", "!=", "not in"})
_NUMBERED = re.compile(rf"{IN_NAMES}[0-9]+")
_FULL_NAME = re.compile(r"(?i)(?:^|_)(?:compute_?capability|sm_?version|cuda_?arch)(?:_|$)")
_OTHERS_TOO = "8.6 and 8.9 are left out too: decide which chips this is for"
_OF_BUILDS = "decide whether a build reads this list, and with which toolkits"
_BUILD = re.compile(r"cuda_arch|arch_list|gencode|nvcc|target|build|compile", re.I)
_OVER_NVLINK = re.compile(words.said("over-nvlink"), re.I)
_MOST_TESTS = 8
"""Definitions that are looked through for what a function asks."""
_NEAR = 40
"""Lines within which another gate of a function is read as an answer to this one."""


@dataclass(frozen=True, slots=True)
class Kept:
    """Chips that are kept out, how sure that is wrong, why, and what of the thing behind the gate shows it."""

    chips: ChipSet
    severity: Severity
    confidence: Confidence
    reason: str
    related: RelatedSpan | None = None
    claimed: Claimed | None = None
    at: Span | None = None
    repeated: bool = False
    """Whether the same test in the same words says it of everything in its file."""
    arm: Judged | None = None
    """The test that is to let them in, where that is another one of its chain."""
    unmended: str = ""
    """Why no edit lets them in."""
    served: ChipSet = NONE
    """At the end of a chain: the chips that have an arm of it."""
    proved: bool = False
    """Whether what is behind it runs on every later chip, whoever wrote it."""


def check(context: Context, judged: Judged) -> Iterator[Draft]:
    if judged.in_test and judged.other.ends == "skip":
        return
    found = excluded(context, judged)
    if found is not None:
        one = draft(judged, found)
        yield replace(one, category="smem") if found.reason == _SMALL_PARTS else one


def excluded(context: Context, judged: Judged) -> Kept | None:
    """The targets that are kept out of something that works there, and nobody says that this is meant."""
    found = _kept(context, judged)
    said = "" if found is None else _said_why(judged, found.chips)
    if found is None or said == "meant":
        return None
    if judged.gate.is_a("table") and only_of_constants(context, judged):
        return None
    if judged.gate.is_a("table") and only_got(context, judged, with_default=True):
        reason = f"{called(found.chips)} have no row here and get the default."
        return replace(found, severity="note", confidence="low", reason=reason)
    if said and found.severity != "note":
        return replace(found, severity="note", confidence="low", reason=f"{found.reason} A text here gives a reason.")
    return found


def _kept(context: Context, judged: Judged) -> Kept | None:
    out = context.targets & judged.sets.live - judged.may
    arms = _arms(judged)
    ends = len(arms) > 1 and _ends_in_error(judged, arms)
    if not out or out != context.targets & judged.sets.live:
        return None
    if not ends and not judged.admitted & (_AMPERE | _HOPPER | _DATACENTER):
        return None
    if judged.gate.is_a(*ANSWERS) and out <= judged.sets.raises:
        return None  # the error is told where it is
    if not judged.stands_here or (judged.denies and judged.core <= _NAMED_TO_REFUSE):
        return None  # it is reported where it stands, or names the chip in order to refuse it
    if not ends and all(refuses(side) or answers_no(side) for side in (judged.gate.yes, judged.gate.no)):
        return None  # it says no to everybody, and so keeps nobody out
    if not ends and _picks_small_shared(judged):
        return Kept(out, "note", "medium", _SMALL_PARTS)
    if judged.sets.guessed and judged.gate.is_a("expression", "flag"):
        return None
    if _by_shared_memory(judged) and not _turned_away(judged):
        return None  # who asks for the bytes has the smaller path beside it
    if _later_branch(context, judged, out) or _is_asked(context, judged):
        return None
    if _plain_hopper(judged):
        reason = f"{_keeps(out)}. It names plain sm_90, and code for plain sm_90 also compiles for every later chip."
        checked = judged.gate.kind != "list" or judged.gate.yes.at is not None  # code goes on only where it holds
        why = _OF_BUILDS if _BUILD.search(judged.gate.name) and not checked else ""
        return Kept(out, "warning", "medium", reason, repeated=True, proved=checked, unmended=why)
    twins = _arm_of_twins(context, judged, arms, out)
    if ends:
        return _of_arms(context, judged, arms, out, twins)
    if twins is not None:
        return None  # they belong in that arm, whose test parts the family
    exact = judged.core & _AMPERE == _LARGE_AMPERE and judged.gate.kind in BRANCHES  # 8.0 and not 8.6: joined digits
    return (_of_ampere if exact else _of_what_is_behind)(context, judged, out)


def _said_why(judged: Judged, out: ChipSet) -> str:
    """ "meant" where somebody says that these chips are kept out on purpose; "known" where it says what goes wrong."""
    if _MEANT.search(judged.gate.comment) or certified(judged):
        return "meant"
    function = judged.module.functions.get(judged.gate.qualname)
    said = (judged.gate.comment, function.doc if function is not None else "")
    told = [one for text in said for one in _SENTENCE.split(text) if out <= mentioned(one).named]
    if any(map(_MEANT.search, told)):
        return "meant"
    return "known" if any(map(_KNOWN.search, told)) else ""


def _is_asked(context: Context, judged: Judged) -> bool:
    """Whether a table is asked by who has an error, or something else, for want of a row, or gives others the same."""
    gates = (other.gate for other in context.beside(judged.module) if other.gate.kind == "lookup")
    asking = (gate for gate in gates if gate.name.rpartition(".")[2] == judged.gate.name)
    strict = judged.gate.no.empty or any(gate.no.ends == "raise" or gate.no.empty for gate in asking)
    return judged.gate.kind == "table" and strict


def _arms(judged: Judged) -> list[Gate]:
    """The tests of the chain that a test belongs to, in order."""
    gate = judged.gate
    if not gate.chain:
        return []
    beside = (one for one in judged.module.gates if (one.chain, one.qualname) == (gate.chain, gate.qualname))
    return sorted(beside, key=lambda one: one.position)


def _ends_in_error(judged: Judged, arms: list[Gate]) -> bool:
    """Whether who passes no test of a chain has an error: in its `else`, or behind it where every arm leaves."""
    last = arms[-1].no
    if last.ends != "raise" or not last.rest:
        return last.ends == "raise"
    function = judged.module.functions.get(judged.gate.qualname)
    exits = function.exits if function is not None else ()
    returns = any(ends == "return" and last.holds(at) for _, ends, at in exits)
    return not returns and all(arm.yes.ends != "fall" for arm in arms)


def _arm_of_twins(context: Context, judged: Judged, arms: list[Gate], out: ChipSet) -> Judged | None:
    """The test of a chain that takes others of the families of these chips: where those go, these go."""
    twins = ChipSet.joining(one for chip in out for one in siblings(chip)) - out
    taking = (one for one in context.within(judged) if one.gate in arms and twins & one.core)
    return next((one for one in taking if not out & one.core), None)


def _of_arms(context: Context, judged: Judged, arms: list[Gate], out: ChipSet, twins: Judged | None) -> Kept | None:
    """Of a chain that ends in an error, told once, at its end: an arm is for parts like 12.x, and they get no arm.
    `twins` is the arm of others of their families."""
    served = context.tree.live(judged.module, arms[0]) - (judged.sets.live - judged.core)
    like, refused = judged, NONE
    for one in context.within(judged):  # also where a test has a part of which nothing is known
        if one.gate not in arms:
            continue
        out -= one.sets.live & one.sets.may
        if refuses(one.gate.yes) or (answers_no(one.gate.yes) and one.gate.yes.ends != "continue"):
            refused |= one.core
            continue
        like = one if _SMALL_SHARED & one.core else like
        served |= one.core
    served -= refused
    small = _SMALL_SHARED & served
    if judged.gate is not arms[-1] or not out or not small:
        return None
    if twins is not None and twins.core & refused:
        return None  # their family is refused by name
    if all(_is_data(arm.yes.value) for arm in arms) and _is_of_the_box(judged, arms):
        return None
    if judged.sets.guessed and not _spelled_out(_asked(context, judged)):
        return None  # a number that is only called like a device may be another's, whose code these chips run
    if twins is not None:
        like, small = twins, twins.core
    raising = f"{called(out)} raise{'s' * (len(out) == 1)} an error here"
    numbers = _is_literal(like.gate.yes.value)
    why = f"the branches give numbers: decide those of {plain(out)}" if numbers else ""
    said = f"The other cases give numbers, and none is for {them(out)}." if numbers else _are_alike(small, out)
    reason = f"{raising}. {said}"
    closed = _closed_in_device_code(context, judged, out)
    if closed is not None:
        reason = f"{reason} Its device code raises an error too."
        return Kept(out, "note", "low", reason, closed, at=judged.gate.no.at, served=served)
    told = RelatedSpan(judged.module, like.gate.at, f"the case for {plain(small)}")
    end = judged.gate.no.at
    return Kept(out, "warning", "medium", reason, told, at=end, arm=like, unmended=why, served=served)


def _closed_in_device_code(context: Context, judged: Judged, out: ChipSet) -> RelatedSpan | None:
    """A guard of included device code that ends in an error for these chips too: to open the host's test is no gain."""
    ours, theirs = TargetSet.native(out), TargetSet.native(_SMALL_SHARED)
    modules = (judged.module, *context.tree.headers.included(judged.module)) if judged.module.language == "cuda" else ()
    for module in modules:
        for guard in module.guards:
            compiled = context.tree.compiled(module, (guard.test,)) if refuses(guard.no) else ours
            if compiled & theirs and not compiled & ours:
                return RelatedSpan(module, guard.at, f"this does not compile for {plain(out)} either")
    return None


def _is_data(value: Expr | None) -> bool:
    """A number, or the path of a file; the name of a backend is none."""
    known = value.args[0] if value is not None and value.op == "const" else None
    return isinstance(known, int | float) or (isinstance(known, str) and "/" in known)


def _is_of_the_box(judged: Judged, arms: list[Gate]) -> bool:
    """Whether data was measured or is printed on the box: it is of cards by their names, or of a function that is
    called after what no kernel needs to run. Who gives a number of any other kind for 8.x and 9.0 (stages, warps,
    splits, bytes) is asked on the way to a launch, and an error there keeps a chip out as a table without its row does.
    """
    texts = (node.args[0] for arm in arms for node in walk(arm.test) if node.op == "const")
    cards = any(isinstance(text, str) and names_model(text) for text in texts)
    return cards or _MEASURED.search(spoken(judged.gate.qualname.rpartition(".")[2])) is not None


def _asked(context: Context, judged: Judged) -> Iterator[Expr]:
    """What a test asks, and what the functions that it calls do."""
    yield from walk(judged.gate.test)
    for node in walk(judged.gate.test):
        called = context.tree.function(judged.module, node.args[0]) if node.op == "call" else None
        if called is not None:
            for _, value in called.function.returns:
                yield from walk_through(value, called.module.slots, _MOST_TESTS)


def _spelled_out(asked: Iterator[Expr]) -> bool:
    """Whether a test names targets as tools do, asks what is called after them, or what has the device's full name:
    "sm_90" is no other number, and nothing else is a `computeCapability`.
    """
    return any(
        (is_text(node) and member(node.args[0]) is not None)
        or (node.op == "name" and bool(_called_for(node.args[0]) | of_generation(spoken(node.args[0]).split("_"))))
        or (node.op in ("name", "param", "attr") and _FULL_NAME.search(spoken(node.args[-1])) is not None)
        for node in asked
    )


def _of_ampere(context: Context, judged: Judged, out: ChipSet) -> Kept | None:
    exact = "exactly for 8.0" if judged.core <= _LARGE_AMPERE else f"for {plain(judged.core)}"
    reason = f"This check is {exact} and keeps 8.6, 8.9 and 12.x out. They run its mma.sync code too."
    if not _turned_away(judged):
        if any(one.core and one.core <= _SMALL_SHARED for one in context.within(judged)):
            return None  # somebody has thought of them
        reason = (
            f"This check is {exact}. 8.6, 8.9 and 12.x take another path here, and run the instructions of 8.0 too."
        )
    if context.near_tcgen05(judged) and not judged.gate.yes.tuning:
        return Kept(out, "warning", "medium", f"{reason} The file's other path uses tcgen05.", unmended=_OTHERS_TOO)
    tuned = judged.gate.yes.tuning or _is_literal(judged.gate.yes.value)
    return None if tuned and not answers_no(judged.gate.no) else Kept(out, "note", "low", reason)


def _is_literal(value: Expr | None) -> bool:
    return value is not None and all(node.op in ("const", "neg", "tuple", "list", "dict") for node in walk(value))


def _of_what_is_behind(context: Context, judged: Judged, out: ChipSet) -> Kept | None:
    need = context.need_of(judged, judged.working) or context.evidence.backend_above(judged)
    if need is not None and out - need.legal:
        return None  # it would not work there
    if not _turned_away(judged):
        named = (
            _called_blackwell(context, judged, out) or _beside_hopper(judged, out) or _of_compiled(context, judged, out)
        )
        return named or _of_slow_path(context, judged, out)
    if need is not None and need.hops:
        hop = need.hops[-1]
        reason = f"{_keeps(out)} of {reached(need.use.name.rpartition('.')[2], need.what)}."
        related = RelatedSpan(hop, hop.at, hop.text)
        return Kept(out, "warning", "high", reason, related, claimed(need, judged.module, out))
    known = context.evidence.works(judged.module, judged.working)
    if known is not None and known.use.sure:
        related = RelatedSpan(judged.module, known.use.at, f"{sentence(known.use.name, known.what)}: {known.source}")
        reason = f"{_keeps(out)} of {reached(known.use.name, known.what)}."
        return Kept(out, "warning", "medium", reason, related, claimed(known, judged.module, out))
    return (
        _of_instructions(context, judged, out)
        or _of_rows(context, judged, out)
        or _of_missing_row(judged, out)
        or _with_arms(context, judged, _of_generations(context, judged, out))
    )


def _with_arms(context: Context, judged: Judged, found: Kept | None) -> Kept | None:
    """What is kept out would go where 9.0 goes, if a later check of the function tells 8.x from it: say so."""
    small = judged.admitted & _SMALL_SHARED
    if found is None or not small:
        return found
    for one in context.within(judged):
        may, must = (ask(judged.module, one.gate.test) for ask in (context.tree.may, context.tree.must))
        later = one.gate.at > judged.gate.at and one.gate.kind == "condition" and not one.gate.yes.tuning
        if later and small <= must and not found.chips & may:
            case = f"The check in line {one.at.line} must then give {them(found.chips)} the case for {plain(small)}."
            told = RelatedSpan(judged.module, one.at, f"the case for {plain(small)}")
            return replace(found, reason=f"{found.reason} {case}", related=found.related or told)
    return found


def _of_rows(context: Context, judged: Judged, out: ChipSet) -> Kept | None:
    """What is called behind a check has a row or an arm for these very chips, and nothing in it is against them."""
    if judged.in_test or judged.other.ends != "raise" or judged.gate.kind in LISTED:
        return None  # who reads a list decides what becomes of the others
    for use in judged.working.uses:
        proofs = context.evidence.proofs(judged.module, use) if use.sure and use.how == "call" else None
        if proofs is None or any(out - proof.legal for proof in proofs):
            continue
        for other in context.evidence.own_gates(judged.module, use):
            if _is_row(other) and out <= other.core and not other.sets.guessed:
                related = RelatedSpan(other.module, other.gate.at, f"this is for {other.core}")
                reason = f"{_keeps(out)}, but `{use.name.rpartition('.')[2]}` behind it has a case for {them(out)}."
                return Kept(out, "warning", "medium", reason, related)
    return _of_arms_below(context, judged, out)


def _is_row(judged: Judged) -> bool:
    """Whether a test names chips one by one and does something for them: a table, or an arm that refuses nobody."""
    if judged.gate.kind in LISTED or judged.gate.is_a("lookup"):
        return True
    side = judged.gate.yes
    refused = refuses(side) or answers_no(side) or side.empty
    return judged.gate.is_a("condition", "expression") and _few(judged) and names_members(judged) and not refused


def _of_arms_below(context: Context, judged: Judged, out: ChipSet) -> Kept | None:
    """The function itself has an arm for these chips, further down, to which its own check lets none of them."""
    if not _on_every_way(judged):
        return None  # it is about one way through the function, and the arm may be about another
    for other in context.within(judged):
        if other.gate.at <= judged.gate.at or not _is_row(other) or other.gate.kind in LISTED:
            continue
        if out <= context.tree.must(judged.module, other.gate.test):
            related = RelatedSpan(judged.module, other.gate.at, f"this case is for {plain(out)} too")
            reason = f"{_keeps(out)}, but the function has a case for {them(out)}."
            return Kept(out, "warning", "medium", reason, related)
    return None


def _on_every_way(judged: Judged) -> bool:
    """Whether a gate is asked of whoever has passed the checks above it, which end in errors."""
    function = judged.module.functions.get(judged.gate.qualname)
    returns = function.returns if function is not None else ()
    checked = {negate(path[-1]) for path, value in returns if path and value.op == "raise"}
    return checked.issuperset(judged.gate.path)


def _called_for(name: str) -> ChipSet:
    return mentioned(spoken(name).replace("_", " ")).named


def _few(judged: Judged) -> bool:
    """Whether a test names its chips one by one, and not all but some."""
    return not any(node.op == "cmp" and node.args[0] in _INDIRECT for node in walk(judged.gate.test))


def _of_instructions(context: Context, judged: Judged, out: ChipSet) -> Kept | None:
    """Behind it is code of the tree whose every instruction these chips have, and it fits 8.6 or is built for them."""
    calls = (use for use in judged.working.uses if use.sure and use.how == "call")
    for use in calls:
        proofs = context.evidence.shown(judged.module, use)
        if not judged.admitted & _SMALL_SHARED and not admits(proofs, out):
            continue
        operation = next((proof for proof in proofs if proof.kind == "operation"), None)
        if operation is not None and all(out <= proof.legal for proof in proofs):
            hop = operation.hops[-1]
            code = reached(use.name.rpartition(".")[2], operation.what)
            reason = f"{_keeps(out)} of {code}. {plain(out)} can run it."
            return Kept(out, "warning", "medium", reason, RelatedSpan(hop, hop.at, hop.text))
    return None


def _of_slow_path(context: Context, judged: Judged, out: ChipSet) -> Kept | None:
    """Tensor cores behind a branch that these chips have, beside another that is not known to have any."""
    other = judged.other
    open_ended = judged.sets.guessed or judged.in_test or other.empty or judged.gate.kind != "condition"
    found = None if open_ended else _of_instructions(context, judged, out)
    if found is None or any(context.evidence.shown(judged.module, use) for use in other.uses if use.how == "call"):
        return None
    return replace(found, severity="note", confidence="low", reason=f"{found.reason} Here another path runs instead.")


def _stops_early(context: Context, judged: Judged, out: ChipSet) -> bool:
    """Whether a test lets in 8.x, perhaps 9.0 too, and a refusal follows, which names none of those that are kept out,
    with nothing behind it that is called after what these have, or built for them alone.
    """
    small = judged.admitted & _SMALL_SHARED
    if not small or not judged.owns_comparison or judged.sets.guessed:
        return False
    checked = judged.gate.kind == "list" and not judged.gate.yes.at and _is_checked(context, judged, out)
    if not checked and not (judged.admitted >= _SMALL_SHARED or judged.admitted >= _LARGE_AMPERE | _HOPPER):
        return False
    flag = judged.gate.is_a("flag")
    nothing = judged.working.empty and not flag and not checked
    if nothing or answers_no(judged.working) or (judged.gate.kind == "list" and not judged.gate.yes.at and not checked):
        return False
    refused = refuses(judged.other) or judged.gate.is_a(*LISTED, "assert", "lookup") or judged.other.ends == "return"
    near = context.beside(judged.module) if flag else context.within(judged)
    later = (one for one in near if one.gate.at > judged.gate.at and refuses(one.other))
    if not refused and not any(out <= one.sets.live - one.may for one in later):
        return False
    classes = judged.module.classes
    bounds = {one.gate.name for one in context.beside(judged.module) if one.gate.qualname in classes}
    if judged.gate.name not in bounds and judged.mentioned & bounds:
        return False  # the bound of a class is told where it stands
    said = (judged.gate.comment, *(text.text for text in judged.other.texts))
    built = runs_on(context.compiling(judged.module, judged.gate.qualname))
    names = (judged.gate.name, *judged.gate.qualname.split("."))
    return (
        not any(out & mentioned(text).named for text in said)
        and (not built or bool(out & built))
        and context.evidence.libraries.by_name(judged.module.path, names, judged.at) is None
    )


def _is_checked(context: Context, judged: Judged, out: ChipSet) -> bool:
    """Whether somebody who asks a list of a class by its name refuses whoever is not in it."""
    owner = judged.gate.qualname
    if owner not in judged.module.classes or not judged.gate.name:
        return False
    shown = (one for _, proofs in context.evidence.methods(judged.module, owner) for one in proofs)
    if any(out & one.against for one in shown):
        return False  # a method does not work there
    asking = naming(context, judged.module, judged.gate.name)
    return any(refuses_others(gate) for _, gates in asking for gate in gates)


def _refuses_hopper(context: Context, judged: Judged) -> bool:
    """Whether an error follows for all but 8.x, no later check takes some of them, and no text says whom it is for."""
    later = any(one.gate.at > judged.gate.at for one in context.within(judged))
    texts = [text.text for text in judged.other.texts]
    said = any(mentioned(text).named or of_generation(re.findall(r"\w+", text.lower())) for text in texts)
    return judged.other.ends == "raise" and not later and not said


def _are_alike(small: ChipSet, out: ChipSet) -> str:
    """What chips have in common with those of as little shared memory."""
    return f"Code for {plain(small)} suits {plain(out)} too: same instructions, same shared memory a block."


def _of_generations(context: Context, judged: Judged, out: ChipSet) -> Kept | None:
    """What the chips that are admitted have in common, where nothing else is known of what is behind."""
    small, name = judged.admitted & _SMALL_SHARED, _name_of(judged)
    if any(map(is_called_for_others, (Path(judged.module.path).stem, name))) or _goes_over_nvlink(judged):
        return None
    keeps = f"{_keeps(out)} of `{name}`" if name else _keeps(out)
    if judged.other.ends == "raise" and not (judged.gate.is_a("table") and looked_into(context, judged)):
        keeps = f"This check stops {called(out)} with an error{f' in `{name}`' if name else ''}"
    if judged.gate.kind == "list":
        keeps = f"This list turns {called(out)} away"
    if small and any(out <= from_generation(text.text) for text in judged.other.texts):
        reason = f"{keeps}, but its text promises newer chips. {_are_alike(small, out)}"
        return Kept(out, "warning", "medium", reason, repeated=True)
    if small and judged.admitted & _DATACENTER:
        reason = f"{keeps}. {_are_alike(small, out)}"
        return Kept(out, "warning", "medium", reason)
    if judged.in_test:
        return None  # who skips a test knows for which generation it is
    if (judged.admitted & _HOPPER or _refuses_hopper(context, judged)) and _stops_early(context, judged, out):
        reason = f"{keeps} and takes {plain(judged.admitted)}. {_are_alike(small, out)}"
        if not judged.admitted & _HOPPER:
            return Kept(out, "note", "low", reason)  # 9.0 is kept out too: it may be code of one generation
        asked = judged.gate.kind in ANSWERS or judged.other.ends == "return"  # whom it answers is not seen
        why = f"nothing here shows that this feature is built for {plain(out)}" if asked else ""
        return Kept(out, "warning", "medium", reason, repeated=True, unmended=why)
    an_arm_each = judged.gate.kind == "condition" and not judged.denies and refuses(judged.other)
    if judged.core & _DATACENTER and judged.core & _HOPPER and an_arm_each and not judged.other.rest:
        return Kept(out, "note", "low", f"Each generation has a case here. An error is raised for {called(out)}.")
    return _of_compiled(context, judged, out)


def _goes_over_nvlink(judged: Judged) -> bool:
    """Whether texts around a check say that what is behind it exchanges data over NVLink."""
    texts = [text.text for side in (judged.gate.yes, judged.gate.no) for text in side.texts]
    texts += [node.args[0] for test in judged.gate.path for node in walk(test) if is_text(node)]
    return any(map(_OVER_NVLINK.search, (judged.gate.comment, *texts)))


def _name_of(judged: Judged) -> str:
    """The function or class that a check stands in, or the flag that it sets; "" outside of them."""
    owner, _, last = judged.gate.qualname.rpartition(".")
    if judged.gate.is_a(*ANSWERS) and judged.gate.qualname not in judged.module.classes:
        name = judged.gate.name
    else:
        name = owner.rpartition(".")[2] if last == "__init__" else last
    return "" if name == "<module>" else name


def _of_missing_row(judged: Judged, out: ChipSet) -> Kept | None:
    """A table that is asked for the device has rows for one generation after the other, and then an error."""
    asked = judged.gate.is_a("lookup") and judged.other.ends == "raise" and not judged.in_test
    every_ampere = judged.core & _LARGE_AMPERE and judged.core & _SMALL_SHARED
    last = judged.core & _DATACENTER and judged.core & _AMPERE
    if not asked or not judged.core & _HOPPER or not (last or every_ampere):
        return None  # what is for one or two of them may be made of their instructions
    without = missing_row(judged)
    reason = capital(f"{table_name(judged)} has no row for {called(out)}: {without}.")
    return Kept(out, "warning", "medium", reason)


def _of_compiled(context: Context, judged: Judged, out: ChipSet) -> Kept | None:
    """9.0 and 10.x, and what is named for a compiler behind it that has all chips."""
    both = judged.admitted & _DATACENTER and judged.admitted & (_HOPPER | _AMPERE)
    names = f"{judged.names} {' '.join(judged.mentioned)}"
    if not both or not judged.owns_comparison or not _COMPILED.search(names):
        return None
    reason = f"This check stops at {plain(judged.core & _DATACENTER)} and keeps {called(out)} out."
    reason += " Triton compiles for 12.x too."
    return (
        Kept(out, "note", "low", reason) if numbered(context, judged, out) else Kept(out, "warning", "medium", reason)
    )


def _picks_small_shared(judged: Judged) -> bool:
    """`major == 8 && minor > 0`: 8.6 and 8.9 without 8.0."""
    of_flag = judged.gate.is_a("condition") and judged.gate.test.op == "var"  # told where the flag is set
    small = _SMALL_SHARED <= judged.core <= _AMPERE - _LARGE_AMPERE
    return small and judged.gate.is_a("flag", "condition") and not of_flag


def _by_shared_memory(judged: Judged) -> bool:
    """Whether a test holds just where a block may have more than some number of bytes."""
    sizes = {chip.smem_per_block_optin for chip in judged.core if chip.smem_per_block_optin}
    least = min(sizes, default=0)
    return least > 0 and judged.core == ChipSet.where(lambda chip: (chip.smem_per_block_optin or 0) >= least)


def _called_blackwell(context: Context, judged: Judged, out: ChipSet) -> Kept | None:
    """10.x alone under the name of the generation, where nothing is built on what 10.x alone has."""
    tens = _B200 <= judged.core <= _DATACENTER | _ANNOUNCED
    if not tens or not judged.owns_comparison or judged.in_test or context.near_tcgen05(judged):
        return None
    asked_elsewhere = judged.gate.kind == "predicate" or judged.gate.qualname == "<module>"
    if judged.gate.kind in ANSWERS and asked_elsewhere and _blackwell(judged.gate.name):
        reason = f"`{judged.gate.name}` is true on {judged.core} and false on {called(out)}. 12.x are Blackwell too."
        return Kept(out, "note", "low", reason)
    texts = [text.text for text in judged.gate.yes.texts]
    if judged.gate.kind == "condition" and any(_blackwell(text) and _AVOIDED.search(text) for text in texts):
        reason = f"This workaround for Blackwell covers {judged.core} and not {called(out)}. 12.x are Blackwell too."
        return Kept(out, "warning", "medium", reason)
    return None


def _blackwell(text: str) -> bool:
    """Whether a text calls the whole generation by its name, and no part of it."""
    return _NAME.search(text) is not None and not mentioned(text.replace("_", " ")).named and not _PART.search(text)


def _beside_hopper(judged: Judged, out: ChipSet) -> Kept | None:
    """8.x and 10.x take one branch and 9.0 the other: what only Hopper goes without is no matter of what is new."""
    both = judged.core & _SMALL_SHARED and judged.core & _DATACENTER and not judged.core & _HOPPER
    sides = (judged.gate.yes, judged.gate.no)
    if not both or judged.gate.kind != "condition" or any(side.empty or side.tuning or side.rest for side in sides):
        return None
    taken = plain(judged.core & (_SMALL_SHARED | _DATACENTER))
    reason = f"This check takes {taken} and sends {called(out)} to the 9.0 path."
    return Kept(out, "warning", "medium", reason)


def _turned_away(judged: Judged) -> bool:
    other = judged.other
    return judged.gate.is_a("list", "assert") or refuses(other) or answers_no(other) or _is_question(judged)


def _is_question(judged: Judged) -> bool:
    """Whether a function or flag answers what can be used, and is not called after the chips that it asks for."""
    asks = judged.gate.kind == "predicate" or (judged.gate.kind == "flag" and not judged.in_test)
    own = asks and judged.owns_comparison and not judged.sets.guessed
    return own and _QUESTION.search(judged.gate.name) is not None and not judged.named_after_chips


def _plain_hopper(judged: Judged) -> bool:
    """A list of target names with sm_90 and no suffix: a baseline feature, forward compatible as PTX."""
    if judged.gate.test.op != "names":
        return False
    texts = {n.args[0] for n in walk(judged.gate.test) if is_text(n)}
    members = {n.args[1] for n in walk(judged.gate.test) if n.op == "attr"}
    return "sm_90" in texts | members and bool(judged.core & _DATACENTER)


def _later_branch(context: Context, judged: Judged, out: ChipSet) -> bool:
    """A later arm of the chain, or a gate close by in the function, is there for the chips."""
    gate = judged.gate
    for other in context.within(judged):
        near = other.gate.chain == gate.chain != 0 or abs(other.gate.at[0] - gate.at[0]) <= _NEAR
        if not near or other is judged or "list" in (gate.kind, other.gate.kind):
            continue
        if other.denies and other.gate.at < gate.at and other.working.holds(gate.at):
            continue  # whoever passes a check above comes here
        if gate.kind == other.gate.kind == "predicate" and gate.name != other.gate.name:
            continue  # the other bound of a class
        if other.gate.kind == "flag" and not other.gate.name:
            continue  # an answer that is handed on is no way of its own
        if gate.kind == "flag" and gate.leaf is not None and other.gate.leaf == gate.leaf:
            continue  # it is the flag that is asked there
        flag = gate.kind == "flag" and gate.qualname == "<module>"
        if flag and (other.gate.kind not in ANSWERS or other.core & judged.core):
            continue  # the answer to another question
        if other.admitted & out and other.admitted != other.sets.live and not refuses(other.working):
            return True
    return False


def draft(judged: Judged, kept: Kept) -> Draft:
    out = kept.chips
    place = DraftPlace.of_gate(judged, kept.at)
    let_in = f"Let {called(out)} in, or say in a comment why {'they stay' if len(out) > 1 else 'it stays'} out."
    told = judged.told(judged.working, judged.admitted)
    if kept.at is not None:
        gate = judged.gate if judged.owns_comparison else None  # the end is mended, and no helper that the chain asks
        place = replace(place, gate=gate, admitted=kept.served, certain=kept.served)
    return Draft(
        place=place,
        severity=kept.severity,
        confidence=kept.confidence,
        message=kept.reason,
        label=told if kept.at in (None, judged.at) else f"where {called(out)} end up",
        advice=let_in if kept.severity != "note" else _OPEN,
        related=(kept.related,) if kept.related else (),
        cause=(judged.module.path, f"{judged.gate.qualname} {judged.gate.text}") if kept.repeated else None,
        remedy=_remedy(judged, kept) if kept.severity != "note" else None,
        claims=(kept.claimed or behind(judged, out, works=True),),
    )


def _keeps(out: ChipSet) -> str:
    return f"This check keeps {called(out)} out"


def _remedy(judged: Judged, kept: Kept) -> Remedy | NoFix:
    """The same test, or an arm of its chain, for these chips too."""
    one, out = kept.arm or judged, kept.chips
    if kept.unmended or judged.module.language != "python":
        asked = f"other checks may keep {plain(out)} out, too: decide which should let them in"
        return NoFix(kept.unmended or asked)
    chips = one.core - out if one.denies and not kept.arm else one.core | out
    told = f"the code for {plain(one.core if kept.arm else one.admitted)} here is for {plain(out)} too"
    evidence, unsafe = (kept.reason, None) if kept.proved else (told, f"run it on {plain(out)} first")
    return Remedy("admit", chips, evidence=evidence, unsafe=unsafe, at=one.at if kept.arm else None)


def check_file(context: Context, module: Module) -> Iterator[Draft]:
    for one in module.operations:
        names = [one.detail.first, one.detail.second] if isinstance(one.detail, Glued) else []
        out = ChipSet.joining(chip for name in names for chip in _spelled(name))
        if not out & context.targets:
            continue
        says, glued = f"no chip is called {one.name}", f'"{names[0]}" "{names[1]}" is one string, "{one.name}"'
        yield Draft(
            place=DraftPlace(module=module, at=one.at, admitted=NONE, certain=NONE),
            severity="warning",
            confidence="high",
            message=f"This leaves {called(out)} out. Without a comma {glued}.",
            label=says,
            advice="Add the comma.",
            remedy=Remedy("meaning", out, evidence=f'"{names[0]}" and "{names[1]}" are chips, and {says}'),
            claims=(Claimed(claims.other(says, out & context.targets), one.at, module),),
        )


def _spelled(name: str) -> ChipSet:
    found = spelled(name)
    return ChipSet.where(lambda chip: found is not None and chip.joined == found.number)
