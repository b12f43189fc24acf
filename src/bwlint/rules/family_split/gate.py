"""family-split: a gate cuts one member of a chip family from another that runs the same code."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from bwlint.chips import NONE, ChipSet, families, group, spelling, words
from bwlint.chips.wording import called, marked, plain
from bwlint.evaluate.objects import ClassValue, EvaluationFrame
from bwlint.evaluate.values import ProductName
from bwlint.judging import claims
from bwlint.judging.claims import Claimed
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace, RelatedSpan, Remedy
from bwlint.judging.family_evidence import Parted, against, exact_target, ground, old_library
from bwlint.judging.siblings import Admission, admits, asking, asks, built_without, parts, peer
from bwlint.model.expr import Expr, walk, walk_through
from bwlint.model.facts import Gate
from bwlint.model.findings import NoFix, Severity
from bwlint.model.kinds import ANSWERS, LISTED
from bwlint.rules.family_split import reasons
from bwlint.rules.family_split.weight import Cut, Weight, names_members, spelled, weight
from bwlint.sources.read import SourceText
from bwlint.sources.texts import Texts
from bwlint.world.builds import runs_on
from bwlint.world.gates import Judged, refuses

_CONSUMER, _SECOND = group("consumer-blackwell"), group("second-consumer")
_EXACT_NAME = re.compile(
    rf"{words.pinned(_CONSUMER)}|{words.nicknames(_CONSUMER)}|{words.numbers(_SECOND)}|exact", re.I
)
_BUILD = re.compile(r"cuda_arch|arch_list|gencode|nvcc|target_arch|build", re.I)
_TENSOR_MEMORY = re.compile(r"tmem|tensor_?mem", re.I)
_FAMILY_NAME = re.compile(words.families(_CONSUMER), re.I)
_NOT_F = re.compile(rf"12\df\b[^.;]{{0,40}}?{words.said('left-out')}", re.I)
_MAX_SLOTS = 40
_F_NAMES = "nothing here shows that the code behind the list compiles for the family target"
_SAME = "both run the same instructions"
_RUBIN = group("announced")
_B, _THOR = group("datacenter-blackwell"), group("thor")


def check(context: Context, judged: Judged) -> Iterator[Draft]:
    if judged.in_test and judged.other.ends == "skip":
        return
    found = split(context, judged)
    if found is not None:
        if _asked_together(context, judged, found[0] | found[1]):
            return
        one = draft(context, judged, *found)
        yield replace(one, severity="note") if one.severity == "warning" and _told_further(context, judged) else one
        return
    yield from other_family(context, judged)
    yield from exact_names(context, judged)


def _asked_together(context: Context, judged: Judged, family: ChipSet) -> bool:
    """Whether who asks a flag or a predicate asks for its siblings too, each time: `is_sm120a() or is_sm121a()`. Of
    a test that the chip does not decide nobody knows that it parts none.
    """
    asked = list(asking(context, judged)) if judged.gate.kind in ANSWERS else []
    return bool(asked) and all(one.sets.decided and not parts(one, family) for one in asked)


def _told_further(context: Context, judged: Judged) -> bool:
    """Whether a function that it asks, or all that it leads to, splits the family by its own check, reported there."""
    tests = (judged.gate.test, *judged.gate.path)
    asked = [_within(context, judged, node) for test in tests for node in walk(test) if node.op == "call"]
    led_to = [
        tuple(context.evidence.own_gates(judged.module, use))
        for use in judged.working.uses
        if use.sure and use.how == "call"
    ]
    return any(_parts_itself(context, gates) for gates in asked) or (
        bool(led_to) and all(_parts_itself(context, gates) for gates in led_to)
    )


def _within(context: Context, judged: Judged, call: Expr) -> tuple[Judged, ...]:
    """The gates of a function of the tree that is called."""
    found = context.tree.function(judged.module, call.args[0])
    if found is None:
        return ()
    gates = context.judged.get(found.module.path, ())
    return tuple(one for one in gates if one.gate.qualname == found.function.qualname and one.gate is not judged.gate)


def _parts_itself(context: Context, gates: Sequence[Judged]) -> bool:
    """Whether one of the gates of a function, that is no answer about the device alone, is reported as a split."""
    for other in gates:
        parted = split(context, other) if other.gate.kind not in ANSWERS else None
        if parted is not None and draft(context, other, *parted).severity == "warning":
            return True
    return False


def exact_names(context: Context, judged: Judged) -> Iterator[Draft]:
    """A list of names with every member's `a` target and not the family target: code built for 120f is refused."""
    if judged.gate.test.op != "names" or not context.targets <= judged.core:
        return
    nodes = [node for node in walk(judged.gate.test) if node.op in ("const", "attr")]
    names = {node.args[0] if node.op == "const" else node.args[1]: node for node in nodes}
    numbers = {chip.joined for chip in _CONSUMER}
    read = {name: target for name in names if isinstance(name, str) and (target := spelling.spelled(name))}
    spelled = {name: names[name] for name, target in read.items() if target.number in numbers}
    if not spelled or not all(name.endswith("a") for name in spelled):
        return
    known = all(_has_family_name(context, judged, name, node) for name, node in spelled.items())
    also = ", which its enum has" if known else ""
    yield Draft(
        place=DraftPlace.of_gate(judged),
        severity="warning" if known and (judged.gate.is_a("list", "assert") or refuses(judged.other)) else "note",
        confidence="medium",
        message=f"This list names the a targets only. It refuses the family target sm_120f{also}.",
        label="a targets only",
        advice="List the f names too, or check the family.",
        remedy=_f_names(context, judged, {name: names[name] for name in read})
        if known
        else NoFix("nothing here defines names of f targets"),
        claims=(Claimed(claims.other("the list has no name of a family target", context.targets), judged.at),),
    )


