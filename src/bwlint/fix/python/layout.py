"""A new element in a list, tuple or set, in its layout: inline, one to a line, trailing comma, comments."""

from __future__ import annotations

from typing import TypeAlias

import libcst as cst

Container: TypeAlias = cst.List | cst.Tuple | cst.Set
Space: TypeAlias = cst.BaseParenthesizableWhitespace

_NO_SPACE = cst.SimpleWhitespace("")


def insert(container: Container, index: int, value: cst.BaseExpression) -> Container:
    """The container with `value` right behind the element at `index`."""
    before, after = _space_before(container, index), _space_after(container, index)
    if isinstance(before, cst.ParenthesizedWhitespace) and isinstance(after, cst.ParenthesizedWhitespace):
        return _on_own_line(container, index, value, before, after)
    return _inline(container, index, value)


def _inline(container: Container, index: int, value: cst.BaseExpression) -> Container:
    twin = container.elements[index]
    follows = twin.comma
    if len(container.elements) == 1 and isinstance(container, cst.Tuple) and not _has_newline(container):
        follows = cst.MaybeSentinel.DEFAULT
    plain = (space for space in _gaps(container) if isinstance(space, cst.SimpleWhitespace))
    comma = cst.Comma(whitespace_after=next(plain, cst.SimpleWhitespace(" ")))
    return _placed(container, index, twin.with_changes(comma=comma), cst.Element(value, follows))


def _on_own_line(
    container: Container,
    index: int,
    value: cst.BaseExpression,
    before: cst.ParenthesizedWhitespace,
    after: cst.ParenthesizedWhitespace,
) -> Container:
    """Comments stay with the element that they are about."""
    twin = container.elements[index]
    rest = after.with_changes(first_line=after.first_line.with_changes(whitespace=_NO_SPACE, comment=None))
    comma = twin.comma if isinstance(twin.comma, cst.Comma) else cst.Comma()
    if index + 1 < len(container.elements):
        kept = comma.with_changes(whitespace_after=after.with_changes(empty_lines=()))
        added = cst.Element(value, comma.with_changes(whitespace_after=rest))
        return _placed(container, index, twin.with_changes(comma=kept), added)
    line = before.with_changes(first_line=after.first_line, empty_lines=())
    kept = comma.with_changes(whitespace_after=line)
    placed = _placed(container, index, twin.with_changes(comma=kept), cst.Element(value, twin.comma))
    return _closed(placed, rest)


def _placed(container: Container, index: int, twin: cst.BaseElement, added: cst.BaseElement) -> Container:
    elements = [*container.elements[:index], twin, added, *container.elements[index + 1 :]]
    return container.with_changes(elements=elements)


def _gaps(container: Container) -> list[Space]:
    commas = [element.comma for element in container.elements[:-1]]
    return [comma.whitespace_after for comma in commas if isinstance(comma, cst.Comma)]


def _has_newline(container: Container) -> bool:
    spaces = [_space_before(container, 0), _space_after(container, len(container.elements) - 1)]
    return any(isinstance(space, cst.ParenthesizedWhitespace) for space in spaces)


def _space_before(container: Container, index: int) -> Space:
    if index:
        return _gap_after(container.elements[index - 1])
    if isinstance(container, cst.Tuple):
        return container.lpar[-1].whitespace_after if container.lpar else _NO_SPACE
    opening = container.lbracket if isinstance(container, cst.List) else container.lbrace
    return opening.whitespace_after


def _space_after(container: Container, index: int) -> Space:
    if index + 1 < len(container.elements):
        return _gap_after(container.elements[index])
    if isinstance(container, cst.Tuple):
        return container.rpar[0].whitespace_before if container.rpar else _NO_SPACE
    closing = container.rbracket if isinstance(container, cst.List) else container.rbrace
    return closing.whitespace_before


def _gap_after(element: cst.BaseElement) -> Space:
    return element.comma.whitespace_after if isinstance(element.comma, cst.Comma) else _NO_SPACE


def _closed(container: Container, space: cst.ParenthesizedWhitespace) -> Container:
    """The container with `space` before its closing bracket."""
    if isinstance(container, cst.List):
        return container.with_changes(rbracket=container.rbracket.with_changes(whitespace_before=space))
    if isinstance(container, cst.Set):
        return container.with_changes(rbrace=container.rbrace.with_changes(whitespace_before=space))
    first = container.rpar[0].with_changes(whitespace_before=space)
    return container.with_changes(rpar=[first, *container.rpar[1:]])
