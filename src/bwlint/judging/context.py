"""What a rule reads: the scanned tree, its gates, builds and evidence in one run."""

from __future__ import annotations

from collections import ChainMap, Counter
from collections.abc import (
    Callable,
    Iterable,
    Iterator,
    Mapping,
    MutableMapping,
    Sequence,
)
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from bwlint.chips import EVERY, ChipSet, TargetSet, group
from bwlint.judging.evidence import Evidence, file_operations
from bwlint.model.expr import Span
from bwlint.model.facts import Carry, Gate, Module, Side, Use
from bwlint.sources.recorder import memory, read
from bwlint.sources.search import Search
from bwlint.world.builds import Builds, built
from bwlint.world.emitted import Emitted
from bwlint.world.gates import TEST_FILE, Judged, refuses
from bwlint.world.libraries import PROOF, Need
from bwlint.world.tree import Tree

if TYPE_CHECKING:
    from bwlint.judging.drafts import Draft
    from bwlint.judging.guards import Guarded
    from bwlint.world.arrivals import Arrivals
    from bwlint.world.native import Native
    from bwlint.world.prepared import Preparations

_Of = TypeVar("_Of")


class OfFiles(MutableMapping[str, _Of]):
    """What is found out of each file of a run when somebody asks for it, by its real path; and what is put besides."""

    def __init__(self, files: Mapping[str, Callable[[], _Of]]) -> None:
        self._files = files
        self._known: dict[str, _Of] = memory()
        self._put: dict[str, _Of] = {}

    def __contains__(self, path: object) -> bool:
        read("facts", str(path))
        return path in self._files or path in self._put

    def __getitem__(self, path: str) -> _Of:
        if path not in self:
            raise KeyError(path)
        if path not in self._files:
            return self._put[path]
        if path not in self._known:
            self._known[path] = self._files[path]()
        return self._known[path]

    def __setitem__(self, path: str, value: _Of) -> None:
        self._put[path] = value

    def __delitem__(self, path: str) -> None:
        del self._put[path]

    def __iter__(self) -> Iterator[str]:
        read("every file")
        return iter((*self._files, *self._put))

    def __len__(self) -> int:
        return len(self._files) + len(self._put)


def instead(known: MutableMapping[str, _Of], path: str, value: _Of) -> MutableMapping[str, _Of]:
    """The same with something else for one file."""
    return ChainMap({path: value}, known)


