"""A Python file as its syntax tree and its text: which node stands where, and edits of that text."""

from __future__ import annotations

import ast
import warnings
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import islice
from typing import Literal

from bwlint.model.expr import Span
from bwlint.model.findings import Edit, Region
from bwlint.readers.nodes import below
from bwlint.readers.spans import span
from bwlint.sources.read import SourceText

Located = ast.expr | ast.stmt | ast.alias | ast.keyword
_FREE = (ast.If, ast.While, ast.IfExp, ast.Return, ast.Assign, ast.keyword, ast.Assert)
"""What binds no tighter than `or`."""


@dataclass(frozen=True)
class Syntax:
    """`parents` has the node around each node."""

    text: SourceText
    tree: ast.Module
    parents: dict[ast.AST, ast.AST] = field(default_factory=dict)

    def around(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes around a node, innermost first."""
        while node in self.parents:
            node = self.parents[node]
            yield node

    def within(self, place: Span) -> Iterator[ast.expr]:
        """The expressions in a span, in the order of the text."""
        first = bisect_left(self._expressions, place[:2], key=lambda node: (node.lineno, node.col_offset))
        for node in islice(self._expressions, first, None):
            at = span(node)
            if at[:2] > place[2:]:
                return
            if place.holds(at):
                yield node

    @cached_property
    def _expressions(self) -> list[ast.expr]:
        """Those of the whole file, in the order of the text."""
        found = (node for node in below(self.tree) if isinstance(node, ast.expr) and hasattr(node, "lineno"))
        return sorted(found, key=span)

    def start(self, node: Located) -> int:
        return self.offset(node.lineno, node.col_offset)

    def end(self, node: Located) -> int:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self.offset(node.end_lineno, node.end_col_offset)

    def offset(self, line: int, byte: int) -> int:
        """A place as `ast` gives it, as an index of the text."""
        return self.text.offset(line, self.text.column(line, byte))

    def segment(self, node: Located) -> str:
        return self.text.source[self.start(node) : self.end(node)]

    def edit(self, path: str, start: int, end: int, text: str) -> Edit:
        """The edit that puts `text` between two indexes."""
        return between(self.text, path, start, end, text)

    @property
    def newline(self) -> str:
        return "\r\n" if "\r\n" in self.text.source else "\n"

    def indent(self, line: int) -> str:
        text = self.text.line(line)
        return text[: len(text) - len(text.lstrip())]

    def is_free(self, node: ast.expr, word: Literal["and", "or"]) -> bool:
        """Whether `a and b` needs no brackets in the place of a node."""
        around = self.parents[node]
        same = isinstance(around, ast.BoolOp) and isinstance(around.op, ast.And if word == "and" else ast.Or)
        return same or isinstance(around, _FREE) or (isinstance(around, ast.Call) and node in around.args)

    def joined(self, path: str, node: ast.expr, word: Literal["and", "or"], operands: Sequence[str]) -> tuple[Edit]:
        """The edit that puts `a and b` in the place of a node: in brackets where what is around binds tighter."""
        flat = f" {word} ".join(operands)
        text = flat if self.is_free(node, word) else f"({flat})"
        return (self.edit(path, self.start(node), self.end(node), text),)

    def narrowed(self, path: str, node: ast.expr, inside: str, outside: str, *, denies: bool = False) -> tuple[Edit]:
        """The edit that asks beside a test who may pass: `a and inside`; of one that is negated `not a or outside`."""
        around = self.parents[node]
        negated = isinstance(around, ast.UnaryOp) and isinstance(around.op, ast.Not)
        whole = around if negated and isinstance(around, ast.expr) else node
        if negated is denies:
            return self.joined(path, whole, "and", [self.segment(whole), inside])
        return self.joined(path, whole, "or", [self.segment(whole), outside])


@lru_cache(maxsize=2)
def parse(source: str) -> Syntax | None:
    """The syntax of a text; None where it is no Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    parents = {child: node for node in below(tree) for child in ast.iter_child_nodes(node)}
    return Syntax(SourceText(source), tree, parents)


def between(source: SourceText, path: str, start: int, end: int, text: str) -> Edit:
    """The edit that puts `text` between two indexes of a source."""
    (line, column), (end_line, end_column) = _place(source, start), _place(source, end)
    return Edit(path, Region(line, column, end_line, end_column), text)


def _place(source: SourceText, index: int) -> tuple[int, int]:
    """The line and column of an index of a text."""
    before = SourceText(source.source[:index])
    last = len(before.lines)
    return last, before.column_of_character(last, len(before.line(last)))
