"""What runs before a test: marks, fixtures and setup methods that may skip it."""

# Paths are plain strings here, as in `sources.tree`.
# ruff: noqa: PTH118, PTH119, PTH120

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from bwlint.chips import EVERY, ChipSet, frameworks
from bwlint.model.expr import Span
from bwlint.model.facts import Module
from bwlint.model.outline import Outline
from bwlint.sources import disk
from bwlint.sources.recorder import memory
from bwlint.sources.search import search_of
from bwlint.sources.tree import module_name, package_root, project_folder
from bwlint.world.definitions import Definitions
from bwlint.world.gates import TEST_FILE
from bwlint.world.native import Native
from bwlint.world.proofs import Key, Node
from bwlint.world.tree import Tree

MAX_TESTS = 200
MAX_HEIRS = 20
"""Classes that are followed from one of their bases."""
_TEST = "test"
_CONFTEST = "conftest.py"
MAX_FILES = 60
"""Files in which tests are looked for that run one fixture."""


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
            for test in _tests_of_class(outline, name):
                found += 1
                yield Prepared(test, chips & _not_refused(native, test.outline.path, test.definition.qualname))
            for heir in _heirs(outline, name):
                if heir not in known and _runs_setup_of_base(outline, heir):
                    known.add(heir)
                    waiting.append((heir, chips & _not_refused(native, outline.path, *_setups_of(outline, heir))))


def _let_in_cpp(native: Native, module: Module, at: Span) -> ChipSet:
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
            chips &= _not_refused(native, outline.path, *_setups_of(outline, name))
            bases = (
                {base.rpartition(".")[2] for base in definition.bases} if _runs_setup_of_base(outline, name) else set()
            )
            waiting += sorted(bases - known)
            known |= bases
    return chips


def _tests_of_class(outline: Outline, name: str) -> Iterator[Node]:
    for qualname in outline.places:
        if qualname.rpartition(".")[0] == name and outline.definitions[qualname].kind == "test":
            yield Node(outline, outline.definitions[qualname])


def _heirs(outline: Outline, name: str) -> Iterator[str]:
    for qualname in outline.places:
        definition = outline.definitions[qualname] if "." not in qualname else None
        bases = definition.bases if definition is not None and definition.kind == "class" else ()
        if name in (base.rpartition(".")[2] for base in bases):
            yield qualname


def _setups_of(outline: Outline, name: str) -> list[str]:
    return [method for one in frameworks.names("sets_up") if (method := f"{name}.{one}") in outline.places]


def _runs_setup_of_base(outline: Outline, heir: str) -> bool:
    """Whether a class has none of its own, or one that calls its base's."""
    called = frameworks.names("sets_up")
    return all(
        any(use.name.rpartition(".")[2] in called for use in outline.definitions[method].uses)
        for method in _setups_of(outline, heir)
    )


def _not_refused(native: Native, path: str, *functions: str) -> ChipSet:
    """The chips that functions of a file do not surely skip or refuse."""
    module = native.tree.headers.at(path) if functions else None
    return EVERY if module is None else native.refusals.let_in(module, *functions)


