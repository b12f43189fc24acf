"""Chips that a definition refuses itself: by declared lists, and by errors it raises."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from bwlint.chips import EVERY, NONE, ChipSet, words
from bwlint.chips.wording import plain, refused_but
from bwlint.evaluate.objects import EvaluationFrame
from bwlint.evaluate.values import Vec
from bwlint.model.expr import COMPILED, Expr, Span, negate, unknown
from bwlint.model.facts import MAX_RETURNS, Function, Gate, Module, Path
from bwlint.model.kinds import BOUND
from bwlint.model.naming import spoken
from bwlint.readers.python.given import written
from bwlint.sources.recorder import memory
from bwlint.world.gates import Judged, refuses
from bwlint.world.libraries import is_question
from bwlint.world.tree import Tree, is_skip

_WORDS = {
    "list": "this list names",
    "build": "this is built for",
    "gate": "the checks here refuse",
    "skip": "this skips",
}
_AMOUNT = re.compile(rf"(?:^|[_.]){words.said('amounts')}(?:[_.]|$)|^[bklmnst]$", re.I)
_EMPTY = re.compile(r"(?:^|_)empty$", re.I)
_NOTHING = {("==", 0), ("<=", 0), ("<", 1)}


@dataclass(frozen=True, slots=True)
class Refusal:
    """A definition works on `legal` at most, by a list, a build, a gate (an error) or a skip that stands at `at`."""

    legal: ChipSet
    at: Span
    kind: str

    @property
    def text(self) -> str:
        """A sentence for reports."""
        says = refused_but if self.kind in ("gate", "skip") else plain
        return f"{_WORDS[self.kind]} {says(self.legal)}"


class Refusals:
    """The refusals of the definitions of a run, computed when they are asked for."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._lists: dict[int, dict[str, tuple[Refusal, ...]]] = memory()
        self._errors: dict[tuple[int, str, tuple[str, ...]], tuple[Refusal, ...]] = memory()
        self._judged: dict[int, tuple[Judged, ...]] = memory()

    def of(self, module: Module, qualname: str, given: tuple[str, ...] = ()) -> tuple[Refusal, ...]:
        """What a definition refuses on every way through it that a call with such arguments may take."""
        if id(module) not in self._lists:
            self._lists[id(module)] = self._declared(module)
        return (*self._lists[id(module)].get(qualname, ()), *self.errors(module, qualname, given))

    def errors(self, module: Module, qualname: str, given: tuple[str, ...] = ()) -> tuple[Refusal, ...]:
        """The errors that a function surely ends in on some chips, each at the test that leads to it."""
        key = id(module), qualname, given
        if key not in self._errors:
            function = module.functions.get(qualname)
            known = function is not None and len(function.returns) < MAX_RETURNS
            self._errors[key] = tuple(self._refused(module, function, given)) if function is not None and known else ()
        return self._errors[key]

    def passing(self, module: Module, at: Span) -> ChipSet:
        """The chips that the gates around a place may let reach it."""
        sides = ((judged, side) for judged in self.judged(module) for side in (judged.gate.yes, judged.gate.no))
        return ChipSet.common(judged.let_through(side) for judged, side in sides if side.holds(at))

    def let_in(self, module: Module, *functions: str) -> ChipSet:
        """The chips that functions of a file do not surely skip or refuse, one after the other."""
        chips = EVERY
        for judged in self.judged(module) if functions else ():
            gate = judged.gate
            if gate.qualname in functions and not gate.path and refuses(judged.other) and not refuses(judged.working):
                chips &= judged.let_through(judged.working)
        for refusal in (one for name in functions for one in self.errors(module, name)):
            chips &= refusal.legal
        return chips

    def judged(self, module: Module) -> tuple[Judged, ...]:
        if id(module) not in self._judged:
            found = ((gate, self._tree.sets(module, gate)) for gate in module.gates)
            self._judged[id(module)] = tuple(Judged(module, gate, sets, "") for gate, sets in found if sets is not None)
        return self._judged[id(module)]

    def _declared(self, module: Module) -> dict[str, tuple[Refusal, ...]]:
        found: dict[str, list[Refusal]] = defaultdict(list)
        for judged in self.judged(module):
            owner = _owner(judged.gate) if judged.gate.kind == "list" and judged.sets.decided else ""
            legal = EVERY - (judged.sets.live - judged.may)
            if owner and judged.other.ends == "raise" and legal != EVERY:
                found[owner].append(Refusal(legal, judged.at, "build" if judged.gate.handed_on else "list"))
        return {name: tuple(refusals) for name, refusals in found.items()}

    def _refused(self, module: Module, function: Function, given: tuple[str, ...]) -> Iterator[Refusal]:
        """Way by way: a chip that may return before an error is not refused by it, unless there is nothing to do.

        What an earlier error lets through is no condition of a later one: who does not pass it has had that error.
        Behind a macro that the build makes of the device the chips have what is compiled for them.
        """
        left = EVERY
        guards = [guard for guard in module.guards if function.exits and function.at.holds(guard.at)]
        frame = EvaluationFrame(module, _handed(function, given)) if given else None
        ways = list(_ways_out(function))
        passed = set[Span | None]()
        for path, ends, at in ways:
            surely, never = self._compiled(module, guards, at)
            empty = ends == "return" and any(self._finds_nothing(module, test) for test in path[-1:])
            if ends == "return" and not empty:
                left -= ChipSet.common(self._tree.may(module, test, frame) for test in path) - never
                continue
            told = [test for test in path if test.op != "unknown"]  # what stands in a loop is taken to happen
            known = (self._tree.must(module, test, frame) for test in told if test.at not in passed)
            is_compiled = path[-1:] == (unknown(COMPILED),)
            doubtful = bool(path) and not told and not is_compiled  # a handler
            here = NONE if empty or doubtful else left & ChipSet.common(known) & (surely if is_compiled else EVERY)
            passed |= {one.at for test in path[-1:] for one in (test, negate(test)) if one.at is not None}
            left -= here
            if here and here != EVERY:
                tests = [test.at for test in path if test.at is not None]
                yield Refusal(EVERY - here, at if function.exits or not tests else tests[-1], ends)
        for test in (test for path, _, _ in ways for test in path if test.op == "completes"):
            out = left - self._tree.may(module, test, frame)  # a helper that does not return leaves no way out
            if out not in (NONE, EVERY) and test.at is not None:
                yield Refusal(EVERY - out, test.at, "skip" if self._tree.skips(module, test) else "gate")
            left -= out

    def _compiled(self, module: Module, guards: Iterable[Gate], at: Span) -> tuple[ChipSet, ChipSet]:
        """The chips for which a place is surely compiled, and those for which it surely is not."""
        surely, never = EVERY, NONE
        for guard in guards:
            if guard.yes.holds(at) or guard.no.holds(at):
                test = guard.test if guard.yes.holds(at) else negate(guard.test)
                surely &= self._tree.built_for(module, test)
                never |= self._tree.built_for(module, negate(test))
        return surely, never

    def _finds_nothing(self, module: Module, test: Expr) -> bool:
        """Whether a test holds where there is nothing to do, also by a helper of C++: `if (returns_early(m, n))`."""
        if test.op == "or":
            return all(self._finds_nothing(module, one) for one in test.args[0])
        name = str(test.args[0].args[-1]) if test.op == "call" and test.args[0].op == "name" else ""
        home = module if name in module.functions else self._tree.headers.meaning(module, name) if name else None
        helper = home.functions.get(name.rpartition("::")[2]) if home is not None and home.language == "cuda" else None
        ways = helper.returns if helper is not None else ()
        holds = [path for path, value in ways if value.op != "raise" and value.args[:1] != (False,)]
        return all(any(map(asks_for_nothing, path)) for path in holds) if holds else asks_for_nothing(test)


