"""wgmma: a warpgroup instruction in code for anything but Hopper."""

from __future__ import annotations

from collections.abc import Iterator

from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft
from bwlint.judging.legality import drafts
from bwlint.model.facts import Module

NAME = "wgmma"


def check_file(context: Context, module: Module) -> Iterator[Draft]:
    yield from drafts(context, module, NAME)
