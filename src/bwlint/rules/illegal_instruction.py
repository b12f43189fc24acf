"""illegal-instruction: any other instruction that ptxas refuses for the target of the code."""

from __future__ import annotations

from collections.abc import Iterator

from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft
from bwlint.judging.legality import drafts
from bwlint.model.facts import Module

NAME = "illegal-instruction"


def check_file(context: Context, module: Module) -> Iterator[Draft]:
    yield from drafts(context, module, NAME)
