"""Fix a check that lets in a generation its code cannot run on: add a bound."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bwlint.chips import EVERY, Chip, ChipSet, chip_of_number
from bwlint.chips.mentions import mentioned
from bwlint.fix.python.admits import named, widened
from bwlint.fix.python.place import Candidate, ConditionPlace
from bwlint.fix.python.syntax import Syntax

_MOST_MAJORS = 2
_LISTS = (ast.List, ast.Tuple, ast.Set)
_MAJORS = frozenset(chip.major for chip in EVERY)
_FLIPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.GtE: ast.LtE}
_PAIR = 2
"""The major and the minor."""


@dataclass(frozen=True, slots=True)
class _Bound:
    """`subject` compared with `value`; a lower bound is `>=` or `>`, its opposite refuses what is below."""

    subject: str
    value: ast.expr
    operator: type[ast.cmpop]

    @property
    def lower(self) -> bool:
        return self.operator in (ast.GtE, ast.Gt)

    @property
    def within(self) -> bool:
        """Whether the value itself is on the side above."""
        return self.operator in (ast.GtE, ast.Lt)


def proposals(place: ConditionPlace) -> Iterator[Candidate]:
    """Every way to leave chips out of what a test names or bounds, the most idiomatic first."""
    if place.change.kind != "bound":
        return
    syntax = place.syntax
    for node in syntax.within(place.span):
        for text in _without(place, syntax, node):
            yield (syntax.edit(place.module.path, syntax.start(node), syntax.end(node), text),)
        bound = _bound(syntax, node) if isinstance(node, ast.Compare) else None
        end = _first_out(bound.value, place.change.chips) if bound is not None else ""
        if bound is not None and not bound.lower and end:
            yield syntax.joined(place.module.path, node, "or", [syntax.segment(node), f"{bound.subject} >= {end}"])
        if isinstance(node, ast.Call):
            yield from _shut_above(place, syntax, node)
    yield from widened(place)


def _without(place: ConditionPlace, syntax: Syntax, node: ast.expr) -> Iterator[str]:
    gone = place.change.chips
    if isinstance(node, ast.Compare):
        yield from _compared(place, syntax, node)
        yield from _one_left(syntax, node, gone)
    elif isinstance(node, _LISTS):
        yield from _rest(syntax, node, node.elts, gone)
    elif isinstance(node, ast.BoolOp):
        yield from _rest(syntax, node, node.values, gone)


def _shut_above(place: ConditionPlace, syntax: Syntax, call: ast.Call) -> Iterator[Candidate]:
    """`at_least(10)` to `at_least(10) and not at_least(12)`."""
    if call.args and not call.keywords and all(map(_is_literal, call.args)):
        value = call.args[0] if len(call.args) == 1 else ast.Tuple(call.args)
        end = _first_out(value, place.change.chips)
        end = end if len(call.args) == 1 else end.strip("()")
        if end:
            asked = [syntax.segment(call), f"not {syntax.segment(call.func)}({end})"]
            yield syntax.joined(place.module.path, call, "and", asked)


def _one_left(syntax: Syntax, node: ast.Compare, gone: ChipSet) -> Iterator[str]:
    """`major in (10, 12)` to `major == 10`."""
    listed = node.comparators[0]
    if len(node.ops) == 1 and isinstance(node.ops[0], (ast.In, ast.NotIn)) and isinstance(listed, _LISTS):
        kept = [item for item in listed.elts if not _names_only(syntax, item, gone)]
        if len(kept) == 1 < len(listed.elts):
            sign = "==" if isinstance(node.ops[0], ast.In) else "!="
            yield f"{syntax.segment(node.left)} {sign} {syntax.segment(kept[0])}"


def _rest(syntax: Syntax, node: ast.expr, parts: Sequence[ast.expr], gone: ChipSet) -> Iterator[str]:
    """`[10, 11, 12]` to `[10, 11]`, `is_sm100() or is_sm120()` to `is_sm100()`: without what names only who goes."""
    kept = [part for part in parts if not _names_only(syntax, part, gone)]
    source, end = syntax.text.source, syntax.end(node)
    if not kept or len(kept) == len(parts) or "#" in syntax.segment(node):
        return
    text, last = source[syntax.start(node) : syntax.start(parts[0])], syntax.end(parts[-1])
    for part in kept:
        before = parts[parts.index(part) - 1] if part is not kept[0] else None
        gap = source[syntax.end(before) : syntax.start(part)] if before is not None else ""
        text += gap + syntax.segment(part)
    alone = isinstance(node, ast.Tuple) and len(kept) == 1 and "," not in source[last:end]
    yield text + ("," if alone else "") + source[last:end]


def _names_only(syntax: Syntax, node: ast.expr, gone: ChipSet) -> bool:
    """Whether an item, or what a chain of tests asks, speaks of chips that go and of no others."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return _names_only(syntax, node.operand, gone)
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.Eq, ast.NotEq)) and len(node.ops) == 1:
        return _names_only(syntax, node.comparators[0], gone)
    if isinstance(node, ast.Constant) and node.value in _MAJORS:
        said = ChipSet.where(lambda chip: chip.major == node.value)
    elif (chip := named(node)) is not None:
        said = ChipSet.of(chip.name)
    else:
        said = mentioned(syntax.segment(node).strip("'\"").replace("_", " ")).named
    return bool(said) and said <= gone


