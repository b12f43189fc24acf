"""Read files into facts in a pool of processes; unreadable ones become `Skipped`."""

# Real paths are plain strings throughout, as `walk` gives them.
# ruff: noqa: PTH119

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import astuple, dataclass
from functools import cache, partial
from typing import Any, NamedTuple, TypeVar, cast

from bwlint.index import kept
from bwlint.index.remembered import EarlierAnswers, NotedElsewhere, things_so_far
from bwlint.model.facts import Module
from bwlint.model.findings import Skipped
from bwlint.model.ledger import Sighting
from bwlint.readers import KINDS, ReadError, python, reader, unparsed
from bwlint.readers.nodes import is_shallow
from bwlint.readers.sightings import sightings
from bwlint.settings.suppress import MARK
from bwlint.sources import disk, faults, recorder
from bwlint.sources.errors import NestedTooDeep
from bwlint.sources.kinds import kind_of
from bwlint.sources.read import WIDE, Unread, bounded, decode, is_nested_too_deep, is_wide, no_text, read_bytes
from bwlint.sources.tree import module_name
from bwlint.sources.walk import SourceFile
from bwlint.world import carried, headers

_Thing = TypeVar("_Thing")
SERIAL_BELOW = 40
CHUNK = 24
_MARK = MARK.encode()


@dataclass(frozen=True, slots=True)
class Card:
    """What a run must know of a file of its own before it asks for its facts, which are told by their digest."""

    path: str
    name: str
    language: str
    gates: int
    weight: int
    """How much there is to judge: gates, guards and operations."""
    carries: bool
    names: str = ""
    """A digest of what a file of C++ defines by name."""
    facts: str = ""

    @classmethod
    def of(cls, module: Module, facts: bytes = b"") -> Card:
        macros = sorted(name for name, function in module.functions.items() if function.kind == "macro")
        weight = 1 + len(module.gates) + len(module.guards) + len(module.operations)
        named = "" if module.language == "python" else disk.digest_of((sorted(module.names), macros))
        told = (module.path, module.name, module.language, len(module.gates), weight, bool(module.carries), named)
        return cls(*told, disk.digest(facts) if facts else "")


class Modules(Sequence[tuple[SourceFile, Module]]):
    """Files with facts, which are had when somebody asks for them."""

    def __init__(self, files: Sequence[tuple[SourceFile, Card, Callable[[], Module]]]) -> None:
        self.files = tuple(file for file, _, _ in files)
        self.cards = tuple(card for _, card, _ in files)
        self._made = [cache(make) for _, _, make in files]

    @classmethod
    def of(cls, pairs: Sequence[tuple[SourceFile, Module]]) -> Modules:
        """Those of facts that are known."""
        if isinstance(pairs, cls):
            return pairs
        return cls([(file, Card.of(module), partial(_same, module)) for file, module in pairs])

    def maker(self, at: int) -> Callable[[], Module]:
        """What gives the facts of a file."""
        return self._made[at]

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return tuple(self[one] for one in range(*at.indices(len(self))))
        return self.files[at], self._made[at]()


def _same(thing: _Thing) -> _Thing:
    return thing


@dataclass(frozen=True, slots=True)
class Collected:
    """Modules with their files, files that were skipped or have a `bwlint:` comment, and lines that speak of a chip."""

    modules: Sequence[tuple[SourceFile, Module]]
    skipped: tuple[Skipped, ...]
    marked: tuple[SourceFile, ...]
    seen: tuple[tuple[SourceFile, Sequence[Sighting]], ...] = ()


Facts = tuple[Module | None, str]
"""What is read of a file: its facts, the reason why it was skipped (or "")."""
Known = tuple[Card | None, str, bool, str, str]
"""What an earlier run has found in a file: its facts, the reason why it was skipped, whether it has a comment, and the
keys of its facts and its sightings in the index, "" where it has none.
"""


class ReadResult(NamedTuple):
    """What a worker says of a file: its facts and its sightings, as the index keeps them where there is one, each with
    its key there, whether it has a comment, what was read for it, as one thing, and errors of bwlint's own.
    """

    found: Facts | bytes
    has_comment: bool = False
    words: tuple[Sighting, ...] | bytes = ()
    facts_key: str = ""
    words_key: str = ""
    thing: int = -1
    faults: tuple[faults.Fault, ...] = ()


