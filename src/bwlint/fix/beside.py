"""The words beside a test: what its refusal says, comments at it, the sentences of a docstring that demand a part.

They name the one part for which the test holds, and move with it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from bwlint.chips import ChipSet, words
from bwlint.chips.mentions import mentioned
from bwlint.fix.python.syntax import parse
from bwlint.fix.text import NAMED_BY_PARTS, reworded, reworded_comment, reworded_in_cpp
from bwlint.model.expr import Span
from bwlint.model.facts import Gate, Module, Side
from bwlint.model.findings import Edit, NoFix
from bwlint.readers.comments import Unreadable, comments_of
from bwlint.sources.read import SourceText

_DEMANDS = re.compile(rf"{words.said('demand', 'only-on')}|\b(?:only|support\w*)\b", re.I)
_SENTENCE = re.compile(r"(?:(?!\.\s|\n\s*\n).)+", re.S)


@dataclass(frozen=True, slots=True)
class NearbyWords:
    """A text beside a test: from where to where it stands in the source, and its place if it is a literal."""

    start: int
    end: int
    literal: Span | None = None


def stale(module: Module, source: str, gate: Gate, refusal: Side, held: ChipSet, missing: ChipSet) -> list[NearbyWords]:
    """The words beside a gate that name some of `held` and none of `missing`. `refusal` is the side to be left."""
    if not held | missing <= NAMED_BY_PARTS:
        return []  # of the others, the number of the first is the name of all
    found = (*_literals(source, refusal), *comments(module, source, gate), *_sentences(module, source, gate))
    return [one for one in found if _names_one(source[one.start : one.end], held, missing)]


def moved(module: Module, source: str, found: NearbyWords, family: ChipSet) -> tuple[Edit, ...]:
    """The edits after which words name a family; none where nobody knows how to say it."""
    if found.literal is None and re.search(words.pinned(family), source[found.start : found.end], re.I):
        return ()  # a comment that gives the target tells what is built
    if found.literal is None:
        edits = reworded_comment(source, module.path, found.start, found.end, family)
    elif module.language == "python":
        edits = reworded(source, module.path, found.literal, family)
    else:
        edits = reworded_in_cpp(source, module.path, found.literal, family)
    return () if isinstance(edits, NoFix) else edits


def _names_one(text: str, held: ChipSet, missing: ChipSet) -> bool:
    said = mentioned(text)
    return bool(said.exact & held) and not said.exact & missing and not said.open_ended


def _literals(source: str, refusal: Side) -> Iterator[NearbyWords]:
    text = SourceText(source)
    for prose in refusal.texts:
        yield NearbyWords(*text.bounds(text.region(*prose.at)), prose.at)


def comments(module: Module, source: str, gate: Gate) -> Iterator[NearbyWords]:
    """The comments on the lines of a gate, and those that stand alone right above it."""
    text = SourceText(source)
    try:
        found = list(comments_of(module.language, "").find(source))
    except Unreadable:
        return
    first = gate.at[0]
    for start, end in reversed(found):
        line, last = _line(source, start), _line(source, end - 1)
        alone = not source[:start].rpartition("\n")[2].strip()
        if gate.at[0] <= line <= gate.at[2]:
            yield NearbyWords(start, end)
        elif alone and last == first - 1 and text.line(last).strip():
            first = line
            yield NearbyWords(start, end)


def _line(source: str, index: int) -> int:
    return source.count("\n", 0, index) + 1


def _sentences(module: Module, source: str, gate: Gate) -> Iterator[NearbyWords]:
    """Sentences that demand something, of the docstring of the function in which a gate stands."""
    syntax = parse(source) if module.language == "python" else None
    name = gate.qualname.rpartition(".")[2]
    for node in ast.walk(syntax.tree) if syntax is not None else ():
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) or node.name != name or syntax is None:
            continue
        first = node.body[0]
        inside = node.lineno <= gate.at[0] <= (node.end_lineno or 0) or gate.at[0] < node.lineno <= gate.at[2] + 1
        if inside and isinstance(first, ast.Expr) and ast.get_docstring(node, clean=False) is not None:
            start = syntax.start(first)
            for match in _SENTENCE.finditer(source, start, syntax.end(first)):
                if _DEMANDS.search(match[0]):
                    yield NearbyWords(*match.span())


def touched(source: str, found: NearbyWords, edits: Iterable[Edit]) -> bool:
    """Whether an edit lies in words."""
    text = SourceText(source)
    return any(found.start <= text.bounds(edit.region)[0] < found.end for edit in edits)
