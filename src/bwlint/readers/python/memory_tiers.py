"""Checks that tell GPU products apart by memory size, with a comment that names them.

Each comes out as an operation of kind memory-tier, whose `name` are the products as they are written.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from bwlint.model.details import MemoryTier
from bwlint.model.facts import Operation
from bwlint.readers.nodes import whole
from bwlint.readers.python.sides import dotted
from bwlint.readers.python.sizes import number_of
from bwlint.readers.spans import span

ANCHORS = (b"total_mem", b"device_mem", b"gpu_mem", b"vram", b"VRAM")
_COMPARED = re.compile(rb"(?:mem|vram|VRAM)\w{0,40}(?:\s{0,4}/[^<>\n]{1,40})?\s{0,4}[<>]=?\s{0,4}\(?[\w.]")
_MEMORY = re.compile(
    r"(?:^|_)(?:(?:device|gpu|total|cuda|dev)_?(?:total_?)?mem(?:ory)?|vram)(?:_(?:size|gi?b|mi?b|total|bytes))?$", re.I
)
_SERVERS = (b"A100", b"H100", b"H20", b"B200", b"B300")
_PRODUCT = re.compile(r"\bG?(?:A100|H100|H200|H20|B200|B300)\b", re.I)
"""What data centres have, as comments call it."""
_KNOWS = re.compile(r"gb10|\bspark|integrated|unified|multi_?processor|capabilit|sm_?12", re.I)
_KIB = 1024
_GIB = 1 << 30


def may_hold(data: bytes) -> bool:
    """The prefilter: whether a file may tell products by their memory."""
    if not any(stem in data for stem in ANCHORS) or not any(name in data for name in _SERVERS):
        return False
    return _COMPARED.search(data) is not None


def operations(tree: ast.Module, source: str) -> Iterator[Operation]:
    """The tiers of a parsed file: of a chain of branches each has what the ones above leave."""
    lines = re.split("\r\n|\r|\n", source)
    for owner in whole(tree):
        if not isinstance(owner, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        if _KNOWS.search("\n".join(lines[owner.lineno - 1 : owner.end_lineno])):
            continue
        for node in _branches(owner):
            yield from _tier(node, lines, owner.name)


def _branches(owner: ast.AST) -> Iterator[tuple[ast.If, int]]:
    """The tests of a function, each with the bytes that a device has at least where the ones above did not hold."""
    below = {id(node.orelse[0]): node for node in ast.walk(owner) if isinstance(node, ast.If) and len(node.orelse) == 1}
    for node in ast.walk(owner):
        if not isinstance(node, ast.If):
            continue
        above = below.get(id(node))
        bounds = _bounds(above.test) if above is not None else None
        yield node, bounds[1] if bounds else 0


def _tier(found: tuple[ast.If, int], lines: list[str], qualname: str) -> Iterator[Operation]:
    node, left = found
    bounds = _bounds(node.test)
    if bounds is None:
        return
    least, end = bounds
    above = lines[node.lineno - 2] if node.lineno > 1 and lines[node.lineno - 2].lstrip().startswith("#") else ""
    text = "\n".join(line.partition("#")[2] for line in (above, *lines[node.lineno - 1 : node.body[0].lineno]))
    named = list(dict.fromkeys(match[0] for match in _PRODUCT.finditer(text)))
    if named and (least or left):
        tier = MemoryTier(max(least, left), end)
        yield Operation("memory-tier", " and ".join(named), span(node.test), detail=tier, qualname=qualname)


def _bounds(test: ast.expr) -> tuple[int, int] | None:
    """Bytes at least, and below, where a test asks for the memory of a device; of a conjunction that of one part."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return next((bounds for part in test.values if (bounds := _bounds(part))), None)
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return None
    measured = test.left.left if isinstance(test.left, ast.BinOp) else test.left
    size = _bytes(test.comparators[0])
    if size is None or not _MEMORY.search(dotted(measured)):
        return None
    if isinstance(test.ops[0], (ast.Gt, ast.GtE)):
        return size, 0
    return (0, size) if isinstance(test.ops[0], (ast.Lt, ast.LtE)) else None


def _bytes(node: ast.expr) -> int | None:
    """A size as it is written: in bytes, in MiB or in GiB, which its magnitude or the name of a unit tells."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        parts = (node.left, node.right)
        unit = next((part for part in parts if re.search(r"gi?b", dotted(part), re.I)), None)
        if unit is not None:
            number = number_of(parts[0] if unit is parts[1] else parts[1])
            return None if number is None else number * _GIB
    number = (
        int(node.value)
        if isinstance(node, ast.Constant) and isinstance(node.value, float) and abs(node.value) < 1e15
        else number_of(node)
    )
    if number is None or number < 8:
        return None
    if number < _KIB:
        return number * _GIB
    return number if number >= _GIB else number * _KIB * _KIB
