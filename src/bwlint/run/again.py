"""Files whose results from an earlier run still hold: what they read would be the same. Reads of no disk are here:
searches, and facts about all files of a run.
"""

# ruff: noqa: PTH119

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from bwlint.index.packed import packed
from bwlint.index.remembered import ComesTo, EarlierAnswers
from bwlint.ledger.question import Question
from bwlint.model.facts import Module
from bwlint.model.findings import Finding, Suppressed
from bwlint.sources import disk, recorder
from bwlint.sources.read import Unread, read_bytes
from bwlint.sources.recorder import Read
from bwlint.sources.search import MAX_HITS, Search
from bwlint.sources.walk import SourceFile
from bwlint.world.collect import Modules
from bwlint.world.tree import Loader

_WORD = re.compile(rb"\w+")
LOADED = "loaded"
"""The kind of answers that `as_told` tells."""
_PARTS = re.compile(r"[A-Za-z0-9_]+")


@dataclass(frozen=True, slots=True)
class ToldOfFile:
    """All that is said of one file with facts, and what doing so has left behind in the run."""

    findings: tuple[Finding, ...]
    suppressed: tuple[Suppressed, ...]
    questions: tuple[Question, ...]
    silent: int
    gates: int
    expected: tuple[str, ...]
    """Roots of packages that came up."""
    reals: tuple[tuple[str, str], ...]
    """Paths that were reported, and what they stand for."""


@dataclass(slots=True)
class Again:
    """What is known of the files of a run; `said` tells what else counts for one of them, besides what is read."""

    answers: EarlierAnswers
    modules: Modules
    said: Callable[[SourceFile], str]
    told: dict[str, ToldOfFile] = field(default_factory=dict)
    _names: dict[str, str] = field(default_factory=dict)
    reads: defaultdict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    _shown: Shown | None = None

    def ask(self, searches: dict[str, Search], load: Loader, tellers: Sequence[ComesTo]) -> None:
        """Find out what still holds; the tellers know what answers about files come to."""
        self._shown = Shown(self.modules, searches, load, tellers, self.answers)
        self.answers.ask(self._shown.show, self._shown.again)
        for group in self._alike():
            others = disk.digest("\0".join(file.real for file in group).encode("utf-8", "surrogateescape"))
            for file in group:
                self._names[file.real] = "\0".join(("told", file.real, file.path, file.root, others, self.said(file)))
            known = {file.real: self.answers.known(self._names[file.real]) for file in group}
            if None not in known.values():
                self.told |= {real: ToldOfFile(*told) for real, told in known.items()}

    def _alike(self) -> Iterator[Sequence[SourceFile]]:
        """Files with the same name and content together: the findings of one depend on the others."""
        watch, groups = disk.watch(), defaultdict[tuple[str, str], list[SourceFile]](list)
        for file in self.modules.files:
            look = watch.looks.get(("file", file.real)) if watch is not None else None
            groups[os.path.basename(file.real), look.seen if look is not None else file.real].append(file)
        return iter(groups.values())

    @contextmanager
    def about(self, real: str) -> Iterator[None]:
        """Until it ends, what is read is read for a file."""
        with self.answers.recorder.apart() as reads:
            yield
        self.reads[real] += reads

    def tell(self, real: str, told: ToldOfFile) -> None:
        """A file has a new result."""
        root = self.answers.recorder.thing(self.reads[real])
        parts = tuple(getattr(told, name) for name in ToldOfFile.__slots__)
        self.answers.answer(self._names[real], parts, root)

    def keep(self) -> None:
        """Keep all that holds for the runs to come."""
        if self._shown is not None:
            self.answers.keep(self._shown.show, self._shown.searched)


