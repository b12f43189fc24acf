"""Names of two targets that Python makes one string of, for want of a comma: `{"9.0", "10.0" "12.0"}`.

Each comes out as an operation of kind glued, called as the string that comes of it; `amounts` are the two names.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from bwlint.chips.spelling import FORM, NUMBER, PREFIX, SUFFIX, spelled
from bwlint.model.expr import const
from bwlint.model.facts import Operation
from bwlint.readers.nodes import whole
from bwlint.readers.spans import span

_NAME = rf"(?:{PREFIX}?{NUMBER}|[0-9]{{1,2}}\.[0-9]){SUFFIX}{FORM}?"
_BESIDE = re.compile(rf"([\"'])({_NAME})\1(?:\s|#[^\n]*\n)+([\"'])({_NAME})\3")


def operations(tree: ast.Module, source: str) -> Iterator[Operation]:
    pairs = {found[2] + found[4]: (found[2], found[4]) for found in _BESIDE.finditer(source)}
    if not pairs:
        return
    for node in whole(tree):
        if not isinstance(node, ast.Set | ast.List | ast.Tuple):
            continue
        texts = [(one, one.value) for one in node.elts if isinstance(one, ast.Constant) and isinstance(one.value, str)]
        if not any(spelled(text) for _, text in texts):
            continue
        for one, text in texts:
            if text in pairs:
                at = span(one)
                yield Operation("glued", text, at, amounts=tuple(const(half, at) for half in pairs[text]))
