"""Record what each computed result has read, so that it can be reused while the reads hold.

A read is a row of words: ("file", path), ("word", folder, kind, name). What is computed in between is a row of numbers,
those of the reads and of the other things that it was made of. Who is handed a remembered thing has read what it was
made of, so nothing is hidden behind a memory.

An answer that can be told by words is settled: a row of its number, what was asked and what it came to. Where what it
was made of has changed, it is asked once more, and who rests on it has nothing to do if it came to the same.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import chain
from typing import Any, TypeVar, cast

Read = tuple[str, ...]
Thing = tuple[int | str, ...]
Told = Callable[[Any], str]
"""Says what an answer came to."""
_Key = TypeVar("_Key", bound=Hashable)
_Value = TypeVar("_Value")
NOTHING = -1
"""The number of what nothing was read for."""


class Recorder:
    """What one process has read and made. `things` are numbered in the order in which they came up."""

    def __init__(self) -> None:
        self.things: list[Thing] = []
        self._numbers: dict[Thing, int] = {}
        self._open: list[tuple[int, Hashable]] = [(0, None)]
        """What is being computed: the memory that it is for, and its key there."""
        self._read: list[list[int]] = [[]]
        """What was read so far for each of these."""

    def read(self, *said: str) -> None:
        """Note a read."""
        self._read[-1].append(self.number(said))

    def again(self, number: int) -> None:
        """Note that a thing was handed out which is known."""
        if number != NOTHING:
            self._read[-1].append(number)

    def number(self, thing: Thing) -> int:
        found = self._numbers.get(thing)
        if found is None:
            found = self._numbers[thing] = len(self.things)
            self.things.append(thing)
        return found

    def begin(self, memory: object, key: Hashable) -> None:
        """What follows is read for a key of a memory."""
        self._open.append((id(memory), key))
        self._read.append([])

    def end(self, memory: object, key: Hashable, *said: str) -> int:
        """What was read for it since, as one thing, what was begun in between and nowhere kept included; with words
        it is settled."""
        opened, of = self._open, (id(memory), key)
        at = len(opened) - 1
        while at > 0 and opened[at] != of:
            at -= 1
        made = self.thing(chain.from_iterable(self._read[at:]))
        if said and made != NOTHING:
            made = self.number((made, *said))
        if at > 0:
            del opened[at:], self._read[at:]
            self.again(made)
        return made

    def thing(self, parts: Iterable[int]) -> int:
        """Some things as one; `NOTHING` where there are none."""
        own = tuple(dict.fromkeys(parts))
        return self.number(own) if len(own) > 1 else own[0] if own else NOTHING

    @contextmanager
    def apart(self) -> Iterator[list[int]]:
        """Until it ends, reads are noted in the list alone: who is around has not read them."""
        depth, found = len(self._open), list[int]()
        self._open.append((0, None))
        self._read.append(found)
        try:
            yield found
        finally:
            found += chain.from_iterable(self._read[depth + 1 :])
            del self._open[depth:], self._read[depth:]

    def know(self, things: Iterable[Thing]) -> None:
        """Take over the things of an earlier run, under their numbers."""
        self.things = list(things)
        self._numbers = {thing: number for number, thing in enumerate(self.things)}

    def adopt(self, things: Iterable[Thing], numbers: list[int]) -> None:
        """Take over the things of another process. `numbers` are those here of what it had before, and grow."""
        numbers += (self.number(renumbered(thing, numbers)) for thing in things)


def renumbered(thing: Thing, numbers: Sequence[int] | Mapping[int, int]) -> Thing:
    """A thing whose parts have other numbers."""
    return tuple(part if isinstance(part, str) else numbers[part] for part in thing)


_recorder: Recorder | None = None


def recorder() -> Recorder | None:
    """What notes reads now."""
    return _recorder


@contextmanager
def recording() -> Iterator[Recorder]:
    """Until it ends, reads are noted, and memories that are made know what their things came from."""
    global _recorder
    _recorder = Recorder()
    try:
        yield _recorder
    finally:
        _recorder = None


def record_for(another: bool) -> None:
    """In a process that works for a run: note reads where the run does, none of them so far."""
    global _recorder
    _recorder = Recorder() if another else None


def read(*said: str) -> None:
    if _recorder is not None:
        _recorder.read(*said)


def apart() -> AbstractContextManager[object]:
    """Until it ends, what is read counts for nobody: a read of another kind stands for it."""
    return nullcontext() if _recorder is None else _recorder.apart()


class _Memory(dict[_Key, _Value]):
    """A memory of one run: what is looked for and not there is about to be computed, and then put."""

    __slots__ = ("_kind", "_numbers", "_recorder", "_told")

    def __init__(self, recorder: Recorder, kind: str = "", told: Told = str) -> None:
        super().__init__()
        self._recorder = recorder
        self._kind = kind
        self._told = told
        self._numbers: dict[_Key, int] = {}

    def __contains__(self, key: object) -> bool:
        if dict.__contains__(self, key):
            self._recorder.again(self._numbers.get(cast(Any, key), NOTHING))
            return True
        self._recorder.begin(self, key)
        return False

    def __getitem__(self, key: _Key) -> _Value:
        found = dict.__getitem__(self, key)
        self._recorder.again(self._numbers.get(key, NOTHING))
        return found

    def get(self, key: _Key, default: Any = None) -> Any:
        return self[key] if key in self else default  # noqa: SIM401 - this is `get`

    def __setitem__(self, key: _Key, value: _Value) -> None:
        dict.__setitem__(self, key, value)
        said = (self._kind, *map(str, cast("tuple[object, ...]", key)), self._told(value)) if self._kind else ()
        self._numbers[key] = self._recorder.end(self, key, *said)

    def came_from(self, key: _Key, *said: str) -> None:
        self._numbers[key] = self._recorder.number(said)

    def share(self, first: _Key, keys: Iterable[_Key]) -> None:
        """Some keys were found out together with the first of them."""
        self._numbers.update(dict.fromkeys(keys, self._recorder.end(self, first)))


def memory(kind: str = "", told: Told = str) -> dict[Any, Any]:
    """An empty dict for what is computed once in a run, by the pattern `if key not in it: it[key] = ...`.

    Its answers are settled where their kind has a name: the keys are tuples then, and `told` says what one came to.
    """
    return {} if _recorder is None else _Memory(_recorder, kind, told)


def assume(known: dict[_Key, _Value], key: _Key, value: _Value) -> None:
    """Put what holds until what is being computed for a key is known."""
    dict.__setitem__(known, key, value)


def together(known: dict[_Key, _Value], first: _Key, keys: Iterable[_Key]) -> None:
    """Keys of a memory that were put without a look were found out together with `first`, which was looked for."""
    if isinstance(known, _Memory):
        known.share(first, keys)


def give(known: dict[_Key, _Value], key: _Key, value: _Value, *said: str) -> None:
    """Put what was there before anybody asked; to take it counts as that read."""
    dict.__setitem__(known, key, value)
    if isinstance(known, _Memory):
        known.came_from(key, *said)


class recalled_property:
    """A `cached_property` whose reads are known."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self._function = function
        self.__doc__ = function.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = f"{name} is recalled"  # not its own name, which would stand in front of this

    def __get__(self, instance: Any, owner: type) -> Any:
        known = instance.__dict__.get(self._name)
        if known is None:
            known = instance.__dict__[self._name] = memory()
        if None not in known:
            known[None] = self._function(instance)
        return known[None]


def once(
    function: Callable[..., Any], kind: str = "", told: Told = str
) -> tuple[Callable[..., Any], Callable[[], None]]:
    """A function of plain arguments that is computed once for each, and what makes it forget; see `memory`."""
    known: dict[Hashable, Any] = {}

    def asked(*arguments: Hashable) -> Any:
        nonlocal known
        if _recorder is not None and not (isinstance(known, _Memory) and known._recorder is _recorder):
            known = _Memory(_recorder, kind, told)  # what was found out before nobody has noted
        elif _recorder is None and isinstance(known, _Memory):
            known = {}
        if arguments not in known:
            known[arguments] = function(*arguments)
        return known[arguments]

    def forget() -> None:
        known.clear()

    return asked, forget