@dataclass
class Shown:
    """What the files of a run show, and the searches of its projects."""

    modules: Modules
    searches: dict[str, Search]
    load: Callable[..., Module | None]
    tellers: Sequence[ComesTo]
    answers: EarlierAnswers
    _words: dict[tuple[str, str], tuple[frozenset[str], list[bytes], frozenset[bytes]]] = field(default_factory=dict)

    def show(self, read: Read, before: Any) -> Any:
        """What a read shows, of a search with where it does; None of what nobody can look at again."""
        kind, *said = read
        if kind in ("word", "match", "files", "complete"):
            with recorder.apart():
                return self._searched(kind, said, before)
        if kind == "facts":
            return self._facts.get(said[0], "")
        if kind == "module":
            return self._modules.get(said[0], "")
        return self._of_all.get(kind)

    def again(self, said: Read) -> str | None:
        """What a settled answer comes to now; None of what nobody can tell."""
        if said[0] == LOADED:
            return as_told(self.load(*said[1:]))
        answers = (teller(said) for teller in self.tellers)
        return next((found for found in answers if found is not None), None)

    @property
    def searched(self) -> dict[tuple[str, str], list[str]]:
        """The files that the searches of this run have looked at."""
        places = ((search, kind) for search in self.searches.values() for kind in ("python", "cuda", "build"))
        return {(search.folder, kind): [file.real for file in search.files(kind)] for search, kind in places}

    @cached_property
    def _facts(self) -> dict[str, str]:
        return {card.path: card.facts for card in self.modules.cards}

    @cached_property
    def _modules(self) -> dict[str, str]:
        return {card.name: card.path for card in reversed(self.modules.cards) if card.language == "python"}

    @cached_property
    def _of_all(self) -> dict[str, str]:
        """What the files of a run show together."""
        cards = self.modules.cards
        others = [card for card in cards if card.language != "python"]
        return {
            "roots": disk.digest_of(list(dict.fromkeys(file.root for file in self.modules.files))),
            "names": disk.digest_of([(card.path, card.names) for card in others]),
            "cuda": disk.digest_of([(card.path, card.facts) for card in others]),
            "builds": disk.digest_of([(card.path, card.facts) for card in cards if card.carries]),
            "every file": disk.digest_of([card.path for card in cards]),
        }

    def _searched(self, kind: str, said: list[str], before: Any) -> Any:
        folder, of, *rest = said
        search = self.searches.setdefault(folder, Search(folder))
        if kind == "files":
            return disk.digest_of([file.real for file in search.files(of)])
        if kind == "complete":
            return str(search.complete(of))
        if before is not None and not self._may_differ(search, kind, of, rest, before):
            return before
        if kind == "word":
            hits = search.word(of, rest[0])
            found = [(hit.file.real, hit.line, hit.text) for hit in hits]
        else:
            pattern = re.compile(rest[0].encode("latin-1"), int(rest[1]))
            texts = tuple(text.encode("latin-1") for text in rest[2:])
            matches = search.matches(of, pattern, texts)
            found = [(file.real, 0, f"{match[0]!r} {_line(match)!r}") for file, match in matches]
        often = search.often.get((of, rest[0])) if kind == "word" else None
        return [disk.digest_of(found), sorted({real for real, _, _ in found}), often]

    def _changed(self, search: Search, of: str) -> tuple[frozenset[str], list[bytes], frozenset[bytes]]:
        """The files that are not as they were, their texts, and the words in these."""
        place = search.folder, of
        if place not in self._words:
            changed = self.answers.changed_in(*place, (file.real for file in search.files(of)))
            texts = [data for real in changed if not isinstance(data := read_bytes(real), Unread)]
            self._words[place] = changed, texts, frozenset().union(*(_WORD.findall(text) for text in texts))
        return self._words[place]

    def _may_differ(self, search: Search, kind: str, of: str, said: list[str], before: Any) -> bool:
        _, had, often = before
        changed, texts, words = self._changed(search, of)
        if not changed:
            return False
        if often is not None:
            left: int = sum(times for real, times in often.items() if real not in changed)
            return left <= MAX_HITS
        if kind == "word":
            parts = _PARTS.findall(said[0])
            return not changed.isdisjoint(had) or not parts or any(part.encode() in words for part in parts)
        if not changed.isdisjoint(had):
            return True
        wanted = [re.escape(text.encode("latin-1")) for text in said[2:]] or [said[0].encode("latin-1")]
        flags = 0 if said[2:] else int(said[1])
        return any(re.search(one, text, flags) for one in wanted for text in texts)


def as_told(module: Module | None) -> str:
    """What an import or include of a file comes to."""
    return "" if module is None else disk.digest(packed(module))


def _line(match: re.Match[bytes]) -> bytes:
    text, start = match.string, match.string.rfind(b"\n", 0, match.start()) + 1
    stop = text.find(b"\n", match.end())
    return text[start : stop if stop >= 0 else len(text)]
