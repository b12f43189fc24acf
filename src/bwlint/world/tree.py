"""The scanned tree: modules by dotted name, imports followed, gates evaluated in place."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from bwlint.chips import ALL_TARGETS, EVERY, NONE, ChipSet, TargetSet
from bwlint.evaluate.interpreter import Interpreter
from bwlint.evaluate.names import DEVICE
from bwlint.evaluate.objects import Clash, EvaluationFrame, FunctionValue
from bwlint.evaluate.sources import Sources
from bwlint.evaluate.values import CHIPS, Raises, Unknown, Vec, lift
from bwlint.model.expr import Expr, Span, walk, walk_through
from bwlint.model.facts import Class, Gate, Module, Path
from bwlint.model.naming import spoken
from bwlint.sources.recorder import assume, give, memory, read
from bwlint.sources.search import Search, search_of
from bwlint.sources.tree import find_module, import_roots, is_bare_project, package_root
from bwlint.world.headers import Headers
from bwlint.world.tags import Tags

MAX_ATOMS = 5
MAX_DEFINING = 8
"""Files that may define a function of one name."""
Loader = Callable[[str, str], Module | None]
"""Reads a file given its real path and dotted name; None where it cannot."""


@dataclass(frozen=True, slots=True)
class Sets:
    """A gate on every chip.

    `may` holds for some value of the free atoms, `must` for all of them. `core` is the set of the part that reads
    the device: atoms that do not are dropped (the neutral projection). `raises` are the chips on which evaluation
    ends in an exception, `live` those that reach the gate. `flags` says that flags of a build are asked, which are
    named after targets, and not the device.
    """

    may: ChipSet
    must: ChipSet
    core: ChipSet
    raises: ChipSet
    live: ChipSet
    decided: bool
    guessed: bool
    toolkit: bool
    clashes: tuple[Clash, ...]
    atoms: tuple[str, ...]
    flags: bool = False


@dataclass(frozen=True, slots=True)
class TargetSets:
    """A guard on every compile target, all within `live`, the targets that get to it; else as in `Sets`."""

    may: TargetSet
    must: TargetSet
    live: TargetSet
    toolkit: bool


class Tree:
    """Modules of one run. Those that the prefilter passed are added; others are read when an import asks."""

    def __init__(self, sources: Sources, load: Loader, searches: dict[str, Search] | None = None) -> None:
        self._given: dict[str, Callable[[], Module]] = {}
        self._by_name: dict[str, str] = {}
        """The files of the run, and those of their modules."""
        self._modules: dict[str, Module | None] = memory()
        self._placed: dict[str, Module | None] = memory()
        self._files: dict[str, str | None] = memory()
        self._below: dict[tuple[str, str], str | None] = memory()
        """The files of modules below one root."""
        self.expected: list[str] = []
        """Roots that nobody gave, in the order in which they came up."""
        self._roots: dict[str, None] = {}
        self.load = load
        self._frames: dict[int, EvaluationFrame] = {}
        self._literals: dict[tuple[str, str], frozenset[str]] = memory()
        self._elsewhere: dict[tuple[str, str], Module | None] = memory()
        self._passed: dict[tuple[int, str, Span | None], ChipSet] = memory()
        self._sets: dict[tuple[int, int], tuple[Gate, Sets | None]] = memory()
        self._truths: dict[tuple[int, int], tuple[Expr, Vec]] = memory()
        self._afresh: tuple[Module, Tree] | None = None
        self.interpreter = Interpreter(self, sources)
        self.compiler = Interpreter(self, sources, compile_time=True)
        self._headers = Headers(lambda path: load(path, ""))
        self._waiting: list[Callable[[], Module]] = []
        """Files of the run in other languages, which are had when the first header is asked for."""
        self.searches: dict[str, Search] = {} if searches is None else searches
        self._tags = Tags(self.searches)
        self._compiled: dict[tuple[int, Expr], tuple[TargetSet, TargetSet, bool, bool]] = memory()

    def give_other(self, module: Callable[[], Module]) -> None:
        """A file of the run in another language than Python."""
        self._waiting.append(module)

    @property
    def headers(self) -> Headers:
        if self._waiting:
            waiting, self._waiting = self._waiting, []
            for module in waiting:
                self._headers.add(module())
        return self._headers

    def give(self, path: str, name: str, root: str, module: Callable[[], Module]) -> None:
        """A Python file of the run, whose facts are had when they are asked for."""
        self._given[path] = module
        self._by_name.setdefault(name, path)
        self._roots.setdefault(root)
        for other in import_roots(root):
            self._roots.setdefault(other)

    def is_given(self, path: str) -> bool:
        """Whether a Python file is one of the run, with facts."""
        read("facts", path)
        return path in self._given

    def expect(self, path: str, dotted: str) -> None:
        """A file that imports from a folder around itself is part of a package, if nothing else says so."""
        around, found, _ = path.rpartition(f"{os.sep}{dotted.partition('.')[0]}{os.sep}")
        if found and around not in self._roots and not is_bare_project(f"{around}{found.rstrip(os.sep)}"):
            self.expected.append(around)
            self.expect_again((around,))

    def expect_again(self, roots: Sequence[str]) -> None:
        """What `expect` has come to in an earlier run, for a file that is not judged again."""
        for root in roots:
            if root not in self._roots:
                self._roots[root] = None
                for name in [name for name, file in self._files.items() if file is None]:
                    del self._files[name]

    def edited(self, module: Module) -> Tree:
        """This tree with a file in another state, in interpreters that have evaluated nothing yet."""
        other = Tree(self.interpreter.sources, self.load, self.searches)
        other._files, other._roots, other._headers = self._files, self._roots, self.headers.edited(module)
        other._given, other._by_name, other._modules = self._given, self._by_name, self._modules
        if module.language == "python":
            other._given = {**self._given, module.path: lambda: module}
            other._modules = memory()
            give(other._modules, module.name, module, "facts", module.path)
        return other

    def afresh(self, module: Module) -> Tree:
        """This tree as it is, in interpreters that have evaluated that file alone; one is kept for who asks again."""
        if self._afresh is None or self._afresh[0] is not module:
            self._afresh = (module, self.edited(module))
        return self._afresh[1]

    def module(self, dotted: str, near: str = "") -> Module | None:
        """The module of a dotted name, as the file `near` sees it: what lies below its own root comes first."""
        path = self.file(dotted, near) if near else None
        if path is not None and path != self.file(dotted):
            return self.at(path, dotted)
        if dotted not in self._modules:
            assume(self._modules, dotted, None)
            path = self.file(dotted)
            self._modules[dotted] = self._read(path, dotted) if path else None
        return self._modules[dotted]

    def _read(self, path: str, dotted: str) -> Module | None:
        return self._given[path]() if self.is_given(path) else self.load(path, dotted)

    def at(self, path: str, dotted: str) -> Module | None:
        """The module of a file; another one may have the same dotted name."""
        if path not in self._placed:
            found = None if self.is_given(path) else self.module(dotted)
            known = found is not None and found.path == path
            self._placed[path] = found if known else self._read(path, dotted)
        return self._placed[path]

    def file(self, dotted: str, near: str = "") -> str | None:
        """The file of a module by its dotted name, as the file `near` sees it; None where it is not in the tree."""
        if near:
            key = package_root(near), dotted
            if key not in self._below:
                self._below[key] = find_module(dotted, key[:1])
            if self._below[key] is not None:
                return self._below[key]
        if dotted not in self._files:
            read("module", dotted)
            read("roots")
            self._files[dotted] = self._by_name.get(dotted) or find_module(dotted, self._roots)
        return self._files[dotted]

    def owner_class(self, module: Module, qualname: str) -> Class | None:
        return module.classes.get(qualname.rpartition(".")[0])

    def is_literal_attribute(self, module: Module, name: str) -> bool:
        key = (module.path, module.language)
        if key not in self._literals:
            imported = (self.module(node.args[0]) for node in module.names.values() if node.op == "import")
            near = {one.path: one for one in (module, *imported) if one is not None}
            self._literals[key] = frozenset(found for one in near.values() for found in _literals(one))
        return name in self._literals[key]

    def definers(self, module: Module, macro: str) -> Sequence[Module]:
        return self.headers.definers(module, macro)

    def having(self, module: Module, member: str) -> tuple[Module, str] | None:
        return self.headers.having(module, member)

    def meaning(self, module: Module, name: str) -> Module | None:
        found = self.headers.meaning(module, name)
        if found is not None or module.language != "cuda" or DEVICE.search(spoken(name)) is None:
            return found
        key = (package_root(module.path), name)
        if key not in self._elsewhere:
            self._elsewhere[key] = self._defining(module, name)
        return self._elsewhere[key]

    def _defining(self, module: Module, name: str) -> Module | None:
        """The one file of the project that defines a C++ function, wherever it lies."""
        defines = re.compile(rf"\b{re.escape(name)}\s*\([^;]*(?:\{{|$)")
        hits = search_of(package_root(module.path), self.searches).word("cuda", name)
        named = dict.fromkeys(hit.file.real for hit in hits if defines.search(hit.text))
        paths = [path for path in named if path != module.path]
        if not 0 < len(paths) <= MAX_DEFINING:
            return None
        files = [file for path in paths if (file := self.headers.at(path)) is not None]
        found = [file for file in files if name in file.names and file.names[name].op == "function"]
        return found[0] if len(found) == 1 else None

    def is_given_the_device(self, module: Module, macro: str) -> bool:
        """`-DNAME=${ARCH}` of CMake, `("NAME", str(cc))` of a setup.py: what a build makes of the name of a macro."""
        search = search_of(package_root(module.path), self.searches)
        lines = (hit.text for kind in ("build", "python") for hit in search.word(kind, macro))
        values = (re.search(rf"\b{macro}[\"']?\s*[=,]\s*(.{{1,80}})", line) for line in lines)
        words = (word for value in values if value is not None for word in re.findall(r"\w+", value[1].lower()))
        return any(DEVICE.search(word) is not None for word in words)

    def compiled(self, module: Module, path: Path) -> TargetSet:
        """The targets for which what stands under these tests may compile."""
        return TargetSet.common(self._target_test(module, test)[0] for test in path)

    def numbers(self, module: Module, node: Expr) -> list[object]:
        """The value of an amount for each of `ALL_TARGETS`; what is not known is no number."""
        self.compiler.start()
        return list(self.compiler.evaluate(node, EvaluationFrame(module)).spread(len(ALL_TARGETS)))

    def value(self, module: Module, node: Expr) -> Vec:
        """What an expression is on each chip."""
        self.interpreter.start()
        return self.interpreter.evaluate(node, self.frame(module))

    def function(self, module: Module, node: Expr) -> FunctionValue | None:
        """The function of the tree that an expression stands for, on every chip the same."""
        found = self.value(module, node).only()
        return found if isinstance(found, FunctionValue) else None

    def surely_compiled(self, module: Module, path: Path) -> TargetSet:
        """The targets for which what stands under these tests compiles whatever nobody knows."""
        return TargetSet.common(self._target_test(module, test)[1] for test in path)

    def target_sets(self, module: Module, guard: Gate) -> TargetSets | None:
        """Evaluate a guard; None when it does not ask for the target."""
        may, must, asks, _ = self._target_test(module, guard.test)
        if not asks:
            return None
        live = self.compiled(module, guard.path)
        return TargetSets(may & live, must & live, live, self.compiler.toolkit)

    def asks_target(self, module: Module, test: Expr) -> bool:
        """Whether a test of the preprocessor depends on the compile target."""
        return self._target_test(module, test)[2]

    def built_for(self, module: Module, test: Expr) -> ChipSet:
        """The chips on which a test surely holds of a macro to which the build gives the device; none of another."""
        _, must, asks, is_of_build = self._target_test(module, test)
        return must.chips if asks and is_of_build else NONE

    def defined_for(self, module: Module, macro: str) -> TargetSet:
        """The targets for which a macro may be defined at the end of a file."""
        return self._target_test(module, Expr("defined", (macro,)))[0]

    def _target_test(self, module: Module, test: Expr) -> tuple[TargetSet, TargetSet, bool, bool]:
        """Where a test may hold, where it must, whether it depends on the target at all, and by a name alone."""
        key = (id(module), test)
        if key not in self._compiled:
            self.compiler.start()
            outcome = self.compiler.truth(test, EvaluationFrame(module))
            lanes = outcome.spread(len(ALL_TARGETS))
            may, must = TargetSet(_mask(lanes, _may_hold)), TargetSet(_mask(lanes, _holds))
            self._compiled[key] = (may, must, outcome.device, outcome.guessed)
        return self._compiled[key]

    def frame(self, module: Module) -> EvaluationFrame:
        """The frame in which all gates of a module run: parameters unbound, definitions shared."""
        found = self._frames.get(id(module))
        if found is None:
            found = self._frames[id(module)] = EvaluationFrame(module)
        return found

    def sets(self, module: Module, gate: Gate) -> Sets | None:
        """A gate on every chip; None when it does not read the device or nothing is decided on any chip."""
        key = (id(module), id(gate))
        if key not in self._sets:
            self._sets[key] = (gate, self._evaluated(module, gate))
        return self._sets[key][1]

    def _evaluated(self, module: Module, gate: Gate) -> Sets | None:
        run = self.interpreter
        frame = self.frame(module)
        run.start()
        outcome = run.truth(gate.test, frame)
        atoms, clashes, toolkit = tuple(run.atoms), tuple(run.clashes), run.toolkit
        if (not outcome.device and not clashes) or (outcome.guessed and _only_minor(module, gate.test, outcome)):
            return None
        if outcome.guessed and not clashes and self._tags.only(module, gate.test):
            return None  # what sounds like a device is a literal wherever it is given
        if gate.kind == "lookup" and outcome.guessed:
            return None  # a key that is only called like a device may be the row's own
        decided = any(isinstance(lane, (bool, Raises)) for lane in outcome.lanes)
        core = outcome
        if any(isinstance(lane, Unknown) for lane in outcome.lanes):
            run.start(neutral=True)
            core = run.truth(gate.test, EvaluationFrame(module))
        if not decided and all(isinstance(lane, Unknown) for lane in core.lanes):
            return None
        held = (_where(outcome, _may_hold), _where(outcome, _holds), _where(core, _holds))
        raises, live = _where(outcome, lambda lane: isinstance(lane, Raises)), self.live(module, gate)
        flags = outcome.guessed and self._asks_flags(module, gate.test)
        return Sets(*held, raises, live, decided, outcome.guessed, toolkit, clashes, atoms, flags)

    def _asks_flags(self, module: Module, test: Expr) -> bool:
        """Whether a test comes down to flags that are named after targets and whose values nobody knows."""
        stack, seen = [test], set[int]()
        while stack:
            for node in walk(stack.pop()):
                if node.op == "flag":
                    if not self.value(module, node.args[0]).device:
                        return True
                elif node.op == "var" and node.args[0] not in seen:
                    seen.add(node.args[0])
                    stack.append(module.slots[node.args[0]])
        return False

    def skips(self, module: Module, test: Expr) -> bool:
        """Whether a call that a test waits for skips a test on some chip: a helper, and not what is tested."""
        value = self.value(module, test.args[0]) if test.op == "completes" else None
        return value is not None and any(isinstance(lane, Raises) and is_skip(lane.reason) for lane in value.lanes)

    def live(self, module: Module, gate: Gate) -> ChipSet:
        """The chips that reach a gate: no test above is false on them, none raises."""
        return ChipSet.common(self.passing(module, test) for test in gate.path)

    def may(self, module: Module, test: Expr, frame: EvaluationFrame | None = None) -> ChipSet:
        """The chips on which a test may hold, in a frame of its own or in that of the module."""
        return _where(self._truth(module, test, frame), _may_hold)

    def must(self, module: Module, test: Expr, frame: EvaluationFrame | None = None) -> ChipSet:
        """The chips on which a test holds whatever is not known."""
        return _where(self._truth(module, test, frame), _holds)

    def _truth(self, module: Module, test: Expr, frame: EvaluationFrame | None) -> Vec:
        """A test on every chip; one that stands on several ways is evaluated once, negated or not."""
        if frame is not None:
            self.interpreter.start()
            return self.interpreter.truth(test, frame)
        if test.op == "not":
            return lift(lambda value: not value, self._truth(module, test.args[0], None))
        key = (id(module), id(test))
        if key not in self._truths:
            self.interpreter.start()
            self._truths[key] = (test, self.interpreter.truth(test, self.frame(module)))
        return self._truths[key][1]

    def passing(self, module: Module, test: Expr) -> ChipSet:
        """The chips on which a test above a gate may hold; the same test stands above many gates."""
        key = (id(module), test.op, test.at)
        found = self._passed.get(key)
        if found is not None and test.at is not None:
            return found
        self.interpreter.start()
        outcome = self.interpreter.truth(test, self.frame(module))
        passed = EVERY
        if outcome.device or (_asks_platform(test) and outcome.uniform):
            passed = _where(outcome, _may_hold)
        self._passed[key] = passed
        return passed

    def splits(self, module: Module, test: Expr, inside: str, outside: str) -> bool:
        """Whether under one assignment of the free atoms `outside` is refused, or raises, and `inside` is not."""
        run = self.interpreter
        names = [chip.name for chip in CHIPS]
        first, second = names.index(inside), names.index(outside)
        run.start()
        outcome = run.truth(test, self.frame(module))
        lanes = outcome.spread()
        if not _may_hold(lanes[second]):
            return _may_hold(lanes[first])
        atoms = list(run.atoms)
        if not atoms or lanes[second] is True:
            return False
        if len(atoms) > MAX_ATOMS:
            run.start(neutral=True)
            lanes = run.truth(test, EvaluationFrame(module)).spread()
            return lanes[second] is False and lanes[first] is not False
        for values in itertools.product((True, False), repeat=len(atoms)):
            run.start(dict(zip(atoms, values, strict=True)))
            lanes = run.truth(test, EvaluationFrame(module)).spread()
            if lanes[second] is False and lanes[first] is not False:
                return True
        return False


def _literals(module: Module) -> Iterator[str]:
    """The attributes of a module's classes that are numbers."""
    for body in module.classes.values():
        for name, value in body.names.items():
            if value.op == "const" and isinstance(value.args[0], int):
                yield name


