"""What kernels of Triton are launched with, and the shared memory that they take by it at least, in bytes.

Constants come from the launches of the file and from the configurations of `@triton.autotune`. An element counts as 16
bits where the kernel, or who launches it, speaks of floats that wide and of nothing smaller, else as 8. Who asks the
device how much it has, or prunes configurations, is `checked`.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice, product, takewhile

from bwlint.model.details import TritonCase, TritonLaunch
from bwlint.model.expr import Expr, const
from bwlint.model.facts import Operation
from bwlint.model.kinds import OperationKind
from bwlint.readers.nodes import below, defaults, parameters, whole
from bwlint.readers.python.blocks import DEFAULT_STAGES, DEFAULT_WARPS, TritonKernel, compared, constants, multiplying
from bwlint.readers.python.least import Function, LaunchRow, Values, by_type, called, calls
from bwlint.readers.python.sides import dotted
from bwlint.readers.spans import span

MAX_CONFIGS = 200
MAX_LAUNCHES = 50
MAX_CASES = 12
_LEAST_BYTES = 48 * 1024
"""What every chip gives to a block: less is not told."""
_ASKS = re.compile(
    r"(?i)(?:shared_?mem|smem)\w*(?:per_?block|opt_?in|limit|capacity|size)|(?:check|max|query|get|has)_\w*(?:shared_?mem|smem)|OutOfResources"
)
_Allowed = Mapping[str, tuple[int, ...]]
_BYTE_TYPES = re.compile(r"(?i)fp8|float8|e4m3|e5m2|int8|[iw]8|fp4|int4|mxfp|uint8|awq|gptq|quant")

_OPERAND_SCALES = re.compile(r"(?i)(?:^|_)[qkvabwx]_?scale")
"""Factors of one operand undo a quantization; that of softmax belongs to the product."""
_WIDE_TYPES = re.compile(r"(?i)b?float(?:16|32)|\b[bf]p?(?:16|32)\b|half")
_BYTE_OPERANDS = re.compile(r"(?:^|\.)u?int8$|(?:^|\.)float8\w*$|^tl\.int32$|^triton\.language\.int32$")
"""Types that a launch is handed for operands of a byte: an accumulator of Triton's int32 adds up products of int8."""

ANCHORS = (b"triton.jit",)


def may_hold(data: bytes) -> bool:
    """The prefilter: whether a file has a kernel of Triton that multiplies blocks."""
    return b"triton.jit" in data and b".dot(" in data


def operations(tree: ast.Module, source: str) -> tuple[Operation, ...]:
    """A launched-shared for each launch of a kernel, a tuned-shared for each list of configurations."""
    return tuple(_asked(tree)) if "triton.jit" in source and ".dot(" in source else ()


def multiplies_nothing(tree: ast.Module, source: str) -> bool:
    """Whether a file launches kernels of its own alone, and none multiplies blocks: their tiles lie in registers."""
    if "triton.jit" not in source or ".dot" in source:
        return False
    kernels = jitted(tree)
    asked = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    launched = [one.value for one in asked if isinstance(one, ast.Subscript)]
    return bool(launched) and all(isinstance(one, ast.Name) and one.id in kernels for one in launched)


def _asked(tree: ast.Module) -> Iterator[Operation]:
    kernels = jitted(tree)
    if not kernels:
        return
    launches = list(islice(_launches(tree, kernels), MAX_LAUNCHES))
    for name, kernel in multiplying(kernels).items():
        mine = [one for one in launches if one.kernel == name]
        reader = _Reader(tree, kernel, kernels, _around(mine))
        tuned = _decorated(kernel, "autotune")
        if tuned is None:
            yield from filter(None, map(reader.launched, mine))
            yield from filter(None, map(reader.by_row, mine))
        else:
            yield from reader.tuned(tuned, mine)


def jitted(tree: ast.Module) -> dict[str, Function]:
    """The kernels of a file and what they call, by name."""
    return {one.name: one for one in tree.body if isinstance(one, Function) and _decorated(one, "jit")}


