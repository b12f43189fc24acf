"""A Python file as its syntax tree and its text: which node stands where, and edits of that text."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import Literal

from bwlint.model.expr import Span
from bwlint.model.findings import Edit, Region
from bwlint.readers.spans import span
from bwlint.sources.read import SourceText

LINE = 88
"""How long a line may get; the formatters of the field break longer ones."""

Located = ast.expr | ast.stmt | ast.alias | ast.keyword
_FREE = (ast.If, ast.While, ast.IfExp, ast.Return, ast.Assign, ast.keyword, ast.Assert, ast.Call)
"""What binds no tighter than `or`."""


@dataclass(frozen=True, slots=True)
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
        found = (node for node in ast.walk(self.tree) if isinstance(node, ast.expr) and hasattr(node, "lineno"))
        yield from sorted((node for node in found if place.holds(span(node))), key=span)

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

    def bracketed(self, node: ast.expr, word: str, operands: Sequence[str]) -> str:
        """`(a or b)` in the place of a node, broken as formatters do where it would be too long for a line."""
        line, flat = self.text.line(node.lineno), f" {word} ".join(operands)
        length = len(line) + len(flat) - len(self.segment(node)) + 2
        if node.lineno != node.end_lineno or length <= LINE or len(line) > LINE:
            return f"({flat})"
        inner = f"{self.newline}{self.indent(node.lineno)}    "
        joined = f"{inner}{word} ".join(operands)
        return f"({inner}{joined}{self.newline}{self.indent(node.lineno)})"

    def joined(
        self, path: str, node: ast.expr, word: Literal["and", "or"], operands: Sequence[str]
    ) -> tuple[Edit, ...]:
        """The edits that put `a and b` in the place of a node: in brackets where what is around binds tighter, and laid
        out as formatters do where the line gets too long.
        """
        flat, around = f" {word} ".join(operands), self.parents[node]
        joins = ast.And if word == "and" else ast.Or
        chain = around if isinstance(around, ast.BoolOp) and isinstance(around.op, joins) else None
        line = self.text.line(node.lineno)
        fits = len(line) + len(flat) - len(self.segment(node)) <= LINE
        if chain is None and not isinstance(around, _FREE):
            text = self.bracketed(node, word, operands)
            return *(self._apart(path, node) if "\n" in text else ()), self._put(path, node, text)
        if fits or len(line) > LINE or node.lineno != node.end_lineno:
            return (self._put(path, node, flat),)
        if chain is None:
            return *self._apart(path, node), self._put(path, node, self.bracketed(node, word, operands))
        if chain.lineno != chain.end_lineno:
            gap = f"{self.newline}{self.indent(node.lineno)}{word} "
            return (self._put(path, node, gap.join(operands)),)
        parts = [each for value in chain.values for each in (operands if value is node else [self.segment(value)])]
        return *self._apart(path, chain), self._put(path, chain, self.bracketed(chain, word, parts))

    def _put(self, path: str, node: ast.expr, text: str) -> Edit:
        return self.edit(path, self.start(node), self.end(node), text)

    def _apart(self, path: str, node: ast.expr) -> Iterator[Edit]:
        """The arguments that stand on the line of a node, which takes several now: one to a line."""
        call = next((each for each in self.around(node) if not isinstance(each, ast.UnaryOp | ast.BoolOp)), None)
        items: list[ast.expr | ast.keyword] = [*call.args, *call.keywords] if isinstance(call, ast.Call) else [node]
        first, last = items[0], items[-1]
        begins = self.text.line(first.lineno)[: first.col_offset].strip() == ""
        if len(items) < 2 or not begins or first.lineno != last.end_lineno:
            return
        for before, after in pairwise(items):
            gap = f",{self.newline}{self.indent(first.lineno)}"
            yield self.edit(path, self.end(before), self.start(after), gap)
        if not self.text.source[self.end(last) :].lstrip().startswith(","):
            yield self.edit(path, self.end(last), self.end(last), ",")


@lru_cache(maxsize=2)
def parse(source: str) -> Syntax | None:
    """The syntax of a text; None where it is no Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
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
