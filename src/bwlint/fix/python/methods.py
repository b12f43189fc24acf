"""Fix a call of a platform method for one chip: call the method for its family."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from bwlint.chips import Chip, ChipSet, chip_of_number
from bwlint.evaluate.objects import ClassValue, Instance
from bwlint.evaluate.values import Ref
from bwlint.fix.python.place import Candidate, ConditionPlace
from bwlint.fix.python.proof import reached
from bwlint.fix.python.syntax import Syntax
from bwlint.readers.spans import span

EXACT = "is_device_capability"
FAMILY = "is_device_capability_family"
NEWER = "has_device_capability"


def proposals(place: ConditionPlace) -> Iterator[Candidate]:
    """Every way to let another method answer, the shortest first."""
    majors = {chip.major for chip in place.change.chips}
    syntax = place.syntax
    for node in syntax.within(place.span) if EXACT in place.source or NEWER in place.source else ():
        exact, newer = argument(node, EXACT), argument(node, NEWER)
        if not (exact or newer) or not has_method(place, node, FAMILY):
            continue
        assert isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        start, end = syntax.start(node), syntax.end(node)
        if exact is not None and majors == {exact.major}:
            start = syntax.end(node.func) - len(EXACT)
            yield (syntax.edit(place.module.path, start, end, f"{FAMILY}({exact.major}0)"),)
        elif newer is not None and place.change.kind == "bound":
            yield from _bounded(place, syntax, node, newer)


def _bounded(place: ConditionPlace, syntax: Syntax, call: ast.Call, first: Chip) -> Iterator[Candidate]:
    """`p.has_device_capability(100)` to the one family, with another one shut out, or to two."""
    assert isinstance(call.func, ast.Attribute)
    path, gone = place.module.path, place.change.chips
    owner = syntax.segment(call.func.value)
    kept = ChipSet.where(lambda chip: chip.joined >= first.joined) - gone
    asked = [_asked(owner, major) for major in sorted({chip.major for chip in kept})]
    shut = [f"{owner}.{FAMILY}({major}0)" for major in sorted({chip.major for chip in gone})]
    if len(asked) == 1:
        yield (syntax.edit(path, syntax.start(call), syntax.end(call), asked[0]),)
    if len(shut) == 1:
        yield syntax.narrowed(path, call, f"not {shut[0]}", shut[0])
    if len(asked) == 2:
        yield syntax.joined(path, call, "or", asked)


def _asked(owner: str, major: int) -> str:
    members = ChipSet.where(lambda chip: chip.major == major)
    return f"{owner}.{FAMILY}({major}0)" if len(members) > 1 else f"{owner}.{EXACT}({next(iter(members)).joined})"


def argument(node: ast.expr, name: str) -> Chip | None:
    """The chip that a call of a method with this name asks for as its only argument."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr != name:
        return None
    values = [*node.args, *(keyword.value for keyword in node.keywords)]
    if len(values) != 1:
        return None
    return named(values[0])


def named(node: ast.expr) -> Chip | None:
    """The chip that `120` or `(12, 0)` names."""
    if isinstance(node, ast.Tuple):
        numbers = [value for each in node.elts if (value := _number(each)) is not None]
        return chip_of_number(numbers[0] * 10 + numbers[1]) if len(numbers) == len(node.elts) == 2 else None
    value = _number(node)
    return None if value is None else chip_of_number(value)


def _number(node: ast.expr) -> int | None:
    return node.value if isinstance(node, ast.Constant) and type(node.value) is int else None


def has_method(place: ConditionPlace, node: ast.expr, name: str) -> bool:
    """Whether the class of the object that a method is called on has another one; one of a library is current."""
    if not isinstance(node, ast.Call):
        return False
    at = span(node.func)
    found = (each for each in reached(place.gate.test, place.module) if each.op == "attr" and each.at == at)
    attribute = next(found, None)
    if attribute is None:
        return False
    owner = place.tree.value(place.module, attribute.args[0]).only()
    if isinstance(owner, (Instance, ClassValue)):
        return f"{owner.body.qualname}.{name}" in owner.module.functions
    return isinstance(owner, Ref) and _has(place, owner.name, name)


def _has(place: ConditionPlace, dotted: str, name: str) -> bool:
    """Whether a class has a method in the module that an object comes from, or in one that this imports."""
    home = None
    while "." in dotted and home is None:
        dotted = dotted.rpartition(".")[0]
        home = place.tree.module(dotted)
    if home is None:
        return True
    near = [home, *(place.tree.module(node.args[0]) for node in home.names.values() if node.op == "import")]
    functions = (qualname for module in near if module is not None for qualname in module.functions)
    return any(qualname.endswith(f".{name}") for qualname in functions)