def _handed(function: Function, given: tuple[str, ...]) -> dict[tuple[str, str], Vec]:
    """What the parameters of a function hold where a call writes it out, or leaves them their defaults."""
    told = dict(one.split("=", 1) for one in given)
    parameters = list(zip(function.params, function.defaults, strict=True))[function.kind in BOUND :]
    found: dict[tuple[str, str], Vec] = {}
    for place, (name, default) in enumerate(parameters):
        text = told.get(str(place), told.get(name))
        if text is None and default is not None and default.op == "const":
            found[function.qualname, name] = Vec((default.args[0],))
        elif text is not None and (value := written(text)) is not None:
            found[function.qualname, name] = Vec(value)
    return found


def _ways_out(function: Function) -> Iterator[tuple[Path, str, Span]]:
    """The ways out of a function in order, with the tests that lead to each: by a return, or as what refusal."""
    for path, ends, at in function.exits:
        yield path, "gate" if ends == "raise" else "return", at
    for path, value in function.returns if not function.exits else ():
        refused = "skip" if value.op == "raise" and is_skip(str(value.args[0])) else "gate"
        yield path, refused if value.op == "raise" else "return", value.at or function.at


def _owner(gate: Gate) -> str:
    """The definition that a list speaks for; "" where it is none's."""
    if gate.handed_on:
        asks = is_question(gate.name)  # `matches(device, ["120"])` has an answer and refuses nobody
        return "" if asks else gate.qualname.removeprefix("<module>")
    if gate.yes.at is None:
        return ""  # what reads it decides
    return gate.name if gate.qualname == "<module>" else f"{gate.qualname}.{gate.name}"


def asks_for_nothing(test: Expr) -> bool:
    """Whether a test holds where an input is empty, and nowhere else."""
    if test.op == "or":
        return all(map(asks_for_nothing, test.args[0]))
    if test.op == "and":
        return any(map(asks_for_nothing, test.args[0]))
    if test.op == "not":
        return _is_amount(test.args[0])
    if test.op == "call":
        return _EMPTY.search(spoken(_name(test.args[0]))) is not None
    if test.op != "cmp" or len(test.args[1]) != 2:
        return False
    left, right = test.args[1]
    return right.op == "const" and (test.args[0], right.args[0]) in _NOTHING and _is_amount(left)


def _is_amount(node: Expr) -> bool:
    """A name, a member or a call that says how much there is: `num_tokens`, `x.shape[0]`, `a.size(0)`."""
    if node.op == "call":
        node = node.args[0]
    while node.op == "index":
        node = node.args[0]
    return _AMOUNT.search(spoken(_name(node))) is not None


def _name(node: Expr) -> str:
    """The last name of what is asked."""
    return str(node.args[-1]) if node.op in ("var", "param", "attr", "name", "import", "opaque") else ""
