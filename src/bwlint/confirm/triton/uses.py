"""What a kernel of Triton does with its parameters: which are addresses, and which take part in them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from bwlint.readers.nodes import parameters
from bwlint.readers.python.least import Function, called

_ACCESSES = frozenset({"load", "store", "make_block_ptr", "make_tensor_descriptor"})
_DESCRIBED = frozenset({"load_tensor_descriptor", "store_tensor_descriptor"})
_WHOLE = frozenset({"cdiv", "multiple_of", "max_contiguous"})
_KEPT = frozenset(
    {"cast", "to", "advance", "make_block_ptr", "make_tensor_descriptor", "multiple_of", "max_contiguous"}
)
"""Calls whose value is the address that they are given, or one made of it."""
_PLAIN = frozenset({"load", "store", "program_id", "exp", "exp2", "log", "log2", "sqrt", "minimum", "maximum", "where"})
"""Calls that make blocks of no other shape than what they are given."""
_SAME = frozenset({"where", *_KEPT})
_MAX_NAMES = 6
_ROUNDS = 3
_MAX_DEPTH = 4


def uses(kernel: Function, helpers: Mapping[str, Function], depth: int = 0) -> Uses:
    """The uses of a kernel's parameters, in it and in the helpers that it hands them to."""
    found = Uses(kernel, helpers, depth)
    for _ in range(_ROUNDS):
        found.follow()
    found.whole -= found.pointers | found.described
    return found


