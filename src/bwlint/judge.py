"""What a rule sees: a gate with its sets, its sides named by what they do, and the world around it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from bwlint.builds import Builds
from bwlint.chips import EVERY, NONE, ChipSet, group
from bwlint.evaluate.expr import Expr, Span, walk
from bwlint.evaluate.names import DEVICE
from bwlint.evidence import Evidence, file_operations
from bwlint.facts import Gate, Module, Side, Use
from bwlint.libraries import Need, works
from bwlint.link import Sets, Tree

if TYPE_CHECKING:
    from bwlint.guards import Guarded

REFUSING = frozenset({"raise", "skip", "exit"})
_TEST_FILE = re.compile(r"(?:^|/)(?:tests?|testing)/|(?:^|/)(?:test_[^/]*|[^/]*_test|conftest)\.py$")


@dataclass(frozen=True, slots=True)
class Related:
    module: Module
    at: Span
    message: str


@dataclass(frozen=True, slots=True)
class Draft:
    """A finding before it has text columns: what a rule returns."""

    rule: str
    category: str
    severity: str
    confidence: str
    module: Module
    at: Span
    message: str
    label: str
    advice: str
    admitted: ChipSet
    certain: ChipSet
    legal: ChipSet | None
    gate: Gate | None = None
    related: tuple[Related, ...] = ()
    wanted: ChipSet | None = None
    evidence: str = ""
    unsafe: str | None = None


@dataclass(frozen=True)
class Judged:
    """A gate that reads the device, evaluated."""

    module: Module
    gate: Gate
    sets: Sets
    place: str
    """The file's path within its project."""

    @cached_property
    def in_test(self) -> bool:
        return _TEST_FILE.search(self.place) is not None

    @cached_property
    def denies(self) -> bool:
        """Whether passing the test means to be refused."""
        yes, no = self.gate.yes, self.gate.no
        if refuses(yes) and not refuses(no):
            return True
        return answers_no(yes) and not answers_no(no) and not refuses(no)

    @property
    def core(self) -> ChipSet:
        """The test's set, read from its device part; where that is undecided, what it may be."""
        return self.sets.core if self.sets.core else self.sets.may

    @cached_property
    def admitted(self) -> ChipSet:
        """Chips on the working side."""
        return (self.sets.live - self.core) if self.denies else (self.sets.live & self.core)

    @cached_property
    def may(self) -> ChipSet:
        return (self.sets.live - self.sets.must) if self.denies else (self.sets.live & self.sets.may)

    @cached_property
    def must(self) -> ChipSet:
        return (self.sets.live - self.sets.may) if self.denies else (self.sets.live & self.sets.must)

    @property
    def working(self) -> Side:
        return self.gate.no if self.denies else self.gate.yes

    @property
    def other(self) -> Side:
        return self.gate.yes if self.denies else self.gate.no

    def on(self, side: Side) -> ChipSet:
        """Chips that may take a side."""
        if side is self.gate.yes:
            return self.sets.live & self.sets.may & (self.core | self.sets.must)
        return self.sets.live - self.sets.must - (self.core if self.sets.decided else NONE)

    def let_through(self, side: Side) -> ChipSet:
        """Chips that are not certain to be kept from a side: a guard for one model keeps nobody."""
        return self.sets.may if side is self.gate.yes else EVERY - self.sets.must

    @property
    def at(self) -> Span:
        leaf = self.gate.leaf
        if self.gate.kind in ("list", "table") or leaf is None or not inside(leaf, self.gate.at):
            return self.gate.at
        return leaf

    @cached_property
    def owns_comparison(self) -> bool:
        """The comparison stands here, and not in a helper or a flag whose use this is."""
        leaf = self.gate.leaf
        if leaf is None:
            leaves = [node for node in _leaves(self.gate.test) if self._device(node)]
            return any(_compares(node) for node in leaves or _leaves(self.gate.test))
        if not inside(leaf, self.gate.at):
            return False
        found = next((node for node in walk(self.gate.test) if node.at == leaf), self.gate.test)
        return _compares(found)

    def _device(self, node: Expr) -> bool:
        """Whether an operand names something called like a device."""
        return any(
            DEVICE.search(str(arg))
            for inner in walk(node)
            for arg in inner.args[:2]
            if isinstance(arg, str) and inner.op != "const"
        )

    @property
    def names(self) -> str:
        """Everything that names where the gate stands, for evidence by name."""
        return f"{self.place} {self.gate.qualname} {self.gate.name}"

    @cached_property
    def mentioned(self) -> frozenset[str]:
        """Identifiers of the test."""
        found: set[str] = set()
        for node in walk(self.gate.test):
            if node.op == "name":
                found.add(node.args[0])
            elif node.op in ("attr", "import") and isinstance(node.args[1], str):
                found.add(node.args[1])
            elif node.op in ("function", "opaque"):
                found.add(node.args[0].rpartition(".")[2])
            elif node.op == "var":
                found |= self._slot_names(node)
        return frozenset(found)

    def _slot_names(self, node: Expr) -> set[str]:
        found: set[str] = set()
        for inner in walk(self.module.slots[node.args[0]]):
            if inner.op in ("function", "name"):
                found.add(inner.args[0])
            elif inner.op in ("import", "attr") and isinstance(inner.args[1], str):
                found.add(inner.args[1])
        return found


def _leaves(test: Expr) -> Iterator[Expr]:
    """The operands of a condition."""
    if test.op in ("and", "or"):
        for item in test.args[0]:
            yield from _leaves(item)
    elif test.op == "not":
        yield from _leaves(test.args[0])
    else:
        yield test