@dataclass
class Context:
    """The world of one run, as rules need it."""

    tree: Tree
    targets: ChipSet
    evidence: Evidence
    native: Native
    """The C++ half of the graph."""
    preparations: Preparations
    """What runs before the tests."""
    arrivals: Arrivals
    """Who gets where in Python."""
    judged: MutableMapping[str, list[Judged]] = field(default_factory=dict)
    """By module path, in file order."""
    guards: MutableMapping[str, tuple[Guarded, ...]] = field(default_factory=dict)
    """Guards of the preprocessor that ask for the target, by module path, in file order."""
    builds: Builds = field(default_factory=lambda: Builds(()))
    placed: dict[tuple[str, str], tuple[Any, ...]] = field(default_factory=memory)
    """What `legality` has to say of a file, for the rules that share it."""
    harms: dict[tuple[str, str], Any] = field(default_factory=memory)
    """What comes of a predicate that says too much, by module path and name; None: nothing."""
    places: Mapping[str, str] = field(default_factory=dict)
    """The path within its project of each module, by module path."""
    proved: Counter[str] = field(default_factory=Counter)
    """How many characters of a file the proofs of its fixes have read, by module path."""
    said: dict[int, tuple[Module, tuple[Draft, ...]]] = field(default_factory=memory)
    """What the rules say of the files last asked about for proofs, as they are or edited, by the module's identity."""
    _near: dict[str, bool] = field(default_factory=memory)
    _named_above: dict[str, TargetSet] = field(default_factory=memory)
    _within: dict[str, dict[str, list[Judged]]] = field(default_factory=memory)
    """By module path and function."""
    _mocked: dict[str, tuple[Span, ...]] = field(default_factory=memory)
    _emitted: Emitted | None = None

    def search(self, module: Module) -> Search:
        """What the files of the project of a file have in them."""
        return self.native.search(module.path)

    def in_test(self, module: Module) -> bool:
        """Whether a file belongs to the tests of its project."""
        return TEST_FILE.search(self.places.get(module.path, "")) is not None

    def is_mocked(self, judged: Judged) -> bool:
        """Whether a gate stands where a test says itself what the device is."""
        module = judged.module
        if module.path not in self._mocked:
            self._mocked[module.path] = tuple(one.at for one in module.operations if one.kind == "mocked")
        return any(at.holds(judged.at) for at in self._mocked[module.path])

    def beside(self, module: Module) -> Sequence[Judged]:
        """The gates of a file, in its order; none of one that the run only looks into."""
        return self.judged.get(module.path, ())

    def gates(self, module: Module, some: Iterable[Gate] | None = None, place: str | None = None) -> Iterator[Judged]:
        """The gates, or some of them, of a file that need be none of the run; `place` is its path in its project."""
        where = self.places.get(module.path, "") if place is None else place
        for gate in module.gates if some is None else some:
            sets = self.tree.sets(module, gate)
            if sets is not None:
                yield Judged(module, gate, sets, where)

    def within(self, judged: Judged) -> Sequence[Judged]:
        """The gates of its function, itself among them, in their order."""
        path = judged.module.path
        if path not in self._within:
            found: dict[str, list[Judged]] = {}
            for one in self.beside(judged.module):
                found.setdefault(one.gate.qualname, []).append(one)
            self._within[path] = found
        return self._within[path].get(judged.gate.qualname, ())

    def around(self, module: Module, at: Span) -> Iterator[tuple[Judged, Side]]:
        """The gates of a file of which one side holds `at`, outermost first."""
        for other in self.beside(module):
            for side in (other.gate.yes, other.gate.no):
                if side.holds(at):
                    yield other, side

    def compiling(self, module: Module, function: str = "") -> tuple[Carry, ...]:
        """What builds compile a file for; a header that none names, the files that include it and use a function."""
        own = self.builds.of(module)
        including = () if own else self.builds.including(module, self.tree.headers)
        carries = (found for code, found in including if self.emitted.holds(code, module, function))
        return own or tuple(dict.fromkeys(one for found in carries for one in found))

    def named_above(self, module: Module) -> TargetSet:
        """The targets that the build files above a file name; none where one of them takes what it is asked for."""
        if module.path not in self._named_above:
            carries = [carry for build in self.builds.above(module.path) for carry in build.carries]
            is_open = any(carry.kind == "asked" for carry in carries)
            self._named_above[module.path] = TargetSet.of() if is_open else TargetSet.union(map(built, carries))
        return self._named_above[module.path]

    @property
    def emitted(self) -> Emitted:
        """What is compiled with a source of its headers."""
        if self._emitted is None:
            self._emitted = Emitted(self.native)
        return self._emitted

    def let_to(self, module: Module, at: Span, but: Judged | None = None) -> ChipSet:
        """Chips that the running program may take to a place of a file, whatever one of the gates around it says."""
        around = (pair for pair in self.around(module, at) if but is None or pair[0].gate is not but.gate)
        return ChipSet.common(other.let_through(side) for other, side in around)

    def let_in(self, module: Module, at: Span) -> ChipSet:
        """Chips that a gate of the running program around a place asks for and admits."""
        sure = (pair for pair in self.around(module, at) if pair[0].sets.decided and not pair[0].sets.guessed)
        return ChipSet.union(other.on(side) for other, side in sure) & self.let_to(module, at)

    def reach(self, judged: Judged, at: Span) -> ChipSet:
        """Chips that may reach a place through every gate around it, and in front of the test that it is in."""
        reached = self.preparations.let_in(judged.module, at) if judged.in_test else EVERY
        return reached & self.let_to(judged.module, at)

    def works_there(self, judged: Judged) -> bool:
        """Whether what a gate leads to is known to run on the targets."""
        return self.evidence.works(judged.module, judged.working) is not None

    def admitted_behind(self, judged: Judged, chips: ChipSet) -> bool:
        """Whether something that a gate leads to names `chips` among those that it is for."""
        return any(need.hops and chips <= need.legal for need in self.evidence.of(judged.module, judged.working))

    def illegal_here(self, judged: Judged, chips: ChipSet) -> bool:
        """Whether the file is built on an operation that none of `chips` has."""
        return any(not found.legal & chips for found in file_operations(judged.module))

    def builds_exact(self, judged: Judged) -> bool:
        """Whether the file names a target for 12.0 alone, such as sm_120a: its exact test is then right."""
        gates = [other.gate.at for other in self.beside(judged.module)]
        return any(not any(at.holds(text.at) for at in gates) for text in judged.module.targets)

    def near_tcgen05(self, judged: Judged) -> bool:
        """Whether the file, or something that it imports, is built on tcgen05."""
        path = judged.module.path
        if path not in self._near:
            needs = self.evidence.near_needs(judged.module, judged.at)
            self._near[path] = any(group("thor") <= need.legal for need in needs)
        return self._near[path]

    def only_question(self, judged: Judged) -> bool:
        """Whether a file asks the device nothing but this one flag or predicate, and has it pick nothing by itself."""
        if any(one.kind == "picked" for one in judged.module.operations):
            return False
        for other in self.beside(judged.module):
            same = other.gate is judged.gate or other.gate.name == judged.gate.name != ""
            if same or not other.owns_comparison or judged.gate.name in other.mentioned:
                continue
            if other.core not in (judged.core, EVERY - judged.core):
                return False
        return True

    def in_front(self, judged: Judged, at: Span) -> Iterator[tuple[Judged, Side]]:
        """Other gates of the file that let through to a use: those around it, and marks on the test that it is in."""
        for other in self.beside(judged.module):
            for side in (other.gate.yes, other.gate.no) if other.gate is not judged.gate else ():
                if side.holds(at) or (side.at is None and any(use.at == at for use in side.uses)):
                    yield other, side

    def need_of(self, judged: Judged, side: Side, apart: frozenset[Span] = frozenset()) -> Need | None:
        """The strongest sure need of a side that this gate is the innermost to admit to, but for those `apart`."""
        best: Need | None = None
        for need in self.evidence.of(judged.module, side):
            if need.use.at in apart or not self._innermost(judged, need.use):
                continue
            if best is None or (best.strength == "name" and need.strength == "proof"):
                best = need
        sure = best is not None and best.strength == PROOF
        return best if sure else self._constructed(judged, side) or best

    def _constructed(self, judged: Judged, side: Side) -> Need | None:
        """What the objects need that a constructor makes for the chips that it does not refuse."""
        owner, _, name = judged.gate.qualname.rpartition(".")
        other = judged.gate.no if side is judged.gate.yes else judged.gate.yes
        if name != "__init__" or judged.gate.path or refuses(side) or not refuses(other):
            return None
        found = self.evidence.of_entries(judged.module, Use(owner, "call", judged.at))
        if found is None:
            return None
        refused = (one.on(at) for one in self.within(judged) for at in (one.gate.yes, one.gate.no) if refuses(at))
        return replace(found, arriving=found.arriving - ChipSet.union(refused))

    def _innermost(self, judged: Judged, use: Use) -> bool:
        for other, side in self.around(judged.module, use.at):
            if other.gate.kind == "choice":
                continue  # what it asks for was picked by a test, and maybe by this one
            inner = other is not judged and other.gate.at[:2] > judged.gate.at[:2] and side.at and not side.empty
            if inner and other.decides(side):  # what was asked above is asked again for nothing
                return False
        return True
