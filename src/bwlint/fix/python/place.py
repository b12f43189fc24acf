"""A test of a Python program that is to be mended, and what may be written for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from bwlint.fix.change import WantedChange
from bwlint.model.expr import Span
from bwlint.model.facts import Gate, Module
from bwlint.model.findings import Edit
from bwlint.world.tree import Sets, Tree

Candidate: TypeAlias = tuple[Edit, ...]
"""Edits of one file that belong together: the test, and an import or a helper that its new text needs."""


@dataclass(frozen=True, slots=True)
class ConditionPlace:
    """Where a test stands and what is to become of it: what those who look for a spelling are given.

    `span` is the comparison in the text `source`, which `module` was read from.
    """

    tree: Tree
    module: Module
    root: str
    gate: Gate
    sets: Sets
    source: str
    span: Span
    change: WantedChange
