"""A test of a Python program that is to be mended, and what may be written for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from bwlint.chips import ChipSet
from bwlint.chips.mentions import LATER, mentioned, of_generation
from bwlint.chips.wording import plain
from bwlint.fix import Job
from bwlint.fix.change import WantedChange
from bwlint.fix.meant import meant_exactly
from bwlint.fix.python.syntax import Syntax, parse
from bwlint.model.expr import Span
from bwlint.model.facts import Gate, Module
from bwlint.model.findings import Edit, NoFix
from bwlint.model.naming import spoken
from bwlint.world.gates import Judged
from bwlint.world.tree import Sets, Tree

Candidate: TypeAlias = tuple[Edit, ...]
"""Edits of one file that belong together: the test, and an import or a helper that its new text needs."""


@dataclass(frozen=True, slots=True)
class ConditionPlace:
    """Where a test stands and what is to become of it; `span` is the comparison in the text `source` of `module`."""

    tree: Tree
    module: Module
    gate: Gate
    sets: Sets
    source: str
    span: Span
    change: WantedChange

    @classmethod
    def of(cls, job: Job, judged: Judged, change: WantedChange, span: Span | None = None) -> ConditionPlace | NoFix:
        """The place of a test; `NoFix` says why comments there forbid an edit."""
        gate = judged.gate
        at = span or gate.leaf or gate.at
        if parse(job.source) is None:
            return NoFix("the text is not the one that was read")
        refused = meant_exactly(gate, at, job.source, change)
        return refused or cls(job.context.tree, job.module, gate, judged.sets, job.source, at, change)

    @property
    def syntax(self) -> Syntax:
        found = parse(self.source)
        assert found is not None
        return found

    @property
    def misnamed(self) -> NoFix | None:
        """Why a test is not opened: what it is assigned to, or stands in, is called after another generation."""
        for name in (self.gate.name, self.gate.qualname.rpartition(".")[2]):
            said = named_in(name)
            if said and {chip.major for chip in self.change.chips} - {chip.major for chip in said}:
                return NoFix(f"`{name}` names {plain(said)}: give {plain(self.change.chips)} another name")
        return None


def named_in(name: str) -> ChipSet:
    """The chips that a name says it is true of: `is_blackwell`, `sm90_or_newer`."""
    words = spoken(name).split("_")
    said = mentioned(" ".join(words)).named | of_generation(words)
    first = min((chip.joined for chip in said), default=0)
    return said if not said or LATER.isdisjoint(words) else ChipSet.where(lambda chip: chip.joined >= first)