def _compares(node: Expr) -> bool:
    """A comparison, a member list, or a call that compares with a literal among its arguments."""
    if node.op in ("cmp", "names"):
        return True
    if node.op in ("and", "or"):
        return any(_compares(item) for item in node.args[0])
    if node.op == "not":
        return _compares(node.args[0])
    literal = ("const", "tuple", "list", "set")
    return node.op == "call" and any(arg.op in literal or _compares(arg) for arg in node.args[1])


def refuses(side: Side) -> bool:
    return side.ends in REFUSING


def answers_no(side: Side) -> bool:
    """A return of False, None or a reason in words; a constant assignment of None or False."""
    value = side.value
    if side.ends == "continue":
        return True
    if side.ends not in ("return", "fall") or value is None:
        return False
    if value.op == "tuple" and value.args[0]:
        value = value.args[0][0]
    if value.op == "const":
        answer = value.args[0]
        return answer is None or answer is False or (isinstance(answer, str) and " " in answer)
    return value.op == "fstr" and side.ends == "return"


def inside(inner: Span, outer: Span) -> bool:
    return outer[:2] <= inner[:2] and inner[2:] <= outer[2:]


@dataclass
class Context:
    """The world of one run, as rules need it."""

    tree: Tree
    targets: ChipSet
    evidence: Evidence
    judged: dict[str, list[Judged]] = field(default_factory=dict)
    """By module path, in file order."""
    guards: dict[str, tuple[Guarded, ...]] = field(default_factory=dict)
    """Guards of the preprocessor that ask for the target, by module path, in file order."""
    builds: Builds = field(default_factory=lambda: Builds(()))
    wrappers: dict[str, Guarded] = field(default_factory=dict)
    """Class templates that run what they are given behind a guard, by name."""
    placed: dict[tuple[str, str], tuple[Any, ...]] = field(default_factory=dict)
    """What `legality` has to say of a file, for the rules that share it."""
    places: dict[str, str] = field(default_factory=dict)
    """The path within its project of each module, by module path."""
    _near: dict[str, bool] = field(default_factory=dict)

    def in_test(self, module: Module) -> bool:
        """Whether a file belongs to the tests of its project."""
        return _TEST_FILE.search(self.places.get(module.path, "")) is not None

    def around(self, judged: Judged, at: Span) -> Iterator[tuple[Judged, Side]]:
        """Other gates of the file of which one side holds `at`, outermost first."""
        for other in self.judged[judged.module.path]:
            for side in (other.gate.yes, other.gate.no):
                if side.at is not None and inside(at, side.at):
                    yield other, side

    def let_to(self, module: Module, at: Span) -> ChipSet:
        """Chips that the running program may take to a place of a file."""
        reached = EVERY
        for other in self.judged.get(module.path, ()):
            for side in (other.gate.yes, other.gate.no):
                if side.at is not None and inside(at, side.at):
                    reached &= other.let_through(side)
        return reached

    def let_in(self, module: Module, at: Span) -> ChipSet:
        """Chips that a gate of the running program around a place asks for and admits."""
        found = NONE
        for other in self.judged.get(module.path, ()):
            for side in (other.gate.yes, other.gate.no):
                if side.at is not None and inside(at, side.at) and other.sets.decided and not other.sets.guessed:
                    found |= other.on(side)
        return found & self.let_to(module, at)

    def reach(self, judged: Judged, at: Span) -> ChipSet:
        """Chips that may reach a place through every gate around it."""
        reached = EVERY
        for other, side in self.around(judged, at):
            reached &= other.let_through(side)
        return reached

    def works_there(self, judged: Judged) -> bool:
        """Whether what a gate leads to is known to run on the targets."""
        return works(judged.working.uses) is not None

    def illegal_here(self, judged: Judged, chips: ChipSet) -> bool:
        """Whether the file is built on an operation that none of `chips` has."""
        return any(not found.legal & chips for found in file_operations(judged.module))

    def builds_exact(self, judged: Judged) -> bool:
        """Whether the file names a target for 12.0 alone, such as sm_120a: its exact test is then right."""
        gates = [other.gate.at for other in self.judged[judged.module.path]]
        return any(not any(inside(text.at, at) for at in gates) for text in judged.module.targets)

    def near_tcgen05(self, judged: Judged) -> bool:
        """Whether the file, or something that it imports, is built on tcgen05."""
        path = judged.module.path
        if path not in self._near:
            needs = self.evidence.near_needs(judged.module, judged.at)
            self._near[path] = any(group("thor") <= need.legal for need in needs)
        return self._near[path]

    def only_question(self, judged: Judged) -> bool:
        """Whether a file asks the device nothing but this one flag or predicate."""
        for other in self.judged[judged.module.path]:
            same = other.gate is judged.gate or other.gate.name == judged.gate.name != ""
            if same or not other.owns_comparison or judged.gate.name in other.mentioned:
                continue
            if other.core not in (judged.core, EVERY - judged.core):
                return False
        return True

    def need_of(self, judged: Judged, side: Side) -> Need | None:
        """The strongest sure need of a side that this gate is the innermost to admit to."""
        best: Need | None = None
        for need in self.evidence.of(judged.module, side):
            if not self._innermost(judged, need.use):
                continue
            if best is None or (best.strength == "name" and need.strength == "proof"):
                best = need
        return best

    def _innermost(self, judged: Judged, use: Use) -> bool:
        for other, side in self.around(judged, use.at):
            if other is not judged and other.gate.at[:2] > judged.gate.at[:2] and side.at and not side.empty:
                return False
        return True
