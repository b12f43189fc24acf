"""Strings that spell targets wrongly: two that are joined (operations glued), patterns for two digits (as-text)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from bwlint.chips.digits import Misread, is_about
from bwlint.chips.spelling import FORM, NUMBER, PREFIX, SUFFIX, spelled
from bwlint.evaluate.patterns import misread_by, misread_with
from bwlint.model.details import Glued, MisreadDigits
from bwlint.model.facts import Operation
from bwlint.readers.nodes import text_of, whole
from bwlint.readers.python.sides import dotted
from bwlint.readers.spans import span

_NAME = rf"(?:{PREFIX}?{NUMBER}|[0-9]{{1,2}}\.[0-9]){SUFFIX}{FORM}?"
_PLAIN = re.compile(rf"(?:(?:{PREFIX}{NUMBER}|[0-9]{{1,2}}\.[0-9]){SUFFIX}{FORM}?){{2}}")
_BESIDE = re.compile(rf"([\"'])({_NAME})\1(?:\s|#[^\n]*\n)+([\"'])({_NAME})\3")
_PIECES = ("\\d", "[0-9]")
_NEAR = 8
"""Lines around an expression."""
_OF_TARGETS = ("sm_", "sm|", "sm)", "sm?", "compute")


def operations(tree: ast.Module, source: str) -> Iterator[Operation]:
    yield from _glued(tree, source)
    yield from _of_two_digits(tree, source)


def _glued(tree: ast.Module, source: str) -> Iterator[Operation]:
    """`{"9.0", "10.0" "12.0"}`: two names that Python joins because a comma is missing."""
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


def _of_two_digits(tree: ast.Module, source: str) -> Iterator[Operation]:
    """Regular expressions for a target of two digits: `sm_(\\d)(\\d)`, `re.sub(r"(\\d)(\\d)", r"\\1.\\2", arch)`."""
    replaces = "re.sub(" in source
    if not any(piece in source for piece in _PIECES) or not (replaces or _may_take(source)):
        return
    for node in whole(tree):
        text = text_of(node)
        if _may_take(text):
            wrong = misread_by(text)
        elif replaces and isinstance(node, ast.Call) and dotted(node.func) == "re.sub":
            wrong, text = _replaced(node, source), ast.unparse(node)
        else:
            continue
        if wrong:
            yield Operation("as-text", text, span(node), detail=MisreadDigits(wrong.says, wrong.chips.names))


def _replaced(call: ast.Call, source: str) -> Misread | None:
    old, new = (one.value if isinstance(one, ast.Constant) else None for one in (call.args + [call.func] * 2)[:2])
    lines = source.splitlines()
    near = "\n".join(lines[max(0, call.lineno - _NEAR) : call.lineno + _NEAR])
    if not isinstance(old, str) or not isinstance(new, str) or not is_about(near, lines[call.lineno - 1]):
        return None
    return misread_with(old, new)


def _may_take(text: str) -> bool:
    return any(piece in text for piece in _PIECES) and any(word in text for word in _OF_TARGETS)