def _f_names(context: Context, judged: Judged, names: Mapping[str, Expr]) -> Remedy | NoFix:
    """The names of the family beside the `a` names; `NoFix` says what speaks against what they compile."""
    if len(names) > len(_CONSUMER) and all(_has_family_name(context, judged, *each) for each in names.items()):
        return NoFix(
            "it lists the `a` targets of other families alone, too: the code behind it may exist on those only"
        )
    beside = [one for one in context.beside(judged.module) if one is judged or judged.gate.name in one.mentioned]
    asked = [one for one in beside if one.gate.qualname.startswith(judged.gate.qualname.removeprefix("<module>"))]
    if any(_NOT_F.search(text) for one in asked for text in reasons.texts(one)):
        return NoFix("its refusal says that the family target is not supported")
    wanted = {f"{name[:-1]}f" for name in names}
    for one in context.beside(judged.module):
        same = one is not judged and (one.gate.kind, one.gate.name) == (judged.gate.kind, judged.gate.name)
        if same and any(node.op == "attr" and node.args[1] in wanted for node in walk(one.gate.test)):
            told = f"`{one.gate.name}` at line {one.at.line}, for the same kind of thing, has them"
            return Remedy("names", NONE, evidence=told)
    return Remedy("names", NONE, evidence="the enum knows them", unsafe=_F_NAMES)


def _has_family_name(context: Context, judged: Judged, name: str, node: Expr) -> bool:
    """Whether the enum that a name is a member of has the family's name too."""
    if node.op != "attr":
        return False
    owner = context.tree.interpreter.evaluate(node.args[0], EvaluationFrame(judged.module)).only()
    return isinstance(owner, ClassValue) and f"{name[:-1]}f" in owner.body.names


def other_family(context: Context, judged: Judged) -> Iterator[Draft]:
    """10.x without its tcgen05 sibling 11.0, where that is asked for: worth a note."""
    core = judged.core
    if judged.denies or not judged.owns_comparison or core & context.targets or not context.targets & _THOR:
        return
    if core & (_B | _THOR) != _B or not judged.sets.live >= _THOR or len(core) > 4 or not context.near_tcgen05(judged):
        return
    if _EXACT_NAME.search(judged.gate.comment):
        return
    yield Draft(
        place=DraftPlace.of_gate(judged),
        severity="note",
        confidence="low",
        message=f"This check names {plain(_B)} and leaves out {plain(_THOR)}, which has tcgen05 and tensor memory too.",
        label=judged.told(judged.gate.yes, core),
        advice="Check the family.",
        remedy=Remedy("test", core | _THOR, evidence=_SAME, unsafe=_unproved(_THOR)),
        compares=_B | _THOR,
    )


