"""What other checks in the tree say about the same code: its list, its guard, its build."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bwlint.chips import EVERY, ChipSet, group, spelling
from bwlint.judging.context import Context
from bwlint.model.expr import walk_through
from bwlint.model.facts import Gate, Hop, Module, Side, Use
from bwlint.model.kinds import ANSWERS
from bwlint.sources.tree import module_name
from bwlint.world.builds import loads
from bwlint.world.gates import Judged
from bwlint.world.libraries import named_for_others
from bwlint.world.proofs import NeedProof

MAX_FILES = 20
"""How many files are read that may ask one flag or predicate."""
MAX_DEFINITIONS = 40
"""How many definitions a test is followed through."""
_FAMILY = group("consumer-blackwell")
_BEFORE = group("thor")
"""What a bound takes along that takes 12.x."""


@dataclass(frozen=True, slots=True)
class Admission:
    """The chips for which the tree says a call's callee is, the place that says so, and the `kind` of proof."""

    name: str
    chips: ChipSet
    at: Hop
    kind: str = "gate"


def admission(context: Context, module: Module, use: Use) -> Admission | None:
    """What the definition that a call leads to is declared, built or guarded for; None where nothing says it."""
    return admission_of(use.name.rpartition(".")[2], context.evidence.shown(module, use)) if use.how == "call" else None


def admission_of(name: str, proofs: Sequence[NeedProof]) -> Admission | None:
    """What these proofs of a definition say that it is for."""
    said = next((proof for proof in proofs if _names_chips(proof)), None)
    if said is None or not said.hops:
        return None
    return Admission(name, ChipSet.common(map(_admitted, proofs)), said.hops[-1], said.kind)


def _admitted(proof: NeedProof) -> ChipSet:
    """Of a build the chips that load what it makes: that an exact target leaves out a twin is the build's own fault,
    and who is let in here meets it all the same."""
    return proof.legal & loads(proof.pairs) if proof.kind == "build" and proof.pairs else proof.legal


def _names_chips(proof: NeedProof) -> bool:
    """A list names chips; a guard may be a bound that knows none, unless it leaves out what is below 12.x."""
    between, older = _BEFORE & proof.legal, EVERY - _BEFORE - _FAMILY - proof.legal
    return proof.kind in ("list", "build") or (proof.kind == "gate" and not between and bool(older))


def admits(context: Context, judged: Judged, chips: ChipSet) -> Admission | None:
    """A gate of something behind this one that admits some of `chips`, where nothing behind it is for others alone."""
    first: Admission | None = None
    for use in calls(context, judged, judged.working):
        found = admission(context, judged.module, use)
        if not found.chips & chips if found is not None else named_for_others(use.name):
            return None
        if found is not None and _defined_for_others(context, judged.module, use, chips):
            return None
        first = first or found
    return first


def built_without(context: Context, judged: Judged, held: ChipSet, missing: ChipSet) -> Admission | None:
    """What a gate leads to that is compiled for some of `held` and not for all of `missing`."""
    found = (admission(context, judged.module, use) for use in calls(context, judged, judged.working))
    built = (one for one in found if one is not None and one.kind == "build")
    return next((one for one in built if held & one.chips and missing - one.chips), None)


def _defined_for_others(context: Context, module: Module, use: Use, chips: ChipSet) -> bool:
    """Whether a test of its file keeps chips from what defines a function: they get the stub of the `else`, or none."""
    place = context.evidence.definition(module, use)
    around = context.judged.get(place.outline.path, ()) if place is not None else ()
    return any(
        side.holds(place.definition.at) and not other.on(side) & chips
        for other in around
        for side in (other.gate.yes, other.gate.no)
        if place is not None and other.gate.qualname == "<module>" and other.gate.is_a("condition")
    )


def peer(context: Context, judged: Judged, chips: ChipSet) -> Judged | None:
    """A list or table of the same file that names what this one does and `chips` besides."""
    for other in context.beside(judged.module):
        if other.gate.kind == judged.gate.kind and other.core == judged.core | chips:
            return other
    return None


def users(context: Context, judged: Judged, family: ChipSet) -> Iterator[Judged]:
    """Gates of the project that ask a flag or a predicate, are parted by it, and answer nobody themselves."""
    for other in asking(context, judged):
        if parts(other, family) and other.gate.kind not in ANSWERS:
            yield other


