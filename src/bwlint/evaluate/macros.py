"""Macros on every compile target: of the compiler and libraries (macros.toml), and the tree's above a line."""

from __future__ import annotations

import bisect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from bwlint.chips import ALL_TARGETS, Target, TargetSet
from bwlint.data import table
from bwlint.evaluate import vectors
from bwlint.evaluate.names import DEVICE, guess
from bwlint.evaluate.objects import EvaluationFrame
from bwlint.evaluate.values import Guess, Unknown, Vec, lift
from bwlint.model.expr import Expr, Span, const
from bwlint.model.facts import Function, Module, Path

if TYPE_CHECKING:
    from bwlint.evaluate.interpreter import Interpreter

MAX_NESTED = 60
MAX_DEFINITIONS = 60
_TYPE = re.compile(r"(?:\w+::)*(?P<name>\w+)(?:<(?P<given>[^<>]*)>)?$")
_UNDEFINED = None
"""The lane of a macro that is not defined."""


@dataclass(frozen=True, slots=True)
class _Row:
    value: Vec
    assumed: bool = False
    asks: str = ""
    library: bool = False


def value(run: Interpreter, node: Expr, frame: EvaluationFrame) -> Vec:
    """The value of a macro in a condition; one that is not defined is 0 there."""
    name, arguments = node.args
    found = expand(run, name, arguments, node.at, frame)
    if run.compile_time and found.uniform and isinstance(found.lanes[0], Unknown):
        return _of_build(name) or found
    return lift(lambda lane: 0 if lane is _UNDEFINED else lane, found)


@cache
def _of_build(name: str) -> Vec | None:
    """A macro that no file defines and that is called like a target: a build hands it over (-DTARGET_CUDA_ARCH=120)."""
    called = guess(name)
    if called is None or called.lanes[0].part:
        return None
    return Vec([Guess(one.chip.major, one.chip.minor, name) for one in ALL_TARGETS], device=True, guessed=True)


def defined(run: Interpreter, node: Expr, frame: EvaluationFrame) -> Vec:
    found = expand(run, node.args[0], None, node.at, frame)
    lanes = [_is_defined(lane) for lane in found.lanes]
    return Vec(lanes, found.device)


def _is_defined(lane: object) -> object:
    if isinstance(lane, Unknown):
        return Unknown(f"defined:{lane.key}") if lane.key.startswith("macro:") else True
    return lane is not _UNDEFINED


def expand(
    run: Interpreter, name: str, arguments: tuple[Expr, ...] | None, at: Span | None, frame: EvaluationFrame
) -> Vec:
    """The lanes of a macro as it stands at a place; `arguments` are those of a function-like one."""
    if not run.compile_time:
        return static(run, name, arguments or (), frame)
    row = _known().get(name) or _feature(name)
    if row is not None and row.asks:
        asked = arguments[0].args[0] if arguments and arguments[0].op == "macro" else ""
        return expand(run, f"{row.asks}{asked}", (), at, frame)
    if row is not None and not row.library:
        run.toolkit = run.toolkit or row.assumed
        return row.value
    if name.startswith("::"):
        return _of_any(run, name, frame)
    line = frame.line if frame.line is not None else at[0] if at else 0
    own = frame.module.functions.get(name)
    if own is not None and own.kind == "macro":
        return _of_file(run, frame.module, own, arguments, line, frame)
    for module in run.world.definers(frame.module, name):
        return _of_file(run, module, module.functions[name], arguments, 0, frame)
    if row is not None:
        return row.value
    if DEVICE.search(name.lower()) and run.world.is_given_the_device(frame.module, name):
        lanes = [Guess(*divmod(target.number, 10), name) for target in ALL_TARGETS]
        return Vec(lanes, device=True, guessed=True)
    return Vec((Unknown(f"macro:{name}"),))


def _of_any(run: Interpreter, name: str, frame: EvaluationFrame) -> Vec:
    """A member of a type that a template is given: the tree knows which where only one type of it has that member."""
    found = run.world.having(frame.module, name)
    if found is None:
        return Vec((Unknown(f"macro:{name}"),))
    module, key = found
    return _of_file(run, module, module.functions[key], (), 0, frame)


def static(run: Interpreter, key: str, arguments: tuple[Expr, ...], frame: EvaluationFrame) -> Vec:
    """A static member or a function template of C++, which chips are asked for as targets are."""
    own = frame.module.functions.get(key)
    found = [frame.module] if own is not None and own.kind == "macro" else run.world.definers(frame.module, key)
    if not found or not ("::" in key or key.endswith("<>")):
        return Vec((Unknown(f"macro:{key}"),))
    return _of_file(run, found[0], found[0].functions[key], arguments, 0, frame)


def member(run: Interpreter, node: Expr, frame: EvaluationFrame) -> Vec:
    """`T::holds(x)`, where T is a type that was given."""
    of, name, arguments = node.args
    named = _TYPE.match(str(run.evaluate(of, frame).only()))
    if named is None:
        return vectors.UNKNOWN
    given = [one.strip() for one in (named["given"] or "").split(",") if one.strip()]
    own = tuple(const(int(one) if one.isdigit() else one) for one in given)
    return expand(run, f"{named['name']}::{name}", (*own, *arguments), None, frame)


