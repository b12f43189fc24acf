"""The operands of a C++ condition, each with its place in the text and the condition that it is part of."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass

from bwlint.chips import Chip
from bwlint.model.expr import Expr, Span
from bwlint.model.findings import Edit
from bwlint.readers.cuda.lexer import Code
from bwlint.sources.read import SourceText

LONGEST_LINE = 100
TOO_LONG = 120
MAX_TERMS = 200
_SPACE = r"(?:\s|\\\r?\n)*"
_OPENS = re.compile(rf"\({_SPACE}\Z")
_CLOSES = re.compile(rf"{_SPACE}\)")
_NEAR = 400
"""Characters within which a bracket around a term is looked for."""
_JOINS = {"or": "||", "and": "&&"}

Change = tuple[int, int, str]
"""Offsets of what is replaced, and what by."""


@dataclass(frozen=True, slots=True)
class Term:
    """A node of a condition, without brackets around it; those within `limits` are part of the condition."""

    node: Expr
    start: int
    end: int
    limits: tuple[int, int]
    parent: Term | None = None

    def inside(self, op: str) -> bool:
        return self.parent is not None and self.parent.node.op == op


def terms(code: Code, test: Expr, limits: tuple[int, int] | None = None) -> tuple[Term, ...]:
    """The condition and every operand in it, outermost first; `limits` are those of the whole with its brackets."""
    found: list[Term] = []
    waiting: list[tuple[Expr, Term | None]] = [(test, None)]
    while waiting and len(found) < MAX_TERMS:
        node, parent = waiting.pop(0)
        if node.at is None:
            continue
        start, end = offsets(code, node.at)
        low, high = (parent.start, parent.end) if parent is not None else limits or (start, end)
        if not (low <= start and end <= high):
            continue
        term = Term(node, start, end, (low, high), parent)
        found.append(term)
        if node.op in ("and", "or"):
            waiting += [(item, term) for item in node.args[0]]
        elif node.op == "not":
            waiting.append((node.args[0], term))
    return tuple(found)


def offsets(code: Code, at: Span) -> tuple[int, int]:
    return code.offset(at[0], at[1]), code.offset(at[2], at[3])


def bracketed(code: Code, term: Term) -> tuple[int, int]:
    """The offsets of a term with the brackets around it and nothing else, as far as they lie in its parent."""
    start, end = term.start, term.end
    low, high = term.limits
    while True:
        opens = _OPENS.search(code.text, max(low, start - _NEAR), start)
        closes = _CLOSES.match(code.text, end, high)
        if opens is None or closes is None:
            return start, end
        start, end = opens.start(), closes.end()


def separator(code: Code, term: Term, sign: str, length: int, *, directive: bool = False) -> str:
    """What to write between a term and one of `length` characters behind it, in the file's layout."""
    joined = [one for one in _separators(code, term) if sign in one]
    breaks = broken(code, term, sign)
    plain = f" {sign} "
    if joined and all("\n" in one for one in joined):
        return breaks
    end = bracketed(code, term)[1]
    width = end - code.line_start(end) + len(plain) + length
    if breaks:
        return plain if width <= LONGEST_LINE else breaks
    if not directive or width <= TOO_LONG or "\r" in code.source:
        return plain
    first = (term.parent or term).start
    return f" {sign} \\\n{' ' * (first - code.line_start(first))}"


def broken(code: Code, term: Term, sign: str) -> str:
    """How the condition that a term is part of goes on in another line; "" where it does not."""
    return next((one for one in reversed([*_separators(code, term)]) if sign in one and "\n" in one), "")


def _separators(code: Code, term: Term) -> Iterator[str]:
    """What stands between the operands of the condition that a term is part of; comments are not copied."""
    parent = term.parent
    if parent is None or parent.node.op not in _JOINS:
        return
    places = [
        bracketed(code, Term(node, *offsets(code, node.at), (parent.start, parent.end), parent))
        for node in parent.node.args[0]
        if node.at
    ]
    for (_, end), (start, _) in itertools.pairwise(places):
        if code.source[end:start] == code.text[end:start]:
            yield code.text[end:start]


def twin_text(text: str, twin: Chip, chip: Chip) -> str:
    """A text with the numbers of `twin` (120, 1200, SM120A) written for `chip`."""
    return re.sub(rf"(?<!\d){twin.joined}(0?)(?!\d)", rf"{chip.joined}\g<1>", text)


def edits(path: str, code: Code, changes: list[Change]) -> tuple[Edit, ...]:
    """Changes of the text as edits of a file."""
    text = SourceText(code.source)
    return tuple(Edit(path, text.region(*code.span(start, end)), new) for start, end, new in changes)
