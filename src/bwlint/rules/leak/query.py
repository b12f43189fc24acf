"""leak at a query: a function says that something is supported on a chip on which the thing itself ends in an error,
or for which the build of the extension behind a check compiles nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from bwlint.chips import EVERY, NONE, ChipSet
from bwlint.chips.wording import called, listed, plain, them
from bwlint.judging import claims
from bwlint.judging.claims import Claimed
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace, RelatedSpan, Remedy
from bwlint.model.expr import Span
from bwlint.model.facts import Carry, Function, Hop, Module
from bwlint.model.findings import NoFix
from bwlint.model.naming import spoken
from bwlint.rules.leak import RULE
from bwlint.rules.leak.contract import answers
from bwlint.world.builds import pairs_of, runs_on
from bwlint.world.gates import Judged, refuses
from bwlint.world.unbuilt import COMPILED

_ASKS = frozenset({"support", "supports", "supported", "available", "usable", "implemented"})
_EMPTY = frozenset({"is", "has", "can", "check", "get", "run", "launch"})
_SAME = {"gemm": "mm", "matmul": "mm", "grouped": "moe", "group": "moe"}
"""Words of the field for one thing: the matrix products of a mixture of experts are a grouped GEMM."""
_LEAST = 2
"""Words that a name must have for another one with the same words to be the same thing."""


def check_file(context: Context, module: Module) -> Iterator[Draft]:
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
            rule=RULE,
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
        rule=RULE,
        place=DraftPlace.of_gate(judged),
        severity="warning",
        confidence="medium",
        message=f"This check lets {called(wrong)} through, but this extension is compiled for {built} only.",
        label=judged.told(judged.working, judged.admitted),
        advice=f"Refuse {called(wrong)} here, or compile the extension for {them(wrong)}.",
        legal=legal,
        related=(RelatedSpan(Hop(origin, first.at, ""), first.at, f"setup.py compiles for {built}"),),
        remedy=NoFix(f"refuse {plain(wrong)} or build for {them(wrong)}: choose one"),
        cause=(origin, first.at),
        claims=(Claimed(claims.build(pairs, wrong), first.at, Hop(origin, first.at, "")),),
    )
