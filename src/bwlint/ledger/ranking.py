"""How suspicious a row is: a sum of named weights."""

from __future__ import annotations

from collections.abc import Iterable

from bwlint.chips.suspicion import weights
from bwlint.model.ledger import ScorePart


def parts(marks: Iterable[str]) -> tuple[ScorePart, ...]:
    """The weights of a question's marks, the heaviest first."""
    known = weights()
    found = [known[mark] for mark in marks if mark in known and known[mark].points]
    found.sort(key=lambda weight: (-abs(weight.points), weight.name))
    return tuple(ScorePart(weight.name, weight.points, weight.says) for weight in found)
