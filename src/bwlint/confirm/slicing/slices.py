"""A gate's test and all that it uses, cut out of the source: local definitions, helpers, constants, classes.

What is cut is text. It says by which statements each name is bound; which of them run is found out where it runs
(`inside`). What cannot be cut is a value that nobody knows, with the reason where it may read the device.
"""

# Paths are plain strings here, as in `world.tree`.
# ruff: noqa: PTH119

from __future__ import annotations

import ast
import os
from dataclasses import dataclass

from bwlint.confirm.slicing.closure import Cutout, Cutter
from bwlint.confirm.slicing.enclosing import as_function, owner_of
from bwlint.confirm.slicing.modules import File, Files, file_of, source_of
from bwlint.evaluate.names import guess
from bwlint.model.findings import Claim, Region
from bwlint.readers.python.carriers import defined, may_call
from bwlint.readers.python.gates import asked_key
from bwlint.readers.python.sides import dotted
from bwlint.readers.spans import span
from bwlint.sources.errors import ReadError
from bwlint.sources.read import SourceText, Unread
from bwlint.sources.tree import import_roots, module_name, package_root


@dataclass(frozen=True, slots=True)
class Slice:
    """A gate with all that it uses. `form` says what is asked of it: test, or completes for a call that may not return.
    `devices` are names in it that are called like a device, `handed` parameters of the file to which calls of the file
    hand something that has to be evaluated: what that is on a chip is not simulated."""

    module: str
    form: str
    modules: dict[str, Cutout]
    devices: frozenset[str]
    handed: frozenset[str] = frozenset()

    @property
    def text(self) -> str:
        """The gate as it is run."""
        return self.modules[self.module].statements[0][0]


def cut(real: str, claim: Claim) -> Slice | str:
    """The slice of a claim about a gate in the Python file at `real`; a string says why there is none."""
    source = source_of(real)
    if isinstance(source, Unread):
        return f"the file is not readable any more: {source.reason}"
    if claim.at is None:
        return "the claim names no place"
    folder = package_root(real)
    try:
        home = file_of(module_name(real, folder), os.path.basename(real) == "__init__.py", source)
        return _cut(home, source, folder, claim)
    except ReadError as error:
        return f"the file does not parse: {error}"
    except RecursionError:
        return "the test is nested too deep to be cut out"


def _cut(home: File, source: str, folder: str, claim: Claim) -> Slice | str:
    assert claim.at is not None
    found = _expression(home.tree, SourceText(source), claim.at)
    if found is None:
        return "no expression of Python stands where the claim points"
    way, node = found
    if isinstance(node, ast.List | ast.Tuple | ast.Set | ast.Dict):
        return "the list is declared, and no test of it stands there: there is nothing to run"
    if isinstance(node, ast.Constant):
        return "a bound is declared, and no test of it stands there: there is nothing to run"
    text = ast.unparse(node)
    form, expression = "test", node
    if text[:300] != claim.subject:
        asked = asked_key(node)
        if asked is None:
            return "another text stands where the claim points"
        expression = ast.Compare(asked[1], [ast.In()], [asked[0]])
        if ast.unparse(expression) != claim.subject:
            return "another text stands where the claim points"
    elif isinstance(way[-1], ast.Expr) and isinstance(node, ast.Call):
        form = "completes"
    files = Files([folder, *import_roots(folder)])
    files.add(home)
    cutter = Cutter(files, owner_of(way))
    cutter.gate(home, as_function(way, expression))
    cutter.run()
    devices = frozenset(name for name in cutter.names if guess(name) is not None)
    return Slice(home.dotted, form, cutter.plans, devices, frozenset(_handed(home.tree) & cutter.names))


def _handed(tree: ast.Module) -> set[str]:
    called = defined(tree).called
    found: set[str] = set()
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call):
            continue
        named = {keyword.arg for keyword in call.keywords if not isinstance(keyword.value, ast.Constant)}
        for qualname, function, bound in called.get(dotted(call.func).rpartition(".")[2], ()):
            if may_call(call.func, qualname):
                places = [one.arg for one in (*function.args.posonlyargs, *function.args.args)][bound:]
                given = zip(places, call.args, strict=False)
                found |= {name for name, value in given if not isinstance(value, ast.Constant)}
                found |= {one.arg for one in (*function.args.args, *function.args.kwonlyargs)} & named
    return found


def _expression(tree: ast.Module, text: SourceText, at: Region) -> tuple[list[ast.AST], ast.expr] | None:
    """The expression at a place, and the nodes around it from the module inwards."""

    def search(way: list[ast.AST]) -> tuple[list[ast.AST], ast.expr] | None:
        for child in ast.iter_child_nodes(way[-1]):
            if isinstance(child, ast.expr) and text.region(*span(child)) == at:
                return way, child
            if _may_hold(child, text, at):
                found = search([*way, child])
                if found is not None:
                    return found
        return None

    return search([tree])


def _may_hold(node: ast.AST, text: SourceText, at: Region) -> bool:
    """Whether a place may be in a node: arguments and loops of comprehensions have no place of their own."""
    if isinstance(node, ast.stmt):
        first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))])
        return first <= at.line and at.end_line <= (node.end_lineno or 0)
    if not isinstance(node, ast.expr):
        return True
    around = text.region(*span(node))
    start, end = (around.line, around.column), (around.end_line, around.end_column)
    return start <= (at.line, at.column) and (at.end_line, at.end_column) <= end
