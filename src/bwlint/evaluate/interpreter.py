"""Run an expression on every chip at once.

`Interpreter.evaluate` gives a `Vec`. Names are resolved through a `World`, which knows the modules of the scanned
tree; everything else is Python's own semantics in three-valued form. Evaluation has a budget of steps and depth;
what exceeds it is unknown. Nothing here imports or runs scanned code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from bwlint.evaluate import builtins, calls, macros, members, objects, sources, vectors
from bwlint.evaluate.names import guess, guess_flag, of_a_release
from bwlint.evaluate.objects import (
    Clash,
    ClassValue,
    EvaluationFrame,
    FunctionValue,
    Instance,
    LambdaValue,
    ModuleValue,
    OutsideNames,
)
from bwlint.evaluate.values import (
    CHIPS,
    Method,
    Raises,
    Ref,
    Unknown,
    Vec,
    arithmetic,
    compare,
    lift,
    truth,
)
from bwlint.model.expr import TAG, Expr, Span
from bwlint.model.facts import Module
from bwlint.sources.recorder import assume, memory

MAX_STEPS = 40_000
MAX_DEPTH = 60
LAST_STEPS = 300
"""What is left of the budget where something is nested too deeply: nothing is remembered from there on."""


@dataclass(frozen=True, slots=True)
class _Member:
    """What an object keeps under a name, and what was met while it was evaluated."""

    value: Vec
    atoms: dict[str, None]
    clashes: list[Clash]
    toolkit: bool


@dataclass(slots=True)
class Interpreter:
    world: OutsideNames
    sources: sources.Sources
    assumed: dict[str, bool] = field(default_factory=dict)
    neutral: bool = False
    steps: int = 0
    depth: int = 0
    exhausted: bool = False
    atoms: dict[str, None] = field(default_factory=dict)
    clashes: list[Clash] = field(default_factory=list)
    toolkit: bool = False
    compile_time: bool = False
    """Lanes are compile targets and macros have values; otherwise lanes are chips and macros have none."""
    _memos: dict[bool, dict[str, Any]] = field(default_factory=lambda: {False: {}, True: {}})
    globals: dict[tuple[int, str], Vec] = field(default_factory=memory)
    calls: dict[tuple[Any, ...], Vec] = field(default_factory=memory)
    passed: dict[tuple[int, str, str], Vec | None] = field(default_factory=memory)
    members: dict[tuple[Any, ...], _Member] = field(default_factory=memory)
    circles: set[tuple[Any, ...]] = field(default_factory=set)
    """Parameters that were met again while they were asked for."""
    busy: set[tuple[Any, ...]] = field(default_factory=set)
    _on_toolkit: set[tuple[Any, ...]] = field(default_factory=set)
    """What is remembered and rests on a check of the CUDA version, whoever asked for it first."""
    _asked: set[tuple[Any, ...]] = field(default_factory=set)
    """Members that are asked for."""
    _again: set[tuple[Any, ...]] = field(default_factory=set)
    """Those of them that were met again on the way."""

    def start(self, assumed: Mapping[str, bool] | None = None, neutral: bool = False) -> None:
        """Begin a new top-level evaluation with a fresh budget."""
        self.assumed = dict(assumed or {})
        self.neutral = neutral
        # what holds under assumptions holds for this run only, what is neutral for all neutral ones
        mode = {} if assumed else self._memos[neutral]
        if not mode:
            mode.update((name, memory()) for name in ("globals", "calls", "passed", "members"))
        self.globals, self.calls, self.passed, self.members = mode.values()
        self.steps = 0
        self.depth = 0
        self.exhausted = False
        self.atoms = {}
        self.clashes = []
        self.toolkit = False

    @property
    def final(self) -> bool:
        """Whether a value found now may be remembered: the budget holds, and it leads back to nothing unfinished."""
        return not (self.exhausted or self._again)

    def noting_toolkit(self, key: tuple[Any, ...], find: Callable[[], Vec]) -> Vec:
        """What is found, where it will be remembered under a key that `met_again` is told of."""
        before, self.toolkit = self.toolkit, False
        value = find()
        if self.toolkit:
            self._on_toolkit.add(key)
        self.toolkit = self.toolkit or before
        return value

    def met_again(self, key: tuple[Any, ...]) -> None:
        """Something remembered is handed out."""
        self.toolkit = self.toolkit or key in self._on_toolkit

    def once(self, key: tuple[Any, ...], find: Callable[[], Vec]) -> Vec:
        """What is found under a key; nothing for what is asked again before that, with little budget left."""
        if key in self._asked:
            self._again.add(key)
            self.steps = max(self.steps, MAX_STEPS - LAST_STEPS)
            return vectors.UNKNOWN
        known = self.members.get(key) or self._found(key, find)
        self.atoms |= known.atoms
        self.clashes += known.clashes
        self.toolkit = self.toolkit or known.toolkit
        return known.value

    def _found(self, key: tuple[Any, ...], find: Callable[[], Vec]) -> _Member:
        """What is found with all that was met on the way, so that it is met again where it is remembered."""
        around = self.atoms, self.clashes, self.toolkit
        self.atoms, self.clashes, self.toolkit = {}, [], False
        self._asked.add(key)
        try:
            found = _Member(find(), self.atoms, self.clashes, self.toolkit)
        finally:
            self._asked.discard(key)
            self._again.discard(key)
            self.atoms, self.clashes, self.toolkit = around
        if self.final and not self.circles:
            self.members[key] = found
        return found

    def truth(self, node: Expr, frame: EvaluationFrame) -> Vec:
        """`node` as a condition: lanes are True, False, `Raises` or `Unknown`."""
        if node.op in ("and", "or", "not"):
            return lift(truth, self.evaluate(node, frame))
        value = self.evaluate(node, frame)
        result = lift(truth, value)
        return self._assume(node, frame, result)

    def _assume(self, node: Expr, frame: EvaluationFrame, value: Vec) -> Vec:
        """Replace a free atom by its assumed value; remember the atoms that were met."""
        if not any(isinstance(lane, Unknown) for lane in value.lanes):
            return value
        key = node.args[0] if node.op == "unknown" else f"{frame.module.path}:{node.at}"
        if key in self.assumed:
            fixed = self.assumed[key]
            lanes = tuple(fixed if isinstance(lane, Unknown) else lane for lane in value.lanes)
            return Vec(lanes, value.device, value.guessed)
        self.atoms[key] = None
        return value

    def evaluate(self, node: Expr, frame: EvaluationFrame) -> Vec:
        self.steps += 1
        if self.steps > MAX_STEPS or self.depth > MAX_DEPTH:
            self.exhausted = True
            self.steps = max(self.steps, MAX_STEPS - LAST_STEPS)
            return vectors.UNKNOWN
        self.depth += 1
        try:
            return _DISPATCH[node.op](self, node, frame)
        finally:
            self.depth -= 1

    # -- leaves

    def _const(self, node: Expr, frame: EvaluationFrame) -> Vec:
        return Vec((node.args[0],))

    def _unknown(self, node: Expr, frame: EvaluationFrame) -> Vec:
        return Vec((Unknown(node.args[0]),))

    def _raise(self, node: Expr, frame: EvaluationFrame) -> Vec:
        return Vec((Raises(node.args[0]),))

    def _source(self, node: Expr, frame: EvaluationFrame) -> Vec:
        """A source of a kind; what is taken for one by what it is compared with is what is known of it first."""
        known = self.evaluate(node.args[1], frame) if len(node.args) > 1 else None
        if known is not None and not any(isinstance(lane, Unknown) for lane in known.lanes):
            return known
        return sources.read(node.args[0])

    def _name(self, node: Expr, frame: EvaluationFrame) -> Vec:
        return self.global_name(frame.module, node.args[0])

    def _param(self, node: Expr, frame: EvaluationFrame) -> Vec:
        owner, name = node.args
        bound = frame.lookup(owner, name)
        if bound is not None:
            return bound
        if name in ("self", "cls"):
            body = self.world.owner_class(frame.module, owner)
            if body is not None:
                return Vec((Instance(frame.module, body),))
        found = self._passed(frame.module, (owner, name)) or self._given(owner, name, frame.module)
        return found or (None if self.compile_time else guess(name)) or Vec((Unknown(name),))

    def _known(self, node: Expr, frame: EvaluationFrame) -> Vec:
        """What was evaluated in another file."""
        value: Vec = node.args[0]
        return value

    def _given(self, owner: str, name: str, module: Module) -> Vec | None:
        """What callers hand over for a parameter in C++, or what is assigned to a member; None where nothing says."""
        function = module.functions.get(owner)
        key = f"{owner}({name})" if function is not None and name in function.params else f".{name}"
        if key not in module.names and self.world.meaning(module, key) is None:
            return None
        value = self.global_name(module, key)
        return value if vectors.tells(value) else None

    def _passed(self, module: Module, parameter: tuple[str, str]) -> Vec | None:
        """What the callers of the file hand to a parameter that nobody binds; None where they hand no device on."""
        values = module.passed.get(parameter, ())
        key = (id(module), *parameter)
        if key in self.busy:
            self.circles.add(key)
            return None
        if not values or key in self.passed:
            return self.passed.get(key)
        around, self.circles = self.circles, set()
        self.busy.add(key)
        try:
            result = self._joined(module, values)
        finally:
            self.busy.discard(key)
            self.circles.discard(key)
        if self.final and not self.circles:  # what leads back to one that is still asked says nothing of its own
            self.passed[key] = result
        self.circles |= around
        return result

    def _joined(self, module: Module, values: Iterable[Expr]) -> Vec | None:
        """Those of some values that are of the device, as one. Who stops before the call hands nothing over."""
        found = [self.evaluate(value, EvaluationFrame(module)) for value in values]
        known = [value for value in found if value.device]
        if not known:
            return None
        joined = vectors.any_of(known)
        if not any(isinstance(lane, Raises) for lane in joined.lanes):
            return joined
        lanes = [Unknown() if isinstance(lane, Raises) else lane for lane in joined.lanes]
        return Vec(lanes, True, joined.guessed) if vectors.tells(Vec(lanes)) else None

    def _var(self, node: Expr, frame: EvaluationFrame) -> Vec:
        slot, name = node.args
        found = frame.memo.get(slot)
        if found is None:
            found = self.noting_toolkit((id(frame.module), slot), lambda: self._define(slot, frame))
        self.met_again((id(frame.module), slot))
        if not name or not all(isinstance(lane, Unknown) and lane.key != TAG for lane in found.lanes):
            return found
        value = frame.module.slots[slot]
        if value.op == "index" and value.args[0].op == "var":
            value = frame.module.slots[value.args[0].args[0]]  # `major, minor = ...` takes one value apart
        return found if of_a_release(value) else guess(name) or found

    def _define(self, slot: int, frame: EvaluationFrame) -> Vec:
        assume(frame.memo, slot, vectors.UNKNOWN)  # a definition that depends on itself
        value = self.evaluate(frame.module.slots[slot], frame)
        if not self.final:
            del frame.memo[slot]
        else:
            frame.memo[slot] = value
        return value

    def _flag(self, node: Expr, frame: EvaluationFrame) -> Vec:
        value, target = node.args
        found = self.evaluate(value, frame)
        return guess_flag(target) if all(isinstance(lane, (Unknown, Ref)) for lane in found.lanes) else found

    def _import(self, node: Expr, frame: EvaluationFrame) -> Vec:
        dotted, name = node.args
        near = frame.module.path
        module = self.world.module(dotted, near)
        if name is None:
            return Vec((ModuleValue(module) if module else Ref(dotted),))
        if module is not None:
            found = self.global_name(module, name, outer=True)
            if not isinstance(found.lanes[0], (Ref, Unknown)):
                return found
        inner = self.world.module(f"{dotted}.{name}", near)
        if inner is not None:
            return Vec((ModuleValue(inner),))
        if module is not None and isinstance(found.lanes[0], Unknown):
            return found
        return self.outside(f"{dotted}.{name}")

    def _function(self, node: Expr, frame: EvaluationFrame) -> Vec:
        function, around = frame.module.functions[node.args[0]], node.args[0].rpartition(".")[0]
        sees = around in frame.module.functions and bool(frame.args)
        return Vec((FunctionValue(frame.module, function, frame=frame if sees else None),))

    def _class(self, node: Expr, frame: EvaluationFrame) -> Vec:
        return Vec((ClassValue(frame.module, frame.module.classes[node.args[0]]),))

    def _opaque(self, node: Expr, frame: EvaluationFrame) -> Vec:
        return Vec((Ref(f"{frame.module.name}.{node.args[0]}"),))

    def global_name(self, module: Module, name: str, outer: bool = False) -> Vec:
        """A module-level name: its own definition, a star import, a builtin, or an object nobody defines."""
        key = (id(module), name)
        found = self.globals.get(key)
        if found is not None:
            self.met_again(key)
            return found
        definition = module.names.get(name)
        if definition is not None:
            assume(self.globals, key, vectors.UNKNOWN)
            value = self.noting_toolkit(key, lambda: self.evaluate(definition, EvaluationFrame(module)))
            if not self.final:
                del self.globals[key]
            else:
                self.globals[key] = value
            return value
        home = self._behind_stars(module, name, {module.path})
        if home is not None:
            return self.global_name(home, name)
        elsewhere = self.world.meaning(module, name)
        if elsewhere is not None:
            return self.global_name(elsewhere, name)
        if not outer and name in builtins.FUNCTIONS:
            return Vec((Ref(f"builtins.{name}"),))
        if not outer and name in ("__name__", "__package__"):
            alone = module.is_package or name == "__name__"
            return Vec((module.name if alone else module.name.rpartition(".")[0],))
        return self.outside(f"{module.name}.{name}" if outer else name)

    def _behind_stars(self, module: Module, name: str, seen: set[str]) -> Module | None:
        """The module from which a star import, through other facades, brings a name."""
        for star in module.stars:
            inner = self.world.module(star, module.path)
            if inner is None or inner.path in seen or len(seen) > MAX_DEPTH:
                continue
            seen.add(inner.path)
            home = inner if name in inner.names else self._behind_stars(inner, name, seen)
            if home is not None:
                return home
        return None

    def outside(self, dotted: str) -> Vec:
        """An object outside the tree: a value of the source table, or a reference to be called."""
        row = self.sources.find(dotted)
        if row is not None and row.value:
            self.toolkit = self.toolkit or row.assumed
            return sources.call(row, (), {})
        return Vec((Ref(dotted),))

    # -- containers

    def _sequence(self, node: Expr, frame: EvaluationFrame) -> Vec:
        build = _BUILD[node.op]
        parts: list[Vec] = []
        for item in node.args[0]:
            if item.op == "star":
                spread = self.evaluate(item.args[0], frame).only()
                if not isinstance(spread, (list, tuple, set, frozenset, range)) or len(spread) > vectors.MAX_ITEMS:
                    return vectors.UNKNOWN
                parts.extend(Vec((value,)) for value in spread)
                continue
            parts.append(self.evaluate(item, frame))
        return vectors.zipped(lambda values: build([vectors.part(value) for value in values]), parts)

    def _dict(self, node: Expr, frame: EvaluationFrame) -> Vec:
        keys = [self.evaluate(key, frame) for key in node.args[0]]
        values = [self.evaluate(value, frame) for value in node.args[1]]
        size = len(keys)

        def build(row: Sequence[Any]) -> Any:
            try:
                return {vectors.part(key): value for key, value in zip(row[:size], row[size:], strict=True)}
            except TypeError:
                return Unknown()

        return vectors.zipped(build, keys + values)

    def _fstr(self, node: Expr, frame: EvaluationFrame) -> Vec:
        parts = [self.evaluate(part, frame) for part in node.args[0]]
        return lift(lambda *values: "".join(builtins.to_text(value) for value in values), *parts)

    def _index(self, node: Expr, frame: EvaluationFrame) -> Vec:
        key = self.evaluate(node.args[1], frame)
        if _is_globals(node.args[0]):
            return vectors.each(key, lambda name: self._own_name(frame.module, name))
        base = self.evaluate(node.args[0], frame)
        if key.uniform and isinstance(key.lanes[0], Unknown) and all(map(_has_one, base.lanes)):
            return lift(_only, base)  # whatever is asked for, there is one to find
        return lift(builtins.item, base, key)

    def _own_name(self, module: Module, name: object) -> Vec:
        return self.global_name(module, name, outer=True) if isinstance(name, str) else vectors.UNKNOWN

    def _slice(self, node: Expr, frame: EvaluationFrame) -> Vec:
        parts = [self.evaluate(part, frame) for part in node.args]
        return lift(builtins.section, *parts)

    # -- operators

    def _cmp(self, node: Expr, frame: EvaluationFrame) -> Vec:
        operators = node.args[0].split(",")
        operands = vectors.in_one_scale([self.evaluate(item, frame) for item in node.args[1]])
        result: Vec | None = None
        for op, left, right in zip(operators, operands, operands[1:], strict=False):
            one = members.compared(self, op, left, right) or lift(partial(compare, op), left, right)
            self._note_clash(op, left, right, (frame.module.path, node.at))
            result = one if result is None else vectors.both(result, one)
        assert result is not None
        return result

    def _note_clash(self, op: str, left: Vec, right: Vec, place: tuple[str, Span | None]) -> None:
        if builtins.versions_as_text(op, left.lanes[0], right.lanes[0]):
            self.clashes.append(Clash(*place, "it orders release numbers as text, and '12.10' < '12.9'", False))
            return
        for mine, other in ((left, right), (right, left)):
            if not mine.device or mine.guessed or mine.uniform or other.device:
                continue
            reason = builtins.clash(op, mine.lanes[0], other.lanes[0], mine is left)
            reason = reason or (builtins.of_another_unit(mine.lanes, other.lanes[0]) if other.uniform else None)
            if reason:
                self.clashes.append(Clash(*place, reason, True, op, other.lanes[0]))

    def _bool(self, node: Expr, frame: EvaluationFrame) -> Vec:
        join = vectors.both if node.op == "and" else vectors.either
        result: Vec | None = self._or_else(node, frame) if node.op == "or" else None
        if result is not None:
            return result
        stop = node.op == "or"
        for item in node.args[0]:
            value = self.truth(item, frame)
            if self.neutral and not value.device and any(isinstance(lane, Unknown) for lane in value.lanes):
                continue
            result = value if result is None else join(result, value)
            if result.uniform and result.lanes[0] is stop:
                break
        return result if result is not None else vectors.UNKNOWN

    def _or_else(self, node: Expr, frame: EvaluationFrame) -> Vec | None:
        """`os.getenv("ARCH") or query()`: where nobody says otherwise it is what is asked; None of mere conditions."""
        *given, last = node.args[0]
        if last.op not in ("call", "var", "fstr", "bin"):
            return None
        value = self.evaluate(last, frame)
        if not value.device or value.guessed or any(isinstance(lane, (bool, Unknown)) for lane in value.lanes):
            return None
        said = [self.evaluate(item, frame) for item in given]
        return value if all(lane is None or isinstance(lane, Unknown) for one in said for lane in one.lanes) else None

    def _not(self, node: Expr, frame: EvaluationFrame) -> Vec:
        return lift(lambda value: not value, self.truth(node.args[0], frame))

    def _if(self, node: Expr, frame: EvaluationFrame) -> Vec:
        stand_in = self._stand_in(node, frame)
        if stand_in is not None:
            return stand_in
        test = self.truth(node.args[0], frame)
        if test.uniform:
            lane = test.lanes[0]
            if isinstance(lane, Raises):
                return test
            if isinstance(lane, bool):
                return self.evaluate(node.args[1] if lane else node.args[2], frame)
        then = self.evaluate(node.args[1], frame)
        otherwise = self.evaluate(node.args[2], frame)
        return vectors.choose(test, then, otherwise)

    def _stand_in(self, node: Expr, frame: EvaluationFrame) -> Vec | None:
        """`if cap is None: cap = query()`: what is given instead is the same thing."""
        unbound = _is_for_none(node) and frame.lookup(*node.args[2].args) is None
        value = self.evaluate(node.args[1], frame) if unbound else None
        return value if value is not None and value.device and not value.guessed else None

    def _bin(self, node: Expr, frame: EvaluationFrame) -> Vec:
        op, left, right = node.args
        return lift(lambda a, b: arithmetic(op, a, b), self.evaluate(left, frame), self.evaluate(right, frame))

    def _neg(self, node: Expr, frame: EvaluationFrame) -> Vec:
        return lift(lambda value: -value, self.evaluate(node.args[0], frame))

    def _names(self, node: Expr, frame: EvaluationFrame) -> Vec:
        """Whether one of a chip's own target names, whatever its suffix, is in a list of names."""
        container = self.evaluate(node.args[0], frame)
        return lift(builtins.names_chip, container, Vec(CHIPS, device=True))

    def _completes(self, node: Expr, frame: EvaluationFrame) -> Vec:
        """Whether a call returns instead of raising."""
        value = self.evaluate(node.args[0], frame)
        lanes = [not isinstance(lane, Raises) for lane in value.lanes]
        if all(isinstance(lane, Unknown) for lane in value.lanes):
            return Vec((Unknown(f"{frame.module.path}:{node.at}"),), value.device)
        return Vec(lanes, value.device, value.guessed)

    # -- functions

    def _lambda(self, node: Expr, frame: EvaluationFrame) -> Vec:
        owner, params, body = node.args
        return Vec((LambdaValue(frame, owner, tuple(p.args[0] for p in params), body),))

    def _comp(self, node: Expr, frame: EvaluationFrame) -> Vec:
        kind, owner, names, iterable, tests, element = node.args
        source = self.evaluate(iterable, frame)
        first = source.lanes[0]
        values = objects.members(self, first) if isinstance(first, ClassValue) else vectors.items(source)
        if values is None and isinstance(first, Unknown):
            values = [vectors.UNKNOWN]  # of devices there is one kind: what holds for one holds for all
        if values is None:
            return Vec((Unknown(),), source.device)
        results: list[Vec] = []
        for value in values:
            bound = vectors.bind_targets(owner, [n.args[0] for n in names], value)
            if bound is None:
                return vectors.UNKNOWN
            inner = EvaluationFrame(frame.module, bound, frame)
            inner.memo = memory()
            keep = Vec((True,))
            for test in tests:
                keep = vectors.both(keep, self.truth(test, inner))
            if keep.uniform and keep.lanes[0] is False:
                continue
            produced = self.evaluate(element, inner)
            results.append(vectors.kept(keep, produced))
        if values == [vectors.UNKNOWN] and not any(result.device for result in results):
            return vectors.UNKNOWN
        build = _BUILD.get(kind, list)
        return vectors.zipped(lambda row: vectors.collected(row, build), results)

    def _call_node(self, node: Expr, frame: EvaluationFrame) -> Vec:
        function, arguments = node.args
        if function.op == "static":
            found = macros.static(self, function.args[0], (*function.args[1], *arguments), frame)
            if vectors.tells(found):
                return found
        target = self.evaluate(function, frame)
        args: list[Vec] = []
        keywords: dict[str, Vec] = {}
        for item in arguments:
            if item.op == "kw":
                keywords[item.args[0]] = self.evaluate(item.args[1], frame)
            elif item.op == "star":
                spread = vectors.items(self.evaluate(item.args[0], frame))
                if spread is None:
                    return vectors.UNKNOWN
                args.extend(spread)
            else:
                args.append(self.evaluate(item, frame))
        if not target.uniform:
            methods = [lane for lane in target.lanes if isinstance(lane, Method)]
            if methods and not any(map(calls.asks_an_empty_mapping, methods)):
                return lift(lambda f, *rest: builtins.method(f, rest), target, *args)
            if all(isinstance(lane, bool) for lane in target.lanes):
                return target  # a mark on a test is that mark
            return vectors.each(target, lambda lane: calls.call(self, lane, args, keywords))
        return calls.call(self, target.lanes[0], args, keywords)


