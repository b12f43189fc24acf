"""Names of a file that say whether something can be imported, and the tests that ask nothing but them.

try:
    import flash_attn_interface
    HAS_FA3 = True
except ImportError:
    HAS_FA3 = False
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from bwlint.chips.interfaces import optional_modules
from bwlint.model.expr import Expr, walk
from bwlint.readers.nodes import below
from bwlint.readers.python.sides import dotted, literal_text, target_names

_FINDS = frozenset({"find_spec", "_is_package_available", "is_package_available"})


def may_hold(data: bytes) -> bool:
    """The prefilter: whether a file imports what only some chips can use, where it is there."""
    asks = b"except" in data or b"find_spec" in data or b"package_available" in data
    return asks and any(module in data for module in optional_modules())


def flags(tree: ast.Module) -> dict[str, str]:
    """The names of a file whose truth is whether a module can be imported, with the module."""
    return {name: module for node in tree.body for name, module in _flags(node)}


def _flags(node: ast.stmt) -> Iterator[tuple[str, str]]:
    if isinstance(node, ast.Try):
        missing = {name: value for handler in node.handlers for name, value in _constants(handler.body)}
        imports = {name: module for one in node.body for name, module in _imported(one)}
        first = next(iter(imports.values()), "")
        there = {name: first for name, value in _constants(node.body) if value}
        yield from ((name, module) for name, module in (imports | there).items() if not missing.get(name, True))
    elif isinstance(node, ast.Assign):
        for one in below(node):
            if isinstance(one, ast.Call) and one.args and dotted(one.func).rpartition(".")[2] in _FINDS:
                yield from ((name, literal_text(one.args[0])) for name in target_names(node.targets[0]))


def _constants(body: list[ast.stmt]) -> Iterator[tuple[str, object]]:
    for node in body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
            yield from ((name, node.value.value) for one in node.targets for name in target_names(one))


def _imported(node: ast.stmt) -> Iterator[tuple[str, str]]:
    if isinstance(node, ast.Import):
        yield from ((one.asname or one.name, one.name) for one in node.names)
    elif isinstance(node, ast.ImportFrom):
        yield from ((one.asname or one.name, node.module or "") for one in node.names)


def asked(test: ast.expr, importable: Mapping[str, str]) -> str:
    """The module that a test asks for, and for nothing but that and what is computed; "" of other tests."""
    parts = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
    modules = [importable[name] for name in map(_flag, parts) if name in importable]
    return modules[0] if modules and not any(map(_told, parts)) else ""


def _flag(test: ast.expr) -> str:
    if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.IsNot):
        test = test.left  # `flash_attn_3 is not None`
    return test.id if isinstance(test, ast.Name) else ""


def _told(test: ast.expr) -> bool:
    """Whether somebody asks for the way by its name or number, who may know the machine."""
    by_default = isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or) and any(map(_is_none, test.values))
    return not by_default and any(_names_a_way(node) for node in (test, *below(test)))


def _is_none(test: ast.expr) -> bool:
    return isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Is) and _is_constant(test.comparators[0], None)


def _names_a_way(node: ast.AST) -> bool:
    return isinstance(node, ast.Compare) and any(
        isinstance(one, ast.Constant) and isinstance(one.value, str) for one in (node.left, *node.comparators)
    )


def _is_constant(node: ast.expr, value: object) -> bool:
    return isinstance(node, ast.Constant) and node.value is value


def is_told(test: Expr) -> bool:
    """The same of a test above: one that asks for another way leads to whatever is there."""
    return test.op != "not" and any(node.op == "cmp" and any(map(_is_text, node.args[1])) for node in walk(test))


def _is_text(operand: Expr) -> bool:
    return operand.op == "const" and isinstance(operand.args[0], str)
