"""Who owns a file: the project, another project, a generator, or nobody (no build compiles it)."""

from __future__ import annotations

import re
from collections.abc import Callable

from bwlint.model.ledger import RowGroup
from bwlint.sources.kinds import FOREIGN_FOLDERS

_VENDORED = re.compile(rf"(?:^|/)(?:{'|'.join(FOREIGN_FOLDERS)}|vendored|_vendor|extern|deps)/", re.I)
_GENERATED = re.compile(r"(?:^|/)(?:generated|autogen\w*|instantiations?)/|_generated\.|\.gen\.", re.I)


def group_of(place: str, real: str, is_unbuilt: Callable[[str], bool]) -> RowGroup:
    """The group of a file by its path within its project, `place`, and its real one."""
    if _VENDORED.search(place):
        return "vendored"
    if _GENERATED.search(place):
        return "generated"
    return "unbuilt" if is_unbuilt(real) else "own"
