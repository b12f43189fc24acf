"""Facts and findings as bytes, and back: data alone, that nothing is run for.

The scalars of a thing stand in one list. What is made of others is a row of numbers: its kind, how many parts it has,
and which they are; parts stand before what is made of them. What was one object is one again.
"""

from __future__ import annotations

import json
import zlib
from array import array
from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass
from functools import cache
from importlib import import_module
from itertools import chain
from operator import attrgetter
from typing import Any

from bwlint.model.expr import Expr, Span

_SCALARS = frozenset({str, int, float, bool, type(None)})
_MODULES = frozenset(
    {
        "bwlint.model.details",
        "bwlint.model.facts",
        "bwlint.model.findings",
        "bwlint.model.ledger",
        "bwlint.model.outline",
        "bwlint.ledger.question",
    }
)
_NO_SPAN = (-1, -1, -1, -1)
_Take = Callable[[int], Any]
"""Gives the thing of a number."""
_Make = Callable[[_Take, list[int]], Any]
"""Makes a thing of the numbers of its parts."""
_LEVEL = 1
_HEAD = 4


class NotData(Exception):
    """Something cannot be packed, or bytes are nothing that was."""


def packed(thing: object) -> bytes:
    """`thing` as bytes: scalars, tuples, sets that do not change, dicts, and what the model defines; raises NotData."""
    writer = _Writer()
    try:
        top = writer.number(thing)
        head = json.dumps([writer.kinds, writer.scalars, top]).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise NotData(str(error)) from None
    cells = writer.cells.tobytes()
    return zlib.compress(len(head).to_bytes(_HEAD, "little") + head + cells, _LEVEL)


def unpacked(data: bytes) -> Any:
    """What was packed; raises NotData."""
    try:
        plain = zlib.decompress(data)
        end = _HEAD + int.from_bytes(plain[:_HEAD], "little")
        kinds, scalars, top = json.loads(plain[_HEAD:end])
        cells = array("i")
        cells.frombytes(plain[end:])
        return _built(list(map(_maker, kinds)), scalars, cells.tolist())[top]
    except (zlib.error, ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise NotData(str(error)) from None


def _built(makers: list[_Make], scalars: list[Any], cells: list[int]) -> list[Any]:
    """The things by their numbers: scalars from the front, what is made of others from the back."""
    rows, at = 0, 0
    while at < len(cells):
        if cells[at + 1] < 0:
            raise NotData("a row of less than nothing")
        at += 2 + cells[at + 1]
        rows += 1
    things = [*scalars, *[None] * rows]
    take, at, row = things.__getitem__, 0, -1
    while at < len(cells):
        first = at + 2
        at = first + cells[at + 1]
        things[row] = makers[cells[first - 2]](take, cells[first:at])
        row -= 1
    return things


class _Writer:
    def __init__(self) -> None:
        self.kinds: list[str] = []
        self.scalars: list[object] = []
        self.cells = array("i")
        self._rows = 0
        self._known: dict[object, int] = {}
        self._numbers: dict[type, int] = {}

    def number(self, thing: Any) -> int:
        """The number of a thing, which is written where it was not yet."""
        of = type(thing)
        key = thing if of is str else id(thing) if of not in _SCALARS else (of, repr(thing))
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._scalar(thing) if of in _SCALARS else self._row(of, thing)
        return known

    def _scalar(self, thing: object) -> int:
        self.scalars.append(thing)
        return len(self.scalars) - 1

    def _row(self, of: type, thing: Any) -> int:
        if of not in self._numbers:
            self.kinds.append(_name(of))
            self._numbers[of] = len(self.kinds) - 1
        if of is Expr:
            op, args, at = thing
            numbers = [self.number(op), *(at or _NO_SPAN), *map(self.number, args)]
        elif of is Span:
            numbers = list(thing)
        else:
            numbers = list(map(self.number, _parts(of)(thing)))
        self.cells.extend((self._numbers[of], len(numbers), *numbers))
        self._rows += 1
        return -self._rows


def _dict(take: _Take, parts: list[int]) -> dict[Any, Any]:
    each = map(take, parts)
    return dict(zip(each, each, strict=True))


def _expr(take: _Take, parts: list[int]) -> Expr:
    at = Span._make(parts[1:5]) if parts[1] >= 0 else None
    return Expr(take(parts[0]), tuple(map(take, parts[5:])), at)


_MAKERS: dict[str, _Make] = {
    "tuple": lambda take, parts: tuple(map(take, parts)),
    "frozenset": lambda take, parts: frozenset(map(take, parts)),
    "dict": _dict,
    "Span": lambda _, parts: Span._make(parts),
    "Expr": _expr,
}
_PARTS: dict[type, Callable[[Any], Iterable[Any]]] = {
    tuple: iter,
    frozenset: lambda things: sorted(things, key=repr),
    dict: lambda things: chain.from_iterable(things.items()),
}


@cache
def _parts(of: type) -> Callable[[Any], Iterable[Any]]:
    """What a thing of a type is made of."""
    if of in _PARTS:
        return _PARTS[of]
    names = [field.name for field in fields(of)]
    return attrgetter(*names) if len(names) > 1 else lambda thing: (getattr(thing, names[0]),)


def _name(of: type) -> str:
    """The name of a type of which things are packed; raises TypeError where it is none."""
    name = of.__qualname__ if of.__qualname__ in _MAKERS else f"{of.__module__}:{of.__qualname__}"
    _maker(name)
    return name


@cache
def _maker(name: str) -> _Make:
    """What makes a thing of its parts; of classes those alone that the model defines. Raises TypeError."""
    if name in _MAKERS:
        return _MAKERS[name]
    module, _, qualname = name.partition(":")
    made = getattr(import_module(module), qualname) if module in _MODULES else None
    if not isinstance(made, type) or made.__module__ != module or not is_dataclass(made):
        raise TypeError(f"{name} is no data")
    new, kind = object.__new__, made
    setters = [getattr(made, field.name).__set__ for field in fields(made)]

    def make(take: _Take, parts: list[int]) -> Any:
        thing = new(kind)
        for put, part in zip(setters, parts, strict=True):
            put(thing, take(part))
        return thing

    return make
