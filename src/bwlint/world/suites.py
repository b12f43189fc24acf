"""Classes of tests in C++: which tests run once the `SetUp` of one of them has let a device through."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bwlint.chips import EVERY, ChipSet, frameworks
from bwlint.model.expr import Span
from bwlint.model.facts import Module
from bwlint.model.outline import Outline
from bwlint.world.native import Native
from bwlint.world.proofs import Node

MAX_TESTS = 200
MAX_HEIRS = 20
"""Classes that are followed from one of their bases."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A test, and the chips that neither the classes between keep away nor the test itself."""

    node: Node
    chips: ChipSet


def tests(native: Native, fixture: str, near: str) -> Iterator[Prepared]:
    """The tests of a class and of its heirs, as far as they run its `SetUp`; `near` is its file."""
    waiting, known, found = [(fixture, EVERY)], {fixture}, 0
    while waiting and len(known) < MAX_HEIRS and found < MAX_TESTS:
        name, chips = waiting.pop(0)
        for outline in filter(None, map(native.outline, native.paths_naming(name, near))):
            for test in _of_class(outline, name):
                found += 1
                yield Prepared(test, chips & _let_in(native, test.outline.path, test.definition.qualname))
            for heir in _heirs(outline, name):
                if heir not in known and _runs_setup_of_base(outline, heir):
                    known.add(heir)
                    waiting.append((heir, chips & _let_in(native, outline.path, *_setups(outline, heir))))


def let_in(native: Native, module: Module, at: Span) -> ChipSet:
    """The chips that no `SetUp` keeps from the test around a place of a file."""
    outline = native.outline(module.path)
    if outline is None:
        return EVERY
    around = (name for name, place in outline.places.items() if place.holds(at))
    tested = (name for name in around if outline.definitions[name].kind == "test")
    return ChipSet.common(_let_by(native, name.rpartition(".")[0], module.path) for name in tested)


def _let_by(native: Native, fixture: str, near: str) -> ChipSet:
    """The chips that the `SetUp` of a class of tests lets through, and those of its bases that it runs."""
    waiting, known, chips = [fixture], {fixture}, EVERY
    while waiting and len(known) < MAX_HEIRS:
        name = waiting.pop()
        for outline in filter(None, map(native.outline, native.paths_naming(name, near) if name else ())):
            definition = outline.definitions.get(name)
            if definition is None or definition.kind != "class":
                continue
            chips &= _let_in(native, outline.path, *_setups(outline, name))
            bases = (
                {base.rpartition(".")[2] for base in definition.bases} if _runs_setup_of_base(outline, name) else set()
            )
            waiting += sorted(bases - known)
            known |= bases
    return chips


def _of_class(outline: Outline, name: str) -> Iterator[Node]:
    for qualname in outline.places:
        if qualname.rpartition(".")[0] == name and outline.definitions[qualname].kind == "test":
            yield Node(outline, outline.definitions[qualname])


def _heirs(outline: Outline, name: str) -> Iterator[str]:
    for qualname in outline.places:
        definition = outline.definitions[qualname] if "." not in qualname else None
        bases = definition.bases if definition is not None and definition.kind == "class" else ()
        if name in (base.rpartition(".")[2] for base in bases):
            yield qualname


def _setups(outline: Outline, name: str) -> list[str]:
    return [method for one in frameworks.sets_up() if (method := f"{name}.{one}") in outline.places]


def _runs_setup_of_base(outline: Outline, heir: str) -> bool:
    """Whether a class has none of its own, or one that calls its base's."""
    called = frameworks.sets_up()
    return all(
        any(use.name.rpartition(".")[2] in called for use in outline.definitions[method].uses)
        for method in _setups(outline, heir)
    )


def _let_in(native: Native, path: str, *functions: str) -> ChipSet:
    """The chips that functions of a file do not surely skip or refuse."""
    module = native.tree.headers.at(path) if functions else None
    return EVERY if module is None else native.refusals.let_in(module, *functions)
