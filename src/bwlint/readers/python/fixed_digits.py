r"""Regular expressions in strings that look for a target of two digits: `sm_(\d)(\d)`, `compute_(\d{2})`.

Each comes out as an operation of kind as-text, whose amount is an example.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from bwlint.evaluate.patterns import misread_by
from bwlint.model.expr import const
from bwlint.model.facts import Operation
from bwlint.readers.nodes import whole
from bwlint.readers.spans import span

_PIECES = ("\\d", "[0-9]")
_OF_TARGETS = ("sm_", "sm|", "sm)", "sm?", "compute")


def operations(tree: ast.Module, source: str) -> Iterator[Operation]:
    if not any(piece in source for piece in _PIECES) or not any(word in source for word in _OF_TARGETS):
        return
    for node in whole(tree):
        text = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
        if not any(piece in text for piece in _PIECES) or not any(word in text for word in _OF_TARGETS):
            continue
        if wrong := misread_by(text):
            yield Operation("as-text", text, span(node), amounts=(const(wrong.says), const(wrong.chips.names)))