@dataclass(frozen=True, slots=True)
class Taking:
    """A kernel as one launch has it, or one launch with one configuration, and the bytes that it takes at least.

    `launch` is the call in `function`, None where there is none in the file; `seeds` are numbers that names of that
    function are taken to be. `warps` is None where nothing says how many. `at` is what is tuned or launched.
    """

    kernel: Function
    launch: ast.Call | None
    function: Function | None
    seeds: Mapping[str, int]
    constants: Mapping[str, int]
    stages: int
    warps: int | None
    size: int
    at: ast.expr | None


def takings(tree: ast.Module, name: str) -> Iterator[Taking]:
    """What a kernel of the file takes in every case of every launch, and with every configuration that is tried."""
    kernels = jitted(tree)
    if name not in kernels:
        return
    mine = [one for one in islice(_launches(tree, kernels), MAX_LAUNCHES) if one.kernel == name]
    reader = _Reader(tree, kernels[name], kernels, _around(mine))
    tuned = _decorated(kernels[name], "autotune")
    if tuned is None:
        yield from (taking for one in mine for _, taking in reader.cases(one))
    else:
        yield from reader.configured(tuned, mine or [None])


def bits_of(kernel: Function, launchers: Collection[Function] = ()) -> int:
    """Bits that an element of a kernel counts as, with the functions that launch it."""
    spoken = (dotted(node) for node in below(kernel) if isinstance(node, ast.Attribute))
    names = (kernel.name, *parameters(kernel), *spoken)
    handed = [dotted(node) for one in launchers for node in below(one) if isinstance(node, ast.Attribute)]
    is_byte = any(map(_BYTE_TYPES.search, (*names, *(one.name for one in launchers))))
    is_byte = is_byte or any(map(_BYTE_OPERANDS.search, handed)) or any(map(_OPERAND_SCALES.search, names))
    is_byte = is_byte or _unpacks(kernel) or _adds_up_integers(kernel)
    return 16 if not is_byte and any(map(_WIDE_TYPES.search, (*names, *handed))) else 8


def _adds_up_integers(kernel: Function) -> bool:
    """Whether a kernel has an accumulator of int32, or asks a product for one: its operands are bytes."""
    made = (node for node in below(kernel) if isinstance(node, ast.Call) and called(node) in ("zeros", "full", "dot"))
    return any(dotted(one).endswith("int32") for call in made for one in below(call) if isinstance(one, ast.Attribute))


def _unpacks(kernel: Function) -> bool:
    """Whether a kernel takes what it loads apart by bits."""
    loaded: set[str] = set()
    for node in below(kernel):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and called(node.value) == "load":
            loaded |= {dotted(one) for one in node.targets}
    shifts = (
        one for one in below(kernel) if isinstance(one, ast.BinOp) and isinstance(one.op, (ast.LShift, ast.RShift))
    )
    return any(isinstance(one, ast.Name) and one.id in loaded for shift in shifts for one in ast.walk(shift.left))


def least_bytes(tree: ast.Module, name: str, given: Mapping[str, int], stages: int) -> int:
    """Bytes that a kernel of the file takes at least with these constants."""
    kernels = jitted(tree)
    return _Reader(tree, kernels[name], kernels).size(given, stages, Values(tree))


def _decorated(function: Function, word: str) -> ast.expr | None:
    """The decorator whose last word ends in this one."""
    for one in function.decorator_list:
        if dotted(one.func if isinstance(one, ast.Call) else one).rpartition(".")[2].endswith(word):
            return one
    return None


@dataclass(frozen=True, slots=True)
class _Launch:
    kernel: str
    call: ast.Call
    function: Function | None


def _launches(tree: ast.Module, kernels: Collection[str]) -> Iterator[_Launch]:
    for around, call in calls(tree):
        if isinstance(call.func, ast.Subscript) and dotted(call.func.value) in kernels:
            yield _Launch(dotted(call.func.value), call, around)