def split(context: Context, judged: Judged) -> tuple[ChipSet, ChipSet] | None:
    """The family members that are admitted and those that are not, where this gate itself parts them."""
    if any(clash.certain for clash in judged.sets.clashes) or not judged.stands_here or _ends_alike(judged):
        return None
    asked = " ".join(judged.mentioned)
    named_for_one = _EXACT_NAME.search(asked) and judged.gate.kind != "helper-call"  # that one raises by itself
    by_helper = not judged.owns_comparison and not named_for_one
    if by_helper or _TENSOR_MEMORY.search(f"{asked} {judged.gate.name}"):
        return None  # a helper that parts a family is reported at its body; tensor memory, where its table is
    family = _parted(context, judged)
    if family is None:
        return None
    test = judged.core & family
    missing = family - test
    if _by_minor_alone(judged) or not context.targets & (test if judged.denies else missing):
        return None  # the chips asked about get what they need
    if judged.gate.kind == "lookup" and test == _SECOND:
        return None  # a row for the later part alone is one that was measured there
    if _of_cards(context, judged):
        return None
    first, second = next(iter(test)), next(iter(missing))
    if not context.tree.splits(judged.module, judged.gate.test, first.name, second.name):
        return None
    if _pair(context, judged, family, missing) or _nothing_behind(judged) or context.illegal_here(judged, family):
        return None
    meant = reasons.given(judged.gate.comment) and not judged.in_test
    return None if meant or reasons.certified(judged) or _folds(judged, missing) else (test, missing)


def _ends_alike(judged: Judged) -> bool:
    """Whether both ways are written in the same words: nobody is parted."""
    yes, no = judged.gate.yes.at, judged.gate.no.at
    if yes is None or no is None or yes == no or yes.end_line - yes.line != no.end_line - no.line:
        return False  # what stands in one place for both is no way of its own
    lines = (Texts().source(judged.module.path) or "").split("\n")
    told = [lines[at.line - 1 : at.end_line] for at in (yes, no)]
    if not all(told):
        return False  # of a file as an edit leaves it, which is longer than the one on the disk
    for part, at in zip(told, (yes, no), strict=True):
        part[-1] = part[-1][: at.end_column]
        part[0] = part[0][at.column :]
    return len({" ".join(" ".join(part).split()) for part in told}) == 1


def _of_cards(context: Context, judged: Judged) -> bool:
    """Whether a card is looked up by its name in a table: a row there is of one card, and of no capability."""
    nodes = list(walk_through(judged.gate.test, judged.module.slots, _MAX_SLOTS))
    literals = (node.args[0] for node in walk(judged.gate.test) if node.op == "const")
    if judged.gate.kind != "lookup" and any(isinstance(one, str) for one in literals):
        return False
    asked = (context.tree.value(judged.module, node) for node in nodes if node.op in ("call", "param", "attr"))
    return any(isinstance(lane, ProductName) for value in asked if not value.uniform for lane in value.lanes)


def _by_minor_alone(judged: Judged) -> bool:
    """Whether a test asks for the second number and not for the first: that is about no family."""
    minors = {chip.minor for chip in judged.core}
    return judged.core == judged.sets.live & ChipSet.where(lambda chip: chip.minor in minors)


def _parted(context: Context, judged: Judged) -> ChipSet | None:
    """The members that get here of a family that the run asks about and the test parts."""
    for family in families().values():
        if not family & context.targets:
            continue
        if not _RUBIN & context.targets:
            family -= _RUBIN  # no product yet: nobody could name it
        here = family & judged.sets.live
        if judged.core & here and here - judged.core:
            return here
    return None


