r"""Regular expressions that look for a target of two digits, `sm_(\d)(\d)`: operations as-text with an example."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from bwlint.chips.digits import Misread, is_about
from bwlint.evaluate.patterns import misread_by, misread_with
from bwlint.model.details import MisreadDigits
from bwlint.model.facts import Operation
from bwlint.readers.nodes import text_of, whole
from bwlint.readers.python.sides import dotted
from bwlint.readers.spans import span

_PIECES = ("\\d", "[0-9]")
_NEAR = 8
"""Lines around an expression."""
_OF_TARGETS = ("sm_", "sm|", "sm)", "sm?", "compute")


def operations(tree: ast.Module, source: str) -> Iterator[Operation]:
    if not any(piece in source for piece in _PIECES):
        return
    replaces = "re.sub(" in source
    if not replaces and not any(word in source for word in _OF_TARGETS):
        return
    for node in whole(tree):
        text = text_of(node)
        if any(piece in text for piece in _PIECES) and any(word in text for word in _OF_TARGETS):
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
