"""Calls of helpers that ask for one part, made to ask for its family: with another helper of the scanned tree."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from bwlint.chips import NONE, ChipSet, siblings
from bwlint.chips.mentions import mentioned
from bwlint.chips.spelling import numberless
from bwlint.chips.toolkits import releases, version
from bwlint.evaluate.interpreter import Interpreter
from bwlint.evaluate.objects import EvaluationFrame, FunctionValue, PartialValue
from bwlint.evaluate.values import Vec
from bwlint.fix.python import imports
from bwlint.fix.python.place import Candidate, ConditionPlace
from bwlint.fix.python.proof import reached
from bwlint.fix.python.syntax import Syntax
from bwlint.model.expr import Expr
from bwlint.model.facts import Module
from bwlint.model.findings import Edit, NoFix
from bwlint.readers.spans import span

_OLDEST = "12.3"
"""Older toolkits know none of the chips whose helpers stand side by side."""


@dataclass(frozen=True, slots=True)
class _Call:
    """A call of a helper in a test. `name` is what the helper is called in the module that defines it."""

    node: Expr
    name: str
    owner: Module
    signature: Any


def proposals(place: ConditionPlace) -> Iterator[Candidate]:
    """Every way to let another helper answer, the most idiomatic first."""
    if not any(_calls(place)):
        return
    syntax = place.syntax
    by_span = {span(node): node for node in syntax.within(place.span) if isinstance(node, ast.Call)}
    world = _Answers(place)
    found = [(call, by_span[call.node.at]) for call in _calls(place) if call.node.at in by_span]
    if place.change.kind == "bound":
        for call, node in found:
            yield from _narrower(world, syntax, call, node)
        return
    for call, node in found:
        for name in _namesakes(world, call):
            if _replaces(world, call, name):
                yield from _renamed(place, syntax, call, node, name)
    for call, node in found:
        names = _completed(world, call)
        if names:
            yield from _joined(place, syntax, call, node, names)


def _narrower(world: _Answers, syntax: Syntax, call: _Call, node: ast.Call) -> Iterator[Candidate]:
    """The helper of the same module that leaves out who is to go, instead of one or behind it: `a() and not b()`."""
    place, old = world.place, world.of(call, call.name)
    asked = {name: world.of(call, name) for name in _alike(world, call)} if old is not None else {}
    known = [(name, sets) for name, sets in asked.items() if sets is not None]
    gone = place.change.chips
    for name, sets in known:
        if all(new == held - gone for new, held in zip(sets, old or (), strict=True)):
            yield from _renamed(place, syntax, call, node, name)
    for name, sets in known:
        if all(new & held == gone & held for new, held in zip(sets, old or (), strict=True)):
            brought, last = _brought(place, syntax, call, node, (name,)), _last(node)
            if not isinstance(brought, NoFix) and last:
                text, end = syntax.segment(node), syntax.end(node.func) - syntax.start(node)
                other = f"{text[: end - len(last)]}{name}{text[end:]}"
                yield (*brought, *syntax.narrowed(place.module.path, node, f"not {other}", other))


def _alike(world: _Answers, call: _Call) -> Iterator[str]:
    """Other helpers of the same module that are called after chips and take the same."""
    for name in call.owner.names:
        told = name != call.name and mentioned(name.replace("_", " ")).named
        if told and world.signature(call, name) == world.signature(call, call.name):
            yield name


def _calls(place: ConditionPlace) -> Iterator[_Call]:
    """The calls of functions of the tree within a span that a test reaches."""
    seen = set()
    for node in reached(place.gate.test, place.module):
        if node.op != "call" or node.at is None or node.at in seen or not place.span.holds(node.at):
            continue
        seen.add(node.at)
        function = node.args[0]
        value = place.tree.value(place.module, function).only()
        signature = _signature(value)
        owner, name = _definition(place, function, value)
        if signature is not None and owner is not None:
            yield _Call(node, name, owner, signature)


def _definition(place: ConditionPlace, function: Expr, value: object) -> tuple[Module | None, str]:
    """The module that defines a helper, and its name there."""
    if isinstance(value, FunctionValue):
        named = "." not in value.function.qualname and value.owner is None
        return (value.module if named else None), value.function.qualname
    if function.op == "import" and function.args[1] is not None:
        owner, name = place.tree.module(function.args[0]), function.args[1]
        inner = value.function if isinstance(value, PartialValue) else None
        told_on = owner is not None and name not in owner.names and isinstance(inner, FunctionValue)
        return (inner.module if told_on and isinstance(inner, FunctionValue) else owner), name
    return (place.module, function.args[0]) if function.op == "name" else (None, "")


def _signature(value: object) -> Any:
    """What two helpers have in common that take the same arguments; None for what is no helper."""
    if isinstance(value, FunctionValue):
        function = value.function
        return function.params, tuple(default is None for default in function.defaults)
    if isinstance(value, PartialValue):
        inner = value.function
        same = (inner.module.name, inner.function.qualname) if isinstance(inner, FunctionValue) else None
        return same and (same, len(value.arguments), tuple(name for name, _ in value.keywords))
    return None


class _Answers:
    """What helpers say on every chip, under every toolkit that matters."""

    def __init__(self, place: ConditionPlace) -> None:
        self.place = place
        sources = place.tree.interpreter.sources
        asked = [release for release in releases() if version(release) >= version(_OLDEST)]
        self._runs = [Interpreter(place.tree, sources), *(Interpreter(place.tree, sources.at(one)) for one in asked)]

    def of(self, call: _Call, name: str) -> tuple[ChipSet, ...] | None:
        """The chips for which a helper beside that of `call` says yes: under a current toolkit, then under each."""
        found = []
        for run in self._runs:
            run.start()
            function = Expr("import", (call.owner.name, name))
            if call.owner.path == self.place.module.path:
                function = Expr("name", (name,))
            answer = run.truth(Expr("call", (function, call.node.args[1])), EvaluationFrame(self.place.module))
            if not all(isinstance(lane, bool) for lane in answer.lanes):
                return None
            found.append(_where(answer))
        return tuple(found)

    def signature(self, call: _Call, name: str) -> Any:
        run = self._runs[0]
        run.start()
        return _signature(run.evaluate(Expr("name", (name,)), EvaluationFrame(call.owner)).only())


def _where(answer: Vec) -> ChipSet:
    lanes = answer.spread()
    return ChipSet(sum(1 << index for index, lane in enumerate(lanes) if lane is True))


def _namesakes(world: _Answers, call: _Call) -> Iterator[str]:
    """Helpers of the same module that take the same and are called the same but for the number of the target."""
    stem = numberless(call.name)
    for name in call.owner.names if stem else ():
        if name != call.name and numberless(name) == stem and world.signature(call, name) == call.signature:
            yield name


def _replaces(world: _Answers, call: _Call, name: str) -> bool:
    """Whether a helper says what the one that is called says, and yes for the chips that are to be added."""
    old, new = world.of(call, call.name), world.of(call, name)
    chips = world.place.change.chips
    if old is None or new is None or old[0] & chips or not _in_family(old[0], chips):
        return False
    return new[0] == old[0] | chips and all(b - chips == a - chips for a, b in zip(old, new, strict=True))


def _completed(world: _Answers, call: _Call) -> list[str]:
    """Helpers that together say yes for the chips that are to be added and for nothing else, under any toolkit."""
    chips = world.place.change.chips
    old = world.of(call, call.name)
    if old is None or not old[0] or old[0] & chips:
        return []
    if world.place.change.kind == "family" and not _in_family(old[0], chips):
        return []
    answers = {name: answer for name in _namesakes(world, call) if (answer := world.of(call, name)) is not None}
    within = {name: sets for name, sets in answers.items() if sets[0] and all(each <= chips for each in sets)}
    found: list[str] = []
    missing = chips
    for name in sorted(within, key=lambda name: sum(len(each) for each in within[name]), reverse=True):
        if within[name][0] & missing == within[name][0]:
            found.append(name)
            missing -= within[name][0]
    return [] if missing else sorted(found, key=lambda name: within[name][0].names)


def _in_family(held: ChipSet, chips: ChipSet) -> bool:
    family = NONE
    for chip in held:
        family |= siblings(chip)
    return bool(held) and chips <= family


def _brought(
    place: ConditionPlace, syntax: Syntax, helper: _Call, call: ast.Call, names: Sequence[str], *, instead: bool = False
) -> list[Edit] | NoFix:
    """The edits after which helpers can be named as the one is that is called; why not, where they cannot."""
    function, path = call.func, place.module.path
    here = all(_is_there(place, helper, name) for name in names)
    if not isinstance(function, ast.Name):
        return [] if here else NoFix("they are no attributes of the same object")
    if here or helper.node.args[0].op != "import":
        return imports.bring(syntax, path, names, function.id, call, instead=instead)
    return imports.add_line(syntax, path, helper.owner.name, names)


def _is_there(place: ConditionPlace, helper: _Call, name: str) -> bool:
    """Whether the module or object that a helper is taken from has another one too."""
    function = helper.node.args[0]
    if function.op not in ("import", "attr"):
        return True
    other = Expr(function.op, (function.args[0], name), function.at)
    value = place.tree.value(place.module, other).only()
    return isinstance(value, (FunctionValue, PartialValue))


def _renamed(place: ConditionPlace, syntax: Syntax, helper: _Call, call: ast.Call, name: str) -> Iterator[Candidate]:
    brought = _brought(place, syntax, helper, call, (name,), instead=True)
    last = _last(call)
    if not isinstance(brought, NoFix) and last:
        end = syntax.end(call.func)
        yield (*brought, syntax.edit(place.module.path, end - len(last), end, name))


def _last(call: ast.Call) -> str:
    """The name of what is called, or its last part."""
    if isinstance(call.func, ast.Name):
        return call.func.id
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""


def _joined(
    place: ConditionPlace, syntax: Syntax, helper: _Call, call: ast.Call, names: Sequence[str]
) -> Iterator[Candidate]:
    """`call or other`, where the call stands."""
    brought, last = _brought(place, syntax, helper, call, names), _last(call)
    if isinstance(brought, NoFix) or not last:
        return
    end = syntax.end(call.func) - syntax.start(call)
    text = syntax.segment(call)
    others = [text[: end - len(last)] + name + text[end:] for name in names]
    yield (*brought, *syntax.joined(place.module.path, call, "or", [text, *others]))