def collect(
    files: Sequence[SourceFile],
    jobs: int,
    advance: Callable[[int], None] | None = None,
    own: frozenset[str] = frozenset(),
    answers: EarlierAnswers | None = None,
) -> Collected:
    """Facts of every file that may read the device; `own` are names of lists, `answers` those of an earlier run."""
    forget()
    modules: list[tuple[SourceFile, Card, Callable[[], Module]]] = []
    skipped: list[Skipped] = []
    marked: list[SourceFile] = []
    seen: list[tuple[SourceFile, Sequence[Sighting]]] = []
    known: dict[str, Known | None] = {}
    if answers is not None:
        answers.settle(carried.again)
        known = {file.real: _known(answers.known(name_of(file, own))) for file in files}
    new = [file for file in files if known.get(file.real) is None]
    fresh = {file.real: result for file, result in _results(new, jobs, advance, own, answers)}
    for file in files:
        old = known.get(file.real)
        if old is not None:
            card, reason, has_comment, facts, words = old
            make: Callable[[], Module] = partial(_kept_module, facts, file, own)
            seen += [(file, LazySightings(words, partial(_kept_words, words, file)))] if words else []
        else:
            result = fresh[file.real]
            module, reason = _unpacked(result.found, file, own)
            has_comment, sighted = result.has_comment, _sighted(result.words, file)
            data = result.found if isinstance(result.found, bytes) else result.facts_key.encode()
            card = None if module is None else Card.of(module, data)
            make = partial(_same, cast(Module, module))
            faults.adopt(result.faults)
            if answers is not None and not result.faults:
                words_key = result.words_key if sighted else ""
                told = (card and astuple(card), reason, has_comment, result.facts_key, words_key)
                answers.answer(name_of(file, own), told, result.thing)
            seen += [(file, LazySightings(result.words_key, partial(_same, sighted)))] if sighted else []
        if reason:
            skipped.append(Skipped(file.path, reason))
        if has_comment:
            marked.append(file)
        if card is not None:
            modules.append((file, card, make))
    carried.let_go()
    return Collected(Modules(modules), tuple(skipped), tuple(marked), tuple(seen))


_NUMBERED = re.compile(rb"(?m)^\w{1,80}[^=\n{]{0,80}=\s?\{\s*[\"'(]?\d")
"""A table of a module by numbers or figures."""


def load(real: str, dotted: str, handed: frozenset[tuple[str, str]] = frozenset()) -> Module | None:
    """Facts of a file that is imported or included, None where unreadable; `handed`: parameters given the device."""
    kind = kind_of(os.path.basename(real))
    data = read_bytes(real)
    if isinstance(data, Unread) or kind not in KINDS:
        return None
    is_package = os.path.basename(real) == "__init__.py"
    brought = brought_to(kind, real, data)
    matters = bool(handed) or may_matter(kind, real, data, brought)
    if not (matters or brought or is_package or kind == "cuda" or _NUMBERED.search(data)):
        return None  # only a facade and a table by numbers hand on what matters without a device word
    idle = _idle.get(real)
    if idle is not None and not handed and (idle.module.name, idle.brought) == (dotted, brought):
        return idle.module
    key = kept.key("loaded", data, kind, real, dotted, sorted(handed), brought, matters)
    try:
        # Around the index: what takes too much here and now is not kept as what the file says.
        with bounded():
            return kept.answered(key, lambda: _loaded(kind, real, dotted, data, handed, brought, matters=matters))
    except ReadError:
        return None
    except Exception as error:
        faults.note(error, real, "reading")
        return None


class _Idle(NamedTuple):
    """A file of the run that says nothing by itself, and the words that its imports bring."""

    module: Module
    brought: frozenset[str]


_idle: dict[str, _Idle] = {}
"""By real path: an import may ask for one after all."""
_in_pool = False


def _put_by(module: Module, kind: str, data: bytes, brought: frozenset[str]) -> None:
    """Have facts ready for the imports that need them: through the index where that is another process."""
    _idle[module.path] = _Idle(module, brought)
    if _in_pool and kept.store() is not None:
        matters = may_matter(kind, module.path, data, brought)
        key = kept.key("loaded", data, kind, module.path, module.name, [], brought, matters)
        kept.answered(key, lambda: module)


def _loaded(
    kind: str,
    real: str,
    dotted: str,
    data: bytes,
    handed: frozenset[tuple[str, str]],
    brought: frozenset[str],
    *,
    matters: bool,
) -> Module | None:
    source = decode(data)
    if isinstance(source, Unread):
        return None
    if kind == "cuda" and not matters:
        from bwlint.readers import cuda

        return cuda.read_includes(real, source)
    try:
        return _read(kind, real, source, dotted, frozenset(), brought, handed)
    except ReadError:
        return None


def brought_to(kind: str, real: str, data: bytes) -> frozenset[str]:
    """The words of a file that carry the device because of what it imports or includes."""
    if kind == "cuda":
        return headers.included(real, data)
    return carried.carried(real, data) if kind == "python" else frozenset()