def _folds(judged: Judged, missing: ChipSet) -> bool:
    """`if sm == 121: sm = 120`: one member is treated as the other from here on."""
    value = judged.gate.yes.value
    if value is None or value.op not in ("const", "tuple"):
        return False
    found = [node.args[0] for node in walk(value) if node.op == "const"]
    first = str(found[0]) if len(found) == 1 else ".".join(map(str, found))
    target = spelling.spelled(first)
    return target is not None and any(target.number == chip.joined for chip in missing) and not judged.denies


def _nothing_behind(judged: Judged) -> bool:
    """A stub under a decorator, or a list of build targets, which load rules judge and not membership."""
    gate = judged.gate
    return (gate.yes.empty and gate.kind == "list") or (gate.kind == "list" and bool(_BUILD.search(gate.name)))


def _pair(context: Context, judged: Judged, family: ChipSet, missing: ChipSet) -> bool:
    """Another gate of the function (or of the module, for helpers) names the member that this one does not name."""
    twin = family - _named(judged, family)
    for other in context.beside(judged.module):
        same = judged.gate.leaf is not None and judged.gate.leaf == other.gate.leaf
        if other is judged or _named(other, family) != twin or same:
            continue
        if asks(other, judged) and spelled(other.gate.test, family) != twin:
            continue  # the same comparison, used and turned round; one that names the twin itself goes on from it
        same_place = other.gate.qualname == judged.gate.qualname
        family_named = _FAMILY_NAME.search(judged.gate.name)
        alike = other.gate.kind == judged.gate.kind and other.gate.is_a("predicate", "flag", "table")
        if same_place or (alike and not family_named and not _local_flags(judged, other)):
            return True
    return False


def _named(judged: Judged, family: ChipSet) -> ChipSet:
    """The members that a test spells out; where it spells none, those that it holds on, or the exceptions it makes."""
    if said := spelled(judged.gate.test, family):
        return said
    return judged.core & family if names_members(judged) else family - judged.core


def _local_flags(judged: Judged, other: Judged) -> bool:
    """Variables of two functions: neither sees the other."""
    places = {judged.gate.qualname, other.gate.qualname}
    return judged.gate.kind == "flag" and len(places) == 2 and not places & {"", "<module>"}


def draft(context: Context, judged: Judged, test: ChipSet, missing: ChipSet) -> Draft:
    parted = Cut(judged, test, missing)
    found = weight(context, parted)
    severity, confidence, why = found.severity, found.confidence, found.why
    sibling = _sibling(context, judged, *((missing, test) if judged.denies else (test, missing)))
    if sibling is not None:
        severity, confidence = "warning", "high"
        why = f" `{sibling.name}` behind it is for {plain(sibling.chips)}."
    elif (built := built_without(context, judged, parted.taken, parted.left_out)) is not None:
        lacks = f"`{built.name}` behind it is compiled for {plain(built.chips)} only"
        why = f" {lacks}: build it for {plain(parted.left_out)} too."
    elif judged.in_test and not spans_generations(judged):
        severity = "note"  # a test may be for one part
    return Draft(
        place=DraftPlace.of_gate(judged),
        severity=severity,
        confidence=confidence,
        message=f"{_said(parted)}.{_same(context, parted)}{why}",
        label=judged.told(judged.gate.yes, judged.core),
        advice=f"Name a target that {called(parted.left_out)} loads there too: its own, or the family's."
        if exact_target(context, judged, parted.left_out, parted.taken)
        else _advice(parted),
        related=(*_seen_sides(context, parted, found), *_other_places(context, judged, missing, sibling)),
        remedy=_remedy(context, judged, test, missing, sibling, severity),
    )


def _advice(cut: Cut) -> str:
    both = cut.test | cut.missing
    if cut.judged.gate.is_a("table", "lookup"):
        return f"Add a row for {called(both - cut.judged.core)}, or look up the major version."
    if cut.judged.denies:
        let_in = f"Check the major version: let {plain(cut.test)} in too"
        alone = cut.judged.admitted <= cut.test | cut.missing  # to turn them away would leave nobody
        return f"{let_in}." if alone else f"{let_in}, or turn {plain(cut.missing)} away as well."
    return f"Check the major version, or list both {' and '.join(both.names)}."


