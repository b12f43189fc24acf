"""Calls: functions, lambdas and classes of the tree, capability sources and builtins outside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bwlint.chips import frameworks
from bwlint.evaluate import builtins, members, objects, patterns, sources, vectors
from bwlint.evaluate.names import DEVICE, SKIPPING_MARKS, guess
from bwlint.evaluate.objects import (
    ClassValue,
    EvaluationFrame,
    FunctionValue,
    Instance,
    LambdaValue,
    ModuleValue,
    PartialValue,
    RecordType,
)
from bwlint.evaluate.values import CHIPS, Capability, Method, Raises, Record, Ref, Unknown, Vec, lift, truth
from bwlint.model.expr import Expr
from bwlint.model.facts import Function, Module
from bwlint.sources.recorder import memory

if TYPE_CHECKING:
    from bwlint.evaluate.interpreter import Interpreter

MAX_NESTED_CALLS = 25
_COMPUTES = ("builtins.", *(f"{module}." for module, _, _ in frameworks.releases()))
"""In front of what `builtins` knows by its last part."""
_TRANSPARENT = frozenset(
    {
        "lru_cache",
        "cache",
        "const_expr",
        "constexpr_function",
        "constexpr",
        "static_print",
        "cast",
    }
)


def call(run: Interpreter, target: Any, args: list[Vec], keywords: dict[str, Vec]) -> Vec:
    if isinstance(target, FunctionValue):
        return _function(run, target, args, keywords)
    if isinstance(target, LambdaValue):
        bound = {(target.owner, name): value for name, value in zip(target.params, args, strict=False)}
        inner = EvaluationFrame(target.frame.module, bound, target.frame)
        inner.memo = memory()
        return run.evaluate(target.body, inner)
    if isinstance(target, PartialValue):
        return call(run, target.function, [*target.arguments, *args], {**dict(target.keywords), **keywords})
    if isinstance(target, ClassValue):
        return _made(run, target, args, keywords)
    if isinstance(target, RecordType):
        return _record(target.fields, args, keywords)
    if isinstance(target, Method):
        if asks_an_empty_mapping(target) and args:
            return args[1] if len(args) > 1 else Vec((None,))
        return lift(lambda *rest: builtins.method(target, rest), *args) if args else Vec((builtins.method(target, ()),))
    if isinstance(target, Ref):
        return _outside(run, target, args, keywords)
    return Vec((target,)) if isinstance(target, bool) else vectors.UNKNOWN  # a mark on a test is that mark


def asks_an_empty_mapping(target: Any) -> bool:
    """Whether it is the `get` of a mapping without keys, which finds nothing, whatever it is asked for."""
    return isinstance(target, Method) and target.name == "get" and target.owner == {}


def _made(run: Interpreter, target: ClassValue, args: list[Vec], keywords: dict[str, Vec]) -> Vec:
    """An object of a class: a member of an enum, a tuple with names, or an instance with its arguments."""
    if (kind := objects.kind_of(run, target)) and len(args) == 1:
        return lift(lambda value: objects.find(run, target, kind, value), args[0])
    bases = _names_of_bases(run, target)
    if "TypedDict" in bases:
        return builtins.dict_of(args, keywords)
    if "NamedTuple" in bases:
        if len(args) == 2 and DEVICE.search(target.body.qualname):
            return lift(Capability.made, *args)
        return _record(target.body.fields, args, keywords)
    given = _given(run, target, args, keywords)
    return Vec((Instance(target.module, target.body, tuple(given.items())),))


def _given(
    run: Interpreter, target: ClassValue, args: list[Vec], keywords: dict[str, Vec]
) -> dict[tuple[str, str], Vec]:
    """The arguments of a new object under the parameters, or the fields, that take them."""
    start = members.constructor(run, target)
    if start is not None:
        return {key: value for key, value in vectors.bind(start, args, keywords).items() if key[1] != "self"}
    owner, fields = target.body.qualname, members.fields(run, target)
    given = {(owner, name): value for name, value in zip(fields, args, strict=False)}
    given |= {(owner, name): value for name, value in keywords.items() if name in fields}
    for name in fields:
        default = target.body.names.get(name)
        if (owner, name) not in given and default is not None and default.op in ("call", "var"):
            made = _from_factory(run, target.module, default)
            if made is not None:
                given[(owner, name)] = made
    return given


def _from_factory(run: Interpreter, module: Module, default: Expr) -> Vec | None:
    """`field(default_factory=f)` is a call of f."""
    node = module.slots[default.args[0]] if default.op == "var" else default
    named = {item.args[0]: item.args[1] for item in node.args[1] if item.op == "kw"} if node.op == "call" else {}
    if "default" in named:
        return run.evaluate(named["default"], EvaluationFrame(module))
    if "default_factory" not in named:
        return None
    return call(run, run.evaluate(named["default_factory"], EvaluationFrame(module)).only(), [], {})


def _names_of_bases(run: Interpreter, target: ClassValue) -> list[str]:
    """What the bases of a class from outside the tree are called."""
    bases = (run.evaluate(base, EvaluationFrame(target.module)).lanes[0] for base in target.body.bases)
    return [base.name.rpartition(".")[2] for base in bases if isinstance(base, Ref)]


def _record(fields: tuple[str, ...], args: list[Vec], keywords: dict[str, Vec]) -> Vec:
    parts = [*args, *(keywords[name] for name in fields[len(args) :] if name in keywords)]
    if len(parts) != len(fields):
        return Vec((Unknown(),), any(part.device for part in parts))

    def build(row: Sequence[Any]) -> Record:
        made = Record(vectors.part(value) for value in row)
        made.fields = fields
        return made

    return vectors.zipped(build, parts)


def _record_type(args: list[Vec]) -> Vec:
    """`namedtuple("I", "x y")`."""
    listed = args[1].only() if len(args) > 1 else None
    names = listed.replace(",", " ").split() if isinstance(listed, str) else listed
    if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) for name in names):
        return vectors.UNKNOWN
    return Vec((RecordType(tuple(names)),))


def _outside(run: Interpreter, target: Ref, args: list[Vec], keywords: dict[str, Vec]) -> Vec:
    last = target.name.rpartition(".")[2]
    if last == "partial" and args:
        return Vec((PartialValue(args[0].only(), tuple(args[1:]), tuple(keywords.items())),))
    if last in _TRANSPARENT:
        return _transparent(args)
    if last == "namedtuple":
        return _record_type(args)
    if last in SKIPPING_MARKS:
        return _mark(last, args)
    if target.name.endswith("mark.skip"):
        return Vec((True,))
    if last in ("max", "min", "sorted") and len(args) == 1 and "key" in keywords:
        return vectors.each(args[0], lambda items: _ordered(run, last, items, keywords))
    if last in ("filter", "map") and len(args) == 2:
        return _higher(run, last, args)
    row = run.sources.find(target.name)
    if row is not None:
        run.toolkit = run.toolkit or row.assumed
        return sources.call(row, args, keywords)
    if target.name == "builtins.getattr" and len(args) > 1 and (found := _attribute(run, args)) is not None:
        return found
    if target.name == "importlib.import_module" and args:
        package = [*args[1:], *keywords.values(), vectors.UNKNOWN][0].only()
        return vectors.each(args[0], lambda name: _module(run, name, package))
    if last in sources.PRINTING_CALLS and (said := run.sources.printed(args)) is not None:
        return said
    if last in sources.ATTRIBUTE_CALLS and args:
        return sources.attribute_of_device(args, in_pair=sources.ATTRIBUTE_CALLS[last])
    if target.name.startswith("re."):
        return patterns.call(last, args, keywords)
    if target.name.startswith(_COMPUTES) and last in builtins.FUNCTIONS:
        return builtins.FUNCTIONS[last](args, keywords)
    return guess(last.removeprefix("get_")) or Vec((Unknown(target.name),))


def _attribute(run: Interpreter, args: list[Vec]) -> Vec | None:
    """`getattr(owner, name)` of something of the tree, with a name for each chip; None of other owners."""
    owner = args[0].only()
    if not isinstance(owner, (ModuleValue, ClassValue, Instance)):
        return None

    def named(name: object) -> Vec:
        return members.named(run, args[0], name, owner.module) if isinstance(name, str) else vectors.UNKNOWN

    return vectors.each(args[1], named)


def _module(run: Interpreter, name: object, package: object) -> Vec:
    """A module by its dotted name, in a package where it begins with a dot."""
    if not isinstance(name, str):
        return vectors.UNKNOWN
    if name.startswith("."):
        above = len(name) - len(name.lstrip(".")) - 1
        parts = package.split(".") if isinstance(package, str) else []
        name = ".".join([*parts[: len(parts) - above], name.lstrip(".")])
    found = run.world.module(name)
    return Vec((ModuleValue(found) if found is not None else Ref(name),))


def _transparent(args: list[Vec]) -> Vec:
    """`lru_cache(maxsize=1)(f)`, `cache(f)`, `const_expr(x)`: the thing itself."""
    if not args or (isinstance(args[0].lanes[0], int) and not isinstance(args[0].lanes[0], bool)):
        return Vec((Ref("functools.cache"),))
    return args[0]


def _mark(last: str, args: list[Vec]) -> Vec:
    """`pytest.mark.skipif(condition)` as whether it skips."""
    if not args:
        return vectors.UNKNOWN
    skips = lift(truth, args[0])
    return lift(lambda value: not value, skips) if last == "skipUnless" else skips


def _higher(run: Interpreter, name: str, args: list[Vec]) -> Vec:
    values = vectors.items(args[1])
    if values is None:
        return vectors.UNKNOWN
    results = [call(run, args[0].only(), [value], {}) for value in values]
    if name == "map":
        return vectors.zipped(list, results)
    results = [vectors.kept(lift(truth, keep), value) for keep, value in zip(results, values, strict=True)]
    return vectors.zipped(lambda row: vectors.collected(row, list), results)


def _ordered(run: Interpreter, name: str, values: object, keywords: dict[str, Vec]) -> Vec:
    """`max(values, key=f)` of plain values, where f gives a number for each."""
    key, reverse = keywords["key"].only(), keywords.get("reverse", Vec((False,))).only()
    if not isinstance(values, (list, tuple)) or not values or not isinstance(reverse, bool):
        return vectors.UNKNOWN
    ranks = [call(run, key, [Vec((value,))], {}).only() for value in values]
    if not all(isinstance(rank, (int, float)) for rank in ranks):
        return vectors.UNKNOWN
    down = reverse or name == "max"
    ordered = [value for _, value in sorted(zip(ranks, values, strict=True), key=lambda pair: pair[0], reverse=down)]
    return Vec((ordered if name == "sorted" else ordered[0],))


def _function(run: Interpreter, target: FunctionValue, args: list[Vec], keywords: dict[str, Vec]) -> Vec:
    target = _overload(target, len(args))
    function = target.function
    value = _inline(run, target, args, keywords)
    if not any(isinstance(lane, Unknown) for lane in value.lanes):
        return value
    row = run.sources.find(f"{target.module.name}.{function.qualname}")
    if row is None:
        return value
    said = sources.call(row, args, keywords)
    if not all(isinstance(lane, Unknown) for lane in value.lanes):
        return said if _goes_on(value, said) else value
    run.toolkit = run.toolkit or row.assumed
    return said if _may_return(run, target, said.lanes[0], args, keywords) else sources.read("guess")


def _goes_on(value: Vec, said: Vec) -> bool:
    """Whether what is known by name of all chips is what a body gives on those on which it is known itself."""
    if len(value.lanes) != len(said.lanes) or any(isinstance(lane, Unknown) for lane in said.lanes):
        return False
    return all(isinstance(own, Unknown) or own == other for own, other in zip(value.lanes, said.lanes, strict=True))


def _overload(target: FunctionValue, given: int) -> FunctionValue:
    """Of functions that share a name in C++, the one that takes so many arguments; else the first."""
    name, found, number = target.function.qualname, target.function, 1
    while len(found.params) != given:
        number += 1
        other = target.module.functions.get(f"{name}#{number}")
        if other is None:
            return target
        found = other
    return target if number == 1 else replace(target, function=found)


def _may_return(run: Interpreter, target: FunctionValue, form: Any, args: list[Vec], keywords: dict[str, Vec]) -> bool:
    """Whether a function of the tree returns a pair somewhere, where the row of its name says so."""
    key = ("form", id(target.module), target.function.qualname)
    if not isinstance(form, tuple):
        return True
    if key in run.busy:
        return False
    run.busy.add(key)
    try:
        frame = EvaluationFrame(target.module, vectors.bind(target, args, keywords))
        values = (run.evaluate(result, frame).lanes[0] for _, result in target.function.returns)
        return any(isinstance(value, tuple) for value in values)
    finally:
        run.busy.discard(key)


def _inline(run: Interpreter, target: FunctionValue, args: list[Vec], keywords: dict[str, Vec]) -> Vec:
    function, module = target.function, target.module
    bound = vectors.bind(target, args, keywords)
    shape = vectors.signature(bound) if target.frame is None else None
    key = (id(module), function.qualname, shape, target.owner and target.owner.body.qualname)
    if shape is not None and key in run.calls:
        run.met_again(key)
        return run.calls[key]
    if key in run.busy or len(run.busy) > MAX_NESTED_CALLS:
        return vectors.UNKNOWN
    run.busy.add(key)
    try:
        frame = EvaluationFrame(module, bound, target.frame)
        frame.memo = memory()
        for name, default in zip(function.params, function.defaults, strict=True):
            if (function.qualname, name) not in bound and default is not None:
                frame.args[(function.qualname, name)] = run.evaluate(default, EvaluationFrame(module))
        value = run.noting_toolkit(key, lambda: _returned(run, function, frame))
    finally:
        run.busy.discard(key)
    if shape is not None and run.final:
        run.calls[key] = value
    return value


def _returned(run: Interpreter, function: Function, frame: EvaluationFrame) -> Vec:
    """The first return whose conditions hold, lane by lane; a doubtful one joins with what comes after it.

    What nobody knows, and nobody knows whether it is returned, is an override (of the environment, of a caller) and
    says nothing of an answer that is a matter of the device, but that an error in doubt is not all that may come; the
    neutral projection drops every value in doubt that is no matter of the device. Where one return waits for nothing
    but some tests in doubt, a later one that waits for them too is never reached.
    """
    pending: list[bool] = [True] * len(CHIPS)
    doubtful: list[list[Any]] = [[] for _ in CHIPS]
    dropped: list[list[Any]] = [[] for _ in CHIPS]
    asks = False
    lanes: list[Any] = [Unknown()] * len(CHIPS)
    spent: list[list[set[int]]] = [[] for _ in CHIPS]
    device = guessed = False
    for path, result in function.returns:
        taken = Vec((True,))
        tests: dict[int, Vec] = {}
        for test in path:
            tests[id(test)] = run.truth(test, frame)
            taken = vectors.both(taken, tests[id(test)])
            if taken.uniform and taken.lanes[0] is False:
                break
        device, guessed = device or taken.device, guessed or taken.guessed
        if taken.uniform and taken.lanes[0] is False:
            continue
        value = run.evaluate(result, frame)
        device, guessed = device or value.device, guessed or value.guessed
        asks = asks or value.device or taken.device
        for i, (take, lane) in enumerate(zip(taken.spread(), value.spread(), strict=True)):
            if not pending[i] or take is False or any(each <= tests.keys() for each in spent[i]):
                continue
            if take is True or isinstance(take, Raises):
                pending[i] = False
                lanes[i] = vectors.join_all([*doubtful[i], take if isinstance(take, Raises) else lane])
                continue
            spent[i].append({one for one, truth in tests.items() if isinstance(truth.spread()[i], Unknown)})
            if value.device or taken.device or not (run.neutral or isinstance(lane, Unknown)):
                doubtful[i].append(lane)
            else:
                dropped[i].append(lane)
        if not any(pending):
            break
    for i in range(len(CHIPS)):
        if pending[i] and doubtful[i]:
            found = vectors.join_all(doubtful[i])
            lanes[i] = found if asks and not isinstance(found, Raises) else vectors.join_all([*dropped[i], found])
    first = lanes[0]
    if all(lane is first or (type(lane) is type(first) and lane == first) for lane in lanes):
        lanes = [first]
    return Vec(lanes, device, guessed)
