"""Lists that name chips, with the missing members of a family beside those that stand there, laid out alike."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace

from bwlint.chips import NONE, Chip, spelling
from bwlint.fix import Job
from bwlint.fix.change import WantedChange
from bwlint.fix.edited import apply
from bwlint.fix.edited import edited as edited_module
from bwlint.fix.python.locate import ChipLiteral, code, literal_at
from bwlint.fix.python.place import Candidate, ConditionPlace
from bwlint.fix.python.proof import prove
from bwlint.fix.python.syntax import Syntax
from bwlint.model.expr import walk
from bwlint.model.facts import Gate
from bwlint.model.findings import Edit, Fix, NoFix

_Listing = ast.List | ast.Tuple | ast.Set


def proposals(place: ConditionPlace) -> Iterator[Candidate]:
    """`[100, 120]` to `[100, 120, 121]`; `[89, 120]`, where a tuple is looked for, to `[(8, 9), (12, 0), (12, 1)]`."""
    syntax = place.syntax
    for node in syntax.within(place.span):
        if isinstance(node, _Listing):
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


def behind(
    syntax: Syntax, path: str, items: Sequence[tuple[int, int]], index: int, texts: Sequence[str]
) -> tuple[Edit, ...]:
    """The edits that put `texts` behind the item at `index`. `items` begin and end at these indexes of the text."""
    source = syntax.text.source
    begin, end = items[index]
    line = source.rfind("\n", 0, begin) + 1
    indent = source[line:begin]
    follows = index + 1 < len(items) and "\n" not in source[end : items[index + 1][0]]
    stop = source.find("\n", end)
    shared = source[end : max(stop, end)].partition("#")[0].strip() not in ("", ",")
    if indent.strip() or follows or shared or stop < 0:
        gap = source[items[0][1] : items[1][0]] if len(items) > 1 else ", "
        added = "".join(f"{', ' if chr(10) in gap else gap}{text}" for text in texts)
        alone = len(items) == 1 and source[end:].startswith((",)", ", )"))  # the comma of `(120,)`
        return (syntax.edit(path, end, end + alone, added),)
    newline = "\r\n" if source[stop - 1] == "\r" else "\n"
    stop -= len(newline) - 1
    added = "".join(f"{newline}{indent}{text}," for text in texts)
    if source[end:].lstrip().startswith(","):
        return (syntax.edit(path, stop, stop, added),)
    added = added.removesuffix(",")
    if stop == end:
        return (syntax.edit(path, end, end, f",{added}"),)
    return (syntax.edit(path, end, end, ","), syntax.edit(path, stop, stop, added))


def mend(job: Job) -> Fix | NoFix:
    judged = job.judged
    if judged is None:
        return NoFix("nothing here tells which list to mend")
    change = WantedChange("family", judged.core, NONE, NONE)
    gate = judged.gate
    place = ConditionPlace.of(job, judged, change, gate.at)
    if isinstance(place, NoFix):
        return place
    candidate = _added(place)
    if isinstance(candidate, NoFix):
        return candidate
    proof = prove(place, candidate, job.evidence)
    if isinstance(proof, NoFix):
        return proof
    edited = edited_module(job.module, apply(job.source, candidate))
    after = next((other for other in edited.gates if other.at[:2] == gate.at[:2] and other.kind == gate.kind), gate)
    old, new = _names(gate), _names(after)
    added = [name for name in new if name not in old]
    if not added or not set(old) <= set(new):
        return NoFix("the edited list does not have the names of the family")
    proof = replace(proof, before_may=old, before_must=old, after_may=new, after_must=new)
    title = f"Add the names of the family: {', '.join(f'`{name}`' for name in added)}"
    return Fix(job.applicability, "family", title, candidate, proof)


def _added(place: ConditionPlace) -> Candidate | NoFix:
    syntax = place.syntax
    found = next((node for node in syntax.within(place.span) if isinstance(node, _Listing)), None)
    if found is None:
        return NoFix("the names of this list are written elsewhere")
    items = [(syntax.start(node), syntax.end(node)) for node in found.elts]
    edits: Candidate = ()
    for index, node in enumerate(found.elts):
        if isinstance(node, ast.Attribute) and spelling.member(node.attr) and node.attr.endswith("a"):
            edits += behind(syntax, place.module.path, items, index, [f"{syntax.segment(node)[:-1]}f"])
    return edits or NoFix("the names of this list are written elsewhere")


def _names(gate: Gate) -> tuple[str, ...]:
    return tuple(
        node.args[1]
        for node in walk(gate.test)
        if node.op == "attr" and isinstance(node.args[1], str) and spelling.member(node.args[1])
    )
