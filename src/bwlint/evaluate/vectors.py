"""Vectors as a whole: choosing lane by lane, three-valued logic, containers and parameters of vectors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from bwlint.evaluate.names import guess
from bwlint.evaluate.objects import (
    ClassValue,
    FunctionValue,
    Instance,
    LambdaValue,
    ModuleValue,
    PartialValue,
)
from bwlint.evaluate.values import FILTERED, Guess, Raises, Ref, SomeText, Unknown, Vec, lift
from bwlint.model.expr import TAG
from bwlint.model.kinds import BOUND

MAX_ITEMS = 300
UNKNOWN = Vec((Unknown(),))


def each(value: Vec, function: Callable[[Any], Vec]) -> Vec:
    """What a function makes of a value, asked once for each of its lanes that differ."""
    if value.uniform:
        return function(value.lanes[0])
    made: list[tuple[Any, Vec]] = []
    lanes = []
    for index, lane in enumerate(value.lanes):
        known = next(
            (found for seen, found in made if seen is lane or (type(seen) is type(lane) and seen == lane)), None
        )
        if known is None:
            known = function(lane)
            made.append((lane, known))
        lanes.append(known.spread(len(value.lanes))[index])
    return Vec(lanes, True, value.guessed or any(found.guessed for _, found in made))


def tells(value: Vec) -> bool:
    """Whether a value says more than the name of what holds it: it is known, or known to be no device."""
    return any(
        not isinstance(lane, (Unknown, Ref)) or (isinstance(lane, Unknown) and lane.key == TAG) for lane in value.lanes
    )


def part(value: Any) -> Any:
    return value.number if isinstance(value, Guess) and value.part else value


def zipped(build: Callable[[Sequence[Any]], Any], parts: Sequence[Vec]) -> Vec:
    """Combine vectors into containers lane by lane; an unknown element stays an element."""
    device = any(part.device for part in parts)
    guessed = any(part.guessed for part in parts)
    for part in parts:
        for lane in part.lanes:
            if isinstance(lane, Raises):
                return part
    if all(part.uniform for part in parts):
        return Vec((_guarded(build, [part.lanes[0] for part in parts]),), device, guessed)
    width = max(len(part.lanes) for part in parts)
    columns = [part.spread(width) for part in parts]
    return Vec([_guarded(build, row) for row in zip(*columns, strict=True)], device, guessed)


def _guarded(build: Callable[[Sequence[Any]], Any], row: Sequence[Any]) -> Any:
    try:
        return build(row)
    except TypeError:
        return Unknown()


_SKIPPED = object()


def kept(keep: Vec, value: Vec) -> Vec:
    """`value` where `keep`; an unknown where that is not decided; a gap where it is false."""

    def pick(flag: object, lane: object) -> object:
        if flag is True:
            return lane
        return _SKIPPED if flag is False else Unknown(FILTERED)

    width = max(len(keep.lanes), len(value.lanes))
    if width == 1:
        return Vec((pick(keep.lanes[0], value.lanes[0]),), keep.device or value.device)
    lanes = [pick(flag, lane) for flag, lane in zip(keep.spread(width), value.spread(width), strict=True)]
    return Vec(lanes, keep.device or value.device, keep.guessed or value.guessed)


def collected(row: Sequence[Any], build: Callable[[Sequence[Any]], Any]) -> Any:
    return build([value for value in row if value is not _SKIPPED])


def items(items: Vec) -> list[Vec] | None:
    """The elements of an iterable whose length is the same on every chip."""
    columns = []
    for lane in items.lanes:
        if isinstance(lane, dict):
            lane = list(lane)
        if isinstance(lane, (set, frozenset)):
            try:
                lane = sorted(lane)
            except TypeError:
                return None
        if not isinstance(lane, (list, tuple, range, str)) or len(lane) > MAX_ITEMS:
            return None
        columns.append(lane)
    if len({len(column) for column in columns}) != 1:
        return None
    return [Vec(row, items.device, items.guessed) for row in zip(*columns, strict=True)]


def bind_targets(owner: str, names: list[str], value: Vec) -> dict[tuple[str, str], Vec] | None:
    if len(names) == 1:
        return {(owner, names[0]): value}
    parts = items(value)
    if parts is None or len(parts) != len(names):
        return {(owner, name): UNKNOWN for name in names}
    return {(owner, name): part for name, part in zip(names, parts, strict=True)}


def bind(target: FunctionValue, args: list[Vec], keywords: dict[str, Vec]) -> dict[tuple[str, str], Vec]:
    function = target.function
    if target.owner is not None and function.kind in BOUND:
        args = [Vec((target.owner,)), *args]
    bound = {
        (function.qualname, name): value for name, value in zip(function.params, args[: function.spread], strict=False)
    }
    if function.spread is not None:
        bound[(function.qualname, "*")] = zipped(lambda row: tuple(map(part, row)), args[function.spread :])
    for name, value in keywords.items():
        if name in function.params:
            bound[(function.qualname, name)] = value
    for name in function.params:
        if (function.qualname, name) not in bound:
            fallback = guess(name)
            if fallback is not None and function.defaults[function.params.index(name)] is None:
                bound[(function.qualname, name)] = fallback
    return bound


MAX_SHAPE = 200
"""Values in a call's arguments beyond which it is not remembered."""


def signature(bound: Mapping[tuple[str, str], Vec]) -> tuple[Any, ...] | None:
    """A hashable form of the arguments; None when one of them cannot be compared cheaply."""
    rows: list[Any] = []
    for key, value in bound.items():
        shapes = [_shape(lane, [MAX_SHAPE]) for lane in value.lanes]
        if None in shapes:
            return None
        rows.append((key, tuple(shapes)))
    return tuple(rows)


