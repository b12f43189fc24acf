r"""Regular expressions in strings that look for a target of two digits: `sm_(\d)(\d)`, `compute_(\d{2})`.

Each comes out as an operation of kind as-text, whose amount is the expression as a string.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from bwlint.chips.spelling import OF_TOOLS
from bwlint.model.expr import const
from bwlint.model.facts import Operation
from bwlint.readers.nodes import whole
from bwlint.readers.spans import span

_DIGIT = r"(?:\\d|\[0-9\])"
_MORE = rf"(?!\)?\(?{_DIGIT})(?!\)?[+*?{{])"
_WORDS = r"\((?:\?:)?[a-z]+(?:\|[a-z]+)+\)"
"""`(?:sm|compute)`"""
_TWO = re.compile(rf"(?:{OF_TOOLS}|{_WORDS}_)\(?(?:\?P<\w+>)?{_DIGIT}(?:\{{2\}}|\)?\(?(?:\?P<\w+>)?{_DIGIT}){_MORE}")
_ANY_NUMBER = re.compile(rf"{_DIGIT}(?:\)?[+*?]|\{{2,|\{{3)|{OF_TOOLS}\(?1|\|")
"""What lets an expression find three digits too, or other things beside."""
_CHOICE = re.compile(_WORDS)
_PIECES = ("\\d", "[0-9]")
_LONGEST = 300


def operations(tree: ast.Module, source: str) -> Iterator[Operation]:
    if not any(piece in source for piece in _PIECES) or _TWO.search(source) is None:
        return
    for node in whole(tree):
        text = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
        if len(text) > _LONGEST or not any(piece in text for piece in _PIECES):
            continue
        if _TWO.search(text) and not _ANY_NUMBER.search(_CHOICE.sub("", text)):
            at = span(node)
            yield Operation("as-text", text, at, amounts=(const(text, at),))
