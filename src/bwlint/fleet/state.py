"""Results stored between fleet runs, one for each source and the last complete run; and one run, which reuses them."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from bwlint import __version__
from bwlint.fleet.job import AsBefore, AskedOfAll, Checked, FleetJob, FleetSource, NotChecked, answer_of, packed_answer
from bwlint.fleet.processes import AnsweredJob
from bwlint.index.kept import basis
from bwlint.index.packed import NotData, packed, unpacked

LIMIT = 512 * 1024**2
"""Bytes that all of it may have; what was used least lately goes first."""
LONGEST = 90 * 24 * 3600
"""Seconds after which what no run has used goes."""
_OWN = ("source-", "last-")


def usual_folder() -> Path:
    """Where programs of this user keep what outlives them."""
    from platformdirs import user_state_path

    return user_state_path("bwlint", appauthor=False) / "fleet"


@dataclass(frozen=True, slots=True)
class LastRun:
    """The answers of a run that came to its end, by the names of sources, and the bwlint that gave them."""

    tool: str
    checked: Mapping[str, Checked]


@dataclass(frozen=True, slots=True)
class FleetState:
    """A folder; everything in it is whole or not there, whenever a run is killed."""

    folder: Path
    asked: AskedOfAll
    lists: tuple[str, ...]
    """What the lists of this run are known by."""

    def begin(self) -> None:
        """Make the folder; raises OSError where nothing can be kept in it."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._put("begun", b"")

    def kept(self, source: FleetSource) -> Checked | None:
        """The last answer of a source, if this bwlint gave it."""
        found = self._get(self._key("source", source.kind, source.where))
        if found is None or not found.startswith(basis()):
            return None
        with suppress(NotData):
            answer = answer_of(found[len(basis()) :])
            return answer if isinstance(answer, Checked) else None
        return None

    def keep(self, job: FleetJob, answer: bytes) -> None:
        """Keep an answer; raises OSError."""
        self._put(self._key("source", job.source.kind, job.source.where), basis() + answer)

    def last(self) -> LastRun | None:
        """What the last whole run with these lists and options came to."""
        found = self._get(self._key("last", *self.lists))
        if found is None:
            return None
        with suppress(NotData, TypeError, ValueError):
            tool, answers = unpacked(found)
            checked = {name: answer_of(bytes.fromhex(data)) for name, data in answers.items()}
            return LastRun(tool, {name: one for name, one in checked.items() if isinstance(one, Checked)})
        return None

    def end(self, checked: Mapping[str, Checked]) -> None:
        """The run has ended; raises OSError."""
        answers = {name: packed_answer(one).hex() for name, one in checked.items()}
        self._put(self._key("last", *self.lists), packed((__version__, answers)))

    def prune(self) -> None:
        """Remove what no run has used for `LONGEST`, and what is beyond `LIMIT`; never what this run has used."""
        with suppress(OSError):
            began, now, left = (self.folder / "begun").stat().st_mtime, time.time(), LIMIT
            files = [path for path in self.folder.iterdir() if path.name.startswith(_OWN) and path.is_file()]
            for status, path in sorted(((path.stat(), path) for path in files), key=lambda one: -one[0].st_mtime):
                left -= status.st_size
                if status.st_mtime < began and (left < 0 or now - status.st_mtime > LONGEST):
                    path.unlink(missing_ok=True)

    def _key(self, kind: str, *parts: str) -> str:
        told: Sequence[object] = [*parts, self.asked.target, self.asked.select, self.asked.ignore]
        return f"{kind}-{blake2b(json.dumps(told).encode(), digest_size=16).hexdigest()}"

    def _get(self, name: str) -> bytes | None:
        with suppress(OSError):
            os.utime(self.folder / name)
            return (self.folder / name).read_bytes()
        return None

    def _put(self, name: str, data: bytes) -> None:
        temporary = self.folder / f"{name}.tmp"
        temporary.write_bytes(data)
        temporary.replace(self.folder / name)


Work = Callable[[Sequence[FleetJob]], Iterable[tuple[FleetJob, AnsweredJob]]]
"""Who does the jobs: gives each with its answer, in any order."""


@dataclass(frozen=True, slots=True)
class DoneSource:
    """A source that is done; `said` is what its process said on stderr, and what could not be kept."""

    source: FleetSource
    answer: Checked | NotChecked
    said: str


def checked(
    sources: Sequence[FleetSource], state: FleetState, work: Work, *, is_fresh: bool = False
) -> Iterator[DoneSource]:
    kept = {source: None if is_fresh else state.kept(source) for source in sources}
    jobs = [FleetJob(source, state.asked, before.revision if before else "") for source, before in kept.items()]
    for job, answered in work(jobs):
        answer, said = answered.answer, answered.said
        if isinstance(answer, AsBefore):
            before = kept[job.source]
            answer = before or NotChecked("an earlier run left no result for it")
        elif isinstance(answer, Checked):
            try:
                state.keep(job, answered.data)
            except OSError as error:
                said += f"not kept: {error.strerror}\n"
        yield DoneSource(job.source, answer, said)
