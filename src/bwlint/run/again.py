"""Files whose results from an earlier run still hold."""

# ruff: noqa: PTH119

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from bwlint.index.remembered import EarlierAnswers
from bwlint.ledger.question import Question
from bwlint.model.findings import Finding, Suppressed
from bwlint.run.shown import Shown
from bwlint.sources import disk
from bwlint.sources.search import Search
from bwlint.sources.walk import SourceFile
from bwlint.world.collect import Modules
from bwlint.world.outlines import Outlines
from bwlint.world.tree import Loader


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

    def ask(self, searches: dict[str, Search], outlines: Outlines, load: Loader) -> None:
        """Find out what still holds."""
        self._shown = Shown(self.modules, searches, outlines, load, self.answers)
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
