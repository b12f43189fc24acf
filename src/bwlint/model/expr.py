"""The expression form that every reader produces and the interpreter runs.

A node is ``Expr(op, args, at)``. `args` holds nodes, tuples of nodes, strings, numbers, booleans and None, nothing
else, so that nodes compare by what they say. `at` is a source span or None.

====================  ==========================================================================
op                    args
====================  ==========================================================================
const                 value
tuple list set        (element, ...)
dict                  (key, ...), (value, ...)
name                  dotted name as written, looked up in the module that holds the expression
param                 owner, name: a parameter of a function, lambda or comprehension
var                   slot, name: a definition in the module's slot table and the name that reads it
attr                  base, attribute
index slice           base, key / lower, upper, step
call                  function, (argument, ...); keywords are ``kw`` nodes, ``*x`` is ``star``
cmp                   "==,<" (operators, comma separated), (operand, ...)
and or not            (operand, ...)
if                    test, then, otherwise
bin neg               operator, left, right / operand
fstr                  (part, ...)
comp                  kind (any list/set/dict shape), owner, (name, ...), iterable, (condition, ...), element
lambda                owner, (name, ...), body
names                 container of target names: does it hold one of the chip's own
completes             call: does it return instead of raising
flag                  value, target: a flag named after a target, which speaks where its value is not known
source                kind: a capability source spelled by a reader, see `evaluate.sources.KINDS`
macro                 name, (argument, ...): the preprocessor's; what is not defined counts as 0
defined               name of a macro
static                key, (argument of a template, ...), name: a static member or function template of C++
member                type, name, (argument, ...): a static member of a type that is an argument
raise                 reason
import                module, name or None
function class        qualified name in this module
opaque                qualified name of a definition that was not lowered
unknown               key: a free atom; equal keys have equal values
====================  ==========================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple


class Span(NamedTuple):
    """A stretch of a file as `ast` counts: lines from 1, byte columns from 0, the end is one past the last byte."""

    line: int
    column: int
    end_line: int
    end_column: int

    def __str__(self) -> str:
        return f"{self.line}:{self.column}-{self.end_line}:{self.end_column}"

    def holds(self, other: Span) -> bool:
        """Whether all of `other` lies in here."""
        # Lines first: most spans are far apart, and a part of a tuple is a new one.
        return self[0] <= other[0] and other[2] <= self[2] and self[:2] <= other[:2] and other[2:] <= self[2:]

    def through(self, last: Span) -> Span:
        """From where this begins to where `last` ends."""
        return Span(self.line, self.column, last.end_line, last.end_column)


class Expr(NamedTuple):
    op: str
    args: tuple[Any, ...]
    at: Span | None = None


def const(value: object, at: Span | None = None) -> Expr:
    return Expr("const", (value,), at)


def is_text(value: Expr) -> bool:
    """Whether a value is a text that is written down."""
    return value.op == "const" and isinstance(value.args[0], str)


def unknown(key: str, at: Span | None = None) -> Expr:
    return Expr("unknown", (key,), at)


NONE = const(None)
TAG = "tag"
"""The key of an unknown that holds one of the program's own numbers, and no device."""
COMPILED = "compiled"
"""That of one which holds where the guards of the preprocessor around a place do."""


def negate(test: Expr) -> Expr:
    if test.op == "not":
        inner: Expr = test.args[0]
        return inner
    return Expr("not", (test,), test.at)


def mapped(item: Any, change: Callable[[Expr], Any]) -> Any:
    """Arguments of a node with what `change` makes of each node among them."""
    if isinstance(item, Expr):
        return change(item)
    return tuple([mapped(one, change) for one in item]) if isinstance(item, tuple) else item


def walk_through(node: Any, slots: Sequence[Expr], most: int) -> Iterator[Expr]:
    """As `walk`, with the definitions in `slots` in the place of their references, `most` of them."""
    waiting, known = [node], set[int]()
    while waiting and len(known) < most:
        for found in walk(waiting.pop()):
            if found.op != "var":
                yield found
            elif found.args[0] not in known:
                known.add(found.args[0])
                waiting.append(slots[found.args[0]])


def walk(node: Any) -> Iterator[Expr]:
    """Every node below and including `node`, without following slots."""
    stack = [node]
    while stack:
        item = stack.pop()
        if item.__class__ is Expr:
            yield item
            stack += item.args[::-1]
        elif isinstance(item, tuple):
            stack += item[::-1]
