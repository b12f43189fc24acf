"""Methods of a platform object that ask for one part, and their sisters that ask for a family."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from bwlint.chips import Chip, chip_of_number
from bwlint.evaluate.objects import ClassValue, Instance
from bwlint.evaluate.values import Ref
from bwlint.facts import Module
from bwlint.fix.python.change import Candidate, Place
from bwlint.fix.python.proof import reached
from bwlint.fix.python.syntax import parse, span_of

EXACT = "is_device_capability"
FAMILY = "is_device_capability_family"
NEWER = "has_device_capability"


def families(place: Place) -> Iterator[Candidate]:
    """`p.is_device_capability(120)`, or `((12, 0))`, to `p.is_device_capability_family(120)`."""
    majors = {chip.major for chip in place.change.chips}
    syntax = parse(place.source) if len(majors) == 1 and EXACT in place.source else None
    if syntax is None:
        return
    for node in syntax.within(place.span):
        found = argument(node, EXACT)
        if found is None or found.major not in majors or not has_method(place, node, FAMILY):
            continue
        assert isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        start, end = syntax.end(node.func) - len(EXACT), syntax.end(node)
        yield (syntax.edit(place.module.path, start, end, f"{FAMILY}({found.major}0)"),)


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


def has_method(place: Place, node: ast.expr, name: str) -> bool:
    """Whether the object that a method is called on has another one: its class in the tree shows it.

    An object of a library that is not in the tree is taken for a current one.
    """
    if not isinstance(node, ast.Call):
        return False
    at = span_of(node.func)
    found = (each for each in reached(place.gate.test, place.module) if each.op == "attr" and each.at == at)
    attribute = next(found, None)
    if attribute is None:
        return False
    place.tree.interpreter.start()
    owner = place.tree.interpreter.evaluate(attribute.args[0], place.tree.frame(place.module)).only()
    if isinstance(owner, Instance | ClassValue):
        return f"{owner.body.qualname}.{name}" in owner.module.functions
    return isinstance(owner, Ref) and _has(place, owner.name, name)


def _has(place: Place, dotted: str, name: str) -> bool:
    """Whether a class has a method in the module that an object comes from, or in one that this imports."""
    home = None
    while "." in dotted and home is None:
        dotted = dotted.rpartition(".")[0]
        home = place.tree.module(dotted)
    if home is None:
        return True
    near = [home, *(place.tree.module(node.args[0]) for node in home.names.values() if node.op == "import")]
    return any(module is not None and _defines(module, name) for module in near)


def _defines(module: Module, name: str) -> bool:
    return any(qualname.endswith(f".{name}") for qualname in module.functions)
