"""What the strings of a file say of the shared memory of chips: docstrings, messages, helps.

Each comes out as an operation of kind stated: `name` are the words, `amounts` the bytes and the chips, as 120.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from bwlint.chips.mentions import SIZE, shared_memory
from bwlint.model.expr import Expr, Span
from bwlint.model.facts import Operation
from bwlint.readers.nodes import whole
from bwlint.readers.spans import span

_NEWLINE = re.compile(r"\r\n|\r|\n")
_KIB = 1024
_UNITS = (b"KB", b"KiB", b"KIB")
_SIZED = re.compile(rb"\d{3}[ -]?K[iI]?B")
_SHARED = re.compile(rb"shared mem|smem", re.I)


def may_hold(data: bytes) -> bool:
    """The prefilter: whether a file may say how much shared memory there is."""
    if not any(unit in data for unit in _UNITS):
        return False
    return _SIZED.search(data) is not None and _SHARED.search(data) is not None


def operations(tree: ast.Module, source: str) -> Iterator[Operation]:
    """The sizes that strings give, each where it stands, or where its string begins."""
    lines = _NEWLINE.split(source) if SIZE.search(source) else []
    for node in whole(tree) if lines else ():
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            for words, size, chips in shared_memory(node.value):
                at = _place(node, lines, words.rpartition("\n")[2].strip())
                numbers = (size * _KIB, *(chip.joined for chip in chips))
                amounts = tuple(Expr("const", (number,), at) for number in numbers)
                yield Operation("stated", " ".join(words.split()), at, amounts=amounts)


def _place(node: ast.Constant, lines: list[str], words: str) -> Span:
    for number in range(node.lineno, (node.end_lineno or node.lineno) + 1):
        before, found, _ = lines[number - 1].partition(words)
        if found:
            start = len(before.encode("utf-8", "surrogatepass"))
            return Span(number, start, number, start + len(words.encode("utf-8", "surrogatepass")))
    return span(node)
