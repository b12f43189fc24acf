"""Hardware operations of kernel DSLs, by their names, and what stands beside them and proves nothing by itself."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from bwlint.chips.chipset import ChipSet
from bwlint.data import table


@dataclass(frozen=True, slots=True)
class OperationFamily:
    """A family of operations of a kernel DSL, by the word with which their names begin."""

    begins: str
    chips: ChipSet
    what: str


@cache
def _operations() -> tuple[OperationFamily, ...]:
    return tuple(
        OperationFamily(row["begins"], ChipSet.of(*row["chips"]), row["what"])
        for row in table("libraries")["operation"]
    )


def operation(name: str) -> OperationFamily | None:
    """The hardware operation that a name begins with; a constant, in capitals, is none."""
    word = name.lower()
    if name.isupper() or _on_the_host().search(name):
        return None
    return next((row for row in _operations() if word.startswith(row.begins)), None)


def operation_in(dotted: str) -> OperationFamily | None:
    """The hardware operation that a part of a dotted name is: `nvgpu.tcgen05.mma`, no constant of `tcgen05_names`."""
    parts = dotted.split(".")
    for part in parts:
        found = operation(part)
        if found is None or part.partition("_")[0] != found.begins:
            continue
        if part == found.begins or not parts[-1].isupper():
            return None if _on_the_host().search(dotted) else found
    return None


@cache
def _on_the_host() -> re.Pattern[str]:
    return re.compile("|".join(row["name"] for row in table("libraries")["host"]))
