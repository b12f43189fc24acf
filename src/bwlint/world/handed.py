"""What a call hands to a function of another Python file, and the tests of it there.

A run on the file of the call is enough to see them: the other file is read once more, with the parameter as one that
carries, and its tests are asked with the values that this call hands on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from bwlint.model.expr import Expr, walk
from bwlint.model.facts import Gate, HandedOn, Module, Use
from bwlint.sources.tree import package_root
from bwlint.world.definitions import Definitions
from bwlint.world.gates import Judged
from bwlint.world.proofs import Node
from bwlint.world.tree import Tree

Parameter = tuple[str, str]
"""The qualified name of a function, and what it calls the parameter."""
Loader = Callable[[str, str, frozenset[Parameter]], Module | None]


@dataclass(slots=True)
class Handed:
    """Follows values of one run into the files that they are handed to. `load` reads a file with such parameters."""

    tree: Tree
    definitions: Definitions
    load: Loader
    _read: dict[tuple[str, Parameter], Module | None] = field(default_factory=dict)

    def asked(self, module: Module) -> Iterator[tuple[HandedOn, Judged]]:
        """The tests in other files of what calls of this one hand on, judged for each call."""
        for one in module.handed_on:
            value = self.tree.value(module, one.value)
            if value.uniform or not value.device or value.guessed:
                continue
            taker = self._taker(module, one)
            if taker is None:
                continue
            file, parameter = taker
            given = replace(file, passed={**file.passed, parameter: (Expr("known", (value,), one.at),)})
            for gate in self._asking(file, parameter):
                if (sets := self.tree.sets(given, gate)) is not None:
                    yield one, Judged(given, gate, sets, file.path.removeprefix(package_root(file.path)).lstrip("/"))

    def _taker(self, module: Module, one: HandedOn) -> tuple[Module, Parameter] | None:
        """The file of the function that is called, read with its parameter, and that."""
        node = self._function(module, one)
        if node is None or node.outline.path == module.path:
            return None
        places = node.definition.parameters
        places = places[1:] if places[:1] in (("self",), ("cls",)) else places
        name = one.place if isinstance(one.place, str) else "".join(places[one.place : one.place + 1])
        if name not in places:
            return None
        path, parameter = node.outline.path, (node.definition.qualname, name)
        if (path, parameter) not in self._read:
            self._read[path, parameter] = self.load(path, node.outline.name, frozenset({parameter}))
        file = self._read[path, parameter]
        return (file, parameter) if file is not None else None

    def _function(self, module: Module, one: HandedOn) -> Node | None:
        """The function that is called; of a class, what makes its objects."""
        found = self.definitions.definition(module, Use(one.function, "call", one.at))
        if found is None or found.outline.language != "python" or found.definition.kind != "class":
            return found
        return self.definitions.made(found)

    def _asking(self, file: Module, parameter: Parameter) -> Iterator[Gate]:
        """The tests of a file that ask for a parameter, or that are there because it carries."""
        before = self.tree.at(file.path, file.name)
        known = {gate.at for gate in before.gates} if before is not None else set()
        for gate in file.gates:
            if gate.at not in known or any(node.op == "param" and node.args == parameter for node in walk(gate.test)):
                yield gate