def asking(context: Context, judged: Judged) -> Iterator[Judged]:
    """Gates of the project that ask a flag or a predicate."""
    yield from _users_here(context, judged)
    for module, place in asking_files(context, judged):
        if module is not judged.module:
            yield from (one for one in context.gates(module, place=place) if judged.gate.name in one.mentioned)


def parts(judged: Judged, family: ChipSet) -> bool:
    """Whether a test holds on some of a family alone."""
    return bool(judged.core & family and family - judged.core)


def _users_here(context: Context, judged: Judged) -> Iterator[Judged]:
    """Those of its file, also where the answer went through another flag before it is asked."""
    waiting, known = [judged], {id(judged)}
    while waiting:
        asked = waiting.pop()
        for other in context.beside(judged.module):
            if id(other) in known or not asks(other, asked):
                continue
            known.add(id(other))
            if other.gate.kind in ANSWERS:
                waiting.append(other)
            else:
                yield other


def asks(other: Judged, judged: Judged) -> bool:
    """Whether a gate of the same file uses the answer of a flag or a predicate."""
    gate = judged.gate
    places = (
        other.gate.leaf,
        *(value.at for value in walk_through(other.gate.test, other.module.slots, MAX_DEFINITIONS)),
    )
    asked = (at for at in places if at is not None and not other.gate.at.holds(at))
    through = any(gate.at.holds(at) or at.holds(gate.at) for at in asked)  # a part of it, or it in `bool(...)`
    return through or (gate.name in other.mentioned and (is_global(gate) or _same_object(gate, other.gate)))


def _same_object(flag: Gate, other: Gate) -> bool:
    """Whether a flag is an attribute that a class or one of its methods sets and a method asks."""
    in_body = other.qualname.rpartition(".")[0] == flag.qualname
    owner = flag.qualname if in_body else flag.qualname.rpartition(".")[0]
    return flag.kind == "flag" and owner != "" and other.qualname.rpartition(".")[0] == owner


def asking_files(context: Context, judged: Judged) -> Iterator[tuple[Module, str]]:
    """The files of the project in which a flag or predicate of a module is named, and their places in it."""
    yield judged.module, judged.place
    if judged.module.language == "cuda":
        for other in context.native.naming(judged.gate.name, judged.module.path):
            if other.path != judged.module.path:
                yield other, context.places.get(other.path, other.path)
    elif judged.module.language == "python" and is_global(judged.gate):
        yield from other_files(context, judged.module, judged.gate.name)


def other_files(context: Context, module: Module, name: str) -> Iterator[tuple[Module, str]]:
    """The other Python files of the project of a module that have a word, and their places in it."""
    files = dict.fromkeys(hit.file for hit in context.search(module).word("python", name))
    for file in list(files)[:MAX_FILES]:
        other = context.tree.module(module_name(file.real, file.root)) if file.real != module.path else None
        if other is not None:
            yield other, file.real.removeprefix(file.root).replace(os.sep, "/")


def is_global(gate: Gate) -> bool:
    """Whether others can ask it by its bare name."""
    return gate.kind in ANSWERS and (gate.qualname == "<module>" or gate.qualname == gate.name) and gate.name != ""


def namesake(context: Context, judged: Judged, chips: ChipSet) -> Judged | None:
    """The list of the same thing for other chips: of `gen_x_sm100` that of `gen_x_sm120`, which names `chips` alone."""
    name = judged.gate.qualname.rpartition(".")[2]
    stem = spelling.numberless(name)
    if judged.gate.kind != "list" or stem is None:
        return None
    for other in context.beside(judged.module):
        theirs = other.gate.qualname.rpartition(".")[2]
        numbers = spelling.numbers(theirs)
        if not numbers or numbers[0] // 10 not in {chip.major for chip in chips}:
            continue
        same = theirs != name and spelling.numberless(theirs) == stem
        if same and other.gate.kind == "list" and chips <= other.core and not other.core & judged.core - chips:
            return other
    return None


def calls(context: Context, judged: Judged, side: Side) -> Iterator[Use]:
    """Calls that a side surely makes and that no gate below this one guards."""
    for use in side.uses:
        if use.how == "call" and use.sure:
            around = context.around(judged.module, use.at)
            if not any(one.gate.at[:2] > judged.gate.at[:2] for one, _ in around):
                yield use
