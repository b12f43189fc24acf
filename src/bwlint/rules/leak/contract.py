"""leak: what says that it is for a chip on which it does not work.

A class whose own method fails there, a function that calls something supported that ends in an error there, a check
behind which the build of the extension compiles nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from bwlint.chips import EVERY, NONE, ChipSet
from bwlint.chips.wording import called, does, failing, listed, plain, them
from bwlint.judging import claims
from bwlint.judging.claims import Claimed
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace, RelatedSpan, Remedy
from bwlint.judging.siblings import other_files
from bwlint.model.expr import Expr, Span, walk
from bwlint.model.facts import Carry, Function, Hop, Module
from bwlint.model.findings import NoFix
from bwlint.model.naming import spoken
from bwlint.rules.leak.bounds import bounded
from bwlint.world.builds import pairs_of, runs_on
from bwlint.world.gates import Judged, refuses
from bwlint.world.proofs import NeedProof, Node
from bwlint.world.unbuilt import COMPILED

_ASKED = re.compile(
    r"_*(?:get_)?(?:cuda_)?(?:(?:is_)?(?:supports?|supported|available|usable|eligible|compatible)|can|min(?:imum)?|max(?:imum)?|(?:check|ensure|verify|validate)_(?:is_)?support(?:s|ed)?)(?:_\w+)?$",
    re.I,
)
"""What a class answers for all of its methods."""
_MOST_DEEP = 3
_ASKS = frozenset({"support", "supports", "supported", "available", "usable", "implemented"})
_EMPTY = frozenset({"is", "has", "can", "check", "get", "run", "launch"})
_SAME = {"gemm": "mm", "matmul": "mm", "grouped": "moe", "group": "moe"}
"""Words of the field for one thing: the matrix products of a mixture of experts are a grouped GEMM."""
_LEAST = 2
"""Words that a name must have for another one with the same words to be the same thing."""


def check_file(context: Context, module: Module) -> Iterator[Draft]:
    yield from _of_queries(context, module)
    if module.language not in ("python", "cuda") or context.in_test(module):
        return
    for owner, answered in _contracts(context, module).items():
        found = _of_class(context, module, owner, answered)
        found = found or _of_heirs(context, module, owner, set(answered))
        if found is not None:
            yield found


def tells(context: Context, judged: Judged) -> bool:
    """Whether the finding behind a gate is reported at the class that the gate calls: `if kernel.can_implement():`."""
    for node in walk(judged.gate.test):
        found = context.tree.function(judged.module, node.args[0]) if node.op == "call" else None
        if found is None or not is_asked(found.function.qualname):
            continue
        if breaks(context, found.module, found.function.qualname.rpartition(".")[0]):
            return True
    return False


def breaks(context: Context, module: Module, owner: str) -> bool:
    """Whether a class of a file says that it is for a chip on which it does not work."""
    answered = _contracts(context, module).get(owner, {})
    return bool(answered) and _of_class(context, module, owner, answered) is not None


def _of_heirs(context: Context, module: Module, owner: str, names: set[str]) -> Draft | None:
    """What subclasses break whose support answer comes from this class."""
    first: Draft | None = None
    for home, family in _heirs(context, module, owner, names) if module.language == "python" else ():
        heir = family[0].definition.qualname
        by_chips = sorted(_inherited(context, family).items(), key=lambda one: len(_admitted(context, one[1])))
        answered, last = dict(by_chips), by_chips[0][1] if by_chips else []
        told_here = bool(last) and last[-1].module is module and _answered(last[-1]).rpartition(".")[0] == owner
        found = _of_class(context, home, heir, answered) if told_here else None
        if found is not None:
            here = RelatedSpan(home, family[0].outline.places[heir], f"`{heir}` inherits this from `{owner}`")
            related = first.related if first is not None else found.related
            place = DraftPlace.of_gate(last[-1])
            first = replace(first or found, place=place, related=(here, *related), remedy=None)
    return first


def _heirs(context: Context, module: Module, owner: str, names: set[str]) -> Iterator[tuple[Module, list[Node]]]:
    """The classes for which this one gives the answers, each with its file and its bases, nearest first."""
    for home in (module, *(other for other, _ in other_files(context, module, owner.rpartition(".")[2]))):
        for family in context.evidence.heritages(home) if not context.in_test(home) else ():
            giving = next((one for one in family if names & _attributes(context, one)), family[0])
            if giving is not family[0] and (giving.outline.path, giving.definition.qualname) == (module.path, owner):
                yield home, family


def _inherited(context: Context, family: list[Node]) -> dict[str, list[Judged]]:
    """All that a class answers itself or by its bases."""
    found: dict[str, list[Judged]] = {}
    for one in reversed(family):
        home = context.tree.at(one.outline.path, one.outline.name)
        for name in _attributes(context, one):
            found.pop(name, None)
        found |= _contracts(context, home).get(one.definition.qualname, {}) if home is not None else {}
    return found


def _attributes(context: Context, node: Node) -> set[str]:
    """The methods of a class, and what it writes down of the device."""
    owner, home = node.definition.qualname, context.tree.at(node.outline.path, node.outline.name)
    body = home.classes.get(owner) if home is not None else None
    methods = (name.rpartition(".") for name in node.outline.places)
    return {*(body.names if body is not None else ()), *(last for around, _, last in methods if around == owner)}


def _of_class(context: Context, module: Module, owner: str, answered: dict[str, list[Judged]]) -> Draft | None:
    admitted = ChipSet.common(_admitted(context, asked) for asked in answered.values())
    for name in _besides(module, owner, answered) if admitted != EVERY else ():
        admitted &= saying_yes(context, module, module.functions[name])
    proof = _broken(context, module, owner, admitted) if admitted != EVERY else None
    if proof is None:
        return None
    said = [asked[-1] for asked in answered.values()]
    judged = next((one for one in said if one.gate.kind == "predicate"), said[0])
    return _draft(context, judged, owner, admitted, proof, context.targets & admitted & proof.against)


def _contracts(context: Context, module: Module) -> dict[str, dict[str, list[Judged]]]:
    """The classes of a file that answer for which chips they are: each of these answers with the gates in it.

    Whoever picks such a class asks them all.
    """
    found: dict[str, dict[str, list[Judged]]] = {}
    for judged in (one for one in context.beside(module) if one.module is module):
        owner, _, name = _answered(judged).rpartition(".")
        if owner and (owner in module.classes or module.language == "cuda") and is_asked(name):
            found.setdefault(owner, {}).setdefault(name, []).append(judged)
    return found


def is_asked(name: str) -> bool:
    return _ASKED.match(spoken(name.rpartition(".")[2])) is not None


def _answered(judged: Judged) -> str:
    """The method or attribute that a gate decides, or stands in."""
    gate = judged.gate
    return f"{gate.qualname}.{gate.name}" if gate.qualname in judged.module.classes else gate.qualname


def _admitted(context: Context, asked: list[Judged]) -> ChipSet:
    """The chips for which the answer may be yes."""
    alone, module = asked[-1], asked[-1].module
    function = module.functions.get(alone.gate.qualname)
    if function is None or _is_number(function):
        return alone.core if alone.gate.kind == "predicate" else NONE
    return saying_yes(context, module, function)


def _besides(module: Module, owner: str, answered: dict[str, list[Judged]]) -> list[str]:
    """The other methods by which a class answers for itself: who picks it asks these, too."""
    methods = (name.rpartition(".") for name, function in module.functions.items() if not _is_number(function))
    return [f"{of}.{name}" for of, _, name in methods if of == owner and name not in answered and is_asked(name)]


def _is_number(function: Function) -> bool:
    """Whether a function answers with the oldest capability and not with yes or no."""
    numbers = (value.op == "const" and type(value.args[0]) is int for _, value in function.returns)
    return all(numbers)


def _broken(context: Context, module: Module, owner: str, admitted: ChipSet) -> NeedProof | None:
    """What one of its methods surely reaches that does not work on a target which the class says it is for."""
    for method, proofs in context.evidence.methods(module, owner):
        for proof in proofs if not is_asked(method) else ():
            if (
                proof.kind != "name"
                and not is_asked(proof.where)
                and proof.hops
                and context.targets & admitted & proof.against
            ):
                return proof
    return None


def _draft(context: Context, judged: Judged, owner: str, admitted: ChipSet, proof: NeedProof, wrong: ChipSet) -> Draft:
    name = _answered(judged).rpartition(".")[2]
    says = f"`{owner}` does not work on {plain(wrong)}"
    right = plain(admitted & proof.legal or proof.legal)
    function = judged.module.functions.get(judged.gate.qualname)
    returned = f"Return true for {right} only." if function is not None else f"Accept {right} only."
    if refuses(judged.other):
        returned = f"Refuse {called(wrong)} here too."
    least = function is not None and _is_number(function)
    others = (one for one, _ in context.evidence.methods(judged.module, owner) if is_asked(one) and one != name)
    where = f"at the top of `{one}`" if (one := next(others, "")) else "where it is used"
    uses, fails = f"`{owner}` {does(proof.what)}", failing(proof.kind, proof.what, wrong)
    return Draft(
        place=DraftPlace.of_gate(judged),
        severity="warning",
        confidence="medium",
        message=f"`{owner}.{name}` accepts {called(wrong)}, but {uses}.{fails}",
        label=f"met by {plain(admitted)}" if least else judged.told(judged.working, admitted),
        advice=f"A minimum keeps no later chip out. Raise an error for all but {right} {where}." if least else returned,
        legal=proof.legal,
        related=tuple(RelatedSpan(hop, hop.at, hop.text) for hop in proof.hops[:8]),
        remedy=bounded(context, judged, judged.working, wrong, uses, lacking=admitted & proof.against),
        claims=(Claimed(claims.need(owner, wrong, NONE, says), proof.hops[-1].at, proof.hops[-1]),),
    )


@dataclass(frozen=True, slots=True)
class SupportAnswer:
    """A `return` of a query that may say yes: on which chips, and where it stands."""

    chips: ChipSet
    at: Span


def answers(context: Context, module: Module, query: Function, depth: int = 0) -> Iterator[SupportAnswer]:
    """The returns that may say yes, each for the chips that get to it."""
    left = EVERY
    for path, returned in query.returns:
        reasoned = returned.op == "tuple" and returned.args[0]  # `return ok, "needs SM90"`
        value = returned.args[0][0] if reasoned else returned
        may = context.tree.may(module, value) & _handed_on(context, module, value, depth)
        yes = left & may & ChipSet.common(context.tree.may(module, test) for test in path)
        last = path[-1].at if path and path[-1].at and value.at and path[-1].at[:2] < value.at[:2] else None
        if yes and value.at is not None:
            yield SupportAnswer(yes, value.at if may != EVERY or last is None else last)
        left -= ChipSet.common(context.tree.must(module, test) for test in path)


def saying_yes(context: Context, module: Module, query: Function, depth: int = 0) -> ChipSet:
    """The chips for which a function may say yes."""
    return ChipSet.union(answer.chips for answer in answers(context, module, query, depth))


def _handed_on(context: Context, module: Module, value: Expr, depth: int) -> ChipSet:
    """The chips for which a function may say yes whose answer is returned as it is."""
    if value.op != "call" or depth >= _MOST_DEEP:
        return EVERY
    called = context.tree.function(module, value.args[0])
    if called is None or not called.function.returns:
        return EVERY
    return saying_yes(context, called.module, called.function, depth + 1)


def _of_queries(context: Context, module: Module) -> Iterator[Draft]:
    yield from _of_builds(context, module)
    if module.language != "cuda" or context.in_test(module):
        return
    for function in module.functions.values():
        words = _words(function)
        if words & _ASKS and function.returns and not function.exits and function.kind != "macro":
            yield from _judged(context, module, function)


def _judged(context: Context, module: Module, query: Function) -> Iterator[Draft]:
    found = tuple(answers(context, module, query))
    admitted = ChipSet.union(answer.chips for answer in found)
    if not admitted & context.targets or admitted == EVERY:
        return
    for dispatcher, exact in _dispatchers(module, query):
        out, at = _refused(context, module, dispatcher)
        wrong = admitted & out & context.targets
        if at is None or not wrong or not admitted - out:
            continue
        answer = next(one for one in found if one.chips & wrong)
        asked = _is_asked(context, module, query)
        name = dispatcher.qualname
        says = f"`{name}` raises an error on {plain(wrong)}"
        yield Draft(
            place=DraftPlace(module=module, at=answer.at, admitted=admitted, certain=NONE),
            severity="warning" if asked else "note",
            confidence="high" if exact else "medium",
            message=f"`{query.qualname}` returns true on {called(wrong)}, but `{name}` raises an error there.",
            label=f"true on {plain(answer.chips)}{'' if asked else '; nothing in this tree calls it'}",
            advice=f"Return true for {plain(admitted - out)} only, or add a case for {called(wrong)}.",
            legal=admitted - out,
            related=(RelatedSpan(module, at, f"`{name}` has no case for {plain(wrong)} and raises here"),),
            remedy=Remedy(
                "answer", admitted - out, evidence=says, unsafe=None if exact else "another function may be meant"
            ),
            claims=(Claimed(claims.need(name, wrong, NONE, says), at),),
        )
        return


def _is_asked(context: Context, module: Module, query: Function) -> bool:
    """Whether anything may call a query: its name stands somewhere besides its definition, or others link to it."""
    search, name = context.search(module), re.split(r"\W", query.qualname)[-1]
    hits = search.word("cuda", name) if search.complete("cuda") else ()
    if not hits or not module.path.endswith(COMPILED):
        return True
    live = context.native.unbuilt.live(dict.fromkeys(hit.file.real for hit in hits), module.path)
    own = [hit for hit in hits if hit.file.real in live]
    lone = len(own) == 1 and own[0].file.real == module.path and "extern" not in own[0].text
    return not lone or not search.complete("python") or any(search.matches("python", re.compile(name.encode())))


def _refused(context: Context, module: Module, dispatcher: Function) -> tuple[ChipSet, Span | None]:
    """The chips on which a function ends in an error, and where the last of those stands."""
    errors = context.native.refusals.errors(module, dispatcher.qualname)
    return ChipSet.union(EVERY - error.legal for error in errors), errors[-1].at if errors else None


def _dispatchers(module: Module, query: Function) -> Iterator[tuple[Function, bool]]:
    """The functions of the file that are what a query asks for, and whether their names say so in full."""
    asked = _words(query)
    stem = _words_of(re.split(r"_(?:is_)?(?:support|available|usable|implemented)", spoken(query.qualname))[0])
    others = [one for one in module.functions.values() if one.exits and one is not query]
    full = [one for one in others if len(asked - _ASKS) >= _LEAST and _words(one) == asked - _ASKS]
    if full:
        yield from ((one, True) for one in full)
    elif len(stem) >= _LEAST:
        yield from ((one, False) for one in others if _words(one) == stem)


def _words(function: Function) -> frozenset[str]:
    return _words_of(spoken(function.qualname.rpartition(".")[2]))


def _words_of(name: str) -> frozenset[str]:
    return frozenset(_SAME.get(word, word) for word in name.split("_") if word) - _EMPTY


def _of_builds(context: Context, module: Module) -> Iterator[Draft]:
    """Only what an extension as a whole is built for: files that are built apart have a dispatcher in front."""
    gates = [judged for judged in context.beside(module) if _is_check(judged)]
    placed = context.builds.placed(module.path) if gates and module.language == "cuda" else ()
    alone = placed and all(carry.kind == "extension" for _, carry in placed)
    if alone and not context.builds.named_besides(module.path, placed[0][0]):
        for judged in gates:
            yield from _passing(context, judged, placed)


def _is_check(judged: Judged) -> bool:
    return refuses(judged.other) and not refuses(judged.working) and not judged.in_test


def _passing(context: Context, judged: Judged, placed: tuple[tuple[str, Carry], ...]) -> Iterator[Draft]:
    legal = runs_on(carry for _, carry in placed)
    wrong = judged.must & context.targets - legal
    if not wrong or not judged.admitted & legal:
        return
    origin, first = placed[0]
    names = dict.fromkeys(name for _, carry in placed for name in (*carry.sass, *carry.ptx))
    built = listed([f"sm_{name}" for name in names])
    pairs = [pair for _, carry in placed for pair in pairs_of(carry)]
    yield Draft(
        place=DraftPlace.of_gate(judged),
        severity="warning",
        confidence="medium",
        message=f"This check lets {called(wrong)} through, but this extension is compiled for {built} only."
        " A launch there finds no kernel.",
        label=judged.told(judged.working, judged.admitted),
        advice=f"Refuse {called(wrong)} here, or compile the extension for {them(wrong)}.",
        legal=legal,
        related=(RelatedSpan(Hop(origin, first.at, ""), first.at, f"setup.py compiles for {built}"),),
        remedy=NoFix(f"refuse {plain(wrong)} or build for {them(wrong)}: choose one"),
        cause=(origin, first.at),
        claims=(Claimed(claims.build(pairs, wrong), first.at, Hop(origin, first.at, "")),),
    )
