"""From a span to the libcst nodes in it, and from a rewritten node to an edit of the text."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Any

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider

from bwlint.evaluate.expr import Span
from bwlint.findings import Edit, Region
from bwlint.fix.change import Change
from bwlint.fix.spellings import rewrites
from bwlint.sources.read import Text

Place = tuple[int, int]
Positions = dict[cst.CSTNode, CodeRange]


@dataclass(frozen=True, slots=True)
class _Parsed:
    """A file as libcst has it: where each node stands, and where each statement of the module begins."""

    module: cst.Module
    positions: Positions
    starts: list[int]


def edits(path: str, source: str, span: Span, change: Change) -> Iterator[Edit] | str:
    """Edits that rewrite one node of `span`, outer nodes first; a string says why there can be none."""
    try:
        parsed = _parse(source)
    except (cst.ParserSyntaxError, RecursionError, ValueError) as error:
        return f"libcst cannot parse the file: {_first_line(error)}"
    if parsed.module.code != source:
        return "libcst does not give the text of the file back as it is"
    return _edits(path, Text(source), parsed, span, change)


def _first_line(error: Exception) -> str:
    message = error.message if isinstance(error, cst.ParserSyntaxError) else str(error)
    return message.partition("\n")[0] or type(error).__name__


# One file may hold several findings, and libcst is the slowest part of a fix.
@lru_cache(maxsize=2)
def _parse(source: str) -> _Parsed:
    module = cst.parse_module(source)
    positions = MetadataWrapper(module, unsafe_skip_copy=True).resolve(PositionProvider)
    parts = [*module.header, *module.body]
    ends = list(accumulate(len(module.code_for_node(part)) for part in parts))
    return _Parsed(module, dict(positions), [0, *ends][len(module.header) : -1])


def _edits(path: str, text: Text, parsed: _Parsed, span: Span, change: Change) -> Iterator[Edit]:
    start, end = _place(text, span[0], span[1]), _place(text, span[2], span[3])
    for node in _within(parsed.positions, start, end):
        for replacement in rewrites(node, change):
            edit = _edit(path, text, parsed, node, replacement)
            if edit is not None:
                yield edit


def _place(text: Text, line: int, byte: int) -> Place:
    """A place as `ast` gives it, in code points as libcst counts them."""
    return line, len(text.line(line).encode("utf-8", "surrogatepass")[:byte].decode("utf-8", "ignore"))


def _within(positions: Positions, start: Place, end: Place) -> list[cst.CSTNode]:
    found = [
        ((range_.start.line, range_.start.column), (-range_.end.line, -range_.end.column), node)
        for node, range_ in positions.items()
        if isinstance(node, cst.BaseExpression)
        and start <= (range_.start.line, range_.start.column)
        and (range_.end.line, range_.end.column) <= end
    ]
    return [node for _, _, node in sorted(found, key=lambda item: item[:2])]


def _edit(
    path: str, text: Text, parsed: _Parsed, node: cst.CSTNode, replacement: cst.BaseExpression
) -> Edit | None:
    """The edit that puts `replacement` in the place of `node`; None where it would lose a comment."""
    if _comments(node) != _comments(replacement):
        return None
    start, end = _offsets(text, parsed.positions, node)
    new = _written(text.source, parsed, node, replacement, start, end)
    if new is None:
        return None
    start, end, new = _trimmed(text.source, start, end, new)
    (line, column), (end_line, end_column) = _line_column(text.source, start), _line_column(text.source, end)
    return Edit(path, Region(line, column, end_line, end_column), new)


def _written(
    source: str, parsed: _Parsed, node: cst.CSTNode, replacement: cst.BaseExpression, start: int, end: int
) -> str | None:
    """The text of `replacement` with the indentation of its place; None where anything else would change.

    Only a statement of the module knows the indentation below it, so that is what is written anew.
    """
    index = bisect_right(parsed.starts, start) - 1
    begin, statement = parsed.starts[index], parsed.module.body[index]
    changed = statement.deep_replace(node, replacement)
    if not isinstance(changed, cst.BaseStatement):
        return None
    old, new = parsed.module.code_for_node(statement), parsed.module.code_for_node(changed)
    # the line end that a last line without one is given
    surplus = max(0, begin + len(old) - len(source))
    old, new = old[: len(old) - surplus], new[: len(new) - surplus]
    head, tail = old[: start - begin], old[end - begin :]
    whole = source.startswith(old, begin) and new.startswith(head) and new.endswith(tail)
    return new[len(head) : len(new) - len(tail)] if whole else None


def _offsets(text: Text, positions: Positions, node: Any) -> tuple[int, int]:
    """Where a node stands in the text, with its own parentheses."""
    first = positions[node.lpar[0] if node.lpar else node].start
    last = positions[node.rpar[-1] if node.rpar else node].end
    return _offset(text, first.line, first.column), _offset(text, last.line, last.column)


def _offset(text: Text, line: int, column: int) -> int:
    return text.offset(line, text.column_of_character(line, column))


def _line_column(source: str, offset: int) -> Place:
    before = Text(source[:offset])
    last = len(before.lines)
    return last, before.column_of_character(last, len(before.line(last)))


def _comments(node: cst.CSTNode) -> list[str]:
    found = [node.value] if isinstance(node, cst.Comment) else []
    for child in node.children:
        found += _comments(child)
    return found


def _trimmed(source: str, start: int, end: int, new: str) -> tuple[int, int, str]:
    """A pure insertion without the text around it; anything else as it is."""
    old = source[start:end]
    head = _shared(old, new)
    tail = len(old) - head
    if tail and not new.endswith(old[head:]):
        return start, end, new
    return _slid(source, start + head, new[head : len(new) - tail]) or (start, end, new)


def _slid(source: str, place: int, text: str) -> tuple[int, int, str] | None:
    """The same insertion begun at a comma or a line end: `21, 1` before `30` is `, 121` after `120`."""
    while text and not _begins_well(source, place, text):
        if not place or source[place - 1] != text[-1]:
            return None
        place, text = place - 1, text[-1] + text[:-1]
    return place, place, text


def _begins_well(source: str, place: int, text: str) -> bool:
    splits_line_end = text.startswith("\n") and source[max(place - 1, 0) : place] == "\r"
    return text.startswith((",", "\r", "\n")) and not splits_line_end


def _shared(one: str, other: str) -> int:
    """The length of the longest common beginning."""
    length = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        length += 1
    return length
