"""Where nodes of Python's `ast` stand."""

from __future__ import annotations

import ast

from bwlint.model.expr import Span


def span(node: ast.AST) -> Span:
    """The place of a statement, an expression or another node with one; what no source has written is empty."""
    line, column = node.lineno, node.col_offset  # type: ignore[attr-defined]
    return Span(line, column, node.end_lineno or line, node.end_col_offset or column)  # type: ignore[attr-defined]
