"""suffix-lost: an instruction that needs the f or a suffix, in code for the plain target."""

from __future__ import annotations

from collections.abc import Iterator

from bwlint.facts import Module
from bwlint.judge import Context, Draft
from bwlint.legality import drafts

NAME = "suffix-lost"


def check_file(context: Context, module: Module) -> Iterator[Draft]:
    yield from drafts(context, module, NAME)
