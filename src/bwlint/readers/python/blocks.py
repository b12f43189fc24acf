"""Shared memory that a kernel of Triton takes at least, in bytes, for given constants and pipeline stages.

What Triton 3.9 does for sm_120: a loop of several rounds that loads operands of `tl.dot` holds `stages - 1` blocks of
each, or one of each where the address was loaded in the loop, too, or where the mask ends at a loaded number along the
contiguous dimension (the elements that come or do not come together are then one, too few for an asynchronous copy);
with one stage the largest of them; and every operand that is loaded before the loop once. All else (operands that are
computed, reductions, the way out) comes on top and is not counted. A dimension of which nothing is known counts as one,
and so does an operand of one dimension. Of strides that are not known any may be the one of the contiguous dimension.
One kernel of flash-linear-attention takes a tenth less in Triton 3.6 than is counted here, why is open.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from bwlint.readers.nodes import below, children, parameters
from bwlint.readers.python.least import MAX_AMOUNT, Function, called

MAX_DEPTH = 3
MAX_STATEMENTS = 2000
DEFAULT_STAGES = 3
DEFAULT_WARPS = 4
_REDUCES = frozenset(
    {"dot", "dot_scaled", "sum", "max", "min", "argmax", "argmin", "zeros", "full", "cumsum", "reduce"}
)
_TURNS = frozenset({"trans", "permute", "T"})
_SAME = frozenset({"multiple_of", "max_contiguous", "to", "cast"})
_RUNS = frozenset({"load", "program_id", "num_programs"})
"""What gives values of run time."""


@dataclass(frozen=True, slots=True)
class _Load:
    """A block that is read from global memory: where it goes, its shape, the loop around, and whether it is there
    once for all stages: what it is read from was itself read in that loop, or it comes an element at a time.
    """

    name: str
    shape: tuple[int, ...]
    loop: ast.AST | None
    once: bool

    @property
    def elements(self) -> int:
        return math.prod(self.shape)


@dataclass(frozen=True, slots=True)
class _BlockValue:
    """A value of a kernel. Dimensions are counted from the last, -1."""

    shape: tuple[int, ...] = ()
    loads: frozenset[_Load] = frozenset()
    steps: frozenset[int] = frozenset()
    """Dimensions along which it grows by one."""
    ends: frozenset[int] = frozenset()
    """Dimensions along which a mask is compared with what was loaded."""


_NOTHING = _BlockValue()


@dataclass(frozen=True, slots=True)
class _Loop:
    node: ast.AST
    stages: int
    """0 where it is not pipelined."""


@dataclass
class TritonKernel:
    """A jit function, and those of its file by name. `number` gives what a name of the file is."""

    function: Function
    helpers: Mapping[str, Function]
    constants: Mapping[str, int]
    number: Callable[[ast.expr], int | None]
    _uses: set[tuple[_Loop | None, _Load]] = field(default_factory=set)
    _loops: list[_Loop] = field(default_factory=list)
    _names: dict[str, _BlockValue] = field(default_factory=dict)
    _numbers: dict[str, int] = field(default_factory=dict)
    _fixed: frozenset[str] = frozenset()
    """Names of constants, known or not."""
    _left: int = MAX_STATEMENTS
    _depth: int = 0

    def elements(self, stages: int) -> int:
        """The elements of blocks that are there at once."""
        self._numbers = dict(self.constants)
        self._stages = stages
        self._uses = self._body(self.function.body)
        loops = {loop for loop, _ in self._uses if loop is not None}
        return max((self._together(loop) for loop in loops), default=0)

    def _together(self, loop: _Loop) -> int:
        used = {load for other, load in self._uses if other == loop}
        around = sum(load.elements for load in used if load.loop is not loop.node)
        inside = [load for load in used if load.loop is loop.node]
        if loop.stages < 2:
            return around + max((load.elements for load in inside), default=0)
        return around + sum(load.elements * (1 if load.once else loop.stages - 1) for load in inside)

    def _body(self, body: Sequence[ast.stmt]) -> set[tuple[_Loop | None, _Load]]:
        """What operands of products are loaded, whichever way an undecided test of constants goes."""
        found: set[tuple[_Loop | None, _Load]] = set()
        for node in body:
            self._left -= 1
            if self._left < 0:
                break
            found |= self._statement(node)
        return found

    def _statement(self, node: ast.stmt) -> set[tuple[_Loop | None, _Load]]:
        if isinstance(node, ast.If):
            return self._either(node)
        if isinstance(node, (ast.For, ast.While)):
            return self._loop(node)
        value = getattr(node, "value", None)
        if not isinstance(value, ast.expr):
            return set()
        found = self._products(value)
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        for target in targets:
            if isinstance(target, ast.Name):
                self._give(target.id, value, node.op if isinstance(node, ast.AugAssign) else None)
            elif isinstance(target, ast.Tuple):
                self._spread(target, value)
        return found

    def _give(self, name: str, value: ast.expr, adds: ast.operator | None) -> None:
        number = None if adds else self._number(value)
        self._fixed -= {name}
        if not adds and not _spoken(value).runs and not self._at_run_time(value):
            self._fixed |= {name}
        self._numbers.pop(name, None)
        if number is not None:
            self._numbers[name] = number
        self._names[name] = self._value(ast.BinOp(ast.Name(name), adds, value) if adds else value, name)

    def _spread(self, target: ast.Tuple, value: ast.expr) -> None:
        values = value.elts if isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts) else []
        for at, one in enumerate(target.elts):
            if isinstance(one, ast.Name):
                self._numbers.pop(one.id, None)
                self._names[one.id] = self._value(values[at], one.id) if values else _NOTHING

    def _either(self, node: ast.If) -> set[tuple[_Loop | None, _Load]]:
        decided = self._truth(node.test)
        if decided is not None:
            return self._body(node.body if decided else node.orelse)
        names, numbers = dict(self._names), dict(self._numbers)
        yes = self._body(node.body)
        then = self._names, self._numbers
        self._names, self._numbers = names, numbers
        no = self._body(node.orelse)
        self._names = {
            name: value if name not in then[0] else _common(value, then[0][name])
            for name, value in {**then[0], **self._names}.items()
        }
        self._numbers = {name: value for name, value in self._numbers.items() if then[1].get(name) == value}
        return yes | no if self._at_run_time(node.test) else yes & no

    def _loop(self, node: ast.For | ast.While) -> set[tuple[_Loop | None, _Load]]:
        spoken = _spoken(node)
        stages = 0 if spoken.loops > 1 or isinstance(node, ast.While) else self._pipelined(node.iter)
        self._numbers = {name: value for name, value in self._numbers.items() if name not in spoken.stored}
        self._loops.append(_Loop(node, stages))
        try:
            return self._body(node.body)
        finally:
            self._loops.pop()

    def _pipelined(self, called_with: ast.expr) -> int:
        """Stages of a loop; none where it may have a single round, or is unrolled."""
        if (
            not isinstance(called_with, ast.Call)
            or called(called_with) != "range"
            or not self._is_pipelined(called_with)
        ):
            return 0
        given = next((one.value for one in called_with.keywords if one.arg == "num_stages"), None)
        stages = self._number(given) if given is not None else self._stages
        return stages or 0

    def _is_pipelined(self, call: ast.Call) -> bool:
        """Whether a loop has more than one round, or as many as is known at run time alone."""
        ends = [self._number(one) for one in call.args[:3]]
        known = [one for one in ends if one is not None]
        if len(known) < len(ends) or not known:
            return self._at_run_time(*call.args)
        low, high = (known[0], known[1]) if len(known) > 1 else (0, known[0])
        return high - low > (known[2] if len(known) > 2 else 1)

    def _at_run_time(self, *parts: ast.expr) -> bool:
        """Whether a bound or a test is a value of run time and no constant."""
        spoken = [_spoken(part) for part in parts]
        if any(one.identity for one in spoken):
            return False
        handed, fixed = set(parameters(self.function)), constants(self.function)
        return any(
            (word in self._names or word in handed) and word not in (fixed | self._fixed) and word not in self._numbers
            for one in spoken
            for word in one.names
        )

    def _products(self, node: ast.expr) -> set[tuple[_Loop | None, _Load]]:
        loop = self._loops[-1] if self._loops else None
        found: set[tuple[_Loop | None, _Load]] = set()
        for one in _spoken(node).products:
            given = [*one.args[:2], *(key.value for key in one.keywords if key.arg in ("input", "other"))]
            loads = {load for part in given for load in self._value(part, "").loads if len(load.shape) > 1}
            found |= {(loop, load) for load in loads}
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in self.helpers:
            found |= self._inside(self.helpers[node.func.id], node)
        return found

    def _inside(self, function: Function, call: ast.Call) -> set[tuple[_Loop | None, _Load]]:
        """What a helper of the file does with what it is handed."""
        if self._depth >= MAX_DEPTH:
            return set()
        given = {**dict(zip(parameters(function), call.args, strict=False)), **_by_name(call)}
        names, numbers, around = self._names, self._numbers, self.function
        handed = {name: self._value(value, name) for name, value in given.items()}
        self._numbers = {name: number for name, value in given.items() if (number := self._number(value)) is not None}
        self._names, self.function = handed, function
        self._depth += 1
        try:
            return self._body(function.body)
        finally:
            self._depth -= 1
            self._names, self._numbers, self.function = names, numbers, around

    def _value(self, node: ast.expr, name: str) -> _BlockValue:
        if isinstance(node, ast.Name):
            return self._names.get(node.id, _NOTHING)
        if isinstance(node, ast.Call):
            return self._called(node, name)
        if isinstance(node, ast.Subscript):
            return self._indexed(node)
        if isinstance(node, ast.Attribute):
            value = self._value(node.value, name) if node.attr in _TURNS else _NOTHING
            return _BlockValue(value.shape[::-1], value.loads)
        if isinstance(node, (ast.BinOp, ast.Compare, ast.UnaryOp, ast.BoolOp, ast.IfExp)):
            parts = [one for one in children(node) if isinstance(one, ast.expr)]
            return self._combined(node, [self._value(one, name) for one in parts])
        return _NOTHING

    def _combined(self, node: ast.expr, parts: Sequence[_BlockValue]) -> _BlockValue:
        found = _joined(parts)
        if isinstance(node, ast.Compare) and found.loads:
            sides = {-at for at, side in enumerate(reversed(found.shape), 1) if side > 1}
            return replace(found, ends=found.ends | found.steps | sides, steps=frozenset())
        if not isinstance(node, ast.BinOp) or isinstance(node.op, (ast.Add, ast.Sub)):
            return found
        by_one = isinstance(node.op, ast.Mult) and 1 in (self._number(node.left), self._number(node.right))
        return found if by_one else replace(found, steps=frozenset())

    def _called(self, node: ast.Call, name: str) -> _BlockValue:
        word = called(node)
        method = node.func.value if isinstance(node.func, ast.Attribute) else None
        of = [method] if method is not None and not _is_library(method) else []
        if word == "arange":
            return _BlockValue((self._length(node),), steps=frozenset({-1}))
        if word in ("make_block_ptr", "make_tensor_descriptor"):
            return _BlockValue(
                self._dimensions(_by_name(node).get("block_shape", node.args[-2] if len(node.args) > 4 else None))
            )
        if word == "_experimental_descriptor_load" and len(node.args) > 2:
            shape, loop = self._dimensions(node.args[2]), self._loops[-1].node if self._loops else None
            return _BlockValue(shape, frozenset({_Load(name or ast.dump(node), shape, loop, False)}))
        if word in ("load", "load_tensor_descriptor"):
            source = self._value(of[0] if of else node.args[0] if node.args else node.func, "")
            loop = self._loops[-1].node if self._loops else None
            indirect = loop is not None and any(load.loop is loop for load in source.loads)
            mask = _by_name(node).get("mask", node.args[1] if len(node.args) > 1 and not of else None)
            ends = self._value(mask, "").ends if mask is not None else frozenset[int]()
            once = indirect or bool(ends and not source.steps - ends)
            return _BlockValue(source.shape, frozenset({_Load(name or ast.dump(node), source.shape, loop, once)}))
        if word in _REDUCES:
            return _NOTHING
        parts = [self._value(one, name) for one in (*of, *node.args)]
        if word in ("reshape", "view", "broadcast_to", "expand_dims"):
            found = _joined(parts)
            return replace(found, shape=()) if word != "expand_dims" else _NOTHING
        if word == "advance":
            return parts[0] if parts else _NOTHING
        found = _joined(parts)
        if word in _TURNS:
            return _BlockValue(found.shape[::-1], found.loads)
        return found if word in _SAME else replace(found, steps=frozenset())

    def _length(self, node: ast.Call) -> int:
        ends = [self._number(one) for one in node.args[:2]]
        known = [end for end in ends if end is not None]
        return max(1, known[-1] - (known[0] if len(known) > 1 else 0)) if len(known) == len(ends) and known else 1

    def _dimensions(self, node: ast.expr | None) -> tuple[int, ...]:
        parts = node.elts if isinstance(node, (ast.Tuple, ast.List)) else []
        return tuple(max(1, self._number(part) or 1) for part in parts)

    def _indexed(self, node: ast.Subscript) -> _BlockValue:
        """`x[:, None]`: a dimension of one."""
        value = self._value(node.value, "")
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if not all(isinstance(part, ast.Slice) or is_none(part) for part in parts):
            return _NOTHING
        own = iter(value.shape)
        shape = tuple(1 if is_none(part) else next(own, 1) for part in parts)
        places = [at - len(parts) for at, part in enumerate(parts) if not is_none(part)]
        steps, ends = (frozenset(places[at] for at in one if -at <= len(places)) for one in (value.steps, value.ends))
        return _BlockValue(shape, value.loads, steps, ends)

    def _number(self, node: ast.expr) -> int | None:
        if isinstance(node, ast.Constant):
            return node.value if isinstance(node.value, int) else None
        if isinstance(node, ast.Name):
            local = node.id in self._names or node.id in parameters(self.function)
            found = self._numbers.get(node.id)
            return found if found is not None or local else self.number(node)
        if isinstance(node, ast.BinOp):
            return _computed(node.op, self._number(node.left), self._number(node.right))
        if isinstance(node, ast.Call):
            given = [self._number(one) for one in node.args]
            known = [one for one in given if one is not None]
            if len(known) == len(given) and given:
                return _of_numbers(called(node), known)
        return None

    def _truth(self, test: ast.expr) -> bool | None:
        """Which way a test goes; None where that is not known."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            inner = self._truth(test.operand)
            return None if inner is None else not inner
        if isinstance(test, ast.Compare) and len(test.ops) == 1:
            left, right = self._number(test.left), self._number(test.comparators[0])
            return compared(test.ops[0], left, right) if left is not None and right is not None else None
        number = self._number(test)
        return None if number is None else bool(number)


