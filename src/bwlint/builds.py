"""Which builds of the tree compile a source file, and for which targets."""

# Paths are plain strings here, as in `sources.tree`.
# ruff: noqa: PTH120

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable

from bwlint.chips import NO_TARGET, Target, TargetSet
from bwlint.facts import Carry, Module


class Builds:
    """The carries of build files by the sources that they name."""

    def __init__(self, modules: Iterable[Module]) -> None:
        self._by_name: dict[str, list[tuple[str, str, Carry]]] = defaultdict(list)
        for module in modules:
            for carry in module.carries:
                for source in carry.sources:
                    name = source.rpartition("/")[2]
                    self._by_name[name].append((os.path.dirname(module.path), source, carry))

    def of(self, module: Module) -> tuple[Carry, ...]:
        """The carries that compile a file: those of build files above it that name it by the end of its path."""
        path = module.path.replace(os.sep, "/")
        found = (
            carry
            for folder, source, carry in self._by_name.get(path.rpartition("/")[2], ())
            if path.startswith(f"{folder}/") and path.endswith(f"/{source.lstrip('./')}")
        )
        return tuple(dict.fromkeys(found))


def built(carry: Carry) -> TargetSet:
    """The targets that a build compiles device code for: those of its cubins, and of its PTX."""
    found = NO_TARGET
    for name in (*carry.sass, *carry.ptx):
        try:
            found |= TargetSet.joining([Target.parse(name)])
        except ValueError:
            continue  # a target of a toolkit that bwlint does not know
    return found