def _around(launches: Iterable[_Launch]) -> tuple[Function, ...]:
    return tuple(one.function for one in launches if one.function is not None)


@dataclass(frozen=True, slots=True)
class _Config:
    constants: Mapping[str, int]
    stages: int
    at: ast.expr
    warps: int | None

    def product(self) -> int:
        """By which the smallest comes first, as a rule."""
        return math.prod(self.constants.values()) * self.stages


@dataclass
class _Reader:
    tree: ast.Module
    kernel: Function
    kernels: Mapping[str, Function]
    launchers: tuple[Function, ...] = ()
    _sizes: dict[tuple[frozenset[tuple[str, int]], int], int] = field(default_factory=dict)
    """By the constants and stages, which many cases share."""

    def launched(self, launch: _Launch) -> Operation | None:
        """What a launch takes whatever it picks, and what it takes in each case of the function around it."""
        cases = list(self.cases(launch))
        if max(taking.size for _, taking in cases) < _LEAST_BYTES:
            return None
        least, *others = (
            TritonCase(
                taking.size,
                ", ".join(f"{name} = {width}" for name, width in one.widest().items()),
                span(one.at) if one.at is not None else None,
                max(one.widest().values(), default=0),
            )
            for one, taking in cases
        )
        return self._operation(
            "launched-shared", launch.call, launch.function, detail=TritonLaunch(least, tuple(others))
        )

    def by_row(self, launch: _Launch) -> Operation | None:
        """What a launch takes at least with the largest row of a table by types."""
        values, sizes = Values(self.tree), list[tuple[int, LaunchRow]]()
        for row in by_type(launch.call, launch.function, values):
            one = replace(launch, call=row.call)
            found, stages = self._constants(one, values), self._stages(one, values)
            kernel = self._kernel(found, values)
            sizes.append((kernel.elements(stages) * row.bits // 8, row))
        size, largest = max(sizes, key=lambda one: one[0], default=(0, None))
        if largest is None or size < _LEAST_BYTES:
            return None
        detail = TritonLaunch(TritonCase(size, "", span(largest.at)), ())
        return self._operation("launched-shared", launch.call, launch.function, largest.bits, detail=detail)

    def cases(self, launch: _Launch) -> Iterator[tuple[_Case, Taking]]:
        """A launch whatever it picks, and in each case of the function around it."""
        allowed = _allowed(launch.function)
        cases = [_Case({}, allowed, None)]
        cases += islice(_cases(launch.function, allowed), MAX_CASES) if launch.function is not None else ()
        for one in cases:
            seeds = {**one.widest(), **one.picked}
            around = launch.function.name if launch.function is not None else ""
            values = Values(self.tree, known={(around, name): size for name, size in seeds.items()})
            found, stages = self._constants(launch, values), self._stages(launch, values)
            size, warps = self.size(found, stages, values), _warps(_keywords(launch.call), values, launch.function)
            at = launch.call
            yield one, Taking(self.kernel, at, launch.function, seeds, found, stages, warps, size, at)

    def tuned(self, decorator: ast.expr, launches: list[_Launch]) -> Iterator[Operation]:
        """What every configuration takes at least, whichever launch it is for; nothing where one fits everywhere."""
        values = Values(self.tree)
        configs = _configs(decorator, self.tree, values)
        launched = [self._constants(one, values) for one in launches]
        given = [one for at, one in enumerate(launched) if one not in launched[:at]] or [{}]
        sizes: list[tuple[int, ast.expr]] = []
        for config in sorted(configs, key=_Config.product):
            size = min(self.size({**one, **config.constants}, config.stages, values) for one in given)
            if size < _LEAST_BYTES:
                return
            sizes.append((size, config.at))
        if sizes:
            at = max(sizes, key=lambda one: one[0])[1]
            amounts = tuple(const(size, span(config)) for size, config in sizes)
            yield self._operation("tuned-shared", at, launches[0].function if launches else None, amounts=amounts)

    def configured(self, decorator: ast.expr, launches: Sequence[_Launch | None]) -> Iterator[Taking]:
        """Every configuration, the smallest first, with every launch."""
        values = Values(self.tree)
        for config in sorted(_configs(decorator, self.tree, values), key=_Config.product):
            for one in launches:
                found = {**(self._constants(one, values) if one is not None else {}), **config.constants}
                size = self.size(found, config.stages, values)
                call, around = (one.call, one.function) if one is not None else (None, None)
                yield Taking(self.kernel, call, around, {}, found, config.stages, config.warps, size, config.at)

    def _operation(
        self,
        kind: OperationKind,
        at: ast.expr,
        function: Function | None,
        bits: int = 0,
        *,
        amounts: tuple[Expr, ...] = (),
        detail: TritonLaunch | None = None,
    ) -> Operation:
        words = {word for node in (below(function) if function else []) if (word := _word(node))}
        asks = any(map(_ASKS.search, words))
        return Operation(
            kind,
            str(bits or 8 * self._element),
            span(at),
            amounts=amounts,
            detail=detail,
            qualname=self.kernel.name,
            checked=asks,
        )

    def size(self, constants: Mapping[str, int], stages: int, values: Values) -> int:
        """Bytes that the kernel takes at least."""
        given = frozenset(constants.items()), stages
        if given not in self._sizes:
            self._sizes[given] = self._kernel(constants, values).elements(stages) * self._element
        return self._sizes[given]

    def _kernel(self, constants: Mapping[str, int], values: Values) -> TritonKernel:
        return TritonKernel(self.kernel, self.kernels, constants, lambda node: _exact(node, None, values))

    @cached_property
    def _element(self) -> int:
        return bits_of(self.kernel, self.launchers) // 8

    def _constants(self, launch: _Launch, values: Values) -> dict[str, int]:
        places = dict(zip(parameters(self.kernel), positional(launch.call), strict=False))
        names = {one.arg: one.value for one in launch.call.keywords}
        found: dict[str, int] = {}
        for name in filter(constants(self.kernel).__contains__, parameters(self.kernel)):
            handed = names.get(name, places.get(name))
            node = handed if handed is not None or None in names else dict(defaults(self.kernel)).get(name)
            number = _exact(node, launch.function if handed is not None else None, values) if node is not None else None
            if number is not None:
                found[name] = number
        return found

    def _stages(self, launch: _Launch, values: Values) -> int:
        names = _keywords(launch.call)
        if "num_stages" in names:
            return values.least(names["num_stages"], launch.function)
        return 1 if None in names else DEFAULT_STAGES


def positional(call: ast.Call) -> list[ast.expr]:
    """The arguments of which the place is known: those before one with a star."""
    return list(takewhile(lambda one: not isinstance(one, ast.Starred), call.args))


def _keywords(call: ast.Call) -> dict[str | None, ast.expr]:
    return {one.arg: one.value for one in call.keywords}


def _warps(names: Mapping[str | None, ast.expr], values: Values, function: Function | None) -> int | None:
    """How many warps are asked for: Triton's own number where nothing is said; None where it is not known."""
    if "num_warps" not in names:
        return None if None in names else DEFAULT_WARPS
    return _exact(names["num_warps"], function, values)


def _word(node: ast.AST) -> str:
    if isinstance(node, ast.Constant):
        return str(node.value) if isinstance(node.value, str) else ""
    return dotted(node) if isinstance(node, (ast.Name, ast.Attribute)) else ""


def _exact(node: ast.expr, function: Function | None, values: Values) -> int | None:
    """A number, or what it is at least where that says something."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, int) else None
    least = values.least(node, function)
    return least if least > 1 else None


@dataclass(frozen=True, slots=True)
class _Case:
    """Numbers that a function picks together: the first of them, and what tests above let widths be."""

    picked: Mapping[str, int]
    allowed: Mapping[str, tuple[int, ...]]
    at: ast.expr | None

    def widest(self) -> dict[str, int]:
        return {name: max(sizes) for name, sizes in self.allowed.items()}


def _cases(function: Function, allowed: _Allowed) -> Iterator[_Case]:
    """The arms that pick numbers, but for what is picked anew below."""
    again = [name for node in function.body for one in below(node) for name in _assigned(one)]
    waiting = [(one, allowed) for one in reversed(function.body)]
    while waiting:
        node, left = waiting.pop()
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.IfExp):
            if node in function.body and any(again.count(name) > 1 for name in _assigned(node)):
                continue
            for arm, outcome in ((node.value.body, True), (node.value.orelse, False)):
                inner = _narrowed(left, node.value.test, outcome)
                yield from (one for one in (_picks(node, arm, inner),) if one is not None and inner is not None)
        if not isinstance(node, ast.If):
            continue
        for body, outcome in ((node.body, True), (node.orelse, False)):
            inner = _narrowed(left, node.test, outcome)
            if inner is None:
                continue
            picks = [one for each in body if isinstance(each, ast.Assign) and (one := _picks(each, each.value, inner))]
            if picks:
                yield _Case({name: size for one in picks for name, size in one.picked.items()}, inner, picks[0].at)
            waiting += [(one, inner) for one in reversed(body)]


def _assigned(node: ast.AST) -> list[str]:
    targets = node.targets if isinstance(node, ast.Assign) else []
    return [dotted(one) for target in targets for one in below(target) if isinstance(one, ast.Name)]


def _picks(node: ast.Assign, value: ast.expr, allowed: _Allowed | None) -> _Case | None:
    """The numbers that an assignment gives to names."""
    target = node.targets[0]
    pairs = [(target, value)]
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        pairs = list(zip(target.elts, value.elts, strict=True))
    found = [(dotted(name), one) for name, one in pairs if isinstance(one, ast.Constant) and type(one.value) is int]
    picked = {name: one.value for name, one in found if name and isinstance(one.value, int)}
    return _Case(picked, allowed or {}, found[0][1]) if picked else None


def _narrowed(allowed: _Allowed, test: ast.expr, outcome: bool) -> _Allowed | None:
    """What is left of widths where a test goes one way; None where nothing is left of one."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _narrowed(allowed, test.operand, not outcome)
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) == outcome:
        left: _Allowed | None = allowed
        for part in test.values:
            left = None if left is None else _narrowed(left, part, outcome)
        return left
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.left, ast.Name):
        return allowed
    name, op, bound = test.left.id, test.ops[0], test.comparators[0]
    if not isinstance(bound, ast.Constant) or type(bound.value) is not int:
        return allowed
    at_most = isinstance(op, (ast.LtE, ast.Eq)) and outcome
    sizes = allowed.get(name, (bound.value,) if at_most else ())
    left_over = tuple(size for size in sizes if compared(op, size, bound.value) in (outcome, None))
    if sizes and not left_over:
        return None
    return {**allowed, name: left_over} if left_over else allowed


