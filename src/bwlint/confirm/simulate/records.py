"""Read the records of the program's processes, as untrusted input."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bwlint.confirm.simulate.facts import Simulated
from bwlint.confirm.simulate.program import ProgramEnd
from bwlint.sources.read import Unread, read_from_disk

_MOST_BYTES = 32 << 20
"""Of a process."""
_KINDS = frozenset(["start", "end", "exec", "full", "query", "launch", "exception", "unanswered"])


@dataclass(frozen=True, slots=True)
class Frame:
    path: str
    line: int
    function: str


@dataclass(frozen=True, slots=True)
class Noted:
    """One thing that happened: what it is about and where; `said` is the answer, reason or message."""

    kind: str
    what: str
    where: Frame | None
    said: str = ""
    how: str = ""
    arguments: tuple[str, ...] = ()
    way: tuple[Frame, ...] = ()


@dataclass(frozen=True, slots=True)
class Simulation:
    """What came of a program on a chip. `missing` says what may not be told here, in words."""

    simulated: Simulated
    program: tuple[str, ...]
    ended: ProgramEnd
    records: tuple[Noted, ...]
    missing: tuple[str, ...] = field(default=())

    def of(self, kind: str) -> tuple[Noted, ...]:
        """Those of one kind, each once, in the order in which they happened."""
        return tuple(dict.fromkeys(record for record in self.records if record.kind == kind))


def read(simulated: Simulated, program: tuple[str, ...], ended: ProgramEnd, folder: Path) -> Simulation:
    """The records of every process, oldest process first."""
    records: list[Noted] = []
    missing: list[str] = []
    for file in sorted(folder.glob("*.records")):
        process = file.name.split("-")[1] if file.name.count("-") == 2 else file.name
        data = read_from_disk(str(file), _MOST_BYTES)
        if isinstance(data, Unread):
            missing.append(f"process {process}: its records cannot be read: {data.reason}")
            continue
        found, bad = _parsed(data)
        records += found
        missing += (f"process {process}: {gap}" for gap in _gaps(found, bad))
    if not any(record.kind == "start" for record in records):
        missing.append("no Python was simulated: the program is not Python, or runs with -I, -E or -S")
    return Simulation(simulated, program, ended, tuple(records), tuple(missing))


def _gaps(found: list[Noted], bad: int) -> Iterator[str]:
    """What of a process is not known. One that was forked leaves by os._exit as a matter of course."""
    kinds = {record.kind for record in found}
    if "start" in kinds and not kinds & {"end", "exec"}:
        yield "it was killed or called os._exit: bwlint does not know what came after"
    if "full" in kinds:
        yield next(record.what for record in found if record.kind == "full")
    if bad:
        yield f"{bad} lines of its records cannot be read"


def _parsed(data: bytes) -> tuple[list[Noted], int]:
    """The records of a file, and the number of lines that are none: the program can write there what it likes."""
    found, bad = [], 0
    for line in data.splitlines():
        try:
            found.append(_record(json.loads(line)))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            bad += 1
    return found, bad


def _record(row: dict[str, Any]) -> Noted:
    kind = row["kind"]
    if kind not in _KINDS:
        raise ValueError(kind)
    said = next((str(row[key]) for key in ("answer", "reason", "message") if key in row), "")
    arguments = tuple(map(str, row.get("arguments", ())))
    way = tuple(_frame(one) for one in row.get("way", ()))
    where = row.get("where")
    how = str(row.get("how", ""))
    return Noted(kind, str(row["what"]), None if where is None else _frame(where), said, how, arguments, way)


def _frame(row: dict[str, Any]) -> Frame:
    return Frame(str(row["path"]), int(row["line"]), str(row["function"]))