def _has_one(rows: object) -> bool:
    return isinstance(rows, (list, dict)) and len(rows) == 1


def _only(rows: list[Any] | dict[Any, Any]) -> Any:
    return next(iter(rows.values() if isinstance(rows, dict) else rows))


def _is_globals(node: Expr) -> bool:
    return node.op == "call" and node.args[0].op == "name" and node.args[0].args[0] == "globals"


def _is_for_none(node: Expr) -> bool:
    """Whether a choice is between a value and what stands in for it where it is None, or "auto"."""
    test, _, otherwise = node.args
    if test.op != "cmp" or test.args[0] not in ("is", "=="):
        return False
    value, none = test.args[1]
    same = value.op == "param" and (value.op, value.args) == (otherwise.op, otherwise.args)
    return same and none.op == "const" and none.args[0] in (None, "auto")


_BUILD: dict[str, Callable[[Sequence[Any]], Any]] = {
    "tuple": tuple,
    "list": list,
    "set": frozenset,
    "dict": dict,
    "any": list,
}
_DISPATCH: dict[str, Callable[[Interpreter, Expr, EvaluationFrame], Vec]] = {
    "const": Interpreter._const,
    "unknown": Interpreter._unknown,
    "raise": Interpreter._raise,
    "macro": macros.value,
    "defined": macros.defined,
    "member": macros.member,
    "static": lambda run, node, frame: run.global_name(frame.module, node.args[2]),
    "source": Interpreter._source,
    "flag": Interpreter._flag,
    "name": Interpreter._name,
    "param": Interpreter._param,
    "known": Interpreter._known,
    "var": Interpreter._var,
    "import": Interpreter._import,
    "function": Interpreter._function,
    "class": Interpreter._class,
    "opaque": Interpreter._opaque,
    "tuple": Interpreter._sequence,
    "list": Interpreter._sequence,
    "set": Interpreter._sequence,
    "dict": Interpreter._dict,
    "fstr": Interpreter._fstr,
    "index": Interpreter._index,
    "slice": Interpreter._slice,
    "cmp": Interpreter._cmp,
    "names": Interpreter._names,
    "completes": Interpreter._completes,
    "and": Interpreter._bool,
    "or": Interpreter._bool,
    "not": Interpreter._not,
    "if": Interpreter._if,
    "bin": Interpreter._bin,
    "neg": Interpreter._neg,
    "lambda": Interpreter._lambda,
    "comp": Interpreter._comp,
    "attr": members.attribute,
    "call": Interpreter._call_node,
    "kw": lambda run, node, frame: run.evaluate(node.args[1], frame),
    "star": lambda run, node, frame: vectors.UNKNOWN,
}
