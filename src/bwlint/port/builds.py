"""Flags that compile what an operation reaches for other chips alone: what stands behind its gates, once they let one
through.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from bwlint.chips import ChipSet
from bwlint.matrix.cells import GatePlace
from bwlint.model.facts import Carry, Module
from bwlint.port.ways import Ways
from bwlint.world.builds import runs_on
from bwlint.world.proofs import Node


def compiled_for_others(ways: Ways, start: Node) -> Iterator[tuple[GatePlace, ChipSet]]:
    """The flags that functions behind a definition give a compiler, each with the chips that get something of them;
    nothing where one of these functions makes something for the chip, or is called after others."""
    found: dict[GatePlace, ChipSet] = {}
    for node in ways.gates.world.definitions.may_lead(start):
        module = ways.gates.module(node.outline.path) if node.outline.language == "python" else None
        for carry in _options(module, node.definition.qualname) if module is not None else ():
            served = runs_on((carry,))
            if ways.gates.chip in served:
                return
            if served and not ways.reasons.named_for(node):
                found[GatePlace(node.outline.path, carry.at)] = served
    yield from found.items()


def _options(module: Module, qualname: str) -> Iterable[Carry]:
    return (carry for carry in module.carries if carry.kind == "option" and carry.qualname == qualname)