@dataclass(slots=True)
class Uses:
    """Parameters by what is done with them. `indices` are addresses from which parts of addresses are loaded,
    `whole` scalars that take part in addresses, bounds and masks, `described` tensor descriptors of the host.

    `decide` take part in the shape of a block, in a loop, a test or a call, or are a stride: what is not among them
    changes no block. `spread` are strides between elements of a block, `packed` addresses of blocks that have a
    dimension without a stride. `roots` are the parameters that a name may be an address of, `parts` those that its
    value is computed from, and `loaded` those from which something in it was loaded.
    """

    kernel: Function
    helpers: Mapping[str, Function]
    depth: int
    roots: dict[str, set[str]] = field(default_factory=dict)
    parts: dict[str, set[str]] = field(default_factory=dict)
    loaded: dict[str, set[str]] = field(default_factory=dict)
    pointers: set[str] = field(default_factory=set)
    described: set[str] = field(default_factory=set)
    indices: set[str] = field(default_factory=set)
    whole: set[str] = field(default_factory=set)
    decide: set[str] = field(default_factory=set)
    spread: set[str] = field(default_factory=set)
    packed: set[str] = field(default_factory=set)
    given: dict[str, list[ast.expr]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in parameters(self.kernel):
            self.roots[name], self.parts[name] = {name}, {name}

    def follow(self) -> None:
        for node in ast.walk(self.kernel):
            if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign) and node.value is not None:
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                for target, value in _pairs(targets, node.value):
                    self._give(target, value)
            elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
                for one, other in ((node.left, node.right), (node.right, node.left)):
                    if isinstance(one, ast.Name):
                        self.decide.add(one.id)
                        self.spread |= {one.id} if self._ranges(other) else set()
            elif isinstance(node, ast.If | ast.IfExp | ast.While | ast.Assert):
                self.decide |= self._all(node.test, self.parts)
            elif isinstance(node, ast.For):
                self._address(node.iter)
                if isinstance(node.target, ast.Name):
                    self._give(node.target, node.iter)
            elif isinstance(node, ast.Call):
                self._call(node)
            elif isinstance(node, ast.Subscript):
                self._address(node.slice)

    def _give(self, target: ast.Name, value: ast.expr) -> None:
        known = self.given.setdefault(target.id, [])
        if value not in known:
            known.append(value)
        self.roots.setdefault(target.id, set()).update(self._root(value))
        self.parts.setdefault(target.id, set()).update(self._all(value, self.parts))
        self.loaded.setdefault(target.id, set()).update(self._all(value, self.loaded))
        for node in ast.walk(value):
            if isinstance(node, ast.Call) and called(node) == "load" and node.args:
                self.loaded[target.id] |= self._root(node.args[0])

    def _call(self, node: ast.Call) -> None:
        word = called(node)
        if word not in _PLAIN:
            for one in (*node.args, *(key.value for key in node.keywords)):
                self.decide |= self._all(one, self.parts)
        method = node.func.value if isinstance(node.func, ast.Attribute) else None
        if word in _ACCESSES or word.startswith("atomic_"):
            base = next((one.value for one in node.keywords if one.arg in ("base", "pointer")), None)
            given = base or (node.args[0] if node.args else None)
            if given is not None:
                self._accessed(given)
            elif method is not None and word in ("load", "store"):
                self._accessed(method)
            for mask in [one.value for one in node.keywords if one.arg in ("mask", "shape", "strides", "offsets")]:
                self._address(mask)
            if word in ("load", "store") and isinstance(method, ast.Name) and method.id in self.parts:
                self.described |= self._root(method)
        elif word in _DESCRIBED and node.args:
            self.described |= self._root(node.args[0])
        elif word in _WHOLE or word == "range":
            for one in node.args:
                self._address(one)
        elif isinstance(node.func, ast.Name) and node.func.id in self.helpers and self.depth < _MAX_DEPTH:
            self._handed(node, self.helpers[node.func.id])

    def _accessed(self, address: ast.expr) -> None:
        self.pointers |= self._root(address)
        self.packed |= self._root(address) if self._ranges(address) else set()
        self._address(address)

    def _ranges(self, node: ast.expr, depth: int = 0) -> bool:
        """Whether a sum has a range in it that nothing is multiplied with."""
        if isinstance(node, ast.Name) and depth < _MAX_NAMES:
            return any(self._ranges(one, depth + 1) for one in self.given.get(node.id, ()))
        if isinstance(node, ast.BinOp) and not isinstance(node.op, ast.Mult):
            return self._ranges(node.left, depth) or self._ranges(node.right, depth)
        if isinstance(node, ast.Subscript):
            return self._ranges(node.value, depth)
        if isinstance(node, ast.Call):
            word = called(node)
            of = [node.func.value] if isinstance(node.func, ast.Attribute) and word == "to" else node.args
            return word == "arange" or (word in _SAME and any(self._ranges(one, depth) for one in of))
        return False

    def _address(self, node: ast.expr) -> None:
        self.whole |= self._all(node, self.parts)
        self.indices |= self._all(node, self.loaded)
        for one in ast.walk(node):
            if isinstance(one, ast.Call) and called(one) == "load" and one.args:
                self.indices |= self._root(one.args[0])

    def _handed(self, node: ast.Call, helper: Function) -> None:
        if helper is self.kernel:
            return
        inner = uses(helper, self.helpers, self.depth + 1)
        given = dict(zip(parameters(helper), node.args, strict=False))
        given |= {one.arg: one.value for one in node.keywords if one.arg is not None}
        for name, value in given.items():
            if name in inner.pointers:
                self._accessed(value)
            if name in inner.indices:
                self.indices |= self._root(value)
            if name in inner.whole:
                self._address(value)
            if name in inner.described:
                self.described |= self._root(value)

    def _root(self, node: ast.expr) -> set[str]:
        """The parameters that an address begins at."""
        if isinstance(node, ast.Name):
            return self.roots.get(node.id, set())
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
            return self._root(node.left) or self._root(node.right)
        if isinstance(node, ast.Subscript):
            return self._root(node.value)
        if isinstance(node, ast.IfExp):
            return self._root(node.body) | self._root(node.orelse)
        if isinstance(node, ast.Call) and called(node) in _KEPT:
            base = next((one.value for one in node.keywords if one.arg == "base"), None)
            of = node.func.value if isinstance(node.func, ast.Attribute) and called(node) == "to" else None
            given = of or base or (node.args[0] if node.args else None)
            return self._root(given) if given is not None else set()
        return set()

    def _all(self, node: ast.expr, known: Mapping[str, set[str]]) -> set[str]:
        return {one for name in _read(node) for one in known.get(name, ())}


def _read(node: ast.expr) -> Iterator[str]:
    """Names in an expression, but for those from whose address something is loaded: its value is another thing."""
    if isinstance(node, ast.Name):
        yield node.id
    if isinstance(node, ast.Attribute) and node.attr in ("dtype", "type"):
        return
    if isinstance(node, ast.Call) and called(node) in ("load", "dot"):
        return
    for one in ast.iter_child_nodes(node):
        if isinstance(one, ast.expr):
            yield from _read(one)
        elif isinstance(one, ast.keyword):
            yield from _read(one.value)


def _pairs(targets: Sequence[ast.expr], value: ast.expr) -> Iterator[tuple[ast.Name, ast.expr]]:
    for target in targets:
        if isinstance(target, ast.Name):
            yield target, value
        elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            yield from _pairs([target.elts[0]], value.elts[0])
            for one, part in zip(target.elts[1:], value.elts[1:], strict=True):
                yield from _pairs([one], part)
        elif isinstance(target, ast.Tuple):
            yield from ((one, value) for one in target.elts if isinstance(one, ast.Name))