def may_matter(kind: str, real: str, data: bytes, words: frozenset[str]) -> bool:
    """The prefilter of a file; what holds whatever the words are is known by content."""
    if kind == "python":
        return carried.matters(real, data) or any(word.encode() in data for word in words)
    return reader(kind).may_matter(data, words)


def forget() -> None:
    """Begin a run: files may have changed since the last one."""
    carried.forget()
    headers.forget()
    _idle.clear()


def name_of(file: SourceFile, own: frozenset[str]) -> str:
    """What is found in a file by itself, as answers are called."""
    return "\0".join(("read", file.kind, file.root, file.real, *sorted(own)))


def _known(answer: Any) -> Known | None:
    if answer is None:
        return None
    card, *others = answer
    return (None if card is None else Card(*card), *others)


def _kept_module(key: str, file: SourceFile, own: frozenset[str]) -> Module:
    """The facts that an earlier run has kept, or what the file says where they are gone."""
    store = kept.store()
    found = (store.get(bytes.fromhex(key)) if store is not None else None) or b""
    return cast(Module, _unpacked(found, file, own)[0])


class LazySightings(Sequence[Sighting]):
    """The sightings of a file, which are had when somebody asks for them; they are the same where their key is."""

    def __init__(self, key: str, make: Callable[[], tuple[Sighting, ...]]) -> None:
        self.key = key
        self._make = cache(make)

    def __len__(self) -> int:
        return len(self._make())

    def __getitem__(self, at: Any) -> Any:
        return self._make()[at]


def _kept_words(key: str, file: SourceFile) -> tuple[Sighting, ...]:
    store = kept.store() if key else None
    return () if store is None else _sighted(store.get(bytes.fromhex(key)) or b"", file)


def _results(
    files: Sequence[SourceFile],
    jobs: int,
    advance: Callable[[int], None] | None,
    own: frozenset[str],
    answers: EarlierAnswers | None,
) -> Iterator[tuple[SourceFile, ReadResult]]:
    chunks = [([(f.real, f.root, f.kind) for f in files[i : i + CHUNK]], own) for i in range(0, len(files), CHUNK)]
    if jobs <= 1 or len(files) < SERIAL_BELOW:
        yield from _paired(files, map(_read_chunk, chunks), advance)
        return
    from bwlint.world.workers import workers

    for kind in {file.kind for file in files}:
        reader(kind)  # once here, and not in every process

    watch = disk.watch()
    began = None if watch is None else watch.began
    kept.let_go()
    with workers(jobs, partial(_begin, began, kept.store() is not None, answers is not None)) as pool:
        yield from _paired(files, map(partial(_noted, {}), pool.map(_work, chunks)), advance)


def _begin(began: int | None, is_kept: bool, is_recorded: bool) -> None:
    disk.watch_for(began)
    kept.use_again(is_kept)
    recorder.record_for(is_recorded)
    forget()
    global _in_pool
    _in_pool = True


@dataclass(frozen=True, slots=True)
class _Work:
    """What a process of the pool says of some files, and what it has noted."""

    results: list[ReadResult]
    noted: NotedElsewhere
    process: int


def _work(chunk: _Chunk) -> _Work:
    begun = things_so_far()
    return _Work(_read_chunk(chunk), NotedElsewhere.here(begun), os.getpid())


def _noted(numbers: dict[int, list[int]], work: _Work) -> list[ReadResult]:
    """`numbers` are those that the things of each process have here."""
    own = numbers.setdefault(work.process, [])
    work.noted.adopt(own)
    return [one if one.thing < 0 else one._replace(thing=own[one.thing]) for one in work.results]


def _paired(
    files: Sequence[SourceFile], answers: Iterator[list[ReadResult]], advance: Callable[[int], None] | None
) -> Iterator[tuple[SourceFile, ReadResult]]:
    position = 0
    for answer in answers:
        yield from zip(files[position : position + len(answer)], answer, strict=True)
        position += len(answer)
        if advance is not None:
            advance(len(answer))


_Chunk = tuple[list[tuple[str, str, str]], frozenset[str]]
"""Real paths, package roots and kinds of files, and the names that the configuration adds."""


def _read_chunk(chunk: _Chunk) -> list[ReadResult]:
    places, own = chunk
    return [_read_one(real, root, kind, own) for real, root, kind in places]


def _read_one(real: str, root: str, kind: str, own: frozenset[str]) -> ReadResult:
    known, before = recorder.recorder(), len(faults.noted())
    with nullcontext() if known is None else known.apart() as reads:
        found = _result(real, root, kind, own)
    thing = -1 if known is None or reads is None else known.thing(reads)
    return found._replace(thing=thing, faults=faults.noted(before))


