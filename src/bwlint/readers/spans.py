"""Where nodes of Python's `ast` stand, and whether a place lies in a stretch."""

from __future__ import annotations

import ast
import bisect
from collections.abc import Sequence

from bwlint.model.expr import Span


def span(node: ast.AST) -> Span:
    """The place of a statement, an expression or another node with one; what no source has written is empty."""
    line, column = node.lineno, node.col_offset  # type: ignore[attr-defined]
    return Span(line, column, node.end_lineno or line, node.end_col_offset or column)  # type: ignore[attr-defined]


def any_within(offsets: Sequence[int], start: int, end: int) -> bool:
    """Whether one of the ascending offsets lies in a stretch."""
    index = bisect.bisect_left(offsets, start)
    return index < len(offsets) and offsets[index] < end