def _of_file(
    run: Interpreter,
    module: Module,
    macro: Function,
    arguments: tuple[Expr, ...] | None,
    line: int,
    frame: EvaluationFrame,
) -> Vec:
    """The last definition whose tests hold, target by target. `line` bounds what is seen; 0 is all of it."""
    bound = _bound(run, macro, arguments, frame)
    key = ("macro", id(module), macro.qualname, line, vectors.signature(bound))
    if key in run.calls:
        return run.calls[key]
    if key in run.busy or len(run.busy) > MAX_NESTED:
        return Vec((_UNDEFINED,))
    run.busy.add(key)
    try:
        result, counting = _counting(run, module, macro, line)
        if result is None:
            result = _included(run, module, macro, arguments, frame)
        for taken, body in counting:
            result = _chosen(
                macro.qualname, taken, run.evaluate(body, EvaluationFrame(module, bound, line=line)), result
            )
    finally:
        run.busy.discard(key)
    if run.final and key[-1] is not None:
        run.calls[key] = result
    return result


def _counting(
    run: Interpreter, module: Module, macro: Function, line: int
) -> tuple[Vec | None, list[tuple[Vec, Expr]]]:
    """The definitions that count at a line, with where their tests hold, and what was before; None: from elsewhere."""
    stop = bisect.bisect_left(macro.returns, line, key=_line) if line else len(macro.returns)
    found: list[tuple[Vec, Expr]] = []
    for path, body in reversed(macro.returns[max(0, stop - MAX_DEFINITIONS) : stop]):
        taken = Vec((True,))
        for test in path:
            taken = vectors.both(taken, run.truth(test, EvaluationFrame(module)))
        if not taken.uniform or taken.lanes[0] is not False:
            found.append((taken, body))
        if taken.uniform and taken.lanes[0] is True:
            return Vec((_UNDEFINED,)), found[::-1]
    return Vec((Unknown(f"macro:{macro.qualname}"),)) if stop > MAX_DEFINITIONS else None, found[::-1]


def _line(definition: tuple[Path, Expr]) -> int:
    return definition[1].at[0] if definition[1].at else 0


def _included(
    run: Interpreter, module: Module, macro: Function, arguments: tuple[Expr, ...] | None, frame: EvaluationFrame
) -> Vec:
    """What a header of a file makes of a macro that the file defines too."""
    for other in run.world.definers(module, macro.qualname):
        if other is not module:
            return _of_file(run, other, other.functions[macro.qualname], arguments, 0, frame)
    return Vec((_UNDEFINED,))


def _chosen(name: str, taken: Vec, then: Vec, otherwise: Vec) -> Vec:
    if taken.uniform and isinstance(taken.lanes[0], bool):
        return then if taken.lanes[0] else otherwise
    width = max(len(taken.lanes), len(then.lanes), len(otherwise.lanes))
    lanes: list[Any] = []
    for flag, yes, no in zip(taken.spread(width), then.spread(width), otherwise.spread(width), strict=True):
        if isinstance(flag, bool):
            lanes.append(yes if flag else no)
        else:
            lanes.append(Unknown(f"macro:{name}"))
    return Vec(lanes, taken.device or then.device or otherwise.device)


def _bound(
    run: Interpreter, macro: Function, arguments: tuple[Expr, ...] | None, frame: EvaluationFrame
) -> dict[tuple[str, str], Vec]:
    values = [run.evaluate(argument, frame) for argument in arguments or ()]
    if any(param.endswith("...") for param in macro.params):
        return _with_pack(macro, values)
    return {(macro.qualname, name): vec for name, vec in zip(macro.params, values, strict=False)}


def _with_pack(macro: Function, values: list[Vec]) -> dict[tuple[str, str], Vec]:
    place = next(place for place, param in enumerate(macro.params) if param.endswith("..."))
    behind = len(values) - (len(macro.params) - place - 1)
    pack = Vec((tuple(value.only() for value in values[place:behind]),))
    names = (*macro.params[:place], macro.params[place].removesuffix("..."), *macro.params[place + 1 :])
    return {
        (macro.qualname, name): value
        for name, value in zip(names, [*values[:place], pack, *values[behind:]], strict=False)
    }


def known_macro(name: str) -> bool:
    """Whether the table has a row for a macro."""
    return name in _known() or _feature(name) is not None


@cache
def _known() -> Mapping[str, _Row]:
    rows: dict[str, _Row] = {}
    for row in table("macros")["macro"]:
        for name in row.get("names", ()):
            rows[name] = _Row(_lanes(row), row.get("assumed", False), row.get("asks", ""), row.get("library", False))
    return rows


@cache
def _feature(name: str) -> _Row | None:
    for row in table("macros")["macro"]:
        found = re.fullmatch(row["pattern"], name) if "pattern" in row else None
        if found and row.get("undefined"):
            return _Row(Vec((_UNDEFINED,)))
        if found:
            name = f"sm_{found[1]}a"
            return _Row(_where(lambda target: target.name == name))  # noqa: B023 - used at once
    return None


_FORMS: dict[str, Any] = {
    "arch": lambda target: target.number * 10,
    "specific": lambda target: target.number * 10 if target.suffix == "a" else _UNDEFINED,
    "family": lambda target: target.number * 10 if target.suffix else _UNDEFINED,
}


def _lanes(row: Mapping[str, Any]) -> Vec:
    if "targets" in row:
        named = TargetSet.of(*row["targets"])
        return _where(lambda target: target in named)
    if row.get("undefined"):
        return Vec((_UNDEFINED,))
    form = _FORMS.get(str(row.get("value")))
    if form is None:
        return Vec((row.get("value", 1),))
    return Vec([form(target) for target in ALL_TARGETS], device=True)


def _where(holds: Callable[[Target], bool]) -> Vec:
    return Vec([1 if holds(target) else _UNDEFINED for target in ALL_TARGETS], device=True)