def _result(real: str, root: str, kind: str, own: frozenset[str]) -> ReadResult:
    data = read_bytes(real)
    if isinstance(data, Unread):
        return ReadResult((None, data.reason))
    found, key = _of_content(real, root, kind, data, own)
    return ReadResult(found, _MARK in data, _words_of(real, kind, data), key, kept.key("sightings", data, kind).hex())


def sightings_of(file: SourceFile, data: bytes) -> tuple[Sighting, ...]:
    """The lines of a file with that content that speak of a chip."""
    return _sighted(_words_of(file.real, file.kind, data), file)


def _words_of(real: str, kind: str, data: bytes) -> tuple[Sighting, ...] | bytes:
    if kind not in KINDS or is_wide(data):
        return ()
    try:
        with bounded():
            return kept.in_bytes(kept.key("sightings", data, kind), lambda: _sightings(kind, data))
    except ReadError:
        return ()  # why is told of its facts
    except Exception as error:
        faults.note(error, real, "looking for words")
        return ()


def _sightings(kind: str, data: bytes) -> tuple[Sighting, ...]:
    source = decode(data)
    return () if isinstance(source, Unread) else sightings(kind, source)


def _sighted(words: tuple[Sighting, ...] | bytes, file: SourceFile) -> tuple[Sighting, ...]:
    if not isinstance(words, bytes):
        return words
    try:
        found: tuple[Sighting, ...] = kept.unpacked(words)
        return found
    except kept.NotData:
        data = read_bytes(file.real)
        return () if isinstance(data, Unread) else _sightings(file.kind, data)


def of_content(file: SourceFile, data: bytes, own: frozenset[str]) -> Facts:
    """What is read of a file with that content."""
    return _unpacked(_of_content(file.real, file.root, file.kind, data, own)[0], file, own)


def _of_content(real: str, root: str, kind: str, data: bytes, own: frozenset[str]) -> tuple[Facts | bytes, str]:
    """The facts of a file, and their key in the index."""
    if is_wide(data):
        return (None, WIDE), ""
    if os.path.basename(real) == "pyproject.toml" and is_nested_too_deep(data):
        return (None, "nested too deep to read"), ""  # what the project requires stands there, whatever else does
    try:
        with bounded():
            brought = brought_to(kind, real, data)
            if not may_matter(kind, real, data, own | brought):
                return (None, no_text(data)), ""
            key = kept.key("facts", data, kind, real, root, own, brought)
            return kept.in_bytes(key, lambda: _facts(real, root, kind, data, own, brought)), key.hex()
    except NestedTooDeep as error:
        if kind == "python" and is_shallow(data):
            faults.note(error, real, "reading")
        return (None, str(error)), ""
    except ReadError as error:
        return (None, str(error)), ""
    except Exception as error:
        faults.note(error, real, "reading")
        return (None, ""), ""


def _facts(real: str, root: str, kind: str, data: bytes, own: frozenset[str], brought: frozenset[str]) -> Facts:
    source = decode(data)
    if isinstance(source, Unread):
        return None, source.reason
    try:
        module = module_of(kind, real, root, source, own, brought)
    except ReadError as error:
        return None, str(error)
    told = (module.gates, module.guards, module.operations, module.carries, module.embedded, module.handed_on)
    if any(told):
        return module, ""
    if not own:
        _put_by(module, kind, data, brought)
    return None, unparsed.fault(real, source) if kind == "build" else ""


def _unpacked(found: Facts | bytes, file: SourceFile, own: frozenset[str]) -> Facts:
    if not isinstance(found, bytes):
        return found
    try:
        facts: Facts = kept.unpacked(found)
        return facts
    except kept.NotData:
        data = read_bytes(file.real)
        if isinstance(data, Unread):
            return None, data.reason
        return _facts(file.real, file.root, file.kind, data, own, brought_to(file.kind, file.real, data))


def module_of(
    kind: str, real: str, root: str, source: str, own: frozenset[str], brought: frozenset[str] = frozenset()
) -> Module:
    """The facts of one source; `brought` are the words that carry because of its imports. Raises `ReadError`."""
    return _read(kind, real, source, module_name(real, root) if kind == "python" else "", own, brought)


def _read(
    kind: str,
    real: str,
    source: str,
    dotted: str,
    own: frozenset[str],
    brought: frozenset[str],
    handed: frozenset[tuple[str, str]] = frozenset(),
) -> Module:
    is_package = os.path.basename(real) == "__init__.py"
    if kind == "python":
        return python.read(real, source, dotted, is_package, own, brought, handed)
    return reader(kind).read(real, source, dotted, is_package, own | brought)