def _allowed(function: Function | None) -> _Allowed:
    """The numbers that an assertion lets a name be, also by another name that is held equal to it."""
    found: dict[str, tuple[int, ...]] = {}
    alike: list[tuple[str, str]] = []
    for test in [one.test for one in (below(function) if function else []) if isinstance(one, ast.Assert)]:
        for node in below(test):
            if not isinstance(node, ast.Compare) or not isinstance(node.left, ast.Name):
                continue
            other = node.comparators[0]
            if isinstance(node.ops[0], ast.In) and isinstance(other, (ast.Set, ast.List, ast.Tuple)):
                sizes = [one.value for one in other.elts if isinstance(one, ast.Constant)]
                numbers = tuple(one for one in sizes if isinstance(one, int))
                found |= {node.left.id: numbers} if numbers and len(numbers) == len(sizes) else {}
            elif isinstance(node.ops[0], ast.Eq):
                alike += [(node.left.id, one.id) for one in node.comparators if isinstance(one, ast.Name)]
    for one, same in alike * 2:
        for name, like in ((one, same), (same, one)):
            if like in found:
                found.setdefault(name, found[like])
    return found


def _configs(decorator: ast.expr, tree: ast.Module, values: Values) -> list[_Config]:
    """The configurations that are tried; none where they are not all known, or are pruned."""
    if not isinstance(decorator, ast.Call):
        return []
    names = {one.arg: one.value for one in decorator.keywords}
    node = names.get("configs", decorator.args[0] if decorator.args else None)
    if node is None or "prune_configs_by" in names:
        return []
    found = _listed(node, tree, values)
    return found if found is not None else []


