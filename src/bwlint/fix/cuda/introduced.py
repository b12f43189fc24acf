"""Names that a file defines only behind its guards; a chip let through another guard needs them too."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from bwlint.chips import TargetSet
from bwlint.fix.cuda.terms import offsets
from bwlint.judging.guards import Guarded
from bwlint.readers.cuda.lexer import Code

_INTRODUCED = re.compile(
    r"^[ \t]*#[ \t]*define[ \t]+(?P<macro>\w+)"
    r"|\b(?:struct|class|union)\s+(?P<type>\w+)[^;{}()]{0,200}\{"
    r"|(?<![\w.>])(?P<function>\w+)\s*\([^;{}()]{0,400}\)\s*\{",
    re.M,
)
_CONTROL = frozenset({"if", "for", "while", "switch", "catch", "defined"})
_WORD = re.compile(r"[A-Za-z_]\w*")


def not_introduced(code: Code, guarded: Guarded, guards: Sequence[Guarded], gained: TargetSet) -> str | None:
    """A name that the working side of a guard uses and that no place of the file introduces for `gained`, though one
    does for others; None where there is none. Names of other files are not looked for.
    """
    at = guarded.working.at
    if at is None:
        return None
    others = (other for other in guards if other.guard.at != guarded.guard.at)
    regions = [region for other in others for region in _regions(code, other)]
    used = set(_WORD.findall(code.text, *offsets(code, at)))
    missing: dict[str, bool] = {}
    for name, place in _introduced(code.text):
        if name in used:
            around = [targets for start, end, targets in regions if start <= place < end]
            lacks = any(gained - targets for targets in around)
            missing[name] = missing.get(name, True) and lacks
    return next((name for name in sorted(missing) if missing[name]), None)


# one file holds many guards
@lru_cache(maxsize=2)
def _introduced(text: str) -> tuple[tuple[str, int], ...]:
    found = ((next(filter(None, match.groups())), match.start()) for match in _INTRODUCED.finditer(text))
    return tuple((name, place) for name, place in found if name not in _CONTROL)


def _regions(code: Code, guarded: Guarded) -> Iterator[tuple[int, int, TargetSet]]:
    """The two sides of a guard, with the targets that they are compiled for."""
    sets, guard = guarded.sets, guarded.guard
    for side, targets in ((guard.yes, sets.may), (guard.no, sets.live - sets.must)):
        if side.at is not None:
            yield (*offsets(code, side.at), targets)
