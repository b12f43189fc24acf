"""Worker processes for reading files; they end with their parent."""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing.connection import wait


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
