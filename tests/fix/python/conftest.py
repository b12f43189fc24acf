"""One gate of a snippet, proposed a fix."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from bwlint.chips import ChipSet
from bwlint.evaluate.sources import Sources
from bwlint.facts import Gate, Module
from bwlint.findings import Fix
from bwlint.fix.apply import apply
from bwlint.fix.python import propose
from bwlint.link import Sets, Tree
from bwlint.readers.python import read


@dataclass(frozen=True, slots=True)
class Snippet:
    """A text with its gates; `number` is the gate that is asked about."""

    source: str
    tree: Tree
    module: Module
    number: int = 0

    @property
    def gate(self) -> Gate:
        return self.module.gates[self.number]

    @property
    def sets(self) -> Sets:
        sets = self.tree.sets(self.module, self.gate)
        assert sets is not None
        return sets

    def wanted(self) -> ChipSet:
        """The set with 12.1 on the side of 12.0."""
        core, missing = self.sets.core, ChipSet.of("12.1")
        return core | missing if "12.0" in core else core - missing

    def propose(self, wanted: ChipSet | None = None, unsafe_reason: str | None = None) -> Fix | str:
        target = self.wanted() if wanted is None else wanted
        return propose(self.tree, self.module, "/", self.gate, self.sets, target, self.source, "a test", unsafe_reason)

    def fixed(self, wanted: ChipSet | None = None) -> str:
        """The text after the fix; fails where it is refused."""
        fix = self.propose(wanted)
        assert isinstance(fix, Fix), fix
        return apply(self.source, fix.edits)

    def refused(self, wanted: ChipSet | None = None) -> str:
        fix = self.propose(wanted)
        assert isinstance(fix, str), fix
        return fix


Make = Callable[..., Snippet]


@pytest.fixture
def snippet() -> Make:
    def make(source: str, number: int = 0) -> Snippet:
        module = read("pkg/m.py", source, "pkg.m", False)
        tree = Tree(Sources(), lambda path, dotted: None)
        tree.add(module, "/")
        return Snippet(source, tree, module, number)

    return make