def _shape(value: Any, room: list[int]) -> Any:
    """A value as nested tuples that can be hashed; None where there is no such form, or no room for it."""
    room[0] -= 1
    if room[0] < 0 or isinstance(value, (LambdaValue, PartialValue)):
        return None
    if isinstance(value, Unknown):
        return ("unknown",)
    if isinstance(value, FunctionValue):
        return None if value.frame is not None else ("function", id(value.module), value.function.qualname)
    if isinstance(value, (Instance, ClassValue)):
        given = value.given if isinstance(value, Instance) else ()
        shapes = [_shape(lane, room) for _, vec in given for lane in vec.lanes]
        return None if None in shapes else (type(value).__name__, id(value.module), value.body.qualname, *shapes)
    if isinstance(value, ModuleValue):
        return ("module", id(value.module))
    if isinstance(value, dict):
        value = [part for pair in value.items() for part in pair]
    if isinstance(value, (list, tuple)):
        parts = tuple(_shape(part, room) for part in value)
        return None if None in parts else (type(value).__name__, parts)
    try:
        hash(value)
    except TypeError:
        return None
    return (type(value).__name__, value)


def join_all(values: list[Any]) -> Any:
    """What is known when any of `values` may be the result; exceptions give way to results."""
    known = [value for value in values if not isinstance(value, Raises)]
    if not known:
        return values[-1]
    first = known[0]
    if isinstance(first, Unknown) and not isinstance(first, SomeText):
        return first
    if all(type(value) is type(first) and value == first for value in known[1:]):
        return first
    if type(first) is tuple and all(type(value) is tuple and len(value) == len(first) for value in known):
        return tuple(map(join_all, map(list, zip(*known, strict=True))))
    if all(isinstance(value, Instance) and value.body is first.body for value in known):
        return _any_of_objects(known)
    texts = all(isinstance(value, SomeText) or (type(value) is str and value) for value in known)
    return SomeText() if texts else Unknown()


def _any_of_objects(known: Sequence[Instance]) -> Instance:
    """An object of a class that may be any of some: what each was made with, joined."""
    made = [dict(one.given) for one in known]
    keys = [key for key in made[0] if all(key in one for one in made)]
    return replace(known[0], given=tuple((key, any_of([one[key] for one in made])) for key in keys))


def any_of(values: Sequence[Vec]) -> Vec:
    """What is known where any of some values may be the result."""
    width = max(len(value.lanes) for value in values)
    lanes = [join_all(list(row)) for row in zip(*(value.spread(width) for value in values), strict=True)]
    return Vec(lanes, any(value.device for value in values), any(value.guessed for value in values))


def choose(test: Vec, then: Vec, otherwise: Vec) -> Vec:
    if test.uniform and then.uniform and otherwise.uniform:  # the test is unknown: decided ones never get here
        joined = join_all([then.lanes[0], otherwise.lanes[0]])
        return Vec((joined,), then.device or otherwise.device or test.device, then.guessed or otherwise.guessed)
    lanes = []
    width = max(len(test.lanes), len(then.lanes), len(otherwise.lanes))
    for flag, yes, no in zip(test.spread(width), then.spread(width), otherwise.spread(width), strict=True):
        if isinstance(flag, Raises):
            lanes.append(flag)
        elif flag is True:
            lanes.append(yes)
        elif flag is False:
            lanes.append(no)
        else:
            lanes.append(join_all([yes, no]))
    first = lanes[0]
    if all(type(lane) is type(first) and lane == first for lane in lanes):
        lanes = [first]
    return Vec(
        lanes,
        test.device or then.device or otherwise.device,
        test.guessed or then.guessed or otherwise.guessed,
    )


def _kleene(stop: bool) -> Callable[[Any, Any], Any]:
    """`and` (stop = False) or `or` (stop = True); an exception counts only if the left side lets it happen."""

    def join(left: Any, right: Any) -> Any:
        if left is stop or isinstance(left, Raises):
            return left
        if left is (not stop):
            return right
        return stop if right is stop else left

    return join


def _connect(join: Callable[[Any, Any], Any]) -> Callable[[Vec, Vec], Vec]:
    def connect(left: Vec, right: Vec) -> Vec:
        device, guessed = left.device or right.device, left.guessed or right.guessed
        if left.uniform and right.uniform:
            return Vec((join(left.lanes[0], right.lanes[0]),), device, guessed)
        width = max(len(left.lanes), len(right.lanes))
        lanes = [join(a, b) for a, b in zip(left.spread(width), right.spread(width), strict=True)]
        return Vec(lanes, device, guessed)

    return connect


both = _connect(_kleene(False))
either = _connect(_kleene(True))


def in_one_scale(operands: list[Vec]) -> list[Vec]:
    """`70 <= cc <= 1000`: a guessed name is one number, in the scale of the least bound that tells which."""
    if len(operands) < 3:
        return operands
    bounds = [one.lanes[0] for one in operands if one.uniform and type(one.lanes[0]) is int]
    return [_scaled(one, bounds) if isinstance(one.lanes[0], Guess) else one for one in operands]


def _scaled(name: Vec, bounds: list[int]) -> Vec:
    like = min((bound for bound in bounds if name.lanes[0].form(bound) is not None), default=None)
    return name if like is None else lift(lambda lane: lane.form(like), name)
