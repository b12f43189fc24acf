"""Whose code a file is: the project's own, what no build compiles, what a program has written, another project's."""

from __future__ import annotations

import re

from bwlint.judging.context import Context
from bwlint.model.ledger import RowGroup

_VENDORED = re.compile(
    r"(?:^|/)(?:third[_-]?party|3rd[_-]?party|external|vendor(?:ed)?|submodules|extern|deps|_vendor)/", re.I
)
_GENERATED = re.compile(r"(?:^|/)(?:generated|autogen\w*|gen_\w+|instantiations?|_?build)/|_generated\.|\.gen\.", re.I)


class Whose:
    """Says it of files by their real paths; `context` is that of a run which has judged something."""

    def __init__(self, context: Context | None) -> None:
        self._context = context
        self._known: dict[str, RowGroup] = {}

    def of(self, real: str) -> RowGroup:
        if real not in self._known:
            self._known[real] = self._found(real)
        return self._known[real]

    def _found(self, real: str) -> RowGroup:
        native = self._context.native if self._context is not None else None
        if _VENDORED.search(real):
            return "vendored"
        if _GENERATED.search(real):
            return "generated"
        return "unbuilt" if native is not None and native.unbuilt.holds(real) else "own"
