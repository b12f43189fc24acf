"""The request and the answer for one source, as exchanged between two processes."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from typing import Any

from bwlint import __version__
from bwlint.fleet.listing import FleetSource
from bwlint.index.packed import NotData, packed, unpacked
from bwlint.model.findings import Report


@dataclass(frozen=True, slots=True)
class AskedOfAll:
    """What all sources are asked. `seconds` is how long each may take."""

    target: tuple[str, ...]
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    is_indexed: bool = True
    seconds: int = 3600


@dataclass(frozen=True, slots=True)
class FleetJob:
    """`known` is the revision that an answer is kept of, or ""; `tool` the bwlint that asks."""

    source: FleetSource
    asked: AskedOfAll
    known: str = ""
    tool: str = __version__

    def told(self) -> str:
        return json.dumps(asdict(self))


def job_of(line: str) -> FleetJob:
    told = json.loads(line)
    asked: Any = {key: tuple(value) if isinstance(value, list) else value for key, value in told["asked"].items()}
    return FleetJob(FleetSource(**told["source"]), AskedOfAll(**asked), told["known"], told["tool"])


@dataclass(frozen=True, slots=True)
class Checked:
    """A source that was read. `report` has all findings, with paths from the source's top. `revision` is the commit, or
    the digest of the wheel, "" of a path; `version` that of a package; `contents` has for each finding what it is known
    by wherever it stands; `scanned` counts the files that were read."""

    revision: str
    version: str
    report: Report
    contents: tuple[str, ...]
    scanned: int


@dataclass(frozen=True, slots=True)
class NotChecked:
    """A source that could not be read, and why."""

    reason: str


@dataclass(frozen=True, slots=True)
class AsBefore:
    """A source that is what it was when its answer was kept."""


Answer = Checked | NotChecked | AsBefore
_KINDS: dict[str, type[Checked] | type[NotChecked] | type[AsBefore]] = {
    kind.__name__: kind for kind in (Checked, NotChecked, AsBefore)
}


def packed_answer(answer: Answer) -> bytes:
    return packed((type(answer).__name__, *(getattr(answer, field.name) for field in fields(answer))))


def answer_of(data: bytes) -> Answer:
    """What was packed; raises NotData."""
    name, *values = unpacked(data)
    if name not in _KINDS or len(values) != len(fields(_KINDS[name])):
        raise NotData("no answer")
    make: Any = _KINDS[name]
    made: Answer = make(*values)
    return made
