"""Run the processes of a fleet on the workers of a Dask scheduler."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from bwlint.fleet.job import AnsweredJob, FleetJob, answered, failed

if TYPE_CHECKING:
    from distributed import Client, Future

_SECONDS = 30
"""How long a scheduler and its first worker may take to answer."""


class NoScheduler(Exception):
    """There is nobody to do the work; the message says why."""


def by_scheduler(jobs: Sequence[FleetJob], address: str) -> Iterator[tuple[FleetJob, AnsweredJob]]:
    """The jobs as they are done. What a worker was at when it went away, another does. Raises NoScheduler."""
    try:
        from distributed import as_completed
    except ImportError:
        raise NoScheduler("--scheduler takes Dask: pip install 'bwlint[fleet]'") from None
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # each source that fails is told by its row
    with _client(address) as client:
        begun = {client.submit(answered, job, pure=False): job for job in jobs}
        for future in as_completed(list(begun)):
            yield begun.pop(future), outcome_of(future)


def outcome_of(future: Future[AnsweredJob]) -> AnsweredJob:
    """What has become of a job, also where its worker or the scheduler is lost."""
    from distributed import CancelledError

    try:
        return future.result()
    except (Exception, CancelledError) as error:
        return failed(f"by Dask: {type(error).__name__}: {error}")


def _client(address: str) -> Client:
    from distributed import Client

    try:
        client = Client(address, timeout=_SECONDS)
    except (OSError, ValueError) as error:
        raise NoScheduler(f"no scheduler at {address}: {error}") from None
    try:
        client.wait_for_workers(1, timeout=_SECONDS)
    except asyncio.TimeoutError:  # TimeoutError itself only from Python 3.11 on
        client.close()
        raise NoScheduler(f"the scheduler at {address} has no worker after {_SECONDS} s") from None
    return client
