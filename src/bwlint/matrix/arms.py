"""Dispatch inside an operation: which chips take the default branch."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from bwlint.chips import EVERY, NONE, ChipSet
from bwlint.evaluate.objects import EvaluationFrame
from bwlint.evaluate.values import CHIPS, Vec
from bwlint.model.expr import Span, negate
from bwlint.model.facts import Gate, Module, Side
from bwlint.model.kinds import BRANCHES, REFUSING
from bwlint.world.tree import Tree

MAX_NAME = 40

Names = Callable[[Gate, Side], "str | None"]
"""What a side of a gate of a module is called: a backend's name, or a definition of the tree that it calls."""


@dataclass(frozen=True, slots=True)
class Arm:
    """One way of a dispatch. `general` says that it takes the oldest chip, and with it whatever nobody names."""

    name: str
    chips: ChipSet
    at: Span
    general: bool = False


def arms(tree: Tree, module: Module, qualname: str, bound: Mapping[str, str], name_of: Names) -> list[Arm]:
    """The arms of the dispatches of a function that the device alone decides, where none of them ends in an error."""
    chains: dict[tuple[int, Span | None], list[Gate]] = defaultdict(list)
    for gate in module.gates:
        if gate.qualname == qualname and gate.kind in BRANCHES:
            chains[(gate.chain, None if gate.chain else gate.at)].append(gate)
    frame = EvaluationFrame(module, {(qualname, name): Vec((text,)) for name, text in bound.items()})
    found: list[Arm] = []
    for gates in chains.values():
        found += _of_chain(tree, module, sorted(gates, key=lambda gate: gate.position), frame, name_of)
    return found


def _of_chain(tree: Tree, module: Module, gates: list[Gate], frame: EvaluationFrame, name_of: Names) -> list[Arm]:
    left = _reached(tree, module, gates[0], frame)
    found: list[Arm] = []
    for gate in gates:
        tree.interpreter.start()
        outcome = tree.interpreter.truth(gate.test, frame)
        lanes = dict(zip((chip.name for chip in CHIPS), outcome.spread(), strict=True))
        name = name_of(gate, gate.yes)
        if name is None or not outcome.device or any(not isinstance(lanes[chip.name], bool) for chip in left):
            return []
        chips = ChipSet.joining(chip for chip in left if lanes[chip.name])
        found.append(Arm(name, chips, gate.at))
        left -= chips
    last = name_of(gates[-1], gates[-1].no)
    if last is None:
        return []
    found.append(Arm(last, left, gates[-1].at))
    taken = [arm for arm in found if arm.chips]
    oldest = min((next(iter(arm.chips)) for arm in taken), key=lambda chip: chip.joined, default=None)
    if len({arm.name for arm in taken}) < 2 or oldest is None:
        return []
    return [Arm(arm.name, arm.chips, arm.at, oldest in arm.chips) for arm in taken]


def _reached(tree: Tree, module: Module, gate: Gate, frame: EvaluationFrame) -> ChipSet:
    """The chips that surely reach a gate, but for those that an error above stops."""
    function = module.functions.get(gate.qualname)
    errors = {
        negate(path[-1]) for path, value in (function.returns if function else ()) if path and value.op == "raise"
    }
    reached = EVERY
    for test in gate.path:
        if test in errors:
            continue
        tree.interpreter.start()
        lanes = tree.interpreter.truth(test, frame).spread()
        reached &= ChipSet.joining(chip for chip, lane in zip(CHIPS, lanes, strict=True) if lane is True)
        if not reached:
            return NONE
    return reached


def chosen(side: Side) -> str | None:
    """The short string that a side gives: `"xqa"` of `"trtllm-gen" if ... else "xqa"`."""
    value = side.value
    text = value.args[0] if value is not None and value.op == "const" else None
    return text if isinstance(text, str) and text and " " not in text and len(text) <= MAX_NAME else None


def called(side: Side, other: Side, in_tree: Callable[[str], bool]) -> str | None:
    """The first definition of the tree that one side alone calls; None where it ends in an error."""
    if side.ends in REFUSING or side.rest or side.empty:
        return None
    shared = {use.name for use in other.uses}
    own = (use.name for use in side.uses if use.how == "call" and use.sure and use.name not in shared)
    return next((name.rpartition(".")[2] for name in own if in_tree(name)), None)
