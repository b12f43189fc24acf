"""tcgen05: an instruction of the fifth-generation tensor core in code for a chip without one."""

from __future__ import annotations

from collections.abc import Iterator

from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft
from bwlint.judging.legality import drafts
from bwlint.model.facts import Module

NAME = "tcgen05"


def check_file(context: Context, module: Module) -> Iterator[Draft]:
    yield from drafts(context, module, NAME)
