"""For which generations names are meant: of functions, files and texts on the way that a chip takes."""

from __future__ import annotations

import re
from functools import cache

from bwlint.chips import ChipSet, group
from bwlint.chips.mentions import mentioned, of_generation
from bwlint.chips.operations import operation_in
from bwlint.model.naming import spoken

_WORD = re.compile(r"[a-z0-9]+")


@cache
def generations(name: str) -> frozenset[str]:
    """ "9", "10", "12" ...: the major numbers of the chips that a name is called after."""
    said = spoken(name.rpartition(".")[2])
    chips = mentioned(said.replace("_", " ").replace("sm ", "sm")).named | of_generation(set(_WORD.findall(said)))
    if not chips and operation_in(said) is not None:
        chips = operation_in(said).chips  # type: ignore[union-attr]
    return frozenset(str(chip.major) for chip in chips)


@cache
def family_of(asked: ChipSet) -> frozenset[str]:
    return frozenset(str(chip.major) for chip in asked)


def of_others(found: frozenset[str], asked: ChipSet) -> bool:
    """Whether names are for newer chips than 8.x, and for none of those asked about."""
    return bool(found & {"9", "10", "11"}) and not found & family_of(asked)


__all__ = ["family_of", "generations", "group", "of_others"]
