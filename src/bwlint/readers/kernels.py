"""Which C++ sources a Python function hands to a compiler at run time."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from bwlint.readers.nodes import below

_SOURCE = re.compile(r"[\w./*+-]*[\w*+-]\.(?:cu|cpp|cc|cxx)")
_LONGEST = 200
_MOST = 200
_MOST_STARS = 8
_Function = (ast.FunctionDef, ast.AsyncFunctionDef)


def kernel_sources(tree: ast.Module) -> dict[str, tuple[str, ...]]:
    """The sources that each function names by ends of paths, with stars for what is not known; inner functions' too."""
    found: dict[str, tuple[str, ...]] = {}
    for qualname, function in _functions(tree.body, ""):
        named = dict.fromkeys(_sources(function))
        if named:
            found[qualname] = tuple(named)[:_MOST]
    return found


def source_name(node: ast.expr) -> str:
    """A string that names a source file, with a star for each part that is not known; "" for any other."""
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    text = "".join(str(part.value) if isinstance(part, ast.Constant) else "*" for part in parts)
    return text if len(text) < _LONGEST and text.count("*") <= _MOST_STARS and _SOURCE.fullmatch(text) else ""


def _functions(body: list[ast.stmt], around: str) -> Iterator[tuple[str, ast.stmt]]:
    for node in body:
        if isinstance(node, (*_Function, ast.ClassDef)):
            qualname = f"{around}.{node.name}" if around else node.name
            if isinstance(node, _Function):
                yield qualname, node
            else:
                yield from _functions(node.body, qualname)


def _sources(function: ast.stmt) -> Iterator[str]:
    said = {id(node.value) for node in below(function) if isinstance(node, ast.Expr)}
    said |= {id(part) for node in below(function) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in below(function):  # what is around comes first
        if id(node) in said:
            continue
        if isinstance(node, ast.BinOp):
            said.add(id(node.right))
        name = _joined(node)
        if name:
            yield name


def _joined(node: ast.AST) -> str:
    """`folder / "sub" / "a.cu"` as `sub/a.cu`, and a string that stands alone as it is."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        last = source_name(node.right)
        before = node.left.right if isinstance(node.left, ast.BinOp) and isinstance(node.left.op, ast.Div) else None
        folder = before.value if isinstance(before, ast.Constant) and isinstance(before.value, str) else ""
        return f"{folder}/{last}" if last and folder else last
    return source_name(node) if isinstance(node, ast.Constant | ast.JoinedStr) else ""
