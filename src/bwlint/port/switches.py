"""Global switches that disable a code path on a chip without an error: predicates and module flags."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from bwlint.chips import NONE, ChipSet
from bwlint.fix.change import WantedChange
from bwlint.fix.meant import said_exactly
from bwlint.matrix.cells import GatePlace
from bwlint.model.expr import Expr, walk
from bwlint.port.reasons import ALIKE, OpenWay
from bwlint.port.sources import Lacking
from bwlint.port.ways import Ways
from bwlint.world.gates import Judged
from bwlint.world.libraries import named_for_others

_ORDERED = frozenset({"<", "<=", ">", ">="})
_OLDER = ChipSet.where(lambda one: one.joined < 100)
_DESCRIBES = re.compile(r"(?:^|_)(?:uses?|using|takes?|picks?|selects?|prefers?|defaults?)_")
_SAID_TO_DESCRIBE = re.compile(r"(?i)\bwhether\b[^.]{0,60}\b(?:uses|takes|picks|selects|prefers|defaults|falls)\b")


@dataclass(frozen=True, slots=True)
class PortSwitch:
    """An answer with its way, by its full name; `askers` are the gates that ask it."""

    name: str
    judged: Judged
    way: OpenWay
    askers: tuple[Judged, ...]


@dataclass(slots=True)
class Switches:
    """Finds those that are no for one chip and yes for one that is as new, and behind which it lacks nothing."""

    ways: Ways
    judged: Mapping[str, Iterable[Judged]]
    _asking: dict[str, list[Judged]] = field(default_factory=dict)

    def of(self) -> Iterator[PortSwitch]:
        """The switches of the program, by files."""
        asking = defaultdict[str, list[Judged]](list)
        for judged in (one for gates in self.judged.values() for one in gates if not one.in_test):
            for name in judged.mentioned:
                asking[name].append(judged)
        self._asking = asking
        for judged in (one for gates in self.judged.values() for one in gates):
            source = self._source(judged) if self._is_closed(judged) else None
            if source is not None and not self._is_meant(judged, source) and not self._has_twin(judged):
                yield from self._opened(judged, source)

    def _is_closed(self, judged: Judged) -> bool:
        """Whether it is public and answers no to the chip that asks, and neither is for Hopper alone nor called after
        others."""
        gate, own = judged.gate, ChipSet.of(self.ways.gates.chip)
        global_flag = gate.kind == "flag" and gate.qualname == "<module>"
        global_answer = gate.kind == "predicate" and "." not in gate.qualname
        if judged.in_test or judged.sets.flags or gate.name[:1] in ("", "_") or not (global_answer or global_flag):
            return False
        for_others = self.ways.reasons.others_named(gate.name) or named_for_others(gate.name)
        closed = bool(judged.core & ALIKE) and own <= judged.sets.live - judged.sets.may
        return closed and not (for_others or self._describes(judged) or self._ends_below(judged))

    def _describes(self, judged: Judged) -> bool:
        """Whether it says what some code does, and not what the chip can."""
        function = judged.module.functions.get(judged.gate.qualname)
        return bool(_DESCRIBES.search(judged.gate.name)) or bool(function and _SAID_TO_DESCRIBE.search(function.doc))

    def _ends_below(self, judged: Judged) -> bool:
        """Whether its author wrote an upper bound below the chip, `100 <= cc < 120`, and so left it out knowingly."""
        own, tree = ChipSet.of(self.ways.gates.chip), self.ways.gates.context.tree
        bounds = (tree.may(judged.module, one) for node in walk(judged.gate.test) for one in _ordered(node))
        return any(chips >= _OLDER and not chips & own for chips in bounds)

    def _is_meant(self, *gates: Judged) -> bool:
        """Whether a comment gives a reason for the exact answer."""
        own = ChipSet.of(self.ways.gates.chip)
        return any(said_exactly(one.gate.comment, WantedChange("admit", own, own, NONE)) for one in gates)

    def _has_twin(self, judged: Judged) -> bool:
        """Whether the chip has an answer of its own beside the one for its sibling: `is_sm121a` beside `is_sm120a`."""
        own = ChipSet.of(self.ways.gates.chip)
        beside = (one for one in self.judged[judged.module.path] if one.gate.kind == judged.gate.kind)
        return len(judged.core) == 1 and any(one.core == own for one in beside)

    def _source(self, judged: Judged) -> Judged | None:
        """What compares: the answer itself or a variable beside it; nothing where that is a switch of its own."""
        if judged.stands_here:
            return judged if judged.owns_comparison else None
        leaf = judged.gate.leaf
        flags = (one for one in self.judged[judged.module.path] if one.gate.kind == "flag" and leaf is not None)
        found = next((one for one in flags if leaf is not None and one.gate.at.holds(leaf)), None)
        return found if found is not None and found.gate.qualname == judged.gate.qualname else None

    def _parts(self, asker: Judged, chips: ChipSet) -> bool:
        """Whether a test sends the chip another way than `chips`: what is or-ed beside may let it in."""
        return (self.ways.gates.chip in asker.sets.may) != bool(chips & asker.sets.may)

    def _opened(self, judged: Judged, source: Judged) -> Iterator[PortSwitch]:
        gate, path = judged.gate, judged.module.path
        way = OpenWay("its answer", {GatePlace(source.module.path, source.at): True})
        askers = [one for one in self._asking.get(gate.name, ()) if one is not judged and one is not source]
        if askers and not any(self._parts(one, judged.core) for one in askers):
            return
        for one in askers:
            turned = self.ways.gates.chip in one.sets.may
            self.ways.leads(way, one, one.gate.no if turned else one.gate.yes)
        need = self.ways.reasons.named(path, (gate.name, Path(path).stem), gate.at)
        for lacking in (
            *self.ways.reasons.told_in(judged.module, gate.qualname),
            *self.ways.reasons.imported_for_others(judged),
        ):
            way.lacks.setdefault(lacking.place, lacking)
        if need is not None and self.ways.gates.chip not in need.legal:
            way.lacks[GatePlace(path, gate.at)] = Lacking(GatePlace(path, gate.at), need.what, need.legal)
        if not way.lacks:
            name = gate.name if gate.kind == "flag" else gate.qualname
            full = f"{judged.module.name}.{name}".lstrip(".")  # a file of C++ is no module
            yield PortSwitch(full, judged, way, tuple(askers))


def _ordered(node: Expr) -> Iterator[Expr]:
    """The comparisons of a chain that ask which is more."""
    if node.op == "cmp":
        for operator, pair in zip(node.args[0].split(","), pairwise(node.args[1]), strict=True):
            if operator in _ORDERED:
                yield Expr("cmp", (operator, pair), node.at)
