"""Releases that are compared as texts, made to be compared as releases, with what the file or its project uses."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from bwlint.chips.frameworks import releases as releases_read_by
from bwlint.fix.python.imports import add_line
from bwlint.fix.python.place import Candidate, ConditionPlace
from bwlint.fix.python.syntax import Syntax, parse
from bwlint.model.findings import NoFix

_RELEASE = re.compile(r"\d+\.\d+(?:\.\w+)*")


def releases(place: ConditionPlace, *, packaging: bool) -> Iterator[Candidate]:
    """`torch.version.cuda >= "12.9"` to `Version(torch.version.cuda) >= Version("12.9")`.

    `packaging` says that the project uses the library of this name, so that it may be imported here.
    """
    syntax = parse(place.source)
    if syntax is None:
        return
    for node in syntax.within(place.span):
        if isinstance(node, ast.Compare) and _orders_texts(node):
            call = _call(syntax)
            if call is not None:
                yield _called(place, syntax, node, call)
            elif packaging:
                brought = add_line(syntax, place.module.path, "packaging.version", ("Version",))
                # a module that imports further down would ask before it knows the name
                if not isinstance(brought, NoFix) and all(edit.region.line <= node.lineno for edit in brought):
                    yield (*brought, *_called(place, syntax, node, "Version"))


def _orders_texts(node: ast.Compare) -> bool:
    """`x >= "12.9"`."""
    if len(node.ops) != 1 or not isinstance(node.ops[0], (ast.Lt, ast.LtE, ast.Gt, ast.GtE)):
        return False
    texts = [side for side in (node.left, node.comparators[0]) if isinstance(side, ast.Constant)]
    return len(texts) == 1 and isinstance(texts[0].value, str) and _RELEASE.fullmatch(texts[0].value) is not None


def _called(place: ConditionPlace, syntax: Syntax, node: ast.Compare, call: str) -> Candidate:
    edits = []
    for operand in (node.left, node.comparators[0]):
        text = f"{call}({syntax.segment(operand)})"
        edits.append(syntax.edit(place.module.path, syntax.start(operand), syntax.end(operand), text))
    return tuple(edits)


def _call(syntax: Syntax) -> str | None:
    """What the file imports at its top to read releases with."""
    imported = [node for node in syntax.tree.body if isinstance(node, ast.ImportFrom) and not node.level]
    for module, name, call in releases_read_by():
        for node in imported:
            if node.module == module and any(alias.name == name and alias.asname is None for alias in node.names):
                return call
    return None
