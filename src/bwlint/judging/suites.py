"""What tests need when their fixture or `SetUp` skips no chip."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import reduce

from bwlint.chips import ChipSet, frameworks
from bwlint.judging.context import Context
from bwlint.judging.siblings import Admission, admission_of
from bwlint.model.expr import walk
from bwlint.model.facts import Hop, Use
from bwlint.model.naming import spoken
from bwlint.world.gates import Judged
from bwlint.world.libraries import PROOF, Need, called_after
from bwlint.world.prepared import Prepared, tests


def leak(context: Context, judged: Judged) -> tuple[Need, ChipSet] | None:
    """A need of a test that is let run on targets which lack it, with these; what is proved comes first."""
    found = [one for one in _needs(context, judged) if one[1] and judged.admitted & one[0].legal]
    kept = judged.sets.live - judged.admitted
    found = [one for one in found if not kept <= one[0].legal]
    return next((one for one in found if one[0].strength == PROOF), None) or next(iter(found), None)


def admits(context: Context, judged: Judged, chips: ChipSet) -> Admission | None:
    """A gate of what the tests behind a fixture call which admits some of `chips`, where none of them refuses those."""
    first: Admission | None = None
    for test in _tests(context, judged):
        found = admission_of(test.node.definition.qualname, context.evidence.of_node(test.node))
        if found is None or not chips & test.chips:
            continue
        if not found.chips & chips:
            return None
        first = first or found
    return first


def _needs(context: Context, judged: Judged) -> Iterator[tuple[Need, ChipSet]]:
    if not judged.admitted & context.targets:
        return
    for test in _tests(context, judged):
        use = Use(test.node.definition.qualname, "call", judged.at)
        for need in (context.evidence.of_test(test.node, use), _named(test)):
            if need is not None:
                coming = judged.admitted & context.targets & test.chips & need.arriving
                yield replace(need, use=use), coming - need.legal


def _tests(context: Context, judged: Judged) -> Iterator[Prepared]:
    """The tests before which the function around a gate runs."""
    owner, _, method = judged.gate.qualname.rpartition(".")
    if judged.module.language == "python":
        for test in context.preparations.prepared(judged.module, judged.gate.qualname):
            if not _asked_marks(judged) or _asks_for(judged, test):
                beside = (one for one in context.within(judged) if one is not judged and _asks_for(one, test))
                chips = (one.admitted for one in beside if one.other.ends == "skip")
                yield replace(test, chips=reduce(ChipSet.__and__, chips, test.chips))
    elif method in frameworks.names("sets_up"):
        yield from tests(context.native, owner.rpartition(".")[2], judged.module.path)


def _asked_marks(judged: Judged) -> set[str]:
    """The marks for which a gate asks beside the device: others than their bearers have no part in it."""
    asked: set[str] = set()
    around = (test for test in judged.gate.path if test.op != "not")
    for one in (node for test in (judged.gate.test, *around) for node in walk(test)):
        by_call = one.op == "call" and one.args[0].args[-1:] in (("get_closest_marker",), ("iter_markers",))
        by_word = one.op == "cmp" and one.args[0] == "in" and one.args[1][1].args[-1:] == ("keywords",)
        first = [name.args[-1] if name.op == "kw" else name for name in (one.args[1][:1] if by_call or by_word else ())]
        asked.update(str(name.args[0]) for name in first if name.op == "const")
    return asked


def _asks_for(judged: Judged, test: Prepared) -> bool:
    """Whether a gate asks for a mark that a test bears."""
    return not _asked_marks(judged).isdisjoint(use.name.rpartition(".")[2] for use in test.node.definition.marks)


def _named(test: Prepared) -> Need | None:
    """The instruction after which a test, its class, or something that it surely uses is called."""
    definition, path = test.node.definition, test.node.outline.path
    for name, at in (
        (definition.qualname, definition.at),
        *((use.name, use.at) for use in definition.uses if use.sure),
    ):
        found = called_after(" ".join(map(spoken, name.split("."))), at)
        if found is not None:
            hop = Hop(path, at, f"`{name.rpartition('.')[2]}` in the test `{definition.qualname}`")
            return replace(found, strength="name", hops=(hop,))
    return None