_MOST_SLOTS = 40
_SKIPS = frozenset({"skip", "skipTest", "SkipTest", "xfail"})


def is_skip(reason: str) -> bool:
    """Whether what is raised skips a test."""
    return reason.rpartition(".")[2] in _SKIPS


_NAMED = frozenset({"name", "attr", "import", "var", "opaque", "function"})
_PLATFORM = re.compile(r"^_*(?:is|on|use)_(?:rocm|hip|amd|xpu|tpu|npu|cpu|hpu|musa|mps|neuron)|^_*hip$", re.I)


def _asks_platform(test: Expr) -> bool:
    """Whether a test asks for another maker's device: what is behind it is not for these chips."""
    names = (arg for node in walk(test) if node.op in _NAMED for arg in node.args)
    return any(isinstance(name, str) and _PLATFORM.match(name) for name in names)


def _only_minor(module: Module, test: Expr, outcome: Vec) -> bool:
    """A guessed `x.minor == 1` with no major beside it: any point of any figure has one."""
    named = (node.args[-1] for node in walk_through(test, module.slots, _MOST_SLOTS) if node.args)
    if not any(isinstance(name, str) and "minor" in name for name in named):
        return False  # `arch == "sm89"`: there is no other minor of 9
    by_minor: dict[int, set[object]] = {}
    for chip, lane in zip(CHIPS, outcome.spread(), strict=True):
        by_minor.setdefault(chip.minor, set()).add(lane if isinstance(lane, bool) else None)
    return not outcome.uniform and all(len(values) == 1 for values in by_minor.values())


def _may_hold(lane: object) -> bool:
    return lane is not False and not isinstance(lane, Raises)


def _holds(lane: object) -> bool:
    return lane is True


def _where(outcome: Vec, keep: Callable[[object], bool]) -> ChipSet:
    if outcome.uniform:
        return EVERY if keep(outcome.lanes[0]) else EVERY - EVERY
    return ChipSet(_mask(outcome.lanes, keep))


def _mask(lanes: Sequence[object], keep: Callable[[object], bool]) -> int:
    mask = 0
    for index, lane in enumerate(lanes):
        if keep(lane):
            mask |= 1 << index
    return mask
