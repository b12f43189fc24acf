"""Hard-coded multiprocessor counts in Python.

Each comes out as an operation of kind multiprocessors, whose `name` is what the number does:

fixed      it stands for the device's own: a default, a constant that is used, an argument of a launch
resident   the same where blocks wait for each other, so that all of the grid have to run at once
reserved   so many are set aside for communication
at-least   a device with fewer is turned away
split      the device is cut into groups
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from bwlint.chips.products import Splitter, splitters
from bwlint.model.details import MultiprocessorGroups, Multiprocessors
from bwlint.model.facts import Operation
from bwlint.readers.counted import asks, counts, waits
from bwlint.readers.nodes import AnyFunction, arms, below, defaults, whole
from bwlint.readers.python.marking import parameters
from bwlint.readers.python.sides import dotted
from bwlint.readers.spans import span

MAX_FOUND = 100
_STEMS = (b"num_sm", b"NUM_SM", b"num_SM", b"_sms", b"sm_count", b"SM_COUNT", b"multi_processor_count")
_WRITTEN = re.compile(
    rb"(?:[sS][mM][sS]?|[cC][oO][uU][nN][tT])_?(?:\s{0,4}:\s{0,4}[\w.\[\]| ]{1,40})?\s{0,4}(?:[<>]=?|=)\s{0,4}[\w.]"
)
_SPLITTERS = tuple(name.encode() for name in splitters())
_OF_OTHERS = re.compile(r"\w{0,20}(?:tcgen05|wgmma)\w{0,20}\.\w{1,40}\(")
"""Kernels of other chips, by a wrapper of their instructions."""
_RESERVED = re.compile(
    r"(?:comm|communic|dispatch|combine|send|recv|a2a|all2all)\w*_sms?$|_sms?_(?:for_)?comm\w*$", re.I
)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)

ANCHORS = (*_STEMS, *_SPLITTERS)


def may_hold(data: bytes) -> bool:
    """The prefilter: whether a file may say a number of multiprocessors."""
    if any(name in data for name in _SPLITTERS):
        return True
    return any(stem in data for stem in _STEMS) and _WRITTEN.search(data) is not None


def operations(tree: ast.Module, source: str) -> tuple[Operation, ...]:
    """The numbers of a parsed file, in order of place."""
    if _OF_OTHERS.search(source):
        return ()
    places = [_Place(node, owner) for node, owner in _definitions(tree)]
    found = [
        one
        for place in places
        for one in (*place.defaults(), *place.assigned(), *place.launched(), *place.bounds(), *place.splits())
    ]
    found += [*_fields(tree), *_constants(tree, places)]
    passed = _always_passed(tree, found)
    kept = [one for one in found if (one.qualname, _called(one)) not in passed][:MAX_FOUND]
    return tuple(sorted(kept, key=lambda one: one.at))


def _definitions(tree: ast.Module) -> Iterator[tuple[AnyFunction, ast.ClassDef | None]]:
    """The functions of a module and the methods of its classes; what stands in one belongs to it."""
    for node in tree.body:
        if isinstance(node, _FUNCTIONS):
            yield node, None
        elif isinstance(node, ast.ClassDef):
            yield from ((item, node) for item in node.body if isinstance(item, _FUNCTIONS))


@dataclass(frozen=True)
class _Place:
    """A function, and the class that it is a method of."""

    node: AnyFunction
    owner: ast.ClassDef | None

    @property
    def qualname(self) -> str:
        return f"{self.owner.name}.{self.node.name}" if self.owner else self.node.name

    @cached_property
    def nodes(self) -> list[ast.AST]:
        return below(self.node)

    @cached_property
    def words(self) -> frozenset[str]:
        """Identifiers; what a class is given is used by all of it."""
        made = self.owner is not None and self.node.name == "__init__"
        return frozenset(_words(below(self.owner) if self.owner is not None and made else self.nodes))

    @cached_property
    def written(self) -> dict[str, list[ast.expr]]:
        """What is assigned to each name."""
        found: dict[str, list[ast.expr]] = {}
        for node in self.nodes:
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
                for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                    found.setdefault(dotted(target), []).append(node.value)
        return found

    def asks_but(self, name: str) -> bool:
        return any(asks(word) for word in self.words if word != name)

    def stands(self, name: str, value: ast.expr) -> Operation | None:
        """A number that stands for the device's, where nothing near asks for that."""
        number = _whole(value)
        if number is None or not counts(name) or self.asks_but(name):
            return None
        return _found("resident" if any(map(waits, self.words)) else "fixed", number, name, value, self.qualname)

    def defaults(self) -> Iterator[Operation]:
        yield from (one for name, value in defaults(self.node) if (one := self.stands(name, value)))

    def assigned(self) -> Iterator[Operation]:
        for name, values in self.written.items():
            for value in values if _RESERVED.search(name) else ():
                yield from (
                    _found("reserved", number, name, choice, self.qualname)
                    for choice in arms(value)
                    if (number := _whole(choice)) is not None
                )
            if len(values) == 1 and (one := self.stands(name.rpartition(".")[2], values[0])):
                yield one

    def launched(self) -> Iterator[Operation]:
        """`kernel[grid](x, NUM_SMS=132)`."""
        for node in self.nodes:
            for given in node.keywords if isinstance(node, ast.Call) and isinstance(node.func, ast.Subscript) else ():
                if given.arg is not None and (one := self.stands(given.arg, given.value)):
                    yield one

    def bounds(self) -> Iterator[Operation]:
        for node in self.nodes:
            if isinstance(node, ast.If) and _turns_away(node.body[-1]):
                yield from self._asked_for(_alternatives(node.test, ast.Or), (ast.Lt, ast.LtE))
            elif isinstance(node, ast.Return) and node.value is not None:
                yield from self._asked_for(_alternatives(node.value, ast.And), (ast.Gt, ast.GtE))

    def _asked_for(self, tests: Sequence[ast.expr], signs: tuple[type[ast.cmpop], ...]) -> Iterator[Operation]:
        for test in tests:
            bound = self._bound(test, signs)
            if bound is not None:
                yield _found("at-least", bound, "", test, self.qualname)

    def _bound(self, test: ast.expr, signs: tuple[type[ast.cmpop], ...]) -> int | None:
        """The fewest multiprocessors that pass, of a test for them."""
        if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], signs):
            return None
        if not self._is_count(test.left):
            return None
        number = self._number(test.comparators[0])
        return None if number is None else number + isinstance(test.ops[0], (ast.LtE, ast.Gt))

    def _is_count(self, node: ast.expr) -> bool:
        met: set[str] = set()
        while (name := dotted(node)) not in met:
            if name.rpartition(".")[2].lower().replace("_", "") == "multiprocessorcount":
                return True
            values = self.written.get(name, ())
            if len(values) != 1 or isinstance(values[0], ast.Name):
                return False
            met.add(name)
            node = values[0]
        return False  # `self.count = self.count`

    def _number(self, node: ast.expr) -> int | None:
        """A number, or the largest that a name of the function may hold."""
        values = self.written.get(node.id, ()) if isinstance(node, ast.Name) else (node,)
        numbers = [_whole(choice) for value in values for choice in arms(value)]
        known = [number for number in numbers if number is not None]
        return max(known) if known and len(known) == len(numbers) else None

    def splits(self) -> Iterator[Operation]:
        if any("skip" in word.lower() for word in self.words):
            return
        tried = [node for node in self.nodes if isinstance(node, (ast.Try, ast.With)) and _expects_error(node)]
        for node in self.nodes:
            row = splitters().get(dotted(node.func).rpartition(".")[2]) if isinstance(node, ast.Call) else None
            if row is None or not isinstance(node, ast.Call) or any(span(one).holds(span(node)) for one in tried):
                continue
            groups, each = (self._most(node, row, index) for index in (0, 1))
            if groups and each:
                split = MultiprocessorGroups(groups, each)
                yield Operation("multiprocessors", "split", span(node), detail=split, qualname=self.qualname)

    def _most(self, call: ast.Call, row: Splitter, index: int) -> int:
        """The largest number that an argument may be: it is written there, or what a test is parametrized with."""
        position, name = (row.groups, row.count)[index], row.names[index]
        by_name = [given.value for given in call.keywords if given.arg == name]
        given = by_name[0] if by_name else call.args[position] if position < len(call.args) else None
        if isinstance(given, ast.Name):
            values = [value for mark in self.node.decorator_list for value in _parametrized(mark, given.id)]
        else:
            values = [] if given is None else [given]
        return max((number for value in values if (number := _whole(value)) is not None), default=0)


