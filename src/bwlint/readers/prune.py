"""Drop facts that no gate, name or short function can need: most of what kernels compute."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from bwlint.model.expr import Expr, unknown, walk
from bwlint.model.facts import Class, Function, Gate

MAX_PLAIN = 80
"""Nodes in the returns of a function that does not read the device; a longer one is nobody's helper."""
_GONE = unknown("")


def functions(found: dict[str, Function], reads: Callable[[object], bool]) -> dict[str, Function]:
    """The functions with their returns, or without them where a caller could learn nothing from them."""
    return {name: item if _is_helper(item, reads) else _hollow(item) for name, item in found.items()}


def slots(
    table: list[Expr],
    gates: Iterable[Gate],
    names: dict[str, Expr],
    helpers: dict[str, Function],
    classes: dict[str, Class],
    paths: Iterable[object] = (),
) -> tuple[Expr, ...]:
    """The table of definitions, with a filler for what nothing leads to. `paths` are tests and amounts of facts."""
    kept: set[int] = set()
    stack: list[Any] = [tuple(names.values())]
    stack += [(item.returns, item.defaults) for item in helpers.values()]
    stack += [(item.bases, tuple(item.names.values())) for item in classes.values()]
    stack += [(gate.test, gate.path, gate.yes.value, gate.no.value) for gate in gates]
    stack += paths
    while stack:
        for node in walk(stack.pop()):
            if node.op == "var" and node.args[0] not in kept:
                kept.add(node.args[0])
                stack.append(table[node.args[0]])
    return tuple(node if index in kept else _GONE for index, node in enumerate(table))


def _is_helper(item: Function, reads: Callable[[object], bool]) -> bool:
    if reads(item.returns):
        return True
    return next(islice(walk(item.returns), MAX_PLAIN, None), None) is None


def _hollow(item: Function) -> Function:
    returns = (((), unknown(f"{item.qualname}()")),)
    return replace(item, returns=returns, exits=())


def gates(found: Sequence[Gate]) -> tuple[Gate, ...]:
    """Without the flags of a module whose name is bound anew further down, on every way: the last one is asked for."""
    last = {gate.name: gate for gate in found if _is_flag_of_module(gate)}
    return tuple(gate for gate in found if not _is_flag_of_module(gate) or last[gate.name] is gate)


def _is_flag_of_module(gate: Gate) -> bool:
    return gate.kind == "flag" and gate.qualname == "<module>" and not gate.path and bool(gate.name)