def _said(cut: Cut) -> str:
    """Who is turned away, in the words for what the gate is."""
    gate = cut.judged.gate
    taken, left_out = marked(cut.taken), called(cut.left_out)
    if gate.is_a("table", "lookup"):
        both = cut.test | cut.missing
        taken, left_out = marked(both & cut.judged.core), called(both - cut.judged.core)
        return f"This table has a row for {taken} and none for {left_out}"
    if gate.kind == "list":
        return f"This list names {taken} and leaves out {left_out}"
    if raising := cut.judged.sets.raises & (cut.test | cut.missing):
        return f"{_answer(gate)} raises on {called(raising)} and not on {marked((cut.test | cut.missing) - raising)}"
    off = cut.switched_off
    if off and gate.kind not in ANSWERS:
        name = gate.name or gate.yes.disables or gate.no.disables
        feature = f"`{name}`" if name else "something"
        kept = called((cut.test | cut.missing) - off)
        return f"On {marked(off)} this check turns {feature} off, and {kept} keeps it"
    if cut.refused and gate.kind not in ANSWERS:
        return f"This check turns away {left_out} and takes {taken}"
    takes = "which take another path" if len(cut.missing) > 1 else "which takes another path"
    return f"{_answer(gate)} is true on {marked(cut.test)} and false on {called(cut.missing)}, {takes}"


def _answer(gate: Gate) -> str:
    return f"`{gate.name}`" if gate.kind in ANSWERS and gate.name else "This check"


def _same(context: Context, cut: Cut) -> str:
    """That both run the same instructions, unless something behind the gate is seen to differ."""
    differs = against(context, cut.judged, cut.taken, cut.left_out)
    return "" if differs or context.builds_exact(cut.judged) else " Both run the same instructions."


def _remedy(
    context: Context, judged: Judged, test: ChipSet, missing: ChipSet, sibling: Admission | None, severity: Severity
) -> Remedy | NoFix:
    """The test with all members on the side of those that it names; `NoFix` says why nobody would want that."""
    at = judged.gate.leaf or judged.at
    if test <= _CONSUMER and _TENSOR_MEMORY.search(SourceText(Texts().source(judged.module.path) or "").line(at.line)):
        return NoFix("12.x have no tensor memory, so the row for one of them may be wrong itself")
    held, lost = (missing, test) if judged.denies else (test, missing)
    chips = judged.core | missing if names_members(judged) else judged.core - test
    admitted = chips <= judged.core if judged.denies else chips >= judged.core
    if refuses(judged.other) and names_members(judged) and not admitted and old_library(judged) is None:
        return NoFix("the check refuses one of the two, and the edit would refuse both")
    if held <= _SECOND and sibling is None and (admitted or judged.module.language == "cuda"):
        return NoFix("decide whether both should have it, or neither")
    said = ground(context, Parted(judged, held, lost, sibling)) if admitted else old_library(judged)
    doubt = against(context, judged, held, lost) if admitted else None
    valued = judged.gate.yes.tuning and judged.gate.no.tuning  # what is expected of the sibling is its own value
    if doubt is None and judged.in_test and admitted and not valued and not meant(judged):
        return Remedy("test", chips, evidence=said or "a test that runs on one of a family is to be tried on the other")
    doubt = doubt or _doubt(context, judged, severity, held) or _native_doubt(context, judged, test, missing)
    if doubt is None and said is None and judged.gate.kind != "table":  # of a row its fixer says what it may be
        doubt = _unproved(lost) if admitted else f"{plain(lost)} is then kept from what it does today"
    return Remedy("test", chips, evidence=said or _SAME, unsafe=doubt)


def _unproved(chips: ChipSet) -> str:
    return f"nothing here shows that the code behind the check is built for {plain(chips)}"


