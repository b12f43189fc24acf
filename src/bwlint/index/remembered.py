"""Cached results with everything that was read for them; a result holds while each read would give the same.

Reads of the disk are looked at once more; what others show is told by who asks, as a text. EarlierAnswers are called by
names, and what they are made of is shared between them (`sources.recorder`).
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from bwlint.index import kept
from bwlint.sources import disk
from bwlint.sources.recorder import NOTHING, Read, Recorder, Thing, recorder, recording, renumbered

_Answer = TypeVar("_Answer")
_answers: EarlierAnswers | None = None


def answers() -> EarlierAnswers | None:
    """What is remembered for the run at hand."""
    return _answers


@contextmanager
def remembering(key: bytes) -> Iterator[None]:
    """Until it ends, what a run reads is noted, and what an earlier one has kept by the key is known."""
    global _answers
    with recording() as made:
        _answers = EarlierAnswers.of(key, made)
        try:
            yield
        finally:
            _answers = None


Show = Callable[[Read, Any], Any]
"""What a read shows now, as a text, or a row of it and more that helps to tell; None where nobody can tell. It is given
what the read has shown before.
"""
ComesTo = Callable[[Read], str | None]
"""What a settled answer comes to now, by what was asked; None where nobody can tell."""
Searched = Mapping[tuple[str, str], Iterable[str]]
"""The files that were searched, by folder and kind."""
FEW = 12
"""EarlierAnswers of files that are not worth writing all others down once more."""


@dataclass(slots=True)
class EarlierAnswers:
    """The answers of the run at hand: those of an earlier one that still hold, and new ones."""

    key: bytes
    recorder: Recorder
    _used: dict[str, None] = field(default_factory=dict)
    """Names that this run has asked for."""
    _roots: dict[str, int] = field(default_factory=dict)
    """What was read for each answer, as one thing."""
    _answers: dict[str, Any] = field(default_factory=dict)
    _shown: dict[int, Any] = field(default_factory=dict)
    """What those reads have shown that are none of the disk."""
    _changed: set[int] = field(default_factory=set)
    _looked: frozenset[int] = frozenset()
    """What of that is changed on the disk itself."""
    _old: int = 0
    """How many things an earlier run has kept."""
    _new: int = 0
    """How many answers have come that rest on reads."""
    _now: dict[tuple[str, str], bool] = field(default_factory=dict)
    """Whether what was looked at shows the same."""
    _searched: dict[tuple[str, str], frozenset[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, key: bytes, recorder: Recorder) -> EarlierAnswers:
        """What an earlier run has kept by a key, as far as the disk is as it was."""
        found, store = cls(key, recorder), kept.store()
        data = store.get(key) if store is not None else None
        with suppress(zlib.error, ValueError, TypeError, LookupError, kept.NotData):
            if data is not None:
                size = int.from_bytes(data[:8], "little")
                began, looks, things, roots, shown, searched = json.loads(zlib.decompress(data[8 : 8 + size]))
                answers = kept.unpacked(data[8 + size :])
                recorder.know(tuple(thing) for thing in things)
                found._roots, found._answers, found._old = roots, answers, len(things)
                found._shown = {int(number): text for number, text in shown.items()}
                found._searched = {(folder, kind): frozenset(files) for folder, kind, files in searched}
                found._look_again(began, looks)
        return found

    def _look_again(self, began: int, looks: Iterable[tuple[disk.Sight, str, list[int] | None, str]]) -> None:
        watch = disk.watch()
        for sight, path, status, seen in looks:
            old = disk.Look(None if status is None else cast(disk.Status, tuple(status)), seen)
            new = disk.now(sight, path, old, began)
            self._now[sight, path] = new is not None
            if new is not None and watch is not None:
                watch.note(sight, path, new)
        for number, thing in enumerate(self.recorder.things):
            if thing[0] in disk.SIGHTS and not self._now.get(cast("tuple[str, str]", thing)):
                self._changed.add(number)
        self._looked = frozenset(self._changed)

    def changed_in(self, folder: str, kind: str, files: Iterable[str]) -> frozenset[str]:
        """Those of the files of a search, as it is now or was before, that are not as they were."""
        old, now = self._searched.get((folder, kind), frozenset()), frozenset(files)
        return (old ^ now) | frozenset(one for one in now if not self._now.get(("file", one)))

    def settle(self, again: ComesTo) -> None:
        """Find out what still holds of what rests on the disk alone."""
        self._spread(again)

    def ask(self, show: Show, again: ComesTo) -> None:
        """Look at all that is not of the disk once more, and find out what still holds."""
        self._changed = set(self._looked)
        for number, thing in enumerate(self.recorder.things[: self._old]):
            if isinstance(thing[0], str) and thing[0] not in disk.SIGHTS:
                old = self._shown.get(number)
                new = None if old is None else show(cast(Any, thing), old)
                if new is None or _seen(new) != _seen(old):
                    self._changed.add(number)
                    self._shown.pop(number, None)
                else:
                    self._shown[number] = new
        self._spread(again)

    def _spread(self, again: ComesTo) -> None:
        """What is made of what has changed has changed, unless it is settled and comes to the same."""
        changed = self._changed
        for number, thing in enumerate(self.recorder.things[: self._old]):
            if isinstance(thing[0], str) or changed.isdisjoint(thing):
                continue
            if not isinstance(thing[-1], str) or self._now_comes_to(again, thing) != thing[-1]:
                changed.add(number)

    def _now_comes_to(self, again: ComesTo, settled: Thing) -> str | None:
        with self.recorder.apart():
            return again(cast(Read, settled[1:-1]))

    def known(self, name: str) -> Any:
        """The answer of a name; None where there is none that holds."""
        root = self._roots.get(name)
        self._used[name] = None
        return None if root is None or root in self._changed else self._answers.get(name)

    def answer(self, name: str, answer: Any, root: int) -> None:
        """Keep an answer with what it was made of."""
        self._roots[name], self._answers[name] = root, answer
        self._new += root != NOTHING

    def keep(self, show: Show, searched: Searched) -> None:
        """Keep what this run has asked for and answered, for the runs to come; little that is new is found out again
        sooner than all is written."""
        store, watch = kept.store(), disk.watch()
        if store is None or watch is None or not watch.is_steady or (self._old and self._new <= FEW):
            return
        roots = {name: self._roots[name] for name in self._used if name in self._roots}
        things, numbers = _reached(self.recorder.things, roots.values())
        shown: dict[int, Any] = {}
        for old, new in numbers.items():
            thing = self.recorder.things[old]
            if not isinstance(thing[0], str) or thing[0] in disk.SIGHTS:
                continue
            text = self._shown.get(old)
            text = show(cast(Any, thing), None) if text is None else text
            if text is not None:
                shown[new] = text
        files = [(*place, sorted(reals)) for place, reals in searched.items()]
        seen = dict.fromkeys(thing for thing in things if thing[0] in disk.SIGHTS)
        seen |= dict.fromkeys(("file", real) for _, _, reals in files for real in reals)
        looks = [(*at, look.status, look.seen) for at in seen if (look := watch.looks.get(cast(Any, at))) is not None]
        made = {name: numbers.get(root, -1) for name, root in roots.items()}
        head = json.dumps([watch.began, looks, things, made, shown, files])
        packed = zlib.compress(head.encode("utf-8", "surrogatepass"), 1)
        with suppress(kept.NotData):
            answers = kept.packed({name: self._answers[name] for name in roots})
            store.put(self.key, len(packed).to_bytes(8, "little") + packed + answers)


def _seen(shown: Any) -> Any:
    return shown[0] if isinstance(shown, list) else shown


def _reached(things: list[Thing], roots: Iterable[int]) -> tuple[list[Thing], Mapping[int, int]]:
    """What some things are made of, in order and under new numbers, and what these are of old ones."""
    wanted, waiting = set[int](), [root for root in roots if root >= 0]
    while waiting:
        number = waiting.pop()
        if number not in wanted:
            wanted.add(number)
            thing = things[number]
            waiting += (part for part in thing if isinstance(part, int) and part not in wanted)
    numbers = {old: new for new, old in enumerate(sorted(wanted))}
    return [renumbered(things[old], numbers) for old in numbers], numbers


def as_before(name: str, make: Callable[[], _Answer]) -> _Answer:
    """An answer that rests on its name alone: that of an earlier run, or what is made now."""
    if _answers is None:
        return make()
    found: _Answer | None = _answers.known(name)
    if found is None:
        found = make()
        _answers.answer(name, found, NOTHING)
    return found


@dataclass(frozen=True, slots=True)
class NotedElsewhere:
    """What a process that works for a run has looked at for a part of it, and the new things that it made."""

    looks: disk.Looks
    is_steady: bool
    things: list[Thing]

    @classmethod
    def here(cls, begun: int) -> NotedElsewhere:
        """That of this process, of which the index gets its results: things from number `begun` on."""
        store, watch, known = kept.store(), disk.watch(), recorder()
        if store is not None:
            store.flush()
        looks, is_steady = watch.take() if watch is not None else ({}, True)
        return cls(looks, is_steady, [] if known is None else known.things[begun:])

    def adopt(self, numbers: list[int]) -> None:
        """Note it in the process of the run; `numbers`, which grow, are those that its things have here."""
        watch, known = disk.watch(), recorder()
        if watch is not None:
            watch.add(self.looks, is_steady=self.is_steady)
        if known is not None:
            known.adopt(self.things, numbers)


def things_so_far() -> int:
    """How many things this process has made."""
    known = recorder()
    return 0 if known is None else len(known.things)
