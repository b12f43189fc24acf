"""tma-slow-path: a bulk load that assembles to a test and a call of the driver."""

from __future__ import annotations

from collections.abc import Iterator

from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft
from bwlint.judging.legality import drafts
from bwlint.model.facts import Module

NAME = "tma-slow-path"


def check_file(context: Context, module: Module) -> Iterator[Draft]:
    yield from drafts(context, module, NAME)
