"""The code that runs behind a gate once the gate lets a chip in."""

from __future__ import annotations

from collections import deque
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from functools import partial

from bwlint.chips import NONE
from bwlint.chips.wording import plain
from bwlint.matrix.cells import GatePlace
from bwlint.model.expr import Span, walk
from bwlint.model.facts import Side
from bwlint.model.kinds import BRANCHES
from bwlint.port.choices import takes
from bwlint.port.gates import PortGates
from bwlint.port.reasons import ALONE, Reasons
from bwlint.port.sources import Lacking
from bwlint.readers import ReadError
from bwlint.readers.python.reached import Run, run_of
from bwlint.world.gates import Judged, answers_no, refuses
from bwlint.world.libraries import instruction
from bwlint.world.proofs import Key, Node

MAX_RUN = 40
"""Definitions behind one gate that are run."""


@dataclass(frozen=True, slots=True)
class _RunNode:
    """What runs of one definition."""

    node: Node
    run: Run


@dataclass(frozen=True, slots=True)
class BeyondGate:
    """Runs what is behind gates for one chip."""

    gates: PortGates
    reasons: Reasons

    def lacking(self, judged: Judged) -> Iterator[Lacking]:
        """What the chip surely reaches that it lacks."""
        for one in self._runs(judged):
            for lacking in self.reasons.final_in(one.node, one.run.holds):
                if self.gates.chip not in lacking.legal:
                    yield lacking

    def second(self, judged: Judged, opened: Container[GatePlace]) -> str:
        """What else has to be decided for the chip, in words: a gate that refuses it and is not `opened`, or a choice
        that sends it where of all chips that come there today only others of 9.0 and later go, or where nothing is; ""
        where there is none."""
        ends = self.lacking(judged) if judged.gate.is_a("flag") else ()
        asked = (f"line {one.place.at.line} checks it too, before {one.what}" for one in ends)
        spoken = (instruction(prose.text, judged.at) for prose in judged.other.texts)
        needs = (need.use.name for need in spoken if need is not None and self.gates.chip not in need.legal)
        said = (f"its error names `{one}`: find out first whether the code behind it needs that" for one in needs)
        sent = (self._sent(judged, one, opened) for one in self._later(judged))
        own = self._own_case(judged)
        return next(filter(None, (*self._knowingly(judged), *asked, *own, *sent, *said)), "")

    def _own_case(self, judged: Judged) -> Iterator[str]:
        """Of what only some arguments meet: a later arm of the function for the family, which may not know them."""
        family = self.gates.family
        asked = (node for test in judged.gate.path for node in walk(test))
        if all(node.op not in ("param", "var") for node in asked):
            return
        for one in self.gates.judged(judged.module.path):
            later = one.gate.qualname == judged.gate.qualname and one.gate.at > judged.gate.at
            is_arm = one.gate.kind in BRANCHES and not refuses(one.gate.yes) and _does_something(one.gate.yes)
            if later and is_arm and one.core and one.core <= family:
                words = f"line {one.at.line} has its own case for {plain(one.core)}"
                yield f"{words}: find out first whether that case can do this"

    def _knowingly(self, judged: Judged) -> Iterator[str]:
        """The gates of the same function that turn the family away and nobody else."""
        family = self.gates.family
        for one in self.gates.judged(judged.module.path) if judged.gate.qualname != "<module>" else ():
            turns_away = refuses(one.other) or answers_no(one.other)
            away = one.sets.live - one.admitted if turns_away else NONE
            if one is not judged and one.gate.qualname == judged.gate.qualname and away and away <= family:
                yield f"line {one.at.line} (`{one.gate.text}`) refuses {plain(away)} alone: decide that first"

    def _sent(self, judged: Judged, later: Judged, opened: Container[GatePlace]) -> str:
        name, family = self.gates.chip, self.gates.family
        side = later.gate.yes if takes(later, name, yes=True) else later.gate.no
        beside = judged.admitted - family & later.on(side)
        place = f"line {later.at.line} (`{later.gate.text}`)"
        if later.module.path != judged.module.path:
            place = f"{later.place}:{later.at.line} (`{later.gate.text}`)"
        if judged.admitted & family or not judged.admitted or side.tuning or _is_number(side):
            return ""
        if refuses(side):
            places = (one.at for one in (later, self.gates.flag(later)) if one is not None)
            is_opened = any(GatePlace(later.module.path, at) in opened for at in places) or later in self._asked(judged)
            return "" if is_opened or refuses(later.working) else f"{place} refuses {name} too: open both"
        if later.gate.kind not in BRANCHES:
            return ""
        if beside and not side.empty and beside <= ALONE and judged.admitted - beside - family:
            return f"{place} would send it down the path of {plain(beside)}: give it its own path there too"
        ended = side.empty and side is later.gate.no and _does_something(later.gate.yes)
        if not beside and ended and judged.admitted & later.on(later.gate.yes):
            return f"{place} has no case for it: add one there too"
        return ""

    def _later(self, judged: Judged) -> Iterator[Judged]:
        """The gates that the chip reaches behind one; of an `if` with its `elif` the one whose arm it takes, or the
        last."""
        for one in self._runs(judged):
            found = [each for each in self.gates.judged(one.node.outline.path) if one.run.holds(each.gate.at)]
            last = {(each.gate.qualname, each.gate.chain or each.gate.at): each for each in found}
            for later in found:
                is_last = last[later.gate.qualname, later.gate.chain or later.gate.at] is later
                if later.gate.at != judged.gate.at and (is_last or takes(later, self.gates.chip, yes=True)):
                    yield later

    def _runs(self, judged: Judged) -> Iterator[_RunNode]:
        """What runs behind a gate, or where a flag is asked, nearest first: its function from there on, and what that
        surely calls."""
        asked = self._asked(judged)
        found = ((self.gates.world.definitions.around(one.module, one.gate.qualname), one) for one in asked)
        waiting = deque((node, one.at, dict[str, bool]()) for node, one in found if node is not None)
        seen = set[Key]()
        while waiting and len(seen) < MAX_RUN:
            node, at, known = waiting.popleft()
            if node.key in seen:
                continue
            seen.add(node.key)
            path, within = node.outline.path, node.definition.at
            source = self.gates.texts.source(path) or ""
            if node.outline.language != "python":
                yield _RunNode(node, Run((Span(*at[:2], *within[2:]),), tuple(self.reasons.closed_in(node))))
                continue
            try:
                run = run_of(source, within, at, known, partial(self._decided, path, asked))
            except ReadError:
                continue
            yield _RunNode(node, run)
            for call, after in self.gates.world.definitions.calls(node):
                callee = self.gates.texts.source(after.outline.path) if run.holds(call) else None
                if callee is not None and after.outline.language == "python" and after.definition.kind == "function":
                    handed = run.handed_on(source, call, callee, after.definition.at)
                    waiting.append((after, after.definition.at, handed))

    def _asked(self, judged: Judged) -> list[Judged]:
        if not judged.gate.is_a("flag"):
            return [judged]
        leaves = ((one, one.gate.leaf) for one in self.gates.judged(judged.module.path) if one is not judged)
        return [one for one, leaf in leaves if leaf is not None and judged.gate.at.holds(leaf)]

    def _decided(self, path: str, opened: Iterable[Judged], test: Span) -> bool | None:
        """How the chip answers a test once gates are open to it."""
        own = next((one for one in opened if path == one.module.path and test == one.gate.at), None)
        if own is not None:
            return not own.denies
        found = next((one for one in self.gates.judged(path) if one.gate.at == test), None)
        if found is None:
            return None
        may, may_not = (takes(found, self.gates.chip, yes=yes) for yes in (True, False))
        return None if may is may_not else may


def _does_something(side: Side) -> bool:
    """Whether a branch may be an arm of a dispatch, and is not a value that is set alone."""
    return side.ends == "return" or (side.ends == "fall" and any(use.how == "call" for use in side.uses))


def _is_number(side: Side) -> bool:
    return side.value is not None and side.value.op == "const" and not isinstance(side.value.args[0], str)