def _compared(place: ConditionPlace, syntax: Syntax, node: ast.Compare) -> Iterator[str]:
    bound = _bound(syntax, node)
    if bound is None:
        return
    if isinstance(bound.value, ast.Constant) and bound.value.value in _MAJORS:
        # a `not` around it, or one that the bound itself stands for, turns the set round
        for kept in (place.change.wanted, ~place.change.wanted):
            yield from _listed(bound, sorted({chip.major for chip in kept}))
    end = _first_out(bound.value, place.change.chips)
    if end:
        sign = "<=" if bound.within else "<"
        inside = f"{syntax.segment(bound.value)} {sign} {bound.subject} < {end}"
        yield from [inside] if bound.lower else [f"not ({inside})"] if "(" in bound.subject else ()
    kept = place.change.wanted if bound.lower else ~place.change.wanted
    low = _first_out(bound.value, kept)
    above = ChipSet.where(lambda chip: chip.joined > max(one.joined for one in kept)) if kept else kept
    if low not in ("", syntax.segment(bound.value)) and above and end != _first_out(bound.value, above):
        inside = f"{low} <= {bound.subject} < {_first_out(bound.value, above)}"
        yield inside if bound.lower else f"not ({inside})"


def _listed(bound: _Bound, majors: list[int]) -> Iterator[str]:
    if len(majors) == 1:
        yield f"{bound.subject} {'==' if bound.lower else '!='} {majors[0]}"
    elif len(majors) <= _MOST_MAJORS:
        yield f"{bound.subject} {'in' if bound.lower else 'not in'} ({', '.join(map(str, majors))})"


def _bound(syntax: Syntax, node: ast.Compare) -> _Bound | None:
    if len(node.ops) != 1 or type(node.ops[0]) not in _FLIPPED:
        return None
    left, right = node.left, node.comparators[0]
    if _is_literal(right):
        return _Bound(syntax.segment(left), right, type(node.ops[0]))
    if _is_literal(left):
        return _Bound(syntax.segment(right), left, _FLIPPED[type(node.ops[0])])
    return None


def _is_literal(node: ast.expr) -> bool:
    if isinstance(node, ast.Tuple):
        return bool(node.elts) and all(map(_is_literal, node.elts))
    if isinstance(node, ast.Call):
        return bool(made_of(node)) and all(map(_is_literal, made_of(node)))
    return isinstance(node, ast.Constant) and type(node.value) is int


def _first_out(value: ast.expr, chips: ChipSet) -> str:
    """The first of `chips` as `value` spells one: a major, joined digits, a tuple, an object."""
    first = min(chips, key=lambda chip: chip.joined)
    if isinstance(value, ast.Tuple) and len(value.elts) == 1:
        return f"({first.major},)"
    if isinstance(value, (ast.Tuple, ast.Call)):
        return spelled(value, first)
    if not isinstance(value, ast.Constant) or not isinstance(value.value, int):
        return ""
    if value.value in _MAJORS:
        return str(first.major)
    return str(first.joined) if chip_of_number(value.value) is not None else ""


def made_of(call: ast.Call) -> list[ast.expr]:
    """What an object of two numbers is made of, `Arch(10, 3)` or `Arch(major=10, minor=3)`; nothing of other calls."""
    parts = call.args or [one.value for one in call.keywords]
    is_class = ast.unparse(call.func).rpartition(".")[2][:1].isupper()
    return parts if is_class and len(parts) == len([*call.args, *call.keywords]) == _PAIR else []


def spelled(value: ast.expr, chip: Chip) -> str:
    """A capability, written as another one is: `(10, 3)`, `Arch(10, 3)`, `Arch(major=10, minor=3)`, 103."""
    if isinstance(value, ast.Tuple):
        return f"({chip.major}, {chip.minor})"
    if isinstance(value, ast.Call) and made_of(value):
        names = [f"{one.arg}=" for one in value.keywords] or ["", ""]
        return f"{ast.unparse(value.func)}({names[0]}{chip.major}, {names[1]}{chip.minor})"
    return str(chip.joined) if isinstance(value, ast.Constant) else ""