class Preparations:
    def __init__(self, tree: Tree, definitions: Definitions, native: Native) -> None:
        self._tree = tree
        self._definitions = definitions
        self._native = native
        self._refusals = native.refusals
        self._let_in: dict[tuple[Key, Key | None], ChipSet] = memory()
        self._before: dict[Key, tuple[Node, ...]] = memory()

    def let_in(self, module: Module, at: Span) -> ChipSet:
        """The chips that nothing keeps from a place of a test before the test begins."""
        if module.language != "python":
            return _let_in_cpp(self._native, module, at)
        outline = self._definitions.outline(module)
        return EVERY if outline is None else ChipSet.common(map(self._let_to, _tests_of(outline, at)))

    def prepared(self, module: Module, qualname: str) -> Iterator[Prepared]:
        """The tests before which a function of a file runs, each with the chips that all the rest lets through."""
        outline = self._definitions.outline(module) if module.language == "python" else None
        written = outline.definitions.get(qualname) if outline is not None else None
        if outline is None or written is None:
            return
        setup = Node(outline, written)
        near = self._files_near(setup) if written.kind == "setup" or _is_fixture(setup) else iter(())
        for test in islice((test for file in near for test in _tests_of(file)), MAX_TESTS):
            if setup.key in (one.key for one in self.before(test)):
                yield Prepared(test, self._let_to(test, setup.key))

    def before(self, test: Node) -> tuple[Node, ...]:
        """What runs before a test: what sets up its class, file and folder, and the fixtures that it asks for."""
        if test.key not in self._before:
            self._before[test.key] = tuple(self._running_before(test))
        return self._before[test.key]

    def _running_before(self, test: Node) -> Iterator[Node]:
        around = tuple(self._around(test))
        waiting = deque(_setups(around))
        waiting.extend(self._fixtures(test, around))
        seen = {test.key}
        while waiting:
            node = waiting.popleft()
            if node.key not in seen and len(seen) < MAX_TESTS:
                seen.add(node.key)
                yield node
                waiting.extend(self._fixtures(node, around))
                helpers = [one for one in self._helpers(node) if one.key not in seen]
                seen.update(one.key for one in helpers)
                yield from helpers

    def _helpers(self, node: Node) -> Iterator[Node]:
        """What surely runs within what sets up: `self.skip_unless_hopper()` may skip as well as a test of its own."""
        for edge in self._definitions.leads(node):
            if len(edge.after) == 1 and edge.chips == EVERY and edge.after[0].definition.kind == "function":
                yield from (one for one in edge.after if one.outline.language == "python")

    def _around(self, test: Node) -> Iterator[tuple[Outline, str]]:
        """Where a test has its fixtures from, nearest first: its class and the bases, its file, its folders."""
        owner = test.definition.qualname.rpartition(".")[0]
        if owner in test.outline.definitions:
            for node in self._definitions.heritage(Node(test.outline, test.outline.definitions[owner])):
                yield node.outline, node.definition.qualname
        yield test.outline, ""
        for path in _conftests(test.outline.path):
            outline = self._definitions.outlines.of(path, module_name(path, package_root(path)))
            if outline is not None and path != test.outline.path:
                yield outline, ""

    def _fixtures(self, node: Node, around: tuple[tuple[Outline, str], ...]) -> Iterator[Node]:
        """The fixtures that a test or a fixture asks for by name."""
        used = (use.name for use in node.definition.marks if use.how == "text" and use.call == "usefixtures")
        for name in (*node.definition.parameters, *used):
            for home, owner in around if name != "self" else ():
                found = self._definitions.named(home, f"{owner}.{name}" if owner else name)
                if found is not None and found.key != node.key and _is_fixture(found):
                    yield found
                    break

    def _let_to(self, test: Node, but: Key | None = None) -> ChipSet:
        """The chips that neither named marks nor what runs before a test, `but` for one of it, surely keep away."""
        if (test.key, but) not in self._let_in:
            chips = self._marked(test)
            for node in self.before(test):
                module = self._tree.at(node.outline.path, node.outline.name) if node.key != but else None
                chips &= EVERY if module is None else self._refusals.let_in(module, node.definition.qualname)
            self._let_in[test.key, but] = chips
        return self._let_in[test.key, but]

    def _marked(self, test: Node) -> ChipSet:
        """The chips that the marks do not skip which a test, its class or its file bears by their names."""
        chips = EVERY
        own = self._tree.at(test.outline.path, test.outline.name)
        owner = test.definition.qualname.rpartition(".")[0]
        names = {use.name for use in test.definition.marks if use.how == "name"}
        for name in (*sorted(names), "pytestmark"):
            home, _, last = name.rpartition(".")
            module = self._tree.module(home) if home else own
            for judged in self._refusals.judged(module) if module is not None else ():
                gate = judged.gate
                if gate.kind == "skipif" and gate.name == last and gate.qualname in ("<module>", owner):
                    chips &= judged.let_through(judged.working)
        return chips

    def _files_near(self, setup: Node) -> Iterator[Outline]:
        """The file of a function, and those whose tests may have it run before them."""
        outline, qualname = setup.outline, setup.definition.qualname
        yield outline
        search = search_of(package_root(outline.path), self._tree.searches)
        owner, _, name = qualname.rpartition(".")
        if not owner and setup.definition.kind == "setup":
            folder = os.path.dirname(outline.path) + os.sep
            shared = os.path.basename(outline.path) == _CONFTEST
            files = [one for one in search.files("python") if shared and one.real.startswith(folder)]
        else:
            files = [hit.file for hit in search.word("python", owner or name)]
        for file in [one for one in dict.fromkeys(files) if TEST_FILE.search(one.real)][:MAX_FILES]:
            near = self._definitions.outlines.of_file(file)
            if near is not None and near.path != outline.path:
                yield near


def _tests_of(outline: Outline, at: Span | None = None) -> Iterator[Node]:
    """The tests of a file, or the one around a place of it."""
    for qualname, place in outline.places.items():
        owner, _, name = qualname.rpartition(".")
        if name.startswith(_TEST) and "." not in owner and (at is None or place.holds(at)):
            yield Node(outline, outline.definitions[qualname])


def _setups(around: tuple[tuple[Outline, str], ...]) -> Iterator[Node]:
    """What runs before every test of classes (those of bases unless one nearer stands for it) and of files."""
    nearer: dict[str, Node] = {}
    for home, owner in around:
        for qualname in home.places:
            above, _, name = qualname.rpartition(".")
            if above != owner or home.definitions[qualname].kind != "setup":
                continue
            known, node = nearer.get(name) if owner else None, Node(home, home.definitions[qualname])
            if known is None or name in (use.name.rpartition(".")[2] for use in known.definition.uses):
                nearer[name] = node
                yield node


def _is_fixture(node: Node) -> bool:
    return any(use.name.rpartition(".")[2] == "fixture" for use in node.definition.marks)


def _conftests(path: str) -> Iterator[str]:
    """Where the fixtures of a folder and of those around it lie, nearest first."""
    top = project_folder(package_root(path))
    folder = os.path.dirname(path)
    while folder.startswith(top):
        if disk.is_file(os.path.join(folder, _CONFTEST)):
            yield os.path.join(folder, _CONFTEST)
        folder = os.path.dirname(folder)
