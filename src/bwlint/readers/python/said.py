"""Chips that the strings of a file name, as operations.

stated      the shared memory that docstrings, messages and helps give them: `name` are the words, the amount is bytes
generation  an error, a warning or a line of a log that speaks of a whole generation: `name` is what that is called
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from bwlint.chips.mentions import SIZE, mentioned, shared_memory
from bwlint.chips.words import said
from bwlint.model.details import Speech, StatedChips
from bwlint.model.expr import Span, const
from bwlint.model.facts import Operation
from bwlint.readers.nodes import whole
from bwlint.readers.python.sides import SPEAKS, dotted, literal_text, of_words
from bwlint.readers.spans import span

_NEWLINE = re.compile(r"\r\n|\r|\n")
_KIB = 1024
_GENERATION = (b"lackwell", b"BLACKWELL")
_WHOLE = re.compile(r"\bblackwell\b", re.I)
_NARROWER = re.compile(rf"{said('exception')}|\bG?B[123]00\b|consumer|\bRTX\b|workstation", re.I)
_UNITS = (b"KB", b"KiB", b"KIB")
_SIZED = re.compile(rb"\d{3}[ -]?K[iI]?B")
_SHARED = re.compile(rb"shared mem|smem", re.I)


ANCHORS = (*_GENERATION, *_UNITS)


def may_hold(data: bytes) -> bool:
    """The prefilter: whether a file may say how much shared memory there is, or what a generation is to use."""
    if any(word in data for word in _GENERATION):
        return True
    if not any(unit in data for unit in _UNITS):
        return False
    return _SIZED.search(data) is not None and _SHARED.search(data) is not None


def operations(tree: ast.Module, source: str) -> Iterator[Operation]:
    """The sizes that strings give, each where it stands, or where its string begins."""
    lines = _NEWLINE.split(source) if SIZE.search(source) else []
    for node in whole(tree) if lines else ():
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            for words, size, chips in shared_memory(node.value):
                at = _place(node, lines, words.rpartition("\n")[2].strip())
                asked = StatedChips(tuple(chip.joined for chip in chips))
                amounts = (const(size * _KIB, at),)
                yield Operation("stated", " ".join(words.split()), at, amounts=amounts, detail=asked)
    yield from _of_generation(tree) if _WHOLE.search(source) else ()


def _of_generation(tree: ast.Module) -> Iterator[Operation]:
    for node in whole(tree):
        call = node.exc if isinstance(node, ast.Raise) else node
        if not isinstance(call, ast.Call) or (call is node and dotted(call.func).rpartition(".")[2] not in SPEAKS):
            continue
        text, at = literal_text(call), of_words(call)
        if _WHOLE.search(text) and not mentioned(text).named and not _NARROWER.search(text):
            yield Operation("generation", "Blackwell", at, detail=Speech(text[:600]))


def _place(node: ast.Constant, lines: list[str], words: str) -> Span:
    for number in range(node.lineno, (node.end_lineno or node.lineno) + 1):
        before, found, _ = lines[number - 1].partition(words)
        if found:
            start = len(before.encode("utf-8", "surrogatepass"))
            return Span(number, start, number, start + len(words.encode("utf-8", "surrogatepass")))
    return span(node)
