"""Worker processes for reading files, and copies of this one for work on a long list; they end with their parent."""

from __future__ import annotations

import contextlib
import gc
import io
import multiprocessing
import os
import pickle
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import accumulate, pairwise
from multiprocessing.connection import Connection, Pipe, wait
from typing import Any


@contextlib.contextmanager
def workers(jobs: int, begin: Callable[[], None]) -> Iterator[ProcessPoolExecutor]:
    """A pool of `jobs` processes, each of which calls `begin` first; after an exception nobody waits for them."""
    methods = multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("fork" if "fork" in methods else None)
    pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_begin, initargs=(begin,))
    try:
        yield pool
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    pool.shutdown()


def _begin(begin: Callable[[], None]) -> None:
    gc.disable()
    serve()
    begin()


def serve() -> None:
    """From now on this process works for the one that began it, which answers signals, and with which it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to all, and the parent answers
    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """Whatever ends the parent closes its end of a pipe; a killed parent notifies nobody."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


@dataclass(frozen=True, slots=True)
class Copy:
    """A process that works on a part: `start` and `stop` are places in the list."""

    start: int
    stop: int
    answer: Connection
    process: Any


def stretches(weights: Sequence[int], parts: int) -> list[tuple[int, int]]:
    """Cuts a list into stretches of about the same weight, in order; none of them is empty."""
    whole = sum(weights)
    ends = [0, *(at for at, done in enumerate(accumulate(weights), 1) if _crosses(done, weights[at - 1], whole, parts))]
    cuts = sorted({*ends, len(weights)})
    return list(pairwise(cuts))


def _crosses(done: int, last: int, whole: int, parts: int) -> bool:
    return done * parts // whole > (done - last) * parts // whole


def can_copy() -> bool:
    """Whether this process can go on as two."""
    return "fork" in multiprocessing.get_all_start_methods()


def begin(start: int, stop: int, work: Callable[[int, int], object], known: Iterable[object]) -> Copy:
    """Starts a copy of this process on a part."""
    receiver, sender = Pipe(duplex=False)
    names = {id(one): place for place, one in enumerate(known)}
    given = (sender, work, start, stop, names)
    process = multiprocessing.get_context("fork").Process(target=_answer, args=given, daemon=True)
    process.start()
    sender.close()
    return Copy(start, stop, receiver, process)


def ended(copy: Copy, known: Sequence[object]) -> Any:
    """What a copy found; None where it broke off: then this process can do the same and see why."""
    try:
        data = copy.answer.recv_bytes()
    except (EOFError, OSError):
        return None
    finally:
        copy.answer.close()
        copy.process.join()
    return _Unpickler(io.BytesIO(data), known).load()


def _answer(
    sender: Connection, work: Callable[[int, int], object], start: int, stop: int, names: Mapping[int, int]
) -> None:
    try:
        serve()
        written = io.BytesIO()
        _Pickler(written, names).dump(work(start, stop))
        sender.send_bytes(written.getbuffer())
        sender.close()
    except BaseException:
        os._exit(1)  # the process that asked finds out by itself what is wrong, and tells it once
    os._exit(0)  # nothing of what is in memory has to be taken apart


class _Pickler(pickle.Pickler):
    def __init__(self, file: io.BytesIO, names: Mapping[int, int]) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self._names = names

    def persistent_id(self, item: object) -> int | None:
        return self._names.get(id(item))


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, known: Sequence[object]) -> None:
        super().__init__(file)
        self._known = known

    def persistent_load(self, place: int) -> object:
        return self._known[place]
