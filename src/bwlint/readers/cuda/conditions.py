"""Where a stretch of C++ holds comparisons, whatever it does with them: hands them over, keeps or returns them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from bwlint.model.expr import Expr
from bwlint.readers.cuda.lexer import matching

CONDITIONS = frozenset({"cmp", "and", "or", "not"})
MAX_BRACKET = 4000
MAX_DEPTH = 8
_COMPARES = re.compile(r"[=!<>]=|[<>]")
_TEMPLATE = r"<(?<=\w<)(?:[^<>()=;&|]|<[^<>()=;&|]{0,100}>){0,200}>"
"""The brackets of a template, as in `std::map<int, bool> x`, are no comparison."""
_PARTS = re.compile(rf"[,;(\[{{]|=(?<![=!<>]=)(?!=)|return(?<!\wreturn)\b|{_TEMPLATE}")
_DECLARES = re.compile(rf"{_TEMPLATE}\s*[\w&*:]")
_KEPT_AS = re.compile(r"(?P<name>[A-Za-z_]\w*)\s*(?:\[[^\[\];]{0,80}\]\s*)?(?:[-+*/%&|^]?=|\{)\s*$")
_GIVEN = re.compile(r"=(?<![=!<>]=)(?!=)[^;{}]{1,400};")
Lower = Callable[[int, int], Expr]
Stretch = tuple[int, int]


def conditions(
    text: str, start: int, end: int, aside: tuple[Stretch, ...], lower: Lower, deep: int = MAX_DEPTH
) -> Iterator[Expr]:
    """The largest conditions of a stretch of blanked text, in order; what lies `aside` is read elsewhere."""
    if _COMPARES.search(text, start, end) is None:
        return
    for begin, stop in _parts(text, start, end):
        if _COMPARES.search(text, begin, stop) is None or any(first <= begin and stop <= last for first, last in aside):
            continue
        whole = _DECLARES.search(text, begin, stop) is None and not _holds(begin, stop, aside)
        node = lower(begin, stop) if whole else None
        if node is not None and node.op != "unknown":
            yield from _largest(node)
            continue
        for opening, close in _brackets(text, begin, stop) if deep else ():
            yield from conditions(text, opening + 1, close, aside, lower, deep - 1)


def outside(text: str, is_outside: Callable[[int], bool]) -> Iterator[Stretch]:
    """What members and variables are given that stand in no function, where it compares something."""
    for match in _GIVEN.finditer(text):
        start, end = match.start() + 1, match.end() - 1
        if _COMPARES.search(text, start, end) is not None and is_outside(start):
            yield start, end


def kept_as(text: str, start: int, at: int) -> str:
    """What a value that stands at an offset is assigned to, or "" where it is handed on."""
    found = _KEPT_AS.search(text, max(start, at - 200), at)
    return found["name"] if found is not None else ""


def _parts(text: str, start: int, end: int) -> Iterator[Stretch]:
    """What commas, semicolons, assignments and `return` part, brackets left whole."""
    begin = at = start
    while (mark := _PARTS.search(text, at, end)) is not None:
        if mark[0] in "([{":
            close = matching(text, mark.start(), min(MAX_BRACKET, end - mark.start()))
            if close < 0:
                break
            at = close + 1
            continue
        if mark[0][0] == "<":
            at = mark.end()
            continue
        yield begin, mark.start()
        begin = at = mark.end()
    yield begin, end


def _brackets(text: str, start: int, end: int) -> Iterator[Stretch]:
    at = start
    while at < end:
        found = min((place for mark in "([{" if (place := text.find(mark, at, end)) >= 0), default=-1)
        close = matching(text, found, min(MAX_BRACKET, end - found)) if found >= 0 else -1
        if close < 0:
            return
        yield found, close
        at = close + 1


def _holds(start: int, end: int, aside: tuple[Stretch, ...]) -> bool:
    return any(start <= first and last <= end for first, last in aside)


def _largest(node: object) -> Iterator[Expr]:
    if isinstance(node, Expr) and node.op in CONDITIONS:
        yield node
    elif isinstance(node, Expr) and node.args[:1] == ("<<",):
        return  # it is printed
    elif isinstance(node, tuple):
        for item in node.args if isinstance(node, Expr) else node:
            yield from _largest(item)
