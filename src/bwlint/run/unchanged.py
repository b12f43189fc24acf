"""Take a whole report from the index where nothing it depends on has changed.

Nothing of the run itself is imported for it.
"""

# ruff: noqa: PTH109, PTH120

from __future__ import annotations

import json
import os
import sys
import time
import zlib
from collections.abc import Callable
from contextlib import nullcontext, suppress
from dataclasses import replace

from bwlint.index import kept
from bwlint.index.packed import NotData, packed, unpacked
from bwlint.index.remembered import remembering
from bwlint.index.store import Store
from bwlint.run.request import CheckRequest, Outcome
from bwlint.sources import disk
from bwlint.sources.pypi import is_package
from bwlint.sources.texts import Names, Texts


def known_or_new(request: CheckRequest, make: Callable[[], Outcome]) -> Outcome:
    """The outcome of an earlier run, where nothing has changed that it saw; else what is made now, which is kept."""
    if kept.store() is None:
        return make()
    found = known(request)
    if found is not None:
        return found
    key = None if request.stdin is not None else _key(request)
    # Of files that are named somebody has changed each, as a hook knows.
    is_by_file = key is not None and any(map(disk.is_folder, request.paths))
    with disk.watching() as watch, remembering(kept.key("remembered", key or b"")) if is_by_file else nullcontext():
        outcome = make()
    keep(request, outcome, watch)
    return outcome


def known(request: CheckRequest) -> Outcome | None:
    """What an earlier run came to, where every look of it would show the same today."""
    store, key = kept.store(), _key(request)
    manifest = store.get(key) if store is not None and key is not None else None
    if store is None or key is None or manifest is None:
        return None
    now = time.time_ns()
    with suppress(NotData):
        looks, is_as_it_was = _looked_again(manifest)
        answer = store.get(_answer_key(manifest)) if looks is not None else None
        if looks is None or answer is None:
            return None
        report, scanned, severity, fail_on, reals, baseline = unpacked(answer)
        if not is_as_it_was:  # the next one need not read what this one had to
            _put(store, key, _manifest(looks, now), answer)
        return Outcome(report, scanned, severity, fail_on, Texts(), Names({}, reals), baseline=baseline)
    return None


def keep(request: CheckRequest, outcome: Outcome, watch: disk.Watch) -> None:
    """Keep what a watched run came to."""
    store, key = kept.store(), _key(request)
    if store is None or key is None or not watch.is_steady or outcome.wheels:
        return
    levels = (outcome.severity, outcome.fail_on)
    told = (outcome.report, outcome.scanned, *levels, outcome.names.reals, outcome.baseline)
    with suppress(NotData):
        _put(store, key, _manifest(watch.looks, watch.began), packed(told))


def _put(store: Store, key: bytes, manifest: bytes, answer: bytes) -> None:
    store.put(_answer_key(manifest), answer)
    store.put(key, manifest)


def _key(request: CheckRequest) -> bytes | None:
    """What an outcome is kept by, besides what was seen; None where it rests on more than that."""
    if any(map(is_package, request.paths)):
        return None
    try:
        here = os.getcwd()
    except OSError:
        return None
    asked = repr(replace(request, jobs=None, stdin=None))
    me = os.geteuid() if hasattr(os, "geteuid") else 0
    data = b"" if request.stdin is None else request.stdin
    return kept.key("report", data, asked, request.stdin is None, here, me, sys.getfilesystemencoding())


def _answer_key(manifest: bytes) -> bytes:
    return kept.key("answer", manifest)


def _manifest(looks: disk.Looks, began: int) -> bytes:
    """The looks of a run that began then. What is not in a folder whose names are known needs no look of its own."""
    rows = [
        (sight, path, look.status, look.seen)
        for (sight, path), look in looks.items()
        if not (sight in ("mode", "link") and look.seen == disk.ABSENT and ("folder", os.path.dirname(path)) in looks)
    ]
    return zlib.compress(json.dumps([began, rows]).encode(), 1)


def _looked_again(manifest: bytes) -> tuple[disk.Looks | None, bool]:
    """The looks of a run, where all of them show the same as then, and whether their status alone says so.

    Raises NotData.
    """
    looks: disk.Looks = {}
    is_as_it_was = True
    try:
        began, rows = json.loads(zlib.decompress(manifest))
        for sight, path, status, seen in rows:
            old = disk.Look(None if status is None else tuple(status), seen)
            new = disk.now(sight, path, old, began)
            if new is None:
                return None, False
            looks[sight, path] = new
            is_as_it_was = is_as_it_was and new is old
    except (zlib.error, ValueError, TypeError, LookupError) as error:
        raise NotData(str(error)) from None
    return looks, is_as_it_was
