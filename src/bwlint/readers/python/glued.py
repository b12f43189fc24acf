"""Two target names that Python joins because a comma is missing: `{"9.0", "10.0" "12.0"}`.

Each comes out as an operation of kind glued, called as the string that comes of it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from bwlint.chips.spelling import FORM, NUMBER, PREFIX, SUFFIX, spelled
from bwlint.model.details import Glued
from bwlint.model.facts import Operation
from bwlint.readers.nodes import whole
from bwlint.readers.spans import span

_NAME = rf"(?:{PREFIX}?{NUMBER}|[0-9]{{1,2}}\.[0-9]){SUFFIX}{FORM}?"
_PLAIN = re.compile(rf"(?:(?:{PREFIX}{NUMBER}|[0-9]{{1,2}}\.[0-9]){SUFFIX}{FORM}?){{2}}")
_BESIDE = re.compile(rf"([\"'])({_NAME})\1(?:\s|#[^\n]*\n)+([\"'])({_NAME})\3")


def operations(tree: ast.Module, source: str) -> Iterator[Operation]:
    pairs = {found[2] + found[4]: (found[2], found[4]) for found in _BESIDE.finditer(source)}
    if not pairs:
        return
    for node in whole(tree):
        for one, text in _listed(node):
            if text in pairs:
                yield Operation("glued", text, span(one), detail=Glued(*pairs[text]))


def _listed(node: ast.AST) -> list[tuple[ast.expr, str]]:
    """The texts of a list of targets, one of which spells a target or each of which was made of two."""
    if isinstance(node, ast.Compare) and isinstance(node.ops[-1], (ast.In, ast.NotIn)):
        found = _texts(node.comparators[-1:])
        return found if all(_are_plain_names(text) for _, text in found) else []
    if not isinstance(node, (ast.Set, ast.List, ast.Tuple)):
        return []
    found = _texts(node.elts)
    is_one = any(spelled(text) for _, text in found) or all(_are_plain_names(text) for _, text in found)
    return found if is_one else []


def _texts(nodes: list[ast.expr]) -> list[tuple[ast.expr, str]]:
    return [(one, one.value) for one in nodes if isinstance(one, ast.Constant) and isinstance(one.value, str)]


def _are_plain_names(text: str) -> bool:
    """Whether a text is made of names that are no bare numbers: "sm_90sm_120", "8.912.0"."""
    return _PLAIN.fullmatch(text) is not None
