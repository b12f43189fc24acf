"""Names in pieces of Python: those that are bound, read, changed and imported; and small pieces that are made."""

from __future__ import annotations

import ast
from collections.abc import Iterator

GATE = "__gate__"
_MUTATORS = frozenset({"append", "extend", "insert", "remove", "pop", "clear", "update", "add", "discard", "sort"})
Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def bound(node: ast.AST) -> Iterator[str]:
    """Names that a statement binds in its scope, in all its branches."""
    stack: list[ast.AST] = [node]
    while stack:
        each = stack.pop()
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store | ast.Del):
            yield each.id
        elif isinstance(each, ast.Import | ast.ImportFrom):
            for alias in each.names:
                yield alias.asname or alias.name.partition(".")[0]
        elif isinstance(each, Scope):
            yield each.name
            continue
        elif isinstance(each, ast.ExceptHandler) and each.name:
            yield each.name
        if not isinstance(each, ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            stack.extend(ast.iter_child_nodes(each))


def loads(node: ast.AST) -> Iterator[str]:
    """Names that are read in a node, those of annotations left out."""
    stack: list[ast.AST | None] = [node]
    while stack:
        each = stack.pop()
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load):
            yield each.id
        elif isinstance(each, ast.AugAssign) and isinstance(each.target, ast.Name):
            yield each.target.id
        if isinstance(each, ast.arg):
            continue
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef):
            stack += [*each.decorator_list, each.args, *each.body]
        elif each is not None:
            stack.extend(ast.iter_child_nodes(each))


def targets(target: ast.expr) -> Iterator[str]:
    return (each.id for each in ast.walk(target) if isinstance(each, ast.Name))


def changed(node: ast.stmt) -> set[str]:
    """Names whose value a statement changes without binding them, here or in its branches."""
    found: set[str] = set()
    for each in ast.walk(node):
        target: ast.AST | None = None
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute) and each.func.attr in _MUTATORS:
            target = each.func.value
        elif isinstance(each, ast.Subscript | ast.Attribute) and isinstance(each.ctx, ast.Store | ast.Del):
            target = each.value
        if isinstance(target, ast.Name):
            found.add(target.id)
    return found - {"self", "cls"}


def imported(node: ast.AST, package: str) -> Iterator[tuple[str, tuple[str, str]]]:
    """Local names that imports in a node bind, with the module and the name in it ("" for the module)."""
    for each in ast.walk(node):
        if isinstance(each, ast.Import):
            for alias in each.names:
                top = alias.name.partition(".")[0]
                yield alias.asname or top, (alias.name if alias.asname else top, "")
        elif isinstance(each, ast.ImportFrom):
            module = absolute(each, package)
            for alias in each.names:
                if alias.name != "*":
                    yield alias.asname or alias.name, (module, alias.name)


def absolute(node: ast.ImportFrom, package: str) -> str:
    """The dotted name of the module that an import names from within a package."""
    if not node.level:
        return node.module or ""
    parts = package.split(".")[: len(package.split(".")) - node.level + 1]
    return ".".join([*parts, *([node.module] if node.module else [])])


def call(name: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), list(arguments), [])


def assign(name: str, value: ast.expr) -> ast.stmt:
    return ast.Assign([ast.Name(name, ast.Store())], value)


def variable(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())