def _native_doubt(context: Context, judged: Judged, test: ChipSet, missing: ChipSet) -> str | None:
    """What in a C++ file says that its code is there for one part of the family: its builds, and its own guards."""
    if judged.module.language != "cuda":
        return None
    held, lost = (missing, test) if judged.denies and refuses(judged.other) else (test, missing)
    carries = context.builds.of(judged.module)
    if carries and not lost <= runs_on(carries):
        return f"no build of this file makes what {plain(lost)} loads"
    for guarded in context.guards[judged.module.path]:
        if guarded.chips & held and lost & guarded.refused and not guarded.working.empty:
            return f"the guard at line {guarded.guard.at[0]} leaves {plain(lost)} out of what is compiled"
    return None


def _doubt(context: Context, judged: Judged, severity: Severity, held: ChipSet) -> str | None:
    """Why the test may be meant as it is written, whatever the tree says of the sibling."""
    if severity == "note" or reasons.given(judged.gate.comment) or reasons.hinted(judged.gate.comment):
        return "the exact test may be meant"
    if context.builds_exact(judged):
        return "the file builds for one part alone"
    if any(_gives_number(text.text, held) for text in judged.other.texts):
        return "the refusal gives the number of the one part"
    return None


def _gives_number(text: str, chips: ChipSet) -> bool:
    """Whether a text speaks of a compute capability by its number, and not of a family by a name such as SM120."""
    return any(re.search(rf"(?<![\d.]){re.escape(str(chip))}(?![\d.])", text) for chip in chips)


def _other_places(
    context: Context, judged: Judged, missing: ChipSet, sibling: Admission | None
) -> tuple[RelatedSpan, ...]:
    """Where the tree says otherwise."""
    if sibling is not None:
        return (RelatedSpan(sibling.at, sibling.at.at, sibling.at.text),)
    other = peer(context, judged, missing) if judged.gate.kind in LISTED else None
    return (RelatedSpan(other.module, other.at, f"this {other.gate.kind} has {plain(missing)} too"),) if other else ()


def _sibling(context: Context, judged: Judged, test: ChipSet, missing: ChipSet) -> Admission | None:
    """A gate behind this one that admits the missing member; a text that says what was tested stands against it."""
    knows = reasons.untried(judged) or reasons.given(judged.gate.comment) or reasons.speaks_of_twin(judged.gate.comment)
    if test & _SECOND or knows or context.builds_exact(judged):
        return None
    return admits(context, judged, missing)


def spans_generations(judged: Judged) -> bool:
    """Whether a list takes the first of a family beside other generations, one by one: it is for no part alone."""
    taken = judged.admitted & (_CONSUMER | _THOR)
    return taken == _CONSUMER - _SECOND and judged.admitted != taken and not judged.sets.guessed


def _seen_sides(context: Context, cut: Cut, found: Weight) -> Iterator[RelatedSpan]:
    """Where who is left out ends up."""
    name = called(cut.left_out)
    if found.user is not None:
        yield RelatedSpan(found.user.module, found.user.at, f"{name} is turned away here")
    side = cut.turned_away
    for other in _later_arms(context, cut.judged) if side is cut.judged.gate.no else ():
        side = other.gate.yes if cut.left_out <= other.admitted else other.gate.no
        if side is other.gate.yes:
            break
    if side.at is not None and not side.empty:
        ends = [*(one.at for one in side.texts[:1] if refuses(side)), *(one.at for one in side.uses[:1])]
        first = next((at for at in ends if at.line > side.at.line), side.at)
        yield RelatedSpan(cut.judged.module, first, f"{name} ends up here")


def _later_arms(context: Context, judged: Judged) -> Iterator[Judged]:
    """The tests of a chain behind one of its tests, in order."""
    gate = judged.gate
    of_chain = (one for one in context.within(judged) if gate.chain and one.gate.chain == gate.chain)
    return (one for one in of_chain if one.gate.position > gate.position)


def meant(judged: Judged) -> bool:
    """Whether a comment, a name or a text at a gate says that the exact part is meant."""
    said = " ".join((judged.gate.comment, *reasons.texts(judged)))
    return reasons.given(judged.gate.comment) or reasons.hinted(said) or reasons.named(judged)
