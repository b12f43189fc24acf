"""What a package's own Python and build files do with a chip, for its inspection."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path, PurePosixPath

from bwlint.binaries.shipments import OwnPlace, Shipment
from bwlint.chips import ChipSet
from bwlint.model.ledger import Row
from bwlint.run.audit import audit
from bwlint.run.request import CheckRequest
from bwlint.sources.kinds import FOREIGN_FOLDERS
from bwlint.sources.pypi import SourceError, unpack
from bwlint.sources.read import bounded

_KINDS = frozenset({"python", "build"})
_CONDITIONS = ("gate", "list", "table")
_OLDER = ("8.9", "9.0")
_ASIDE = ("in-test", "stands-among-names-of-others")
_DECIDED = ("yes", "no", "error")
_REFUSES = ("raises", "ends the program", "stopped by")
_PROJECT = ("setup.py", "pyproject.toml", "setup.cfg")
_LEFT_OUT = re.compile(r"(?:none for|leaves out|raises on|off on|turns away|false on) (.+?)(?: and [tn]|\. |\.$)")
"""Whom a check parts from its twin, in family-split's words: the twin is not affected."""
_SECONDS = 90
_LONGEST = 80
_SHORTEST = 6
"""Letters of a module that is known again by its name: many are called `_C`."""


def own_places(archive: Path, shipment: Shipment, asked: ChipSet, scratch: Path) -> tuple[OwnPlace, ...]:
    """The places of an archive that keep an asked chip out, or let it in where nothing is for it; none where it cannot
    be unpacked. Raises ReadError where that takes too long.
    """
    try:
        top = unpack(archive, scratch, archive.name, _KINDS).mount.real
    except SourceError:
        return ()
    if not (asked and any(Path(top).iterdir())):
        return ()
    request = CheckRequest((top,), target=asked.names, use_gitignore=False, isolated=True, jobs=1)
    with ExitStack() as stack, bounded(_SECONDS):
        rows = audit(request, stack).rows
    # What a table has no row for may get a default, and what another place stops is told there.
    asking = [row for row in rows if row.group == "own" and not (row.rough or row.question.startswith("{"))]
    asking = [row for row in asking if not _is_carried(_where(row, top)[0], top, is_wheel=not shipment.built)]
    places = ((_place(row, shipment, asked, top) or _fault(row, asked, top)) for row in asking)
    found = [place for place in places if place is not None]
    if shipment.built and not any(place.does in ("made", "build") for place in found):
        found += list(_left_out(asking, asked, top))[:1]
    told = tuple(f"stopped by `{place.subject}`" for place in found)
    lost = {chip for place in found if place.does == "build" for chip in place.chips}
    return tuple(
        place
        for place in found
        if not (place.says.endswith(told) or (place.does == "made" and lost.intersection(place.chips)))
    )


def _is_carried(name: str, top: str, *, is_wheel: bool) -> bool:
    """Whether a file is another project's, or one that is neither installed nor built: it decides nothing."""
    path = PurePosixPath(name)
    below = path.parents[:-1]
    if any(folder.name in FOREIGN_FOLDERS for folder in below):
        return True
    if is_wheel:
        return path.suffix != ".py"  # nobody builds a wheel
    if any(Path(top, folder, name).exists() for folder in below for name in _PROJECT):
        return True
    around = next((one for one in path.parents if not Path(top, one, "__init__.py").exists()), PurePosixPath())
    return path.suffix == ".py" and len(around.parts) > 1


def _place(row: Row, shipment: Shipment, asked: ChipSet, top: str) -> OwnPlace | None:
    answers = dict(row.table)
    path, line = _where(row, top)
    if row.form == "build" and row.kind == "fail":
        out = _unlike_older(row, (chip for chip in asked.names if answers.get(chip) == "no"))
        return OwnPlace("build", out, path, line, row.subject, row.why) if out else None
    if shipment.built and row.form == "build":
        made = tuple(chip for chip in asked.names if answers.get(chip) == "yes")
        says = _cut(row.question.removeprefix(f"{row.subject} "))
        return OwnPlace("made", made, path, line, row.subject, says) if made else None
    if row.form not in _CONDITIONS or row.kind == "pass" or any(part.name in _ASIDE for part in row.parts):
        return None
    refused = {chip: way.does for way in row.ways for chip in way.chips if way.does.startswith(_REFUSES)}
    if _is_declared(row):
        refused |= {chip: way.does for way in row.ways for chip in way.chips if answers.get(chip) == "no"}
    out = _unlike_older(row, refused)
    if out:
        lets_in = tuple(chip for chip, said in row.table if said in ("yes", "no") and said != answers[out[0]])
        says = f"{_cut(row.question)}, {refused[out[0]]}"
        return OwnPlace("out", out, path, line, row.subject, says, lets_in=lets_in)
    if not _is_declared(row) or (answers.get("8.9"), answers.get("9.0")) != ("no", "yes"):
        return None
    lacking = _lacking(shipment, asked, Path(top, path).read_text("utf-8", "replace"))
    named = {chip: module for chip, module in lacking if answers.get(chip) == "yes"}
    library = next(iter(named.values()), "")
    says = f"{row.question}, and {library} has nothing for it"
    return OwnPlace("in", tuple(named), path, line, row.subject, says, library) if named else None


def _left_out(rows: Iterable[Row], asked: ChipSet, top: str) -> Iterator[OwnPlace]:
    """The builds that make code for other chips alone."""
    for row in rows:
        answers = dict(row.table)
        out = tuple(chip for chip in asked.names if answers.get(chip) == "no")
        if row.form == "build" and out and "yes" in answers.values():
            yield OwnPlace("build", out, *_where(row, top), row.question, row.why)


def _fault(row: Row, asked: ChipSet, top: str) -> OwnPlace | None:
    """What a check of the text reports of an asked chip, and says nothing else of an inspection."""
    parted = _LEFT_OUT.search(row.why)
    out = parted[1] if parted and ".x" not in parted[1] else asked.names  # "12.x" are all that were asked about
    chips = tuple(chip for chip, kind in row.verdicts if kind == "fail" and chip in out)
    return OwnPlace("fault", chips, *_where(row, top), row.subject, row.why) if chips else None


def _where(row: Row, top: str) -> tuple[str, int]:
    return row.places[0].path.removeprefix(top).lstrip("/"), row.places[0].line


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def _unlike_older(row: Row, chips: Iterable[str]) -> tuple[str, ...]:
    """Those of the chips that get another answer than an older one, whatever else is asked."""
    answers = dict(row.table)
    older = {answers.get(chip) for chip in _OLDER} & {"yes", "no"}
    return tuple(chip for chip in chips if answers.get(chip) in _DECIDED and older - {answers.get(chip)})


def _is_declared(row: Row) -> bool:
    """Whether it is a bound or a list of chips, and no test: chips for which it is true get in."""
    return row.form in _CONDITIONS and not any(letter.isalpha() for letter in row.question)


def _lacking(shipment: Shipment, asked: ChipSet, text: str) -> Iterator[tuple[str, str]]:
    """The chips that run nothing of a library which a text names, with its module."""
    for library in shipment.libraries:
        module = Path(library.path).name.partition(".")[0]
        if len(module) >= _SHORTEST and re.search(rf"(?<!\w){re.escape(module)}(?!\w)", text):
            yield from ((chip, module) for chip in asked.names if not library.tallies[chip].served)
