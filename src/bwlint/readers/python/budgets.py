"""Hard-coded shared-memory budgets in Python.

Each comes out as an operation of kind capacity: `name` is that of a constant, a target whose capacity is asked for by
name (sm_80), the mapping of a lookup, or "" for a number in a comparison. The amount is the number; where only the
target is known there is none.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from bwlint.model.details import CapacityUses
from bwlint.model.expr import const
from bwlint.model.facts import Operation
from bwlint.readers.nodes import whole
from bwlint.readers.python.sides import dotted
from bwlint.readers.python.sizes import LEAST_SHARED, number_of
from bwlint.readers.python.vocabulary import arch_text
from bwlint.readers.spans import span

MAX_FOUND = 200
ANCHORS = (b"smem", b"shmem", b"sh_mem", b"shared_mem", b"sharedmem")
_WORDS = re.compile(
    rb"(?:smem|sh(?:ared)?_?mem)\w{0,60}"
    rb"(?:(?:budget|limit|capa|max|avail)\w{0,60}\s{0,4}(?:=|\(|:)|(?:\s{0,4}\*\s{0,4}\w{1,60})?\s{0,4}[<>]=?\s{0,4}\(?\d|\[)"
    rb"|(?:max|limit)_?(?:smem|sh(?:ared)?_?mem)\w{0,60}\s{0,4}[=:]"
)
_SHARED = re.compile(r"smem|sh(?:ared)?_?mem", re.I)
_LIMIT = re.compile(r"budget|limit|capa|max|avail", re.I)
_ASKS = re.compile(
    r"(?i)shared_mem\w{0,60}per_block|(?<=[.\"'])max_shared_mem|MaxSharedMemoryPer|SHARED_MEMORY_PER_BLOCK|smem_capacity\(\)"
)
_CHIP = re.compile(r"(?i)cc|sm|arch|cap|capability|compute_capability|device_capability")
_LOOKED_UP = re.compile(rf"\[[\w.]{{0,99}}\b_?(?:{_CHIP.pattern[4:]})\]", re.I)
_NAMED = re.compile(r"(?i:smem|sh(?:ared)?_?mem)\w{0,60}\(\s{0,4}[\"']\w{0,60}\d")
_WRITTEN = re.compile(
    r"(?i:smem|sh(?:ared)?_?mem)\w{0,60}(?:\s{0,4}\*\s{0,4}\w{1,60})?\s{0,4}(?::[^=\n]{0,80})?(?:[<>]=?|=)\s{0,4}\({0,3}\d"
)
_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")


def may_hold(data: bytes) -> bool:
    """The prefilter: whether a file may have a limit of shared memory."""
    return _WORDS.search(data.lower()) is not None


def operations(tree: ast.Module, source: str) -> tuple[Operation, ...]:
    """The amounts of a parsed file, in order of place."""
    nodes = whole(tree) if any(hint.search(source) for hint in (_LOOKED_UP, _NAMED, _WRITTEN)) else []
    found = [*_lookups(nodes), *_named_targets(nodes)]
    if not _ASKS.search(source):
        found += [*_constants(nodes), *_compared(nodes), *_handed_on(nodes)]
    named = (replace(one, qualname=_owners(tree, one)) for one in found[:MAX_FOUND])
    return tuple(sorted(named, key=lambda operation: operation.at))


def _owners(tree: ast.Module, one: Operation) -> str:
    """The class around a place and those of the file that are made of it: a generation may have its own."""
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    owner = next((node.name for node in classes if span(node).holds(one.at)), "")
    heirs = (node.name for node in classes if owner and owner in map(dotted, node.bases))
    return " ".join(_CAPITAL.sub(" ", name) for name in (owner, *heirs) if name)


def _constants(nodes: Sequence[ast.AST]) -> Iterator[Operation]:
    """Constants called a limit of shared memory that something is measured by."""
    uses: dict[str, list[ast.expr]] = defaultdict(list)
    for node in nodes:
        for measure in _measures(node):
            uses[dotted(measure).rpartition(".")[2]].append(measure)
    for name, value in (pair for node in nodes for pair in _given(node)):
        number = number_of(value)
        if number is None or number < LEAST_SHARED or not uses.get(name):
            continue
        if _SHARED.search(name) and _LIMIT.search(name) and "default" not in name.lower():
            yield _operation(name, number, value, uses[name])


def _given(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """The name that is given a value, or the parameters of a function with their defaults."""
    if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
        name = node.targets[0] if isinstance(node, ast.Assign) else node.target
        yield dotted(name).rpartition(".")[2], node.value
    if isinstance(node, ast.FunctionDef):
        taken = node.args
        listed = [*taken.posonlyargs, *taken.args][-len(taken.defaults) :] if taken.defaults else []
        both = (*zip(listed, taken.defaults, strict=True), *zip(taken.kwonlyargs, taken.kw_defaults, strict=True))
        yield from ((one.arg, value) for one, value in both if value is not None)


def _measures(node: ast.AST) -> Iterator[ast.expr]:
    """Names that others are compared with or that are divided up."""
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.Lt, ast.LtE, ast.Gt, ast.GtE)):
        parts = [node.left, *node.comparators]
    elif isinstance(node, ast.BinOp) and isinstance(node.op, (ast.FloorDiv, ast.Div)):
        parts = [node.left]
    elif isinstance(node, ast.Call) and dotted(node.func) == "min":
        parts = node.args
    else:
        return
    yield from (one for one in map(_without_less, parts) if isinstance(one, (ast.Name, ast.Attribute)))


def _without_less(part: ast.expr) -> ast.expr:
    """An amount without what is taken off: `LIMIT - 1024` is a `LIMIT`."""
    return part.left if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Sub) else part


def _compared(nodes: Sequence[ast.AST]) -> Iterator[Operation]:
    """A number that an amount of shared memory is compared with."""
    for node in nodes:
        if not isinstance(node, ast.Compare) or len(node.ops) != 1:
            continue
        at_most = isinstance(node.ops[0], (ast.Lt, ast.LtE, ast.Gt, ast.GtE))
        number = number_of(node.comparators[0])
        if at_most and number is not None and number >= LEAST_SHARED and any(map(_SHARED.search, _factors(node.left))):
            yield _operation("", number, node.comparators[0], [node])


def _factors(node: ast.expr) -> tuple[str, ...]:
    """The names that are multiplied: `smem_per_stage * num_stages`."""
    parts = (node.left, node.right) if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult) else (node,)
    return tuple(dotted(part).rpartition(".")[2] for part in parts)


def _handed_on(nodes: Sequence[ast.AST]) -> Iterator[Operation]:
    """A number that a call hands on under the name of a limit of shared memory."""
    for node in nodes:
        for one in node.keywords if isinstance(node, ast.Call) else ():
            name, number = one.arg or "", number_of(one.value)
            if number is not None and number >= LEAST_SHARED and _SHARED.search(name) and _LIMIT.search(name):
                yield _operation(name, number, one.value, [one.value])


def _named_targets(nodes: Sequence[ast.AST]) -> Iterator[Operation]:
    """What a function gives for a target by name, where its own name speaks of a limit of shared memory."""
    for node in nodes:
        if isinstance(node, ast.Call) and len(node.args) == 1 and isinstance(node.args[0], ast.Constant):
            name, target = dotted(node.func).rpartition(".")[2], node.args[0].value
            if isinstance(target, str) and arch_text(target) and _SHARED.search(name) and _LIMIT.search(name):
                yield _operation(target, 0, node, [node])


def _lookups(nodes: Sequence[ast.AST]) -> Iterator[Operation]:
    """`SHARED_MEMORY[cc]`, which raises for a chip without a row."""
    for node in nodes:
        if not isinstance(node, ast.Subscript) or not isinstance(node.ctx, ast.Load):
            continue
        name, key = dotted(node.value).rpartition(".")[2], dotted(node.slice).rpartition(".")[2]
        if name and _CHIP.fullmatch(key.strip("_")):
            yield Operation("lookup", name, span(node), qualname="")


def _operation(name: str, number: int, at: ast.expr, uses: list[ast.expr]) -> Operation:
    amounts = (const(number, span(at)),) if number else ()
    return Operation("capacity", name, span(at), amounts=amounts, detail=CapacityUses(tuple(map(span, uses))))
