"""Other findings of `check` that block a chip: in kernels, builds and tests; and global switches (predicates, module
flags) that disable a code path there without an error.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Literal

from bwlint.chips import NONE, ChipSet, chip, siblings
from bwlint.chips.products import products_of
from bwlint.fix.change import WantedChange
from bwlint.fix.meant import said_exactly
from bwlint.matrix import JudgedRows
from bwlint.matrix.cells import GatePlace
from bwlint.model.expr import Expr, Span, walk
from bwlint.model.findings import Finding, NoFix
from bwlint.model.kinds import GateKind
from bwlint.port.reasons import ALIKE, OpenWay
from bwlint.port.sources import Lacking
from bwlint.port.table import CodeSpot, PortStep
from bwlint.port.ways import Ways
from bwlint.rules import checks, file_checks, guard_checks
from bwlint.rules.arch_target.builds import INERT
from bwlint.rules.family_split.guard import UNUSED
from bwlint.rules.family_split.weight import REASONED
from bwlint.run.gather import Gathered
from bwlint.sources.texts import Texts
from bwlint.sources.walk import SourceFile
from bwlint.world.builds import runs_on
from bwlint.world.gates import Judged
from bwlint.world.libraries import named_for_others
from bwlint.world.proofs import Node

FoundKind = Literal["kernel", "code", "build", "test"]
_BUILDS = frozenset({"arch-target", "toolchain", "relabelled"})
"""Names of rules about what is built."""
_TELLING_NOTES = frozenset({"arch-target", "excluded", "family-split", "test-gate"})
"""Those of which a note is for whoever ports, too: nothing is built for it, it may run there, one of the family has it,
or nobody would see that it works.
"""
_ASKING_NOTES = frozenset({"excluded", "test-gate"})
"""Those of which a note without an edit only asks whether it runs there: it is left to decide."""
_MOST_SHOWN = 12
"""Lines of a condition that are shown in one."""
_PEERS = frozenset({"p2p-atomics"})
"""Names of rules about memory of other GPUs of a machine."""
_ORDERED = frozenset({"<", "<=", ">", ">="})
_OLDER = ChipSet.where(lambda one: one.joined < 100)
_DESCRIBES = re.compile(r"(?:^|_)(?:uses?|using|takes?|picks?|selects?|prefers?|defaults?)_")
_SAID_TO_DESCRIBE = re.compile(r"(?i)\bwhether\b[^.]{0,60}\b(?:uses|takes|picks|selects|prefers|defaults|falls)\b")


@dataclass(frozen=True, slots=True)
class FoundPlace:
    """A finding with its file. The edits of its fix have real paths."""

    finding: Finding
    file: SourceFile

    @property
    def place(self) -> GatePlace:
        region = self.finding.region
        return GatePlace(self.file.real, Span(region.line, region.column - 1, region.end_line, region.end_column - 1))

    @property
    def narrows(self) -> bool:
        """Whether it asks for a test that lets fewer chips in."""
        return self.finding.name in _named("let-in")

    def touches(self, place: GatePlace) -> bool:
        """Whether the finding, or a place that it tells besides, stands on a line of a place."""
        finding = self.finding
        lines = range(place.at.line, place.at.end_line + 1)
        regions = (finding.region, *(one.region for one in finding.related if one.path == finding.path))
        return place.path == self.file.real and any(region.line in lines for region in regions)

    def is_within(self, place: GatePlace) -> bool:
        """Whether the finding stands within a place."""
        return place.path == self.file.real and place.at.holds(self.place.at)

    @property
    def kind(self) -> FoundKind:
        if self.finding.name == "test-gate":
            return "test"
        if self.finding.name in _BUILDS:
            return "build"
        return "kernel" if self.file.kind in ("cuda", "ptx") else "code"

    def text(self, texts: Texts) -> str:
        """The code that it is about in one line; the first line of a long piece."""
        region = self.finding.region
        lines = (texts.source(self.file.real) or "").splitlines()[region.line - 1 : region.end_line]
        if not lines or len(lines) != region.end_line - region.line + 1:
            return ""
        first, lines[-1] = lines[0], lines[-1][: region.end_column - 1]
        lines[0] = lines[0][region.column - 1 :]
        text = " ".join(" ".join(lines if len(lines) <= _MOST_SHOWN else lines[:1]).split())
        return text if text.strip("{[(") else first.strip()  # a table begins with its bracket

    def spot(self, texts: Texts) -> CodeSpot:
        """Its place as reports tell it."""
        return CodeSpot(self.finding.path, self.finding.region.line, self.finding.region.column, self.text(texts))

    @property
    def words(self) -> str:
        """Why there is no fix."""
        refused = f" ({self.finding.fix_refused})" if self.finding.fix_refused else ""
        return f"{self.finding.advice or self.finding.message}{refused}"


def concerning(findings: Iterable[Finding], files: Iterable[SourceFile], name: str) -> Iterator[FoundPlace]:
    """The findings, for the family of the chip `name`, after which something is to be edited for it, the first of each
    line."""
    others = frozenset(siblings(chip(name)).names)
    by_path = {file.path: file for file in files}
    seen = set[tuple[str, int]]()
    for finding in findings:
        line = finding.path, finding.region.line
        if finding.path in by_path and line not in seen and _is_for(finding, name, others):
            seen.add(line)
            yield FoundPlace(_on_disk(_loaded(finding, name), by_path), by_path[finding.path])


def _loaded(finding: Finding, name: str) -> Finding:
    """A finding about a build without a fix after which the chip still loads nothing."""
    after = finding.fix.proof.after_must if finding.fix is not None and finding.name in _BUILDS else (name,)
    is_known = all(one[:1].isdigit() for one in after)
    if not is_known or name in after:
        return finding
    return replace(finding, fix=None, fix_refused=f"the known edit writes a target that {name} does not load")


def _on_disk(finding: Finding, by_path: Mapping[str, SourceFile]) -> Finding:
    """A finding whose fix has real paths; without a fix that edits what was not given."""
    if finding.fix is None:
        return finding
    if any(edit.path not in by_path for edit in finding.fix.edits):
        return replace(finding, fix=None, fix_refused="it edits a file that was not given")
    edits = tuple(replace(edit, path=by_path[edit.path].real) for edit in finding.fix.edits)
    return replace(finding, fix=replace(finding.fix, edits=edits))


def _is_for(finding: Finding, name: str, others: frozenset[str]) -> bool:
    is_kept_out = name not in finding.admitted
    if finding.severity == "note":
        return finding.name in _TELLING_NOTES and is_kept_out and not _only_asks(finding)
    if finding.name in _BUILDS:
        return is_kept_out or others <= {*finding.admitted}  # else it is about another of the family
    return is_kept_out or finding.name not in _named("kept-out")


def _only_asks(finding: Finding) -> bool:
    """Whether a note has nothing to do in it: no edit is known, the tree gives a reason for what stands there, or none
    uses it."""
    return any(why in finding.message for why in (REASONED, INERT, UNUSED)) or (
        finding.name in _ASKING_NOTES and finding.fix is None
    )


@cache
def _named(concerns: str) -> frozenset[str]:
    rules = (*checks(), *guard_checks(), *file_checks())
    return frozenset(rule.name for rule, _ in rules if rule.concerns == concerns)


@dataclass(slots=True)
class FoundSteps:
    """Finds them for one chip, beside the steps of operations."""

    gathered: Gathered
    findings: Iterable[Finding]
    rows: JudgedRows
    ways: Ways
    select: Sequence[str]
    stuck: Collection[GatePlace] = ()
    """Gates in front of what the chip lacks."""
    answered: set[tuple[str, int]] = field(default_factory=set)
    """Places of findings that are no questions either, since what is behind them cannot run on the chip."""
    _files: set[str] | None = None

    def beside(self, known: set[GatePlace], planned: Sequence[GatePlace]) -> Iterator[FoundPlace]:
        """What is found in files that the operations reach: nothing that is out of the way after the steps that are
        `known`, nor what keeps the chip out of functions that are `planned`."""
        left = [left for place in known for left in self._left(place)]
        name = self.ways.gates.chip
        if {product.per_host for product in products_of(ChipSet.of(name))} == {1}:
            about_peers = [one for one in self.findings if one.name in _PEERS]
            self.answered.update((one.path, one.region.line) for one in about_peers)
        findings = (one for one in self.findings if (one.path, one.region.line) not in self.answered)
        every = list(concerning(findings, self.gathered.found.files, name))
        tables = [one for found in every if found.finding.fix for one in self._gates_of(found, "table")]
        for found in every:
            is_known = any(map(found.touches, known)) or any(map(found.is_within, left))
            if any(self._reads(found, table) for table in tables):
                self.answered.add((found.finding.path, found.finding.region.line))
                continue
            against = found.narrows and any(map(found.is_within, planned))
            if not is_known and not against and self._is_asked(found):
                if self._cannot_work(found):
                    self.answered.add((found.finding.path, found.finding.region.line))
                else:
                    yield found

    def _left(self, place: GatePlace) -> Iterator[GatePlace]:
        """The branch of a gate that a chip leaves that is let through."""
        judged = self.ways.gates.gate(place)
        if judged is not None and judged.other.at is not None:
            yield GatePlace(place.path, judged.other.at)

    def _cannot_work(self, found: FoundPlace) -> bool:
        """Whether what keeps the chip out stands in front of what it lacks, or in a class that ends in that."""
        if found.finding.name not in _named("kept-out"):
            return False
        if any(map(found.touches, self.stuck)):
            return True
        gates = self.ways.gates
        module = gates.module(found.file.real)
        outline = gates.world.definitions.outline(module) if module is not None else None
        around = (one for one in (outline.definitions.values() if outline else ()) if one.kind == "class")
        nodes = [Node(outline, one) for one in around if outline and one.at.holds(found.place.at)]
        return module is not None and bool(nodes and self.ways.reasons.of_class(module, nodes))

    def _gates_of(self, found: FoundPlace, kind: GateKind) -> list[Judged]:
        judged = self.ways.gates.gate(found.place)
        return [judged] if judged is not None and judged.gate.is_a(kind) else []

    def _reads(self, found: FoundPlace, table: Judged) -> bool:
        """Whether a finding is about a lookup in a table of the same file that gets the row by a step of its own."""
        asked = self._gates_of(found, "lookup")
        return any((one.module.path, one.gate.name) == (table.module.path, table.gate.name) for one in asked)

    def _is_asked(self, found: FoundPlace) -> bool:
        """Whether operations that were asked for by name reach the file of a finding, are built or tested there. What
        lets the chip in too far is for who asks about the whole tree."""
        if not self.select:
            return True
        if found.narrows:
            return False
        names = {entry.name for entry, _ in (*self.rows.kept, *self.rows.alike)}
        if found.kind == "test":
            text = self.gathered.texts.source(found.file.real) or ""
            return any(name in text for name in names)
        return bool(names) if found.kind == "build" else found.file.real in self._reached()

    def _reached(self) -> set[str]:
        """The files that the operations may reach, with what is compiled for them."""
        if self._files is None:
            sites = (self.ways.gates.site(entry) for entry, _ in (*self.rows.kept, *self.rows.alike))
            self._files = {path for site in sites if site is not None for path in self.ways.files_of(site)}
        return self._files


def step_of(found: FoundPlace, number: int, name: str, texts: Texts, stuck: NoFix | None = None) -> PortStep:
    """The step of a finding for the chip `name`; `stuck`: why no edit of it is right for that."""
    finding = found.finding
    family = siblings(chip(name)).names
    wanted = tuple(other for other in family if other not in finding.admitted)
    return PortStep(
        number,
        found.kind,
        found.spot(texts),
        found.file.real,
        finding.admitted,
        wanted,
        None if stuck else finding.fix,
        stuck.reason if stuck else "" if finding.fix else found.words,
        finding.severity != "note",
        (),
        f"{finding.rule}: {finding.message}",
        finding.related,
        keeps_out=found.narrows,
    )


def compiled_for_others(ways: Ways, start: Node) -> Iterator[tuple[GatePlace, ChipSet]]:
    """The flags that functions behind a definition give a compiler, each with the chips that get something of them;
    nothing where one of these functions makes something for the chip, or is called after others."""
    found: dict[GatePlace, ChipSet] = {}
    for node in ways.gates.world.definitions.may_lead(start):
        module = ways.gates.module(node.outline.path) if node.outline.language == "python" else None
        for carry in module.carries if module is not None else ():
            if carry.kind != "option" or carry.qualname != node.definition.qualname:
                continue
            served = runs_on((carry,))
            if ways.gates.chip in served:
                return
            if served and not ways.reasons.named_for(node):
                found[GatePlace(node.outline.path, carry.at)] = served
    yield from found.items()


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
