"""Choices by chip that lead to code the chip lacks, and alternatives for its family in the tree."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from bwlint.chips import ChipSet, chip, siblings
from bwlint.chips.mentions import mentioned
from bwlint.matrix.rows import Interfaces
from bwlint.model.expr import Span
from bwlint.model.facts import Side, Use
from bwlint.model.kinds import BRANCHES
from bwlint.model.naming import spoken
from bwlint.model.outline import Definition
from bwlint.sources.read import Unread, read_bytes
from bwlint.world.gates import Judged, refuses
from bwlint.world.proofs import Node

NAMED_AFTER = re.compile(r"sm_?(?:\d{2,3}[af]?x?|10x)|hopper|blackwell", re.I)

_ASKS = re.compile(r"_*(?:is|has|can|supports?|requires?|check|validate)_")
_MADE = ("__init__", "__post_init__", "__call__")


def is_run_by_users(method: str) -> bool:
    """Whether a method, by its full name, is one that whoever has an object of its class may run."""
    name = method.rpartition(".")[2]
    return name in _MADE or not name.startswith("_")


def taken(judged: Judged, name: str, function: Definition) -> Side | None:
    """The branch that a chip takes at a choice of which no branch ends in an error, or what is named beside a table in
    which its row is missing; None where nothing is chosen."""
    gate = judged.gate
    if judged.in_test:
        return None
    if gate.kind == "lookup":
        return _called(function.uses) if name not in judged.core else None
    if gate.kind not in BRANCHES or refuses(gate.yes) or refuses(gate.no):
        return None
    side = gate.yes if name in judged.core else gate.no
    if side.rest:
        return None
    return _called(side.uses) if gate.kind == "expression" else side


def takes(judged: Judged, name: str, *, yes: bool) -> bool:
    """Whether a chip may take a side, once it comes there: what stands in front may refuse it today."""
    alone = ChipSet.of(name)
    return bool(alone & judged.sets.may) if yes else not alone <= judged.sets.must


def closed_to(judged: Judged, name: str) -> Iterator[Span]:
    """The branches of a gate that a chip does not take, but for the one that opening it gives to the chip."""
    for side, yes in ((judged.gate.yes, True), (judged.gate.no, False)):
        opened = refuses(judged.other) and side is judged.working
        if side.at is not None and not side.rest and not opened and not takes(judged, name, yes=yes):
            yield side.at


def _called(uses: Iterable[Use]) -> Side:
    """What is named for somebody to call it afterwards."""
    return Side(ends="fall", uses=tuple(replace(use, how="call", sure=True) for use in uses if use.how == "name"))


@dataclass(slots=True)
class FamilyNames:
    """The definitions of a tree that are called after the family of one chip, by their names without it."""

    interfaces: Interfaces
    chip: str
    _known: dict[str, tuple[str, str]] = field(default_factory=dict)
    _read: bool = False

    def is_made_for(self, node: Node) -> bool:
        """Whether a definition is called after the family and nobody else, and is no question."""
        return self._is_of_family(node.definition.qualname) and not _ASKS.match(node.definition.qualname)

    def instead(self, nodes: Iterator[Node]) -> tuple[str, str] | None:
        """The module and name of what is called like one of `nodes` but for the family: its own, then of its bases."""
        for node in nodes:
            bare = NAMED_AFTER.sub("*", node.definition.qualname)
            if bare != node.definition.qualname and bare in self._names():
                return self._names()[bare]
        return None

    def _names(self) -> dict[str, tuple[str, str]]:
        if not self._read:
            self._read = True
            for module, name in self._offered("|".join(f"m_?{one.joined}|m_?{one.major}x" for one in self._family())):
                if self._is_of_family(name):
                    self._known.setdefault(NAMED_AFTER.sub("*", name), (module, name))
        return self._known

    def _is_of_family(self, name: str) -> bool:
        said = mentioned(spoken(name)).named
        return bool(said) and said <= self._family()

    def _family(self) -> ChipSet:
        return siblings(chip(self.chip))

    def _offered(self, words: str) -> Iterator[tuple[str, str]]:
        pattern = re.compile(words.encode(), re.I)
        for module, file in sorted(self.interfaces.files.items()):
            data = read_bytes(file.real)
            if isinstance(data, Unread) or not pattern.search(data):
                continue
            found = self.interfaces.get(module)
            yield from ((module, name) for name in (found.offers if found is not None else ()))
