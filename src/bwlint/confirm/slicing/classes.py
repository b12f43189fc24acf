"""Classes of which a slice holds the members that something in it names."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from bwlint.confirm.slicing.enclosing import as_function
from bwlint.confirm.slicing.modules import File
from bwlint.confirm.slicing.syntax import bound, variable

MAX_WHOLE_CLASS = 60
"""Lines of a class that is cut as a whole; of a longer one come the members that something in the slice names."""


def is_small(node: ast.ClassDef) -> bool:
    """A class that comes whole: a short one, or one whose members are what it is (a NamedTuple, an enum)."""
    bases = {ast.unparse(base).rpartition(".")[2] for base in node.bases}
    if bases & {"NamedTuple", "Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"}:
        return True
    stored = any(isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store) for each in ast.walk(node))
    return not stored and (node.end_lineno or 0) - node.lineno <= MAX_WHOLE_CLASS and not bases


class ClassPart:
    """A class of which the members come that the slice names."""

    def __init__(self, file: File, node: ast.ClassDef) -> None:
        self.file, self.node = file, node
        self._members: dict[str, ast.stmt] = {}
        self._done: dict[str, ast.stmt] = {}
        self._assigned = _self_assignments(node)
        self._given: set[str] = set()
        for each in node.body:
            for name in bound(each):
                if name not in self._assigned:
                    self._members[name] = each

    def wanted(self, names: set[str]) -> list[ast.stmt]:
        found = [name for name in self._members if name in names and name not in self._done]
        for name in found:
            self._done[name] = self._members[name]
        return [self._done[name] for name in found]

    def attributes(self, names: set[str]) -> Iterator[tuple[str, ast.FunctionDef]]:
        """Functions that give the value of an attribute which is assigned once."""
        for name, places in self._assigned.items():
            if name not in names or name in self._given:
                continue
            self._given.add(name)
            if len(places) == 1 and (way := places[0]) is not None:
                yield name, self._attribute(name, way)

    def _attribute(self, name: str, way: Sequence[ast.AST]) -> ast.FunctionDef:
        statement = way[-1]
        assert isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None
        function = as_function([self.file.tree, self.node, *way], statement.value)
        # `self` is who is asked, and not another one
        body = [
            each
            for each in function.body
            if not (isinstance(each, ast.Assign) and "__bw_self__" in ast.unparse(each.value))
        ]
        parameters = ast.arguments([], [ast.arg("self")], None, [], [], None, [])
        return ast.FunctionDef(
            f"__attribute_{self.node.name}_{name}", parameters, body, [], None, lineno=1, col_offset=0
        )

    def reduced(self) -> ast.ClassDef:
        body = [each for each in self.node.body if any(each is kept for kept in self._done.values())]
        bases = [*self.node.bases, variable("__bw_Part__")]
        found = ast.ClassDef(self.node.name, bases, [], body or [ast.Pass()], [])
        return ast.fix_missing_locations(found)


def _self_assignments(node: ast.ClassDef) -> dict[str, list[list[ast.AST] | None]]:
    """By attribute, the way from a method to each statement that assigns it; None where it gets a part of a value."""
    found: dict[str, list[list[ast.AST] | None]] = {}
    for function in node.body:
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            _assignments(function, [function], found)
    return found


def _assignments(node: ast.AST, way: list[ast.AST], found: dict[str, list[list[ast.AST] | None]]) -> None:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            continue
        if isinstance(child, ast.Assign | ast.AnnAssign | ast.AugAssign):
            targets = child.targets if isinstance(child, ast.Assign) else [child.target]
            for target in targets:
                for leaf in target.elts if isinstance(target, ast.Tuple | ast.List) else [target]:
                    if isinstance(leaf, ast.Attribute) and isinstance(leaf.value, ast.Name) and leaf.value.id == "self":
                        whole = leaf is target and not isinstance(child, ast.AugAssign) and child.value is not None
                        found.setdefault(leaf.attr, []).append([*way, child] if whole else None)
        elif not isinstance(child, ast.ClassDef):
            _assignments(child, [*way, child], found)
