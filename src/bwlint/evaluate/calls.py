"""Calls: functions, lambdas and classes of the tree, capability sources and builtins outside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bwlint.chips import frameworks
from bwlint.evaluate import builtins, sources, vectors
from bwlint.evaluate.names import DEVICE
from bwlint.evaluate.objects import ClassValue, EvaluationFrame, FunctionValue, Instance, LambdaValue, PartialValue
from bwlint.evaluate.values import CHIPS, Capability, Method, Raises, Ref, Unknown, Vec, lift, truth
from bwlint.model.facts import Function

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
        inner.memo = {}
        return run.evaluate(target.body, inner)
    if isinstance(target, PartialValue):
        return call(run, target.function, [*target.arguments, *args], {**dict(target.keywords), **keywords})
    if isinstance(target, ClassValue):
        return _capability(run, target, args) or Vec((Instance(target.module, target.body),))
    if isinstance(target, Method):
        return lift(lambda *rest: builtins.method(target, rest), *args) if args else Vec((builtins.method(target, ()),))
    if isinstance(target, Ref):
        return _outside(run, target, args, keywords)
    return vectors.UNKNOWN


def _capability(run: Interpreter, target: ClassValue, args: list[Vec]) -> Vec | None:
    """`DeviceCapability(9, 0)` of a NamedTuple of the tree: it compares like the tuple; None for other classes."""
    if len(args) != 2 or not DEVICE.search(target.body.qualname):
        return None
    bases = (run.evaluate(base, EvaluationFrame(target.module)).lanes[0] for base in target.body.bases)
    if not any(isinstance(base, Ref) and base.name.rpartition(".")[2] == "NamedTuple" for base in bases):
        return None
    return lift(lambda major, minor: Capability((major, minor)), *args)


def _outside(run: Interpreter, target: Ref, args: list[Vec], keywords: dict[str, Vec]) -> Vec:
    last = target.name.rpartition(".")[2]
    if last == "partial" and args:
        return Vec((PartialValue(args[0].only(), tuple(args[1:]), tuple(keywords.items())),))
    if last in _TRANSPARENT:
        return _transparent(args)
    if last in ("filter", "map") and len(args) == 2:
        return _higher(run, last, args)
    row = run.sources.find(target.name)
    if row is not None:
        run.toolkit = run.toolkit or row.assumed
        return sources.call(row, args, keywords)
    if target.name.startswith(_COMPUTES) and last in builtins.FUNCTIONS:
        return builtins.FUNCTIONS[last](args, keywords)
    return Vec((Unknown(target.name),))


def _transparent(args: list[Vec]) -> Vec:
    """`lru_cache(maxsize=1)(f)`, `cache(f)`, `const_expr(x)`: the thing itself."""
    if not args or (isinstance(args[0].lanes[0], int) and not isinstance(args[0].lanes[0], bool)):
        return Vec((Ref("functools.cache"),))
    return args[0]


def _higher(run: Interpreter, name: str, args: list[Vec]) -> Vec:
    values = vectors.items(args[1])
    if values is None:
        return vectors.UNKNOWN
    results = [call(run, args[0].only(), [value], {}) for value in values]
    if name == "map":
        return vectors.zipped(list, results)
    results = [vectors.kept(lift(truth, keep), value) for keep, value in zip(results, values, strict=True)]
    return vectors.zipped(lambda row: vectors.collected(row, list), results)


def _function(run: Interpreter, target: FunctionValue, args: list[Vec], keywords: dict[str, Vec]) -> Vec:
    function = target.function
    value = _inline(run, target, args, keywords)
    if not isinstance(value.lanes[0], Unknown) or not all(isinstance(lane, Unknown) for lane in value.lanes):
        return value
    row = run.sources.find(f"{target.module.name}.{function.qualname}")
    if row is None:
        return value
    run.toolkit = run.toolkit or row.assumed
    said = sources.call(row, args, keywords)
    return said if _may_return(run, target, said.lanes[0], args, keywords) else sources.read("guess")


def _may_return(run: Interpreter, target: FunctionValue, form: Any, args: list[Vec], keywords: dict[str, Vec]) -> bool:
    """Whether a function of the tree returns a pair somewhere, where the row of its name says that it does.

    Under the name of another's function there may be one that returns a number.
    """
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
    shape = vectors.signature(bound)
    key = (id(module), function.qualname, shape, target.owner and target.owner.body.qualname)
    if shape is not None and key in run.calls:
        return run.calls[key]
    if key in run.busy or len(run.busy) > MAX_NESTED_CALLS:
        return vectors.UNKNOWN
    run.busy.add(key)
    try:
        frame = EvaluationFrame(module, bound)
        for name, default in zip(function.params, function.defaults, strict=True):
            if (function.qualname, name) not in bound and default is not None:
                frame.args[(function.qualname, name)] = run.evaluate(default, EvaluationFrame(module))
        value = _returned(run, function, frame)
    finally:
        run.busy.discard(key)
    if shape is not None and run.final:
        run.calls[key] = value
    return value


def _returned(run: Interpreter, function: Function, frame: EvaluationFrame) -> Vec:
    """The first return whose conditions hold, lane by lane; a doubtful one joins with what comes after it."""
    pending: list[bool] = [True] * len(CHIPS)
    doubtful: list[list[Any]] = [[] for _ in CHIPS]
    lanes: list[Any] = [Unknown()] * len(CHIPS)
    device = guessed = False
    for path, result in function.returns:
        taken = Vec((True,))
        for test in path:
            taken = vectors.both(taken, run.truth(test, frame))
            if taken.uniform and taken.lanes[0] is False:
                break
        device, guessed = device or taken.device, guessed or taken.guessed
        if taken.uniform and taken.lanes[0] is False:
            continue
        value = run.evaluate(result, frame)
        device, guessed = device or value.device, guessed or value.guessed
        for i, (take, lane) in enumerate(zip(taken.spread(), value.spread(), strict=True)):
            if not pending[i] or take is False:
                continue
            if take is True or isinstance(take, Raises):
                pending[i] = False
                lanes[i] = vectors.join_all([*doubtful[i], take if isinstance(take, Raises) else lane])
            else:
                doubtful[i].append(lane)
        if not any(pending):
            break
    first = lanes[0]
    if all(lane is first or (type(lane) is type(first) and lane == first) for lane in lanes):
        lanes = [first]
    return Vec(lanes, device, guessed)
