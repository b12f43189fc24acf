"""What a use leads to, through definitions in other files, and the chips on which that works.

The graph has definitions for nodes and uses for edges. It grows as it is asked: a file is outlined when something in
it is reached, so that a run on one file follows the same edges as a run on the whole tree. Names that do not resolve,
dynamic ones and cycles end a path; they are never guessed at.
"""

from __future__ import annotations

from dataclasses import dataclass

from bwlint.chips import ChipSet
from bwlint.evaluate.expr import Span
from bwlint.facts import Definition, Module, Outline, Use

RANK = ("operation", "gate", "build", "library", "name")
"""Kinds of proof, strongest first."""


@dataclass(frozen=True, slots=True)
class Place:
    """A definition and the file that it stands in: a node."""

    outline: Outline
    definition: Definition


@dataclass(frozen=True, slots=True)
class Hop:
    """One step of a path, for reports: a place and a sentence about it."""

    path: str
    at: Span
    text: str


@dataclass(frozen=True, slots=True)
class Proof:
    """What is behind a definition works on `legal` and on nothing else.

    `kind` is one of `RANK`; `what` is how a message calls it, `source` where it was read, `hops` the way there from
    the use to the place that proves it.
    """

    legal: ChipSet
    kind: str
    what: str
    source: str
    hops: tuple[Hop, ...]


class Reach:
    """The graph of one run."""

    def definition(self, module: Module, use: Use) -> Place | None:
        """The definition that a use in a file leads to; None where it is not in the tree or not known."""
        raise NotImplementedError

    def proofs(self, place: Place) -> tuple[Proof, ...]:
        """What a definition surely leads to, nearest first."""
        raise NotImplementedError