def _fields(tree: ast.Module) -> Iterator[Operation]:
    """Fields of classes, which are defaults of what makes them."""
    for owner in tree.body:
        fields = [one for one in getattr(owner, "body", ()) if isinstance(one, ast.AnnAssign)]
        values = {one.target.id: one.value for one in fields if isinstance(one.target, ast.Name)}
        if not isinstance(owner, ast.ClassDef) or any(map(asks, _words(below(owner)) - values.keys())):
            continue
        for name, value in values.items():
            number = _whole(value)
            if value is not None and number is not None and counts(name):
                yield _found("fixed", number, name, value, f"{owner.name}.__init__")


def _constants(tree: ast.Module, places: Sequence[_Place]) -> Iterator[Operation]:
    """Constants of a module that a function uses without asking the device."""
    for node in tree.body:
        if not isinstance(node, (ast.Assign, ast.AnnAssign)) or node.value is None:
            continue
        name = dotted(node.targets[0] if isinstance(node, ast.Assign) else node.target)
        number = _whole(node.value)
        if number is None or not counts(name):
            continue
        using = [place for place in places if name in place.words]
        if not using or any(place.asks_but(name) for place in using):
            continue
        waiting = any(waits(word) for place in using for word in place.words)
        yield _found("resident" if waiting else "fixed", number, name, node.value, "")


