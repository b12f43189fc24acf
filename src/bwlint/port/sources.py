"""What a source passed to a compiler contains for other chips and not for one."""

# Paths are plain strings here, as in `sources.tree`.
# ruff: noqa: PTH118, PTH120

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from bwlint.chips import ChipSet, TargetSet, chip, siblings
from bwlint.chips.atoms import builder
from bwlint.judging.legality import legal, short
from bwlint.matrix.cells import GatePlace
from bwlint.model.expr import Span
from bwlint.model.kinds import NAMED
from bwlint.run.engine import Linked
from bwlint.sources.read import Unread, read_bytes
from bwlint.sources.search import search_of
from bwlint.sources.tree import package_root

_INCLUDE = re.compile(rb"^[ \t]*#[ \t]*include[ \t]*[<\"](?!cutlass/|cute/)([^>\"\n]{1,200})", re.MULTILINE)
"""Not those of CUTLASS, which has kernels for all."""
_TAG = re.compile(rb"\barch::(Sm[0-9]+)\b")
MAX_HEADERS = 60
"""Files that a source includes that are looked at."""


@dataclass(frozen=True, slots=True)
class Lacking:
    """What a chip has not at a place, and the chips that have it. `by_check`: the check there is all that says so."""

    place: GatePlace
    what: str
    legal: ChipSet
    by_check: bool = False


@dataclass(frozen=True, slots=True)
class CompiledSources:
    """Looks into sources of one world for one chip."""

    world: Linked
    chip: str

    def lacking(self, start: str) -> list[Lacking]:
        """What a source, or a header of the project that it includes, has for other chips and not for this one; nothing
        where one of them has CUTLASS's tag of the family: it has a body for each. Of headers further on, kernels that a
        builder makes count; what else stands there is often a template that nobody instantiates for the chip."""
        family = siblings(chip(self.chip))
        tag = re.compile("|".join(rf"arch::Sm{one.joined}\b" for one in family).encode())
        found: list[Lacking] = []
        tags: dict[str, str] = {}
        for path, (data, is_near) in self.files(start).items():
            if tag.search(data):
                return []
            tags |= {name.decode(): path for name in _TAG.findall(data)}
            found += (*(self._lacking_in(path) if is_near else ()), *self._built_in(path))
        return found or list(self._for_others(tags))

    def files(self, start: str) -> dict[str, tuple[bytes, bool]]:
        """A source and the headers of the project that it includes, nearest first, with their content and whether it is
        the source or includes them itself."""
        known = [file.real for file in search_of(package_root(start), self.world.native.searches).files("cuda")]
        waiting, near = deque([start]), {start: True}
        found: dict[str, tuple[bytes, bool]] = {}
        while waiting:
            path = waiting.popleft()
            data = read_bytes(path)
            if isinstance(data, Unread):
                continue
            found[path] = data, near[path]
            texts = (text.decode("latin-1") for text in _INCLUDE.findall(data))
            for real in (real for text in texts for real in _meant(path, text, known)):
                if real not in near and len(near) < MAX_HEADERS:
                    near[real] = path == start
                    waiting.append(real)
        return found

    def _for_others(self, tags: dict[str, str]) -> Iterator[Lacking]:
        """What is made for CUTLASS's tags, by the files that have them, where each is one of other chips alone."""
        rows = {tag: builder(tag) for tag in tags}
        lacking = [row for row in rows.values() if row is not None and self.chip not in row.legal.chips]
        for tag, row in rows.items() if len(lacking) == len(rows) else ():
            if row is not None:
                place = GatePlace(tags[tag], Span(1, 0, 1, 0))
                yield Lacking(place, f"kernels for `arch::{tag}` alone", row.legal.chips)

    def _lacking_in(self, path: str) -> Iterator[Lacking]:
        targets = TargetSet.native(ChipSet.of(self.chip))
        module = self.world.tree.headers.at(path)
        for found in module.operations if module is not None else ():
            assert module is not None
            compiled = self.world.tree.surely_compiled(module, found.path) & targets
            if found.kind in NAMED and not found.tests and compiled and not legal(found) & targets:
                what = f"`{short(found)}` in a source that is compiled for it"
                yield Lacking(GatePlace(path, found.at), what, legal(found).chips)

    def _built_in(self, path: str) -> Iterator[Lacking]:
        targets, outline = TargetSet.native(ChipSet.of(self.chip)), self.world.native.outline(path)
        for use in (use for one in outline.definitions.values() for use in one.uses) if outline is not None else ():
            row = builder(use.name) if use.how == "builder" else None
            if row is not None and not row.legal & targets:
                what = f"a kernel that is built for `arch::{use.name}`"
                yield Lacking(GatePlace(path, use.at), what, row.legal.chips)


def _meant(path: str, text: str, files: Iterable[str]) -> list[str]:
    """The file of a project that an include means: the one beside it, else the only one whose path ends so."""
    beside = os.path.normpath(os.path.join(os.path.dirname(path), text))
    found = [real for real in files if real.endswith(f"/{text}")]
    return [beside] if beside in files else found if len(found) == 1 else []
