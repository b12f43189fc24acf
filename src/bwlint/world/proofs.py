"""The code behind a definition and the chips it works on: nodes and proofs of the graph."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bwlint.chips import EVERY, ChipSet
from bwlint.model.facts import Hop, Use
from bwlint.model.outline import Definition, Outline

Key = tuple[str, str, int]
"""A definition by the real path of its file, its qualified name and its first line."""

RANK = ("operation", "list", "gate", "build", "library", "name")
"""Kinds of proof, strongest first: a list names the chips that its author admits, a gate is any other refusal."""


@dataclass(frozen=True, slots=True)
class Node:
    """A definition and the file that it stands in: a node."""

    outline: Outline
    definition: Definition

    @property
    def key(self) -> Key:
        name = " ".join((self.definition.qualname, *self.definition.given))
        return self.outline.path, name, self.definition.at.line


@dataclass(frozen=True, slots=True)
class NeedProof:
    """What is behind a definition works on `legal` and on nothing else.

    `kind` is one of `RANK`; `what` is how a message calls it, `source` where it was read, `hops` the way there from
    the use to the place that proves it, `arriving` the chips that the gates on that way may let come,
    `where` the name of the definition at its end, `operation` the instruction or atom of C++ there, and `pairs` what a
    build there asks nvcc for.
    """

    legal: ChipSet
    kind: str
    what: str
    source: str
    hops: tuple[Hop, ...]
    arriving: ChipSet = EVERY
    where: str = ""
    operation: Use | None = None
    pairs: tuple[str, ...] = ()

    @property
    def against(self) -> ChipSet:
        """The chips that come there and on which it does not work."""
        return self.arriving - self.legal


@dataclass(frozen=True, slots=True)
class Edge:
    """What a definition surely leads to: one of `after`, for a name may have several definitions.

    `chips` are those that the gates around the use may let reach it; `hop` is the use, None where the one is a part
    of the other, as a class's `__init__` is.
    """

    after: tuple[Node, ...]
    hop: Hop | None = None
    chips: ChipSet = EVERY


def one_of(node: Node, ends: Sequence[tuple[Node, ...]]) -> Iterator[Edge]:
    """The edge to what a definition ends in one of, `ends` in the order of its choices; none where one is unknown."""
    if ends and all(ends):
        at = node.definition.choices[0].at
        hop = Hop(node.outline.path, at, f"`{node.definition.qualname}` picks one of {len(ends)} functions")
        yield Edge(tuple(one for end in ends for one in end), hop)