def _listed(
    node: ast.expr, tree: ast.Module, values: Values, followed: frozenset[str] = frozenset()
) -> list[_Config] | None:
    """The configurations in an expression, or in what it names; None where a name leads back to itself (`followed`)."""
    if isinstance(node, (ast.List, ast.Tuple)):
        single = [_config(one, {}, values) for one in node.elts]
        return [one for one in single if one is not None] if None not in single else None
    if isinstance(node, ast.ListComp):
        return _each(node, values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = (_listed(one, tree, values, followed) for one in (node.left, node.right))
        return [*left, *right] if left is not None and right is not None else None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        node = ast.Name(node.func.id, ast.Load())
    if not isinstance(node, ast.Name) or node.id in followed:
        return None
    given = _given(node.id, tree)
    if len(given) != 1 or isinstance(given[0], ast.Name):
        return None
    return _listed(given[0], tree, values, followed | {node.id})


def _given(name: str, tree: ast.Module) -> list[ast.expr]:
    """What a name of the file is, or what its function gives back; two where it is given more than once."""
    found: list[ast.expr] = []
    for node in whole(tree):
        if isinstance(node, ast.Assign) and any(dotted(one) == name for one in node.targets):
            found.append(node.value)
        elif isinstance(node, ast.AugAssign) and dotted(node.target) == name:
            found += [node.value, node.value]
        elif isinstance(node, Function) and node.name == name:
            found += [one.value for one in below(node) if isinstance(one, ast.Return) and one.value is not None]
    return found


def _each(node: ast.ListComp, values: Values) -> list[_Config] | None:
    """The configurations of a comprehension without a condition over lists of numbers."""
    ways: list[list[dict[str, int]]] = []
    for one in node.generators:
        choices = one.iter.elts if isinstance(one.iter, (ast.List, ast.Tuple)) else []
        names = one.target.elts if isinstance(one.target, ast.Tuple) else [one.target]
        rows = [each.elts if isinstance(each, ast.Tuple) else [each] for each in choices]
        numbers = [[values.least(part, None) for part in row] for row in rows]
        if one.ifs or not rows or any(len(row) != len(names) for row in rows):
            return None
        ways.append([dict(zip(map(dotted, names), row, strict=True)) for row in numbers])
    found = []
    for choice in islice(product(*ways), MAX_CONFIGS):
        known = {name: number for part in choice for name, number in part.items()}
        config = _config(node.elt, known, values)
        if config is None:
            return None
        found.append(config)
    return found


def _config(node: ast.expr, known: Mapping[str, int], values: Values) -> _Config | None:
    if not isinstance(node, ast.Call) or called(node) != "Config":
        return None
    names = {one.arg: one.value for one in node.keywords}
    meta = names.get("kwargs", node.args[0] if node.args else None)
    if not isinstance(meta, ast.Dict) or None in names:
        return None
    found: dict[str, int] = {}
    for key, value in zip(meta.keys, meta.values, strict=True):
        number = known.get(value.id) if isinstance(value, ast.Name) else None
        number = number if number is not None else _exact(value, None, values)
        if isinstance(key, ast.Constant) and isinstance(key.value, str) and number is not None:
            found[key.value] = number
    given = names.get("num_stages")
    stages = known.get(given.id) if isinstance(given, ast.Name) else None
    if stages is None:
        stages = values.least(given, None) if given is not None else DEFAULT_STAGES
    asked = names.get("num_warps")
    warps = known.get(asked.id) if isinstance(asked, ast.Name) else None
    return _Config(found, stages, node, warps or _warps(names, values, None))
