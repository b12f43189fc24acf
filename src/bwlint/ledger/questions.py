"""Collect all checks of the chip in one file."""

from __future__ import annotations

from collections.abc import Iterator

from bwlint.judging.context import Context
from bwlint.ledger.amounts import of_operations
from bwlint.ledger.builds import of_builds
from bwlint.ledger.gates import of_gates, of_guards
from bwlint.ledger.question import Question
from bwlint.model.facts import Module


def questions_of(context: Context, module: Module) -> Iterator[Question]:
    """The questions of a file and of the code in its strings, by what asks."""
    asked = [*of_gates(context, module), *of_guards(context, module)]
    yield from asked
    lines = frozenset(line for one in asked for place in one.places for line in range(place.line, place.end_line + 1))
    for part in (module, *module.embedded):
        yield from of_builds(context, part)
        yield from of_operations(context, part, lines)
