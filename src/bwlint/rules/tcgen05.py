"""tcgen05: an instruction of the fifth-generation tensor core in code for a chip without one."""

from __future__ import annotations

from collections.abc import Iterator

from bwlint.facts import Module
from bwlint.judge import Context, Draft
from bwlint.legality import drafts

NAME = "tcgen05"


def check_file(context: Context, module: Module) -> Iterator[Draft]:
    yield from drafts(context, module, NAME)