def _always_passed(tree: ast.Module, found: Sequence[Operation]) -> set[tuple[str, str]]:
    """Parameters with a default, by function and name, that every call of the file fills by name."""
    wanted = {(one.qualname, _called(one)) for one in found if one.name in ("fixed", "resident")}
    wanted = {(where, name) for where, name in wanted if where}
    calls: dict[str, list[ast.Call]] = {}
    for node in whole(tree) if wanted else ():
        if isinstance(node, ast.Call):
            calls.setdefault(dotted(node.func).rpartition(".")[2], []).append(node)
    passed = set[tuple[str, str]]()
    for where, name in wanted:
        called = calls.get(where.removesuffix(".__init__").rpartition(".")[2], [])
        if called and all(any(given.arg == name for given in call.keywords) for call in called):
            passed.add((where, name))
    return passed


def _parametrized(mark: ast.expr, name: str) -> list[ast.expr]:
    """The values of `@pytest.mark.parametrize(name, [...])`."""
    names, values = parameters(mark) or ([], None)
    return values.elts if names == [name] and isinstance(values, (ast.List, ast.Tuple)) else []


def _expects_error(node: ast.Try | ast.With) -> bool:
    if isinstance(node, ast.Try):
        return bool(node.handlers)
    return any(dotted(item.context_expr).rpartition(".")[2] in ("raises", "suppress") for item in node.items)


def _turns_away(last: ast.stmt) -> bool:
    """Whether a branch ends in an error, or in an answer that is no."""
    if isinstance(last, ast.Return):
        return last.value is None or (isinstance(last.value, ast.Constant) and last.value.value in (None, False))
    return isinstance(last, ast.Raise)


def _alternatives(test: ast.expr, sign: type[ast.boolop]) -> list[ast.expr]:
    return test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, sign) else [test]


def _whole(node: ast.expr | None) -> int | None:
    value = node.value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _words(nodes: Sequence[ast.AST]) -> set[str]:
    """Identifiers, without keywords that are given False."""
    found = set[str]()
    for node in nodes:
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.keyword) and node.arg:
            off = isinstance(node.value, ast.Constant) and not node.value.value
            found |= set() if off else {node.arg}
    return found


def _found(what: str, number: int, name: str, at: ast.expr, qualname: str) -> Operation:
    return Operation("multiprocessors", what, span(at), detail=Multiprocessors(number, name), qualname=qualname)


def _called(one: Operation) -> str:
    return one.detail.called if isinstance(one.detail, Multiprocessors) else ""
