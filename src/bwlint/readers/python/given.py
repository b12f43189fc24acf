"""Constant arguments of a call, and the checks that they decide."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from bwlint.readers.nodes import AnyFunction, Decide, below, defaults, truth

UNKNOWN = "?"
NOTHING = ("?=?",)
"""What a call writes out that leaves all to the defaults."""
MAX_ARGUMENTS = 24
MAX_TEXT = 40
_FALSE = frozenset({"False", "None", "''", "0"})
_ORDERS: dict[type[ast.cmpop], Callable[..., bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


def arguments(call: ast.Call, held: Mapping[str, str]) -> tuple[str, ...]:
    """`0=?`, `backend='trtllm'`: what a call writes out, by place or name; () where not all of it is seen."""
    if len(call.args) + len(call.keywords) > MAX_ARGUMENTS:
        return ()
    if any(isinstance(one, ast.Starred) for one in call.args) or any(one.arg is None for one in call.keywords):
        return ()
    by_place = (f"{place}={_text(one, held)}" for place, one in enumerate(call.args))
    return (*by_place, *(f"{one.arg}={_text(one.value, held)}" for one in call.keywords)) or NOTHING


def constants(body: Sequence[ast.stmt]) -> dict[str, str]:
    """The texts that the constants of a file hold, `BACKEND = "fast"`, as they are written."""
    found: dict[str, str] = {}
    for node in body:
        target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
        if isinstance(node, ast.Assign) and isinstance(target, ast.Name) and target.id.isupper():
            text = isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
            found[target.id] = _text(node.value) if text and target.id not in found else UNKNOWN
    return found


def arguments_of(call: ast.Call) -> Iterator[ast.expr]:
    """What a call hands on, by place and by name."""
    yield from call.args
    yield from (one.value for one in call.keywords)


def _text(node: ast.expr, held: Mapping[str, str] = MappingProxyType({})) -> str:
    if isinstance(node, ast.Name):
        return held.get(node.id, UNKNOWN)
    if isinstance(node, ast.Constant) and isinstance(node.value, str | int | None):
        text = repr(node.value)
        return text if len(text) <= MAX_TEXT else UNKNOWN
    if isinstance(node, ast.Attribute) and node.attr.isupper():
        owner = node.value.attr if isinstance(node.value, ast.Attribute) else getattr(node.value, "id", "")
        return f"{owner}.{node.attr}" if owner[:1].isupper() else UNKNOWN
    return UNKNOWN


def written(text: str) -> tuple[str | int | None] | None:
    """The constant that an argument is; None of another one."""
    try:
        return (ast.literal_eval(text),)
    except (ValueError, SyntaxError):
        return None


def bound(function: AnyFunction, given: Sequence[str]) -> dict[str, str]:
    """What a call and the defaults write out for a function's parameters; under `.name` the attribute of any object."""
    places = [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
    places = places[1:] if places[:1] in (["self"], ["cls"]) else places
    told = dict(one.split("=", 1) for one in given)
    texts = {name: told[str(place)] for place, name in enumerate(places) if str(place) in told}
    texts |= {name: text for name, text in told.items() if not name.isdigit()}
    for name, default in defaults(function) if not any(one.startswith(".") for one in told) else ():
        texts.setdefault(name, _text(default))
    return {name: text for name, text in texts.items() if text != UNKNOWN}


class Spoken(NamedTuple):
    """The names that a function gives a value itself, and those of which one has to be held for something to matter."""

    stored: frozenset[str]
    asked: frozenset[str]

    @classmethod
    def of(cls, function: AnyFunction) -> Spoken:
        nodes = below(function)
        stored = (one.id for one in nodes if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store))
        return cls(frozenset(stored), frozenset(name for one in nodes for name in _asked(one)))

    def held(self, told: Mapping[str, str]) -> dict[str, str]:
        """What `bound` says that holds in all of the function."""
        return {name: text for name, text in told.items() if name not in self.stored}


def _asked(node: ast.AST) -> Iterator[str]:
    if isinstance(node, (ast.If, ast.IfExp, ast.Assert)):
        for one in operands(node.test):
            yield _name(one.left if isinstance(one, ast.Compare) else one)
    elif isinstance(node, ast.Call):
        yield from (one.id for one in arguments_of(node) if isinstance(one, ast.Name))


def _name(node: ast.expr) -> str:
    """What a value is held under; "" where it is none of a name."""
    return node.id if isinstance(node, ast.Name) else f".{node.attr}" if isinstance(node, ast.Attribute) else ""


def deciding(values: Mapping[str, str]) -> Decide:
    """Who knows what some names hold."""

    def known(test: ast.expr) -> bool | None:
        if isinstance(test, ast.Name):
            text = values.get(test.id)
            return None if text is None else text not in _FALSE
        return _compared(test, values) if isinstance(test, ast.Compare) and len(test.ops) == 1 else None

    return lambda test: truth(test, known)


def matters(node: ast.AST, values: Mapping[str, str], decide: Decide) -> bool:
    """Whether what names hold decides a test, or is handed on by a call."""
    if isinstance(node, (ast.If, ast.IfExp, ast.Assert)):
        return any(decide(part) is not None for part in operands(node.test))
    names = (one.id for one in arguments_of(node) if isinstance(one, ast.Name)) if isinstance(node, ast.Call) else ()
    return any(name in values for name in names)


def operands(test: ast.expr) -> Iterator[ast.expr]:
    """A test, and those that it is put together from."""
    yield test
    for one in test.values if isinstance(test, ast.BoolOp) else [test.operand] if isinstance(test, ast.UnaryOp) else []:
        yield from operands(one)


def _number(text: str) -> int | None:
    return int(text) if text.lstrip("-").isdecimal() else None


def _compared(test: ast.Compare, values: Mapping[str, str]) -> bool | None:
    left, op, right = test.left, test.ops[0], test.comparators[0]
    text = values.get(_name(left))
    if text is None:
        return None
    if isinstance(op, (ast.Eq, ast.Is, ast.NotEq, ast.IsNot)):
        other = _text(right)
        return None if other == UNKNOWN else (text == other) == isinstance(op, (ast.Eq, ast.Is))
    if isinstance(op, tuple(_ORDERS)):
        pair = _number(text), _number(_text(right))
        return None if None in pair else _ORDERS[type(op)](*pair)
    if isinstance(op, (ast.In, ast.NotIn)) and isinstance(right, (ast.Tuple, ast.List, ast.Set)):
        others = [_text(one) for one in right.elts]
        return None if UNKNOWN in others else (text in others) == isinstance(op, ast.In)
    return None
