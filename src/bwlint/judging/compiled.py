"""What a build list compiles, and what a changed target would fail to compile."""

# Paths are plain strings here, as in `sources.tree`.
# ruff: noqa: PTH118, PTH119, PTH120

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from bwlint.chips import ALL_TARGETS, ChipSet, Target, known_targets
from bwlint.chips.instructions import static_shared
from bwlint.judging.context import Context
from bwlint.judging.guards import guards_of
from bwlint.judging.legality import legal, short
from bwlint.model.facts import Carry, Module, Operation
from bwlint.model.kinds import NAMED
from bwlint.world.builds import files

_MOST_SOURCES = 40


@dataclass(frozen=True, slots=True)
class Behind:
    """The sources of a list with the headers that they include; `outside` is one of them that is not in the tree."""

    modules: tuple[Module, ...]
    outside: str = ""
    sources: tuple[Module, ...] = ()


def behind(context: Context, build: Module, carry: Carry) -> Behind:
    """What a list of a build file compiles."""
    if not carry.sources:
        return Behind((), "the code that this list compiles")
    found: dict[str, Module] = {}
    read: list[Module] = []
    outside = ""
    paths = [(source, path) for source in carry.sources for path in files(_path(build, source))]
    for source, path in paths[:_MOST_SOURCES]:
        module = context.tree.headers.at(path)
        if module is None:
            outside = outside or source
            continue
        read.append(module)
        for one in (module, *context.tree.headers.included(module)):
            found[one.path] = one
        outside = outside or context.tree.headers.outside(module) or ""
    missed = (source for source, _ in paths[_MOST_SOURCES:])
    return Behind(tuple(found.values()), outside or next(missed, ""), tuple(read))


def lost(context: Context, code: Behind, kept: Target, given: Target) -> str | None:
    """The first thing behind a list that `kept` compiles and `given` does not, as a sentence; None: there is none."""
    for module in code.modules:
        for guarded in guards_of(context.tree, module):
            if kept in guarded.admitted and given not in guarded.admitted:
                return f"{_place(module, guarded.guard.at[0])} compiles code for {kept} and not for {given}"
        for operation in module.operations:
            if _is_lost(context, module, operation, kept, given):
                return f"{_place(module, operation.at[0])} needs {kept}: {_named(operation)}"
    return None


def refused(context: Context, code: Behind, given: Target, kept: Target) -> Iterator[tuple[Module, Operation]]:
    """What stands behind a list, is surely compiled for `given` and refused there, and is legal for `kept`."""
    headers = context.tree.headers
    for module in code.modules:
        for operation in module.operations:
            if operation.kind not in NAMED or not _is_lost(context, module, operation, kept, given):
                continue
            path = (*operation.path, *(test for test in operation.tests if context.tree.asks_target(module, test)))
            if given in context.tree.surely_compiled(module, path) and any(
                module.path in headers.surely(source) and context.emitted.surely(source, module, operation)
                for source in code.sources
            ):
                yield module, operation


def elsewhere(context: Context, build: Module, carry: Carry, chips: ChipSet) -> str | None:
    """Where else the tree compiles every source of a list to something that `chips` load, as a sentence."""
    said = ""
    for source in carry.sources:
        path = _path(build, source)
        others = [
            (origin, other)
            for origin, other in context.builds.placed(path)
            if (origin, other.at) != (build.path, carry.at) and other.kind != "extension"
        ]
        found = next(((origin, other) for origin, other in others if chips <= loading(other.sass)), None)
        if found is None:
            return None
        origin, other = found
        names = " and ".join(f"sm_{name}" for name in other.sass if chips & loading([name]))
        said = said or f"{os.path.basename(origin)}:{other.at[0]} compiles the same for {names}"
    return said or None


def _path(build: Module, source: str) -> str:
    return os.path.normpath(os.path.join(os.path.dirname(build.path), source))


def _place(module: Module, line: int) -> str:
    return f"{os.path.basename(module.path)}:{line}"


def _is_lost(context: Context, module: Module, operation: Operation, kept: Target, given: Target) -> bool:
    if operation.kind in NAMED and (given in legal(operation) or kept not in legal(operation)):
        return False
    compiled = context.tree.compiled(module, operation.path)
    if kept not in compiled or given not in compiled:
        return False  # a guard says so
    if operation.kind in NAMED:
        return True
    if operation.kind != "static-shared":
        return False
    size = sum(_numbers(context, module, operation, kept))
    least = static_shared(given)
    return least is not None and size > least


def _numbers(context: Context, module: Module, operation: Operation, target: Target) -> Iterator[int]:
    """Those of the sizes of an operation that are known."""
    for amount in operation.amounts:
        size = context.tree.numbers(module, amount)[ALL_TARGETS.index(target)]
        if isinstance(size, int) and not isinstance(size, bool):
            yield size


def _named(operation: Operation) -> str:
    return "its static shared memory" if operation.kind == "static-shared" else f"`{short(operation)}`"


def loading(names: Iterable[str]) -> ChipSet:
    return ChipSet.union(target.loads_on() for target in known_targets(names))
