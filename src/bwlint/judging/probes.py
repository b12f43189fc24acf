"""Probes: tests that ask no device and turn away who lacks an instruction: `if not supports().wgmma: skip`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bwlint.chips import ChipSet
from bwlint.judging.context import Context
from bwlint.model.expr import Expr, Span, negate, walk
from bwlint.model.facts import Function, Module, Use
from bwlint.readers.nodes import conditions_at
from bwlint.sources.texts import Texts
from bwlint.world.gates import Judged, refuses
from bwlint.world.libraries import called_after


def turn_away(context: Context, judged: Judged, chips: ChipSet, at: Span | None = None) -> bool:
    """Whether `chips` that pass a gate leave its function or helper by a probe before they reach `at`."""
    for module, function in _functions(context, judged):
        passed: set[Span | None] = set()
        below = at if at is not None and module is judged.module and function.at.holds(at) else None
        for path, value in function.returns:
            if not path:
                continue
            before = [test for test in path[:-1] if test.at not in passed]
            passed |= {path[-1].at, negate(path[-1]).at}
            late = below is not None and (value.at is None or below < value.at)
            if not late and _is_taken(context, module, path[-1], before, chips):
                return True
    return at is not None and _refused_there(context, judged, chips, at)


def _refused_there(context: Context, judged: Judged, chips: ChipSet, at: Span) -> bool:
    """Whether a check above refuses `chips` under conditions that hold at a place too: `if fp4: assert is_sm100()`."""
    if judged.module.language != "python" or judged.gate.qualname == "<module>":
        return False
    above = [
        one
        for one in context.within(judged)
        for side, other in ((one.gate.yes, one.gate.no), (one.gate.no, one.gate.yes))
        if one.gate.at < at and one.gate.path and refuses(side) and not one.let_through(other) & chips
    ]
    source = (Texts().source(judged.module.path) or "") if above else ""
    asked = ((conditions_at(source, one.at.line), one.at.line) for one in above)
    return any(conditions and conditions <= conditions_at(source, at.line, since) for conditions, since in asked)


def _functions(context: Context, judged: Judged) -> Iterator[tuple[Module, Function]]:
    """The function around a gate, and the helper that it calls."""
    own = judged.module.functions.get(judged.gate.qualname)
    if own is not None:
        yield judged.module, own
    waits = judged.gate.test.args[0] if judged.gate.test.op == "completes" else None
    helper = context.tree.function(judged.module, waits.args[0]) if waits is not None and waits.op == "call" else None
    if helper is not None:
        yield helper.module, helper.function


def _is_taken(context: Context, module: Module, test: Expr, before: Sequence[Expr], chips: ChipSet) -> bool:
    """Whether it is a probe alone that decides whether chips leave by the last test of a way."""
    if test.op != "not" or chips - context.tree.may(module, test):
        return False
    if any(chips - context.tree.must(module, one) for one in before):
        return False
    return _probes(context, module, test.args[0], chips)


def _probes(context: Context, module: Module, test: Expr, chips: ChipSet) -> bool:
    """Whether a test has the name of an instruction that `chips` lack, or a function of the tree that tries one."""
    for node in walk(test):
        name = node.args[-1] if node.op in ("attr", "import", "function", "name", "opaque") else None
        if not isinstance(name, str) or node.at is None:
            continue
        named = called_after(name, node.at)
        tried = context.evidence.proofs(module, Use(name, "call", node.at)) if node.op != "attr" else ()
        if any(not one.legal & chips for one in (*((named,) if named else ()), *tried)):
            return True
    return False
