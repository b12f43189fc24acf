"""What a package's own Python and build files do with a chip, for its inspection, whose room knows no gates."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from bwlint.binaries.shipments import OwnPlace, Shipment
from bwlint.chips import ChipSet
from bwlint.model.ledger import Row
from bwlint.run.audit import audit
from bwlint.run.request import CheckRequest
from bwlint.sources.pypi import SourceError, unpack

_KINDS = frozenset({"python", "build"})
_CONDITIONS = ("gate", "list", "table")
_OLDER = ("8.9", "9.0")
_SHORTEST = 6
"""Letters of a module that is known again by its name: many are called `_C`."""


def own_places(archive: Path, shipment: Shipment, asked: ChipSet, scratch: Path) -> tuple[OwnPlace, ...]:
    """The places of an archive that keep an asked chip out, or let it in where nothing is for it; none where it cannot
    be read.
    """
    try:
        top = unpack(archive, scratch, archive.name, _KINDS).mount.real
    except SourceError:
        return ()
    if not (asked and any(Path(top).iterdir())):
        return ()
    request = CheckRequest((top,), target=asked.names, use_gitignore=False, isolated=True)
    with ExitStack() as stack:
        rows = audit(request, stack).rows
    found = (_place(row, shipment, asked, top) for row in rows if row.group == "own" and not row.rough)
    return tuple(place for place in found if place is not None)


def _place(row: Row, shipment: Shipment, asked: ChipSet, top: str) -> OwnPlace | None:
    answers = dict(row.table)
    out = tuple(chip for chip in asked.names if answers.get(chip) in ("no", "error"))
    path, line = row.places[0].path.removeprefix(top).lstrip("/"), row.places[0].line
    older = any(answers.get(chip) == "yes" for chip in _OLDER)
    does = next((way.does for way in row.ways if set(out) & set(way.chips)), "")
    # A setup that is not that of the package builds something else.
    if row.form == "build" and row.kind == "fail" and out and older and "/" not in path.removesuffix("CMakeLists.txt"):
        return OwnPlace("build", out, path, line, row.subject, row.why)
    if row.form in _CONDITIONS and _is_refusal(row) and out and older:
        says = row.why if row.kind == "fail" or not does else f"{row.question}, {does}"
        return OwnPlace("out", out, path, line, row.subject, says)
    if _is_declared(row) and (answers.get("8.9"), answers.get("9.0")) == ("no", "yes"):
        named = list(_lacking(shipment, asked, Path(top, path).read_text("utf-8", "replace")))
        chips = tuple(chip for chip, _ in named if answers.get(chip) == "yes")
        if chips:
            return OwnPlace(
                "in", chips, path, line, row.subject, f"{row.question}, and {named[0][1]} has nothing for it"
            )
    return None


def _is_declared(row: Row) -> bool:
    """Whether it is a bound or a list of chips, and no test."""
    return row.form in _CONDITIONS and not any(letter.isalpha() for letter in row.question)


def _is_refusal(row: Row) -> bool:
    """Whether it turns somebody away: by an error, by what `check` finds, or as a bound that is declared."""
    marks = {part.name for part in row.parts}
    refuses = row.kind == "fail" or _is_declared(row) or "is-refused" in marks
    return row.kind in ("fail", "review") and refuses and "in-test" not in marks


def _lacking(shipment: Shipment, asked: ChipSet, text: str) -> Iterator[tuple[str, str]]:
    """The chips that run nothing of a library which a text names, with its module."""
    for library in shipment.libraries:
        module = Path(library.path).name.partition(".")[0]
        if len(module) >= _SHORTEST and re.search(rf"(?<!\w){re.escape(module)}(?!\w)", text):
            yield from ((chip, module) for chip in asked.names if not library.tallies[chip].served)
