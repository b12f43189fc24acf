"""Hard-coded cluster sizes above the portable maximum, without an occupancy query.

`checked` says that the function looks at the device: it then runs on whatever that is. One that is `last` is left over
where the function has tried smaller ones against the memory that the device has.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from bwlint.model.expr import Expr, const
from bwlint.model.facts import Operation
from bwlint.readers.nodes import arms, below, whole
from bwlint.readers.python.sides import dotted
from bwlint.readers.spans import span

MAX_FOUND = 100
_SIZE = re.compile(r"(?:^|_)cluster(?:_?(?:n|m|k|x|size|shape|dims?)\w*)?$|cluster_(?:n|m|size|shape)", re.I)
_ASKS = re.compile(r"(?i)max_?(?:active|potential)_?cluster|max_?cluster_?size|cluster_?occupancy")
_DEVICE = re.compile(r"get_device_(?:properties|capability)|shared_memory_per_block")
_MEMORY = re.compile(r"shared_memory_per_block")
_HINT = re.compile(r"(?:cluster\w{0,30} ?=|return)[^\n]{0,120}\b(?:9|1[0-6])\b")
_LARGE = range(9, 17)


def operations(tree: ast.Module, source: str) -> tuple[Operation, ...]:
    """Each place where a size is picked, in order."""
    hits = [source.count("\n", 0, match.start()) + 1 for match in _HINT.finditer(source)] if "cluster" in source else []
    functions = (
        (node for node in whole(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))) if hits else ()
    )
    holding = (one for one in functions if any(one.lineno <= hit <= (one.end_lineno or 0) for hit in hits))
    found = {found.at: found for function in holding for found in _picked(function)}
    return tuple(found[at] for at in sorted(found))[:MAX_FOUND]


def _picked(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Operation]:
    sizes = [size for node in below(function) for value in _values(node, function.name) for size in _literals(value)]
    words = " ".join(dotted(node) for node in below(function)) if sizes else ""
    for size in sizes if not _ASKS.search(words) else ():
        amounts = (Expr("const", (size.value,), span(size)), const(1), const(1))
        looks = _DEVICE.search(words) is not None
        name = "last" if _MEMORY.search(words) and any(map(_tries, below(function))) else "picked"
        yield Operation("cluster", name, span(size), amounts=amounts, qualname=function.name, checked=looks)


def _tries(node: ast.AST) -> bool:
    """A loop over sizes from one block on."""
    if not isinstance(node, ast.For) or not isinstance(node.iter, (ast.List, ast.Tuple)):
        return False
    sizes = [item.value for item in node.iter.elts if isinstance(item, ast.Constant)]
    returns = any(isinstance(inner, ast.Return) for inner in below(node))
    return sizes[:1] == [1] and len(sizes) == len(node.iter.elts) > 1 and returns


def _values(node: ast.AST, function: str) -> Iterator[ast.expr]:
    """What becomes the size of a cluster: of a variable, of an argument, or of the function of that name."""
    if isinstance(node, ast.Assign) and _SIZE.search(dotted(node.targets[0]).rpartition(".")[2]):
        yield node.value
    elif isinstance(node, ast.Call):
        yield from (keyword.value for keyword in node.keywords if keyword.arg == "cluster")
    elif isinstance(node, ast.Return) and node.value is not None and _SIZE.search(function):
        yield node.value


def _literals(value: ast.expr) -> Iterator[ast.Constant]:
    """Sizes that a value may have: of each arm of a choice."""
    for one in arms(value):
        if isinstance(one, ast.Constant) and isinstance(one.value, int) and one.value in _LARGE:
            yield one
