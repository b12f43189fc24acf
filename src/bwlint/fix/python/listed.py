"""Lists that name chips, with the missing members of a family beside those that stand there, laid out alike."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from bwlint.chips import Chip
from bwlint.fix.python.items import behind
from bwlint.fix.python.literals import ChipLiteral
from bwlint.fix.python.place import Candidate, ConditionPlace
from bwlint.fix.python.rows import code, literal_at
from bwlint.fix.python.syntax import Syntax, parse

_Listing = ast.List | ast.Tuple | ast.Set


def proposals(place: ConditionPlace) -> Iterator[Candidate]:
    """`[100, 120]` to `[100, 120, 121]`; `[89, 120]`, where a tuple is looked for, to `[(8, 9), (12, 0), (12, 1)]`."""
    syntax = parse(place.source)
    for node in syntax.within(place.span) if syntax is not None else ():
        if syntax is not None and isinstance(node, _Listing):
            named = [literal_at(syntax, item) for item in node.elts]
            found = (_typed if place.change.kind == "type" else _widened)(place, syntax, node, named)
            yield from [found] if found else ()


def _widened(place: ConditionPlace, syntax: Syntax, node: _Listing, named: Sequence[ChipLiteral | None]) -> Candidate:
    twins = [(at, one) for at, one in enumerate(named) if one is not None and one.chip in place.change.twins]
    present = {(one.shape, one.chip) for one in named if one is not None}
    missing: dict[tuple[str, Chip], tuple[int, ChipLiteral]] = {}
    for _, one in twins:
        for chip in (other for other in place.change.beside(one.chip) if (one.shape, other) not in present):
            alike = [(at, twin) for at, twin in twins if twin.shape == one.shape]
            below = [each for each in alike if each[1].chip.joined < chip.joined]  # an ascending list stays one
            missing[(one.shape, chip)] = (below or alike)[-1]
    edits: Candidate = ()
    for at, like in sorted(dict(missing.values()).items(), key=lambda each: each[0]):
        chips = sorted((chip for (_, chip), (index, _) in missing.items() if index == at), key=lambda chip: chip.joined)
        places = [(syntax.start(item), syntax.end(item)) for item in node.elts]
        edits += behind(syntax, place.module.path, places, at, [code(like, chip) for chip in chips])
    return edits


def _typed(place: ConditionPlace, syntax: Syntax, node: _Listing, named: Sequence[ChipLiteral | None]) -> Candidate:
    found = [one for one in named if one is not None and one.shape != "tuple"]
    known, source = {one.chip for one in found}, syntax.text.source
    text, last = "", syntax.end(node)
    for item, one in reversed(list(zip(node.elts, found, strict=False))):
        chips = [one.chip, *(chip for chip in place.change.beside(one.chip) if chip not in known)]
        known |= set(chips)
        gap = source[syntax.end(item) : last]
        alone = len(named) == 1 < len(chips) and gap == ",)"
        text = ", ".join(f"({chip.major}, {chip.minor})" for chip in chips) + (")" if alone else gap) + text
        last = syntax.start(item)
    text, start = source[syntax.start(node) : last] + text, syntax.start(node)
    return (
        (syntax.edit(place.module.path, start, syntax.end(node), text),) if found and len(found) == len(named) else ()
    )
