"""Module names that a function fills with an import: `global _run; from lib import run as _run`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from bwlint.readers.python.sides import Imports, dotted, statements


def names(tree: ast.Module, imports: Imports) -> Iterator[tuple[str, str]]:
    """Each name with the dotted one that it stands for wherever the module uses it."""
    for function in statements(tree.body):
        if isinstance(function, ast.FunctionDef) and any(isinstance(one, ast.Global) for one in function.body):
            nodes = list(statements(function.body))
            shared = {name for node in nodes if isinstance(node, ast.Global) for name in node.names}
            if shared:
                brought = (one for node in nodes for one in imports.brought(node))
                imported = {local: module if name is None else f"{module}.{name}" for local, module, name in brought}
                yield from _kept(nodes, shared, imported)


def _kept(nodes: list[ast.stmt], shared: set[str], imported: dict[str, str]) -> Iterator[tuple[str, str]]:
    yield from ((name, imported[name]) for name in sorted(shared & imported.keys()))
    for node in nodes:
        if isinstance(node, ast.Assign):
            root, dot, rest = dotted(node.value).partition(".")
            for target in node.targets if root in imported else ():
                if isinstance(target, ast.Name) and target.id in shared:
                    yield target.id, imported[root] + dot + rest
