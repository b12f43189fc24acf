"""One run over a fleet: reuse stored results, and store each new one at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from bwlint.fleet.job import AsBefore, Checked, FleetJob, NotChecked
from bwlint.fleet.listing import FleetSource
from bwlint.fleet.processes import AnsweredJob
from bwlint.fleet.state import FleetState

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
