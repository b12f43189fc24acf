"""Functions of other Python files that a call passes a value to, read again with that value."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from bwlint.evaluate.values import Vec
from bwlint.model.expr import Expr, walk
from bwlint.model.facts import Gate, HandedOn, Module, Use
from bwlint.model.outline import Outline
from bwlint.sources.recorder import memory
from bwlint.sources.tree import package_root
from bwlint.world.definitions import Definitions
from bwlint.world.gates import Judged
from bwlint.world.proofs import Node
from bwlint.world.tree import Tree

Parameter = tuple[str, str]
"""The qualified name of a function, and what it calls the parameter."""
Loader = Callable[[str, str, frozenset[Parameter]], Module | None]


@dataclass(frozen=True, slots=True)
class _Taker:
    outline: Outline
    parameter: Parameter


@dataclass(slots=True)
class Handed:
    """Follows values of one run into the files that they are handed to. `load` reads a file with such parameters."""

    tree: Tree
    definitions: Definitions
    load: Loader
    _read: dict[tuple[str, frozenset[Parameter]], Module | None] = field(default_factory=memory)

    def asked(self, module: Module) -> Iterator[tuple[HandedOn, Judged]]:
        """The tests in other files of what calls of this one hand on, judged for each call."""
        taken = [(one, value, taker) for one, value in self._values(module) if (taker := self._taker(module, one))]
        parameters: dict[str, set[Parameter]] = defaultdict(set)
        for _, _, taker in taken:
            parameters[taker.outline.path].add(taker.parameter)
        for one, value, taker in taken:
            file = self._file(taker.outline, frozenset(parameters[taker.outline.path]))
            if file is None:
                continue
            given = replace(file, passed={**file.passed, taker.parameter: (Expr("known", (value,), one.at),)})
            for gate in self._asking(file, taker.parameter):
                if (sets := self.tree.sets(given, gate)) is not None:
                    place = file.path.removeprefix(package_root(file.path)).lstrip("/")
                    yield one, Judged(given, gate, sets, place)

    def _values(self, module: Module) -> Iterator[tuple[HandedOn, Vec]]:
        """What is handed on, where the chips surely differ in it."""
        for one in module.handed_on:
            value = self.tree.value(module, one.value)
            if not value.uniform and value.device and not value.guessed:
                yield one, value

    def _taker(self, module: Module, one: HandedOn) -> _Taker | None:
        """The parameter of another file's function that takes it."""
        node = self._function(module, one)
        if node is None or node.outline.path == module.path or node.outline.language != "python":
            return None
        places = node.definition.parameters
        places = places[1:] if places[:1] in (("self",), ("cls",)) else places
        name = one.place if isinstance(one.place, str) else "".join(places[one.place : one.place + 1])
        return _Taker(node.outline, (node.definition.qualname, name)) if name in places else None

    def _file(self, outline: Outline, parameters: frozenset[Parameter]) -> Module | None:
        """A file read with all that one other hands to it."""
        key = (outline.path, parameters)
        if key not in self._read:
            self._read[key] = self.load(outline.path, outline.name, parameters)
        return self._read[key]

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
