"""Which C++ sources a Python function hands to a compiler at run time."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from bwlint.readers.nodes import below, functions, text_of

_SOURCE = re.compile(r"[\w./*+-]*[\w*+-]\.(?:cu|cpp|cc|cxx)")
_LONGEST = 200
_MOST = 200
_MOST_STARS = 8


def kernel_sources(tree: ast.Module) -> dict[str, tuple[str, ...]]:
    """The sources that each function names by ends of paths, with stars for what is not known; inner functions' too."""
    found: dict[str, tuple[str, ...]] = {}
    for function, qualname, _ in functions(tree.body):
        named = dict.fromkeys(_sources(function))
        if named:
            found[qualname] = tuple(named)[:_MOST]
    return found


def source_name(node: ast.expr) -> str:
    """A string that names a source file, with a star for each part that is not known; "" for any other."""
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    text = "".join(str(part.value) if isinstance(part, ast.Constant) else "*" for part in parts)
    return text if len(text) < _LONGEST and text.count("*") <= _MOST_STARS and _SOURCE.fullmatch(text) else ""


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
        folder = text_of(before)
        return f"{folder}/{last}" if last and folder else last
    return source_name(node) if isinstance(node, (ast.Constant, ast.JoinedStr)) else ""
