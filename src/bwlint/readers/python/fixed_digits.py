r"""Regular expressions in strings that look for a target of two digits: `sm_(\d)(\d)`, `compute_(\d{2})`.

Each comes out as an operation of kind as-text, whose amount is an example.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from functools import partial

from bwlint.chips.digits import misread
from bwlint.evaluate.patterns import compiled
from bwlint.model.expr import const
from bwlint.model.facts import Operation
from bwlint.readers.nodes import whole
from bwlint.readers.spans import span

_PIECES = ("\\d", "[0-9]")
_OF_TARGETS = ("sm_", "sm|", "sm)", "sm?", "compute")
_LONG = ("sm_120", "compute_120")


def operations(tree: ast.Module, source: str) -> Iterator[Operation]:
    if not any(piece in source for piece in _PIECES) or not any(word in source for word in _OF_TARGETS):
        return
    for node in whole(tree):
        text = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
        if not any(piece in text for piece in _PIECES) or not any(word in text for word in _OF_TARGETS):
            continue
        pattern = compiled(text)
        wrong = misread(partial(_digits, pattern.search)) if pattern else None
        if pattern and wrong and not any(_digits(pattern.fullmatch, name) in ("120", name) for name in _LONG):
            yield Operation("as-text", text, span(node), amounts=(const(wrong.says, span(node)),))


def _digits(find: Callable[[str], re.Match[str] | None], name: str) -> str | None:
    """What an expression takes out of a name: its groups, each once, or else all of it."""
    found = find(name)
    groups = dict.fromkeys(filter(None, found.groups())) if found else {}
    return "".join(group for group in groups if group.isdigit()) or (found[0] if found else None)
