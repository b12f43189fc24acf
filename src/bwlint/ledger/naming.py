"""What names say: the chip generations that those of functions, files and texts point to, and who owns a file."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from bwlint.chips import ChipSet
from bwlint.chips.mentions import mentioned, of_generation
from bwlint.chips.operations import operation_in
from bwlint.model.ledger import RowGroup
from bwlint.model.naming import spoken
from bwlint.sources.kinds import FOREIGN_FOLDERS

_WORD = re.compile(r"[a-z0-9]+")
_VENDORED = re.compile(rf"(?:^|/)(?:{'|'.join(FOREIGN_FOLDERS)}|vendored|_vendor|extern|deps)/", re.I)
_GENERATED = re.compile(r"(?:^|/)(?:generated|autogen\w*|instantiations?)/|_generated\.|\.gen\.", re.I)


@cache
def generations(name: str) -> frozenset[str]:
    """ "9", "10", "12" ...: the major numbers of the chips that a name is called after."""
    said = spoken(name.rpartition(".")[2])
    chips = mentioned(said.replace("_", " ").replace("sm ", "sm")).named | of_generation(set(_WORD.findall(said)))
    operation = None if chips else operation_in(said)
    return frozenset(str(chip.major) for chip in (operation.chips if operation else chips))


def of_file(path: str) -> frozenset[str]:
    """The same of a file and its folder."""
    return generations("_".join(path.replace(".", "_").split("/")[-2:]))


@cache
def family_of(chips: ChipSet) -> frozenset[str]:
    """The major numbers of chips."""
    return frozenset(str(chip.major) for chip in chips)


def around(found: frozenset[str], asked: ChipSet) -> frozenset[str]:
    """The marks of a question among names for these generations."""
    marks = {"stands-among-names-of-others"} if of_others(found, asked) else set()
    return frozenset(marks | ({"stands-among-own-names"} if found & family_of(asked) else set()))


def of_others(found: frozenset[str], asked: ChipSet) -> bool:
    """Whether names are for newer chips than 8.x, and for none of those asked about."""
    return bool(found & {"9", "10", "11"}) and not found & family_of(asked)


def group_of(place: str, real: str, is_unbuilt: Callable[[str], bool]) -> RowGroup:
    """The group of a file by its path within its project, `place`, and its real one."""
    if _VENDORED.search(place):
        return "vendored"
    if _GENERATED.search(place):
        return "generated"
    return "unbuilt" if is_unbuilt(real) else "own"
