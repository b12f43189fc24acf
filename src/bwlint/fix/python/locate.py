"""From a span to the libcst nodes in it, and from a rewritten node to an edit of the text.

libcst sees only the statement of the module that the span lies in: it is slow, and files are long.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider

from bwlint.fix.change import WantedChange
from bwlint.fix.python.spellings import rewrites
from bwlint.fix.python.syntax import between, parse
from bwlint.model.expr import Span
from bwlint.model.findings import Edit, NoFix, Region
from bwlint.sources.read import SourceText

Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Parsed:
    """Whole lines of a file as libcst has them, and where each node stands in them."""

    text: SourceText
    module: cst.Module
    positions: dict[cst.CSTNode, CodeRange]


def edits(path: str, source: str, span: Span, change: WantedChange) -> Iterator[Edit] | NoFix:
    """Edits that rewrite one node of `span`, outer nodes first; `NoFix` says why there can be none."""
    lines = _statement(source, span)
    if lines is None:
        return NoFix("the text is not the one that was read")
    first, code = lines
    try:
        parsed = _parse(code)
    except (cst.ParserSyntaxError, RecursionError, ValueError) as error:
        return NoFix(f"libcst cannot parse the statement: {_first_line(error)}")
    if parsed.module.code != code:
        return NoFix("libcst does not give the text of the statement back as it is")
    return _edits(path, parsed, first, span, change)


def _first_line(error: Exception) -> str:
    message = error.message if isinstance(error, cst.ParserSyntaxError) else str(error)
    return message.partition("\n")[0] or type(error).__name__


def _statement(source: str, span: Span) -> tuple[int, str] | None:
    """The lines of the module's statement in which `span` lies: the number of the first, and their text."""
    syntax = parse(source)
    if syntax is None:
        return None
    first, last = span[0], span[2]
    # backwards, since statements may share a line
    for node in reversed(syntax.tree.body):
        start = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", []))])
        end = node.end_lineno or start
        if start <= last and first <= end:
            first, last = min(first, start), max(last, end)
    text = SourceText(source)
    if last > len(text.lines):
        return None
    stop = text.offset(last + 1, 1) if last < len(text.lines) else len(source)
    return first, source[text.offset(first, 1) : stop]


# One statement may hold several findings, and libcst is the slowest part of a fix.
@lru_cache(maxsize=4)
def _parse(code: str) -> _Parsed:
    module = cst.parse_module(code)
    positions = MetadataWrapper(module, unsafe_skip_copy=True).resolve(PositionProvider)
    return _Parsed(SourceText(code), module, dict(positions))


def _edits(path: str, parsed: _Parsed, first: int, span: Span, change: WantedChange) -> Iterator[Edit]:
    start = _place(parsed.text, span[0] - first + 1, span[1])
    end = _place(parsed.text, span[2] - first + 1, span[3])
    for node in _within(parsed, start, end):
        for replacement in rewrites(node, change):
            found = _edit(parsed, node, replacement)
            if found is not None:
                region, new = found
                lines = (region.line + first - 1, region.end_line + first - 1)
                yield Edit(path, Region(lines[0], region.column, lines[1], region.end_column), new)


def _place(text: SourceText, line: int, byte: int) -> Place:
    """A place as `ast` gives it, in code points as libcst counts them."""
    return line, len(text.line(line).encode("utf-8", "surrogatepass")[:byte].decode("utf-8", "ignore"))


def _within(parsed: _Parsed, start: Place, end: Place) -> list[cst.CSTNode]:
    found = [
        ((range_.start.line, range_.start.column), (-range_.end.line, -range_.end.column), node)
        for node, range_ in parsed.positions.items()
        if isinstance(node, cst.BaseExpression)
        and start <= (range_.start.line, range_.start.column)
        and (range_.end.line, range_.end.column) <= end
    ]
    nodes = [node for _, _, node in sorted(found, key=lambda item: item[:2])]
    return [*_negation(parsed, nodes[:1]), *nodes]


def _negation(parsed: _Parsed, nodes: Sequence[cst.CSTNode]) -> list[cst.CSTNode]:
    """The `not` that is all there is around a node."""
    unary = (node for node in parsed.positions if isinstance(node, cst.UnaryOperation))
    return [node for node in unary if isinstance(node.operator, cst.Not) and node.expression in nodes]


def _edit(parsed: _Parsed, node: cst.CSTNode, replacement: cst.BaseExpression) -> tuple[Region, str] | None:
    """Where to put which text so that `replacement` stands for `node`.

    None where a comment would be lost, or anything around the node would change.
    """
    if _comments(node) != _comments(replacement):
        return None
    old = parsed.text.source
    start, end = _offsets(parsed, node)
    changed = parsed.module.deep_replace(node, replacement)
    new = changed.code if isinstance(changed, cst.Module) else ""
    if not (new.startswith(old[:start]) and new.endswith(old[end:]) and len(new) >= start + len(old) - end):
        return None
    written = new[start : len(new) - len(old) + end]
    if _runs_on(old[:start], written) or _runs_on(written, old[end:]):
        return None
    return between(parsed.text, "", start, end, written).region, written


def _runs_on(before: str, after: str) -> bool:
    """Whether two texts meet within a word, as in `12and`."""
    return re.search(r"\w\Z", before[-1:]) is not None and re.match(r"\w", after) is not None


def _offsets(parsed: _Parsed, node: Any) -> tuple[int, int]:
    """Where a node stands in the text, with its own parentheses."""
    first = parsed.positions[node.lpar[0] if node.lpar else node].start
    last = parsed.positions[node.rpar[-1] if node.rpar else node].end
    return _offset(parsed.text, first.line, first.column), _offset(parsed.text, last.line, last.column)


def _offset(text: SourceText, line: int, column: int) -> int:
    return text.offset(line, text.column_of_character(line, column))


def _comments(node: cst.CSTNode) -> list[str]:
    found = [node.value] if isinstance(node, cst.Comment) else []
    for child in node.children:
        found += _comments(child)
    return found
