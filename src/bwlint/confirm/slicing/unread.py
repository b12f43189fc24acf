"""Unknown values, and which way a branch went when Python asked for their truth.

Such a value gives another one for whatever is done with it; where its truth is asked, one of both is chosen, and the
run is repeated with the other. This runs in the child.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from bwlint.confirm.slicing.standins import LibrariesOnChip


LONGEST_KEY = 200
_ARCHITECTURE = re.compile(r"(?:sm_?|compute_)?1?\d\d[af]?|1?\d\.\d[af]?")
MAX_CHOICES = 24
"""As many values that nobody knows may be met in one run."""


class Undecided(BaseException):
    """Python needs a value that nobody knows: a slice cannot go on. No `except Exception` of a slice catches it."""


class NotReached(BaseException):
    """What is asked for is not reached with the values chosen."""


class SkipRaised(Exception):
    """What pytest and unittest raise to skip a test."""


@dataclass(slots=True)
class Choices:
    """What was chosen in one run, in order; `given` begins it. `guessed` are those that are called like a device."""

    given: Sequence[bool] = ()
    taken: dict[str, bool] = field(default_factory=dict)
    guessed: dict[str, None] = field(default_factory=dict)
    lost: str = ""
    """Why the run decides nothing, though the slice may have gone on."""

    def choose(self, value: UnknownValue) -> bool:
        key = value._bw_key
        if key not in self.taken:
            if len(self.taken) >= MAX_CHOICES:
                self.lose(f"it needs more than {MAX_CHOICES} unknown values")
            self.taken[key] = self.given[len(self.taken)] if len(self.taken) < len(self.given) else True
            if value._bw_why:
                self.guessed[value._bw_why] = None
        return self.taken[key]

    def following(self) -> list[bool]:
        """What begins the next run: the last that can be chosen otherwise is; nothing after the last run."""
        taken = list(self.taken.values())
        while taken and not taken[-1]:
            taken.pop()
        return [*taken[:-1], False] if taken else []

    def lose(self, why: str) -> NoReturn:
        self.lost = self.lost or why
        raise Undecided(why)


_PLAIN = frozenset({"__version__", "__file__", "__name__", "__path__", "__spec__", "__dict__"})
"""Names with underscores that are values of programs, and no questions of Python's own."""


class UnknownValue:
    """A value that nobody knows. Its key says where it comes from: equal keys are equal values. Its names begin as no
    program's do, for all others are attributes that a slice may ask for."""

    __slots__ = ("_bw_key", "_bw_negated", "_bw_outside", "_bw_why", "_bw_world")
    _bw_key: str
    _bw_why: str
    _bw_world: LibrariesOnChip
    _bw_negated: bool
    _bw_outside: bool

    def __init__(
        self, world: LibrariesOnChip, key: str, why: str = "", negated: bool = False, outside: bool = False
    ) -> None:
        for name, value in (("world", world), ("key", key), ("why", why), ("negated", negated), ("outside", outside)):
            object.__setattr__(self, f"_bw_{name}", value)

    def __bool__(self) -> bool:
        return self._bw_world.choices.choose(self) != self._bw_negated

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name not in _PLAIN:
            raise AttributeError(name)
        return self._bw_world.attribute(self, name)

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return self._bw_world.called(self, args, keywords)

    def __setattr__(self, name: str, value: object) -> None:
        return

    def __setitem__(self, key: object, value: object) -> None:
        return

    def __enter__(self) -> UnknownValue:
        return self

    def __exit__(self, *_: object) -> None:
        return

    def __contains__(self, item: object) -> bool:
        return bool(related("in", item, self))

    def __repr__(self) -> str:
        return self._bw_key

    def _bw_lost(self, *_: object) -> NoReturn:
        why = self._bw_why or f"nothing in reach says what `{self._bw_key}` is, and more than its truth is asked"
        self._bw_world.choices.lose(why)


def related(op: str, left: Any, right: Any, negated: bool = False) -> UnknownValue:
    """An operation of which one side is not known."""
    known = left if isinstance(left, UnknownValue) else right
    why = next((side._bw_why for side in (left, right) if isinstance(side, UnknownValue) and side._bw_why), "")
    if (
        not why
        and op == "=="
        and any(isinstance(side, str) and _ARCHITECTURE.fullmatch(side) for side in (left, right))
    ):
        why = f"nothing in reach says what `{known._bw_key}` is, and it is compared with the name of an architecture"
    return UnknownValue(known._bw_world, f"({shown(left)} {op} {shown(right)})"[:LONGEST_KEY], why, negated)


def among(item: UnknownValue, container: Any, negated: bool) -> UnknownValue:
    """Whether a value that nobody knows is one of several: one question, and not one for each of them."""
    members = list(container) if isinstance(container, list | tuple | set | frozenset | dict) else [container]
    names = next((each for each in members if isinstance(each, str) and _ARCHITECTURE.fullmatch(each)), None)
    why = item._bw_why or ("" if names is None else related("==", item, names)._bw_why)
    listed = ", ".join(sorted(map(shown, members))) if len(members) < 20 else f"{len(members)} values"
    return UnknownValue(item._bw_world, f"({item._bw_key} in {listed})"[:LONGEST_KEY], why, negated)


def shown(value: object) -> str:
    """A value as the key of one that is made from it."""
    if isinstance(value, UnknownValue):
        return f"not {value._bw_key}" if value._bw_negated else value._bw_key
    if isinstance(value, list | tuple) and len(value) < 10:
        return f"{type(value).__name__}({', '.join(map(shown, value))})"
    if value is None or isinstance(value, bool | int | float | str):
        return repr(value)[:60] if not isinstance(value, int) or abs(value) < 1 << 64 else "a large number"
    return f"a {type(value).__name__}"


# what Python must have as a plain value
_LOST = ("iter", "len", "hash", "index", "int", "float", "complex", "str", "format", "bytes", "await", "next")
_OPERATORS = {
    **{"add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**", "matmul": "@"},
    **{"and": "&", "or": "|", "xor": "^", "lshift": "<<", "rshift": ">>", "divmod": "divmod"},
}


def _define_operators() -> None:
    for name, op in _OPERATORS.items():
        setattr(UnknownValue, f"__{name}__", lambda self, other, op=op: related(op, self, other))
        setattr(UnknownValue, f"__r{name}__", lambda self, other, op=op: related(op, other, self))
    # what is not less is at least, so that both spellings have one value
    for name, op, negated in (
        *(("eq", "==", False), ("ne", "==", True), ("lt", "<", False), ("ge", "<", True)),
        *(("gt", ">", False), ("le", ">", True), ("getitem", "item", False)),
    ):
        setattr(
            UnknownValue, f"__{name}__", lambda self, other, op=op, negated=negated: related(op, self, other, negated)
        )
    for name in (*_LOST, "length_hint", "reversed"):
        setattr(UnknownValue, f"__{name}__", UnknownValue._bw_lost)
    for name in ("neg", "pos", "abs", "invert", "ceil", "floor", "trunc"):
        setattr(UnknownValue, f"__{name}__", lambda self, name=name: related(name, self, None))


_define_operators()