@dataclass(frozen=True, slots=True)
class _Spoken:
    """What stands in an expression or a loop: the same for every configuration."""

    names: frozenset[str]
    stored: frozenset[str]
    products: tuple[ast.Call, ...]
    loops: int
    runs: bool
    identity: bool


@lru_cache(maxsize=1024)
def _spoken(node: ast.AST) -> _Spoken:
    nodes = below(node)
    names = [one for one in nodes if isinstance(one, ast.Name)]
    calls = [(called(one), one) for one in nodes if isinstance(one, ast.Call)]
    return _Spoken(
        names=frozenset(one.id for one in names) - {"tl", "triton"},
        stored=frozenset(one.id for one in names if isinstance(one.ctx, ast.Store)),
        products=tuple(one for word, one in calls if word == "dot"),
        loops=sum(isinstance(one, (ast.For, ast.While)) for one in nodes),
        runs=any(word in _RUNS for word, _ in calls),
        identity=any(isinstance(one, (ast.Is, ast.IsNot)) for one in nodes),
    )


@lru_cache(maxsize=64)
def constants(function: Function) -> frozenset[str]:
    """The parameters of a kernel that are constants of the compilation."""
    arguments = (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
    return frozenset(one.arg for one in arguments if one.annotation and "constexpr" in ast.unparse(one.annotation))


def multiplying(kernels: Mapping[str, Function]) -> dict[str, Function]:
    """Those of a file's kernels that multiply blocks, or call one that does."""
    found = {name: one for name, one in kernels.items() if _spoken(one).products}
    for _ in range(MAX_DEPTH if found else 0):
        found = {name: one for name, one in kernels.items() if name in found or _spoken(one).names & found.keys()}
    return found


def _by_name(call: ast.Call) -> dict[str, ast.expr]:
    return {one.arg: one.value for one in call.keywords if one.arg is not None}


def is_none(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _is_library(node: ast.expr) -> bool:
    return (isinstance(node, ast.Name) and node.id in ("tl", "triton", "libdevice")) or isinstance(node, ast.Attribute)


def _joined(values: Sequence[_BlockValue]) -> _BlockValue:
    """What values have together, each dimension as long as the longest."""
    width = max((len(one.shape) for one in values), default=0)
    padded = [(1,) * (width - len(one.shape)) + one.shape for one in values]
    shape = tuple(max(sides) for sides in zip(*padded, strict=True))
    return _BlockValue(
        shape,
        frozenset[_Load]().union(*(one.loads for one in values)),
        frozenset[int]().union(*(one.steps for one in values)),
        frozenset[int]().union(*(one.ends for one in values)),
    )


def _common(one: _BlockValue, other: _BlockValue) -> _BlockValue:
    """What a name is either way; a block that is read in both is as large as in the one that says so."""
    if one.loads and other.loads and not (one.shape and other.shape):
        return one if one.shape else other
    shape = one.shape if one.shape == other.shape else ()
    return _BlockValue(shape, one.loads & other.loads, one.steps & other.steps, one.ends | other.ends)


def _computed(op: ast.operator, left: int | None, right: int | None) -> int | None:
    if left is None or right is None or max(abs(left), abs(right)) > MAX_AMOUNT:
        return None
    if isinstance(op, ast.Add):
        return left + right
    if isinstance(op, ast.Sub):
        return left - right
    if isinstance(op, ast.Mult):
        return left * right
    return left // right if isinstance(op, ast.FloorDiv) and right else None


def _of_numbers(word: str, given: Sequence[int]) -> int | None:
    if word == "next_power_of_2" and len(given) == 1:
        return 1 << (given[0] - 1).bit_length() if given[0] > 0 else 1
    if word == "cdiv" and len(given) == 2 and given[1]:
        return -(-given[0] // given[1])
    if word in ("max", "min"):
        return max(given) if word == "max" else min(given)
    return given[0] if word == "constexpr" else None


def compared(op: ast.cmpop, left: int, right: int) -> bool | None:
    """A comparison of two numbers; None for any but those of order."""
    ways: dict[type[ast.cmpop], bool] = {
        ast.Eq: left == right,
        ast.NotEq: left != right,
        ast.Lt: left < right,
        ast.LtE: left <= right,
        ast.Gt: left > right,
        ast.GtE: left >= right,
    }
    return ways.get(type(op))
