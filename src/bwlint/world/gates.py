"""A gate with its sets of chips, and its two sides."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from bwlint.chips import EVERY, NONE, ChipSet, frameworks, words
from bwlint.chips.mentions import mentioned
from bwlint.chips.wording import plain
from bwlint.evaluate.names import DEVICE
from bwlint.model.expr import Expr, Span, walk
from bwlint.model.facts import Gate, Module, Side
from bwlint.model.kinds import LISTED, REFUSING
from bwlint.model.naming import spoken
from bwlint.world.tree import Sets

_OF_DEVICES = re.compile(words.said("of-devices"), re.I)
_ASKED_OF_IT = re.compile(r"^_*(?:device|gpu|platform|hardware)_(?:supports|can|has)_(?=[a-z])", re.I)
"""What `device_supports_nvfp4` says before it reaches what it is for."""
_NO_TEST = {"list": "names", "table": "has rows for", "lookup": "has rows for"}
TEST_FILE = re.compile(r"(?:^|/)(?:tests?|testing)/|(?:^|/)(?:test_[^/]*|[^/]*_test|conftest)\.(?:py|cpp|cc|cu|cuh|h)$")


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
        return TEST_FILE.search(self.place) is not None

    @property
    def is_sample(self) -> bool:
        """Whether it is a list of examples that a test hands to its subject."""
        return self.in_test and self.gate.is_data

    @cached_property
    def denies(self) -> bool:
        """Whether passing the test means to be refused."""
        yes, no = self.gate.yes, self.gate.no
        ends_late = no.rest and no.ends == "exit" and bool(no.uses)  # a program that ends after its work
        if refuses(yes) and (ends_late or not refuses(no)):
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

    def told(self, side: Side, chips: ChipSet | None = None) -> str:
        """What the underlined part of the check is on the chips that take a side, or on those given."""
        found = self.on(side) if chips is None else chips
        if says := _NO_TEST.get(self.gate.kind):
            return f"{says} {found}"
        if self.is_declared:
            return f"declared for {found}"
        other = self.gate.no if side is self.gate.yes else self.gate.yes
        asked_elsewhere = self.gate.kind == "helper-call" or (self.gate.kind == "skipif" and self._is_a_mark)
        if asked_elsewhere or refuses(other) or (self.gate.kind == "condition" and answers_no(other)):
            return f"stops {found}" if refuses(side) else f"lets {plain(found)} through"
        return f"{'true' if (side is self.gate.yes) != self._turned else 'false'} on {found}"

    @property
    def is_declared(self) -> bool:
        """Whether bounds are written down here and compared elsewhere: `Kernel(run, min_sm=90)`."""
        compared = [node.args[1][0] for node in walk(self.gate.test) if node.op == "cmp"]
        written = bool(compared) and all(one.op == "source" and one.at is None for one in compared)
        return self.gate.kind == "assert" and written

    @property
    def _is_a_mark(self) -> bool:
        """Whether what is compared is nowhere written out: `@requires_capability(10)`."""
        test = self.gate.test
        return test.op == "cmp" and all(part.at == test.at for part in test.args[1])

    @property
    def _turned(self) -> bool:
        """Whether the underlined part is false where the check is true: it stands under a `not`."""
        negations = (node for node in walk(self.gate.test) if node.op == "not" and node.at and node.at.holds(self.at))
        return sum(bool(node.at != self.at or node.args[0].at == node.at) for node in negations) % 2 == 1

    def falls_short_of(self, side: Side) -> bool:
        """Whether a side is a way of its own for who does not pass: no refusal stands on the other side."""
        return side is self.gate.no and not refuses(self.gate.yes) and not answers_no(self.gate.yes)

    def decides(self, side: Side) -> bool:
        """Whether a side is taken because of the device, or is the last one asked for in front of an error."""
        last = self.gate.position > 0 and side is self.gate.yes and refuses(self.gate.no)
        return last or self.on(side) != self.sets.live

    def let_through(self, side: Side) -> ChipSet:
        """Chips that are not certain to be kept from a side: a guard for one model keeps nobody."""
        return self.sets.may if side is self.gate.yes else EVERY - self.sets.must

    @property
    def at(self) -> Span:
        leaf = self.gate.leaf
        if self.gate.kind in LISTED or leaf is None or not self.gate.at.holds(leaf):
            return self.gate.at
        return leaf

    @property
    def stands_here(self) -> bool:
        """What is compared stands here, and not in a helper or a flag whose use this is."""
        return self.gate.leaf is None or self.gate.at.holds(self.gate.leaf)

    @cached_property
    def owns_comparison(self) -> bool:
        """The comparison itself stands here."""
        leaf = self.gate.leaf
        if leaf is None:
            leaves = [node for node in operands(self.gate.test) if self._device(node)]
            return any(_compares(node) for node in leaves or operands(self.gate.test))
        if not self.gate.at.holds(leaf):
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

    @property
    def named_after_chips(self) -> bool:
        """Whether it is called after the chips that it asks for, and not after what it is for."""
        name = _ASKED_OF_IT.sub("", self.gate.name)
        return _OF_DEVICES.search(spoken(name)) is not None or bool(mentioned(name.replace("_", " ")).named)

    @cached_property
    def mentioned(self) -> frozenset[str]:
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
            elif inner.op in ("import", "attr", "var") and isinstance(inner.args[1], str):
                found.add(inner.args[1])
        return found


def operands(test: Expr) -> Iterator[Expr]:
    if test.op in ("and", "or"):
        for item in test.args[0]:
            yield from operands(item)
    elif test.op == "not":
        yield from operands(test.args[0])
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
    if node.op != "call":
        return False
    of_template = node.args[0].args[1] if node.args[0].op == "static" else ()
    return any(arg.op in literal or _compares(arg) for arg in (*of_template, *node.args[1]))


def table_name(judged: Judged) -> str:
    """What a message calls the table that a look-up asks."""
    return f"`{judged.gate.name}`" if judged.gate.name else "this table"


def missing_row(judged: Judged) -> str:
    """What happens at a strict look-up where there is no row."""
    if judged.gate.no.at is not None:
        return "this line raises an error"
    if judged.module.language == "cuda":
        return "the lookup throws std::out_of_range"
    calls = judged.gate.text.endswith(")")
    if judged.gate.test.op == "call":  # rows are looked through for one that fits
        return f"the lookup raises {'StopIteration' if calls else 'IndexError'}"
    return "the lookup returns None, and using it fails" if calls else "the lookup raises KeyError"


def refuses(side: Side) -> bool:
    return side.ends in REFUSING


def refuses_others(gate: Gate) -> bool:
    """Whether a check that asks a list by its name refuses whoever is not in it."""
    denies = any(node.op == "cmp" and node.args[0] == "not in" for node in walk(gate.test))
    return gate.is_a("condition", "assert") and refuses(gate.yes if denies else gate.no)


def answers_no(side: Side) -> bool:
    """A return of False, None or a reason in words; a constant assignment of None or False."""
    value = side.value
    if side.ends == "continue":
        return True
    if not side.ends_in("return", "fall") or value is None:
        return False
    if value.op == "tuple" and value.args[0]:
        value = value.args[0][0]
    if value.op == "call" and side.ends == "return":
        return value.args[0].args[-1] in frameworks.names("fails")
    if value.op == "const":
        answer = value.args[0]
        return answer is None or answer is False or (isinstance(answer, str) and " " in answer)
    if value.op == "fstr" and side.ends == "return":
        return any(part.op == "const" and " " in str(part.args[0]) for part in walk(value))  # `-arch=sm_{arch}` is none
    return False
