"""tcgen05: fifth-generation tensor core instructions and tensor memory where a chip without them compiles them."""

from __future__ import annotations

from collections.abc import Iterator

from bwlint.facts import Module
from bwlint.judge import Context, Draft
from bwlint.legality import drafts

NAME = "tcgen05"
_GROUPS = frozenset({"tcgen05"})


def check_file(context: Context, module: Module) -> Iterator[Draft]:
    yield from drafts(context, module, NAME, NAME, _GROUPS)
