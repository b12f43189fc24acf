"""wgmma: warpgroup matrix instructions where a chip without them compiles them."""

from __future__ import annotations

from collections.abc import Iterator

from bwlint.facts import Module
from bwlint.judge import Context, Draft
from bwlint.legality import drafts

NAME = "wgmma"
_GROUPS = frozenset({"wgmma"})


def check_file(context: Context, module: Module) -> Iterator[Draft]:
    yield from drafts(context, module, NAME, NAME, _GROUPS)
