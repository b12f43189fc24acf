"""The text of a slice, rewritten to use helpers of ours, and compiled. This runs in the child."""

from __future__ import annotations
import __future__

import ast
from collections.abc import Callable, Mapping
from typing import Any

from bwlint.confirm.slicing.linking import Units
from bwlint.confirm.slicing.syntax import absolute, assign, call


def compiled(job: Mapping[str, Any], keep: Callable[[ast.Module], str | None] = lambda _: None) -> Units:
    """The statements of a job. `keep` names those that stay as they are written, but for their annotations."""
    units: Units = {}
    for dotted, plan in job["modules"].items():
        statements = []
        for source, names in plan["statements"]:
            tree = ast.parse(source)
            kept = keep(tree)
            if kept is None:
                tree = _Rewritten(plan["package"], frozenset(job["devices"])).visit(tree)
            flags = __future__.annotations.compiler_flag if kept else 0
            statements.append((compile(ast.fix_missing_locations(tree), kept or "<slice>", "exec", flags), names))
        units[dotted] = (statements, plan)
    return units


class _Rewritten(ast.NodeTransformer):
    """A statement whose imports are ours, and in which a value that nobody knows can be compared by identity, put into
    text and taken apart. Annotations of functions go: nothing reads them."""

    def __init__(self, package: str, devices: frozenset[str]) -> None:
        self._package, self._devices = package, devices
        self._in_class = False

    def visit_Import(self, node: ast.Import) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        for alias in node.names:
            local = alias.asname or alias.name.partition(".")[0]
            whole = alias.name if alias.asname else local
            found.append(assign(local, call("__bw_whole__", ast.Constant(whole))))
        return found

    def visit_ImportFrom(self, node: ast.ImportFrom) -> list[ast.stmt]:
        module = absolute(node, self._package)
        return [
            assign(alias.asname or alias.name, call("__bw_import__", ast.Constant(module), ast.Constant(alias.name)))
            for alias in node.names
            if alias.name != "*"
        ] or [ast.Pass()]

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        if len(node.ops) != 1 or not isinstance(node.ops[0], ast.Is | ast.IsNot | ast.In | ast.NotIn):
            return node
        helper = "__bw_is__" if isinstance(node.ops[0], ast.Is | ast.IsNot) else "__bw_in__"
        negated = ast.Constant(isinstance(node.ops[0], ast.IsNot | ast.NotIn))
        return call(helper, node.left, node.comparators[0], negated)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "type" and len(node.args) == 1 and not node.keywords:
            node.func = ast.Name("__bw_type__", ast.Load())
        return node

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.excepthandler:
        self.generic_visit(node)
        if node.type is not None:
            node.type = call("__bw_caught__", node.type)
        return node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.expr:
        self.generic_visit(node)
        parts: list[ast.expr] = []
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                spec = part.format_spec or ast.Constant("")
                parts.append(ast.Tuple([part.value, ast.Constant(part.conversion), spec], ast.Load()))
            else:
                parts.append(part)
        return call("__bw_text__", *parts)

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        self.generic_visit(node)
        target = node.targets[0]
        if isinstance(target, ast.Name) and target.id in self._devices:
            node.value = call("__bw_named__", ast.Constant(target.id), node.value)
        elif isinstance(target, ast.Tuple | ast.List) and all(isinstance(part, ast.Name) for part in target.elts):
            names = ast.Tuple([ast.Constant(part.id) for part in target.elts if isinstance(part, ast.Name)], ast.Load())
            node.value = call("__bw_apart__", names, node.value)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        if not self._in_class:
            plain = ast.Pass() if node.value is None else ast.Assign([node.target], node.value)
            return self.visit(plain)  # type: ignore[no-any-return]
        annotation, node.annotation = node.annotation, ast.Constant(None)
        self.generic_visit(node)
        node.annotation = ast.Constant(ast.unparse(annotation))
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        node.returns = None
        for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
            argument.annotation = None
        for extra in (node.args.vararg, node.args.kwarg):
            if extra is not None:
                extra.annotation = None
        around, self._in_class = self._in_class, False
        self.generic_visit(node)
        self._in_class = around
        node.decorator_list = [call("__bw_decorator__", decorator) for decorator in node.decorator_list]
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.stmt:
        around, self._in_class = self._in_class, True
        self.generic_visit(node)
        self._in_class = around
        if node.bases:
            node.bases = [ast.Starred(call("__bw_bases__", *node.bases), ast.Load())]
        node.keywords = []
        node.decorator_list = [call("__bw_decorator__", decorator) for decorator in node.decorator_list]
        return node
