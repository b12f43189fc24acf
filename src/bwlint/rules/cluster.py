"""cluster: two blocks that work as one, in code for a chip that cannot."""

from __future__ import annotations

from collections.abc import Iterator

from bwlint.facts import Module
from bwlint.judge import Context, Draft
from bwlint.legality import drafts

NAME = "cluster"


def check_file(context: Context, module: Module) -> Iterator[Draft]:
    if module.language == "ptx":
        yield from drafts(context, module, NAME)
