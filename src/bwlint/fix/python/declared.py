"""Fix a requirement that declares the oldest capability alone: declare the newest too."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from bwlint.chips import Chip, group
from bwlint.evaluate.objects import ClassValue, FunctionValue
from bwlint.fix.python.place import Candidate, ConditionPlace
from bwlint.fix.python.syntax import parse
from bwlint.readers.spans import span

_MINIMUM = re.compile("minimum|min|least|lowest", re.IGNORECASE)
_OPPOSITE = {"minimum": "maximum", "min": "max", "least": "most", "lowest": "highest"}
_ANNOUNCED = group("announced")
_PAIR = 2
"""The major and the minor."""


def ended(place: ConditionPlace) -> Iterator[Candidate]:
    """`Needs(min_sm=100)` to `Needs(min_sm=100, max_sm=103)`, where what is called takes one."""
    syntax = parse(place.source)
    inside = syntax.within(place.span) if syntax is not None else ()
    value = next((node for node in inside if span(node) == place.span), None)
    keyword = syntax.parents.get(value) if syntax is not None and value is not None else None
    if syntax is None or value is None or not isinstance(keyword, ast.keyword) or not keyword.arg:
        return
    call = syntax.parents[keyword]
    newest = _MINIMUM.sub(lambda found: _OPPOSITE[found[0].lower()], keyword.arg)
    if newest == keyword.arg or not isinstance(call, ast.Call) or not _takes(place, call, newest):
        return
    left = place.sets.may - place.change.chips
    for chips in (left - _ANNOUNCED, left):
        text = spelled(value, max(chips, key=lambda chip: chip.joined)) if chips else ""
        if text:
            own_line = syntax.indent(keyword.lineno) == syntax.text.line(keyword.lineno)[: keyword.col_offset]
            apart = f",{syntax.newline}{syntax.indent(keyword.lineno)}" if own_line else ", "
            end = syntax.end(value)
            yield (syntax.edit(place.module.path, end, end, f"{apart}{newest}={text}"),)


def _takes(place: ConditionPlace, call: ast.Call, name: str) -> bool:
    """Whether a class or function of the tree that is called has a field or parameter of a name, given nowhere yet."""
    held = place.module.names.get(call.func.id) if isinstance(call.func, ast.Name) else None
    if held is None or any(one.arg in (name, None) for one in call.keywords):
        return False
    found = place.tree.value(place.module, held).only()
    if isinstance(found, ClassValue):
        start = found.module.functions.get(f"{found.body.qualname}.__init__")
        return name in found.body.fields or (start is not None and name in start.params)
    return isinstance(found, FunctionValue) and name in found.function.params


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
