"""`bwlint port`: the edits that make a tree's operations work on a chip, in order, and what no edit can give."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from bwlint.chips import ChipSet, chip, parse_targets, siblings
from bwlint.judging.context import Context
from bwlint.matrix import JudgedRows, judged_rows, selected
from bwlint.matrix.cells import GatePlace, Ruling
from bwlint.matrix.rows import OUTSIDE, RowEntry
from bwlint.model.findings import Fix, NoFix, Skipped
from bwlint.model.ledger import Row
from bwlint.model.progress import Advance, quiet
from bwlint.port.behind import BeyondGate
from bwlint.port.choices import NAMED_AFTER, FamilyNames
from bwlint.port.found import FoundKind, FoundPlace, FoundSteps, PortSwitch, Switches, compiled_for_others, step_of
from bwlint.port.gates import PortGates
from bwlint.port.opening import chosen, inside_out, opened, passable, shared, wanted
from bwlint.port.partly import OWN_ARM, Partly
from bwlint.port.reasons import OpenWay, Reasons
from bwlint.port.table import CodeSpot, Lack, Port, PortRow, PortStep, Verdict, Way
from bwlint.port.ways import Ways
from bwlint.run.check import ToldOfText, left_to_decide, told_of_text, unread
from bwlint.run.engine import context_of
from bwlint.run.gather import Gathered, gather
from bwlint.run.request import CheckRequest
from bwlint.settings.config import UsageError
from bwlint.sources.tree import package_root
from bwlint.world.budget import Budget
from bwlint.world.gates import Judged, refuses


def port(
    paths: Sequence[str],
    to: str,
    select: Sequence[str] = (),
    jobs: int | None = None,
    stack: ExitStack | None = None,
    advance: Advance = quiet,
) -> Port:
    """The plan by which the operations of `paths` come to work on the chip `to`. `select` are patterns for names.
    Raises UsageError and ConfigError."""
    name = _chip(to)
    with ExitStack() as own:
        request = CheckRequest(tuple(paths), jobs=jobs, target=siblings(chip(name)).names, severity="note", fixes=True)
        gathered = gather(request, stack or own, advance)
        return _Planner.of(gathered, name, select).plan()


def _chip(to: str) -> str:
    try:
        names = parse_targets([to])[0].names
    except ValueError as error:
        raise UsageError(str(error)) from None
    if len(names) != 1:
        raise UsageError(f"--to takes one chip, not {to}")
    return names[0]


@dataclass(frozen=True, slots=True)
class _Wish:
    """An operation with its ways, before their gates have numbers."""

    entry: RowEntry
    ruling: Ruling
    ways: tuple[OpenWay, ...]
    instead: tuple[str, ...]
    partly: bool = False
    """It works, and its ways are for some arguments or uses: all that can be opened are meant."""


@dataclass(slots=True)
class _Planner:
    gathered: Gathered
    rows: JudgedRows
    context: Context
    ways: Ways
    chip: str
    select: Sequence[str]
    told: ToldOfText
    _numbers: dict[GatePlace, int] = field(default_factory=dict)
    _found: dict[GatePlace, FoundPlace] = field(default_factory=dict)
    _arms: dict[GatePlace, str] = field(default_factory=dict)
    _served: dict[GatePlace, ChipSet] = field(default_factory=dict)
    _proved: set[GatePlace] = field(default_factory=set)
    """Gates of ways for which a finding has the edit, and what it needs."""
    _also: defaultdict[GatePlace, list[CodeSpot]] = field(default_factory=lambda: defaultdict(list))
    _answered: set[tuple[str, int]] = field(default_factory=set)

    @classmethod
    def of(cls, gathered: Gathered, name: str, select: Sequence[str]) -> _Planner:
        rows = judged_rows(gathered, (name,), select)
        context = context_of(rows.world, gathered.collected, ChipSet.of(name), Budget(), gathered.texts.source)
        family = FamilyNames(rows.judge.interfaces, name)
        gates = PortGates(rows.world, context, name, gathered.texts)
        reasons = Reasons(gates, family)
        ways = Ways(gates, reasons, BeyondGate(gates, reasons))
        return cls(gathered, rows, context, ways, name, select, told_of_text(gathered, rows.world))

    def plan(self) -> Port:
        found = list(self._wishes())
        found += self._in_part(found)
        self.ways.reasons.end_alike([(wish.entry, wish.ways) for wish in found])
        wishes = {_named(wish.entry): wish for wish in found if not wish.partly or _is_met(wish.ways)}
        whole = chosen({name: wish.ways for name, wish in wishes.items() if not wish.partly})
        some = {name: passable(wish.ways) for name, wish in wishes.items() if wish.partly}
        taken = {name: [way] for name, way in whole.items()} | some
        switches = self._switches({place for ways in taken.values() for way in ways for place in way.gates})
        taken |= {switch.name: [switch.way] for switch in switches}
        order = inside_out(way for ways in taken.values() for way in ways)
        tests = self._tests([wishes[name] for name in taken if name in wishes])
        flags = self._flags(wishes[name] for name in whole)
        builds = self._builds(taken, set(order)) | flags
        planned = list(self._functions(wishes[name] for name in taken if name in wishes))
        guards = {place for place in order if self.ways.gates.gate(place) is None and self.ways.gates.guard(place)}
        stuck = {place for wish in found for way in wish.ways if way.lacks for place in way.gates}
        told = self._told({*order, *builds, *tests} - guards, planned, stuck)
        at_line = {(place.path, place.at.line): place for place in self._found}
        same = {place: at_line[line] for place in guards if (line := (place.path, place.at.line)) in at_line}
        self._proved = {place for place, one in same.items() if self._found[one].finding.severity != "note"}
        order = [place for place in order if place not in same]
        ordered = (*told["kernel"], *order, *told["code"], *builds, *told["build"], *tests, *told["test"])
        needed = defaultdict[GatePlace, list[str]](list)
        shown = defaultdict[GatePlace, dict[str, None]](dict)
        holds: dict[GatePlace, bool | None] = {}
        for name, way in ((name, way) for name, ways in taken.items() for way in ways):
            self._arms |= way.arms
            for place, side in way.gates.items():
                needed[place].append(name)
                shown[place] |= way.shown
                holds[place] = side
        for place, name in ((place, name) for place, names in flags.items() for name in names):
            shown[place] |= whole[name].shown
        needed |= builds | tests
        holds |= dict.fromkeys(builds, True)
        last = [place for place in ordered if place in self._found and self._found[place].narrows]
        first = [place for place in ordered if self._is_proved(place, shown) and place not in last]
        middle = [place for place in ordered if place not in last]  # all three are printed apart
        self._numbers = {place: number for number, place in enumerate(dict.fromkeys((*first, *middle, *last)), 1)}
        steps = tuple(
            self._step(place, needed[place], tuple(shown[place]), holds.get(place)) for place in self._numbers
        )
        self._numbers |= {place: self._numbers[found] for place, found in same.items()}
        rows = tuple(self._row(name, wish, taken.get(name, [])) for name, wish in sorted(wishes.items()))
        rows += tuple(map(self._row_of_switch, switches))
        skipped: set[Skipped] = set(unread(self.gathered))
        scanned = len(self.gathered.found.files) - len(self.gathered.collected.skipped)
        files = self.gathered.found.files
        by_path = tuple(sorted(skipped, key=lambda skip: skip.path))
        met = {place for wish in found for way in wish.ways for place in (*way.gates, *way.lacks)}
        apart = tuple(self._spot(place) for place in self._untied({*met, *self._numbers}) if not self.select)
        return Port(
            self.chip, rows, steps, scanned, by_path, files, tuple(self._left(steps, rows)), apart, len(self.rows.kept)
        )

    def _is_proved(self, place: GatePlace, shown: Mapping[GatePlace, object]) -> bool:
        found = self._found.get(place)
        return found.finding.severity != "note" if found is not None else bool(shown.get(place))

    def _untied(self, known: Iterable[GatePlace]) -> Iterator[GatePlace]:
        """The errors that turn the chip away and that no row meets."""
        refused = (place for _, ruling in self.rows.kept for place in ruling.refused.get(self.chip, ()))
        lines = {(place.path, place.at.line) for place in (*known, *refused)}
        away = [place for place, chips in self.rows.apart.items() if self.chip in chips.names]
        for judged in (
            one for gates in self.context.judged.values() for one in gates if one.module.language == "python"
        ):
            comes = self.chip in judged.sets.live and self.chip not in judged.may
            is_away = refuses(judged.other) and judged.admitted and comes
            named = self.ways.reasons.others_named(f"{Path(judged.place).name} {judged.gate.qualname}")
            if is_away and judged.gate.is_a("condition", "assert") and not (named or OUTSIDE.search(judged.place)):
                away.append(GatePlace(judged.module.path, judged.at))
        yield from (place for place in dict.fromkeys(away) if (place.path, place.at.line) not in lines)

    def _left(self, steps: Iterable[PortStep], rows: Iterable[PortRow]) -> Iterator[Row]:
        """What the tree asks the chip beside the gates of the plan, and nobody has decided."""
        if self.select:
            return
        gates = {(gate.path, gate.line) for row in rows for way in row.ways for gate in way.gates}
        planned = gates | self._answered | {(at.path, at.line) for step in steps for at in (step.at, *step.also)}
        for row in left_to_decide(self.gathered, self.told.rows):
            lines = ((place.path, line) for place in row.places for line in range(place.line, place.end_line + 1))
            if row.group == "own" and planned.isdisjoint(lines):
                yield row

    @property
    def family(self) -> tuple[str, ...]:
        return siblings(chip(self.chip)).names

    # -- operations

    def _wishes(self) -> Iterator[_Wish]:
        """The operations that do not work on the chip: with all their backends, or those backends alone."""
        grouped = defaultdict[tuple[str, str], list[tuple[RowEntry, Ruling]]](list)
        for entry, ruling in self.rows.kept:
            grouped[entry.module, entry.name].append((entry, ruling))
        for parts in grouped.values():
            backends = [part for part in parts if part[0].backend is not None]
            whole = [part for part in parts if part[0].backend is None]
            closed = [(entry, ruling) for entry, ruling in backends if self.chip in ruling.refused]
            works = tuple(
                f'backend "{entry.backend.name}"'
                for entry, ruling in backends
                if entry.backend is not None and ruling.by and self.chip not in ruling.refused
            )
            for entry, ruling in whole:
                if self.chip in ruling.refused:
                    found = closed or [(entry, ruling)]
                    ways = tuple(way for part in found for way in self.ways.of(*part))
                    yield _Wish(entry, ruling, ways, self._siblings(entry))
                    closed = []
                elif self.chip in ruling.other:
                    yield _Wish(entry, ruling, tuple(self.ways.of(entry, ruling)), works)
            for entry, ruling in closed:
                yield _Wish(entry, ruling, tuple(self.ways.of(entry, ruling)), works or self._siblings(entry))

    def _in_part(self, known: Iterable[_Wish]) -> Iterator[_Wish]:
        """The operations that work, but not for all arguments and uses: what no way of theirs has yet."""
        said = {place for wish in known for way in wish.ways for place in way.gates}
        stuck = {(wish.entry.module, wish.entry.name) for wish in known if wish.entry.backend is None}
        partly = Partly(self.ways)
        for entry, ruling in (*self.rows.kept, *self.rows.alike):
            if entry.backend is None and (entry.module, entry.name) not in stuck:
                ways = tuple(way for way in partly.of(entry) if not way.gates.keys() & said)
                if _is_met(ways):
                    yield _Wish(entry, ruling, ways, (), partly=True)

    def _switches(self, known: set[GatePlace]) -> list[PortSwitch]:
        """Those that were asked for, by their name or that of who asks them, where no way has opened them yet."""
        found, opened_by = [], {id(self.ways.gates.gate(place)) for place in known}
        for switch in Switches(self.ways, self.context.judged).of():
            gates = (*switch.askers, *map(self.ways.gates.gate, switch.way.gates))
            names = (switch.name, *(f"{one.module.name}.{one.gate.qualname}" for one in switch.askers))
            if opened_by.isdisjoint(map(id, gates)) and any(selected(name, self.select) for name in names):
                found.append(switch)
        return sorted(found, key=lambda one: one.name)

    def _row_of_switch(self, switch: PortSwitch) -> PortRow:
        at = self._spot(GatePlace(switch.judged.module.path, switch.judged.gate.at))
        return PortRow(switch.name, "no", "", at, "switch", (self._way(switch.way, is_taken=True),), (), ())

    def _siblings(self, entry: RowEntry) -> tuple[str, ...]:
        """Operations of the same module that are called alike but for another architecture in the name, and work."""
        bare = NAMED_AFTER.sub("*", entry.name)
        if bare == entry.name:
            return ()
        return tuple(
            f"`{other.name}`"
            for other, ruling in self.rows.kept
            if other.backend is None and other.module == entry.module and other.name != entry.name
            if NAMED_AFTER.sub("*", other.name) == bare and ruling.by and self.chip not in ruling.refused
        )

    def _row(self, name: str, wish: _Wish, taken: Sequence[OpenWay]) -> PortRow:
        row = self.rows.table.row(wish.entry, wish.ruling)
        cell = row.cells[self.chip]
        ends = [all(one.by_check for one in way.lacks.values()) for way in wish.ways if way.lacks]
        verdict: Verdict = "unproved" if any(ends) else "impossible" if ends else "unseen"
        verdict = "partly" if wish.partly else verdict
        if taken:
            is_proved = taken[0].shown or taken[0].gates.keys() <= self._proved
            verdict = "partly" if wish.partly else "opens" if is_proved else "unproved"
        ways = tuple(self._way(way, any(way is one for one in taken)) for way in wish.ways)
        on_all = shared(wish.ways) if not wish.partly else set[GatePlace]()
        both = tuple(sorted(self._numbers[place] for place in on_all if place in self._numbers))
        instead = (*((f"`{cell.arm}`",) if cell.arm else ()), *wish.instead)
        return PortRow(name, cell.word, cell.arm, CodeSpot(row.path, row.line, 1, ""), verdict, ways, both, instead)

    def _way(self, way: OpenWay, is_taken: bool) -> Way:
        steps = tuple(self._numbers[place] for place in way.gates if place in self._numbers and not way.lacks)
        gates = tuple(map(self._spot_of_gate, way.gates))
        lacks = tuple(
            Lack(self._spot(one.place), one.what, one.legal.names, one.by_check) for one in way.lacks.values()
        )
        return Way(way.name, steps, gates, lacks, tuple(way.shown), is_taken)

    # -- steps

    def _step(self, place: GatePlace, needed: Sequence[str], shown: tuple[str, ...], holds: bool | None) -> PortStep:
        judged, number = self.ways.gates.gate(place), self._numbers[place]
        if place in self._found:
            opens = judged is not None and not self._found[place].narrows
            second = self.ways.beyond.second(judged, self._numbers) if opens and judged is not None else ""
            stuck = NoFix(second) if second else None
            step = step_of(self._found[place], number, self.chip, self.gathered.texts, stuck)
            return replace(step, also=tuple(self._also[place]))
        spot, names = self._spot_of_gate(place), tuple(dict.fromkeys(needed))
        if judged is None or place in self._served:
            kind, admits, words = self._without_gate(place)
            return PortStep(number, kind, spot, place.path, admits, self.family, None, words, bool(shown), names)
        chips = wanted(judged, self.chip, holds)
        arm = self._arms.get(place)
        fix: Fix | NoFix = NoFix(f"give it its own case with `{arm}`; today's case needs what it lacks")
        if arm is None:
            fix = opened(self.context, judged, self._root(place.path), chips, holds, shown)
            second = self.ways.beyond.second(judged, self._numbers) if holds is not False else ""
            fix = NoFix(second) if second else fix
        kind = "test" if judged.in_test else "build" if judged.sets.flags else judged.gate.kind
        found, words = (None, fix.reason) if isinstance(fix, NoFix) else (fix, "")
        admits = judged.admitted.names
        return PortStep(number, kind, spot, place.path, admits, chips.names, found, words, bool(shown), names)

    def _without_gate(self, place: GatePlace) -> tuple[str, tuple[str, ...], str]:
        """The kind of a step that no gate of the device stands for, whom it lets through, and why it has no edit."""
        if place in self._served:
            return "build", self._served[place].names, "its images load on no other chip"
        guarded = self.ways.gates.guard(place)
        if guarded is not None:
            module, guard = guarded
            error = (guard.no.at or guard.at).line
            words = f"give it its own case: today it reaches the error from line {error} on"
            return "kernel", self.context.tree.built_for(module, guard.test).names, words
        let_in, within = self.ways.gates.let_in(place).names, self.ways.gates.module(place.path)
        if within is None or within.language == "build":
            return "build", let_in, "it is compiled for other chips; nothing shows that these run it"
        return (
            "code",
            let_in,
            "edit the check before this error" if let_in else "bwlint found no device check before it",
        )

    def _builds(self, taken: Mapping[str, Sequence[OpenWay]], known: set[GatePlace]) -> dict[GatePlace, list[str]]:
        """Lists of what is built beforehand that have a function of a way for other chips only, with who needs it."""
        inside = defaultdict[str, list[str]](list)
        for name, place in ((name, place) for name, ways in taken.items() for way in ways for place in way.gates):
            judged = self.ways.gates.gate(place)
            if judged is not None and judged.gate.qualname:
                inside[judged.gate.qualname].append(name)
        found: dict[GatePlace, list[str]] = {}
        alone = ChipSet.of(self.chip)
        flags = [one for gates in self.context.judged.values() for one in gates if one.sets.flags and not one.in_test]
        built = {use.name.rpartition(".")[2] for one in flags if alone & one.core for use in one.gate.yes.uses}
        for judged in (one for one in flags if not alone & one.core):
            place = GatePlace(judged.module.path, judged.at)
            made = {use.name.rpartition(".")[2] for use in judged.gate.yes.uses if use.how == "call"} - built
            needed = [name for function in made for name in inside.get(function, ())]
            if needed and place not in known:
                found[place] = sorted(set(needed))
        found |= {place: sorted(taken) for place in self._in_setup() if taken and place not in known}
        return found

    def _flags(self, wishes: Iterable[_Wish]) -> dict[GatePlace, list[str]]:
        """Flags for other chips that compile what stands behind operations without backends, with who needs them."""
        found = defaultdict[GatePlace, list[str]](list)
        for wish in wishes:
            site = self.ways.gates.site(wish.entry) if wish.entry.backend is None else None
            for place, served in compiled_for_others(self.ways, site) if site is not None else ():
                self._served[place] = served
                found[place].append(_named(wish.entry))
        return found

    def _told(
        self, known: set[GatePlace], planned: Sequence[GatePlace], stuck: set[GatePlace]
    ) -> dict[FoundKind, list[GatePlace]]:
        """What else is found to keep the chip out or to lead it astray."""
        told: dict[FoundKind, list[GatePlace]] = {"kernel": [], "code": [], "build": [], "test": []}
        steps = FoundSteps(self.gathered, self.told.findings, self.rows, self.ways, self.select, stuck)
        alike: dict[tuple[str, str, str], FoundPlace] = {}
        for found in steps.beside(known, planned):
            first = alike.setdefault((found.finding.message, found.words, found.text(self.gathered.texts)), found)
            if first is not found and found.finding.fix is None is first.finding.fix:
                self._also[first.place].append(found.spot(self.gathered.texts))
                continue
            self._found[found.place] = found
            told[found.kind].append(found.place)
        self._answered = steps.answered
        return told

    def _functions(self, wishes: Iterable[_Wish]) -> Iterator[GatePlace]:
        """The definitions of operations that are opened, and those in which the gates of their ways stand."""
        for wish in wishes:
            nodes = [self.ways.gates.site(wish.entry)]
            for place in (place for way in wish.ways for place in way.gates):
                judged = self.ways.gates.gate(place)
                definitions = self.rows.world.definitions
                nodes += [definitions.around(judged.module, judged.gate.qualname)] if judged is not None else []
            yield from (GatePlace(one.outline.path, one.definition.at) for one in nodes if one is not None)

    def _in_setup(self) -> Iterator[GatePlace]:
        """Lists of a `setup.py` that end in an error where the chip is asked for."""
        for path, gates in self.context.judged.items():
            for judged in gates if Path(path).name == "setup.py" else ():
                if judged.gate.kind == "list" and refuses(judged.other) and self.chip not in judged.may:
                    yield GatePlace(path, judged.at)

    def _tests(self, wishes: Iterable[_Wish]) -> dict[GatePlace, list[str]]:
        """Tests that skip the chip and use an operation that is opened, with the names of these. Where one works today,
        what is skipped by the name or number of another chip is what that chip alone has."""
        wishes = list(wishes)
        names = {wish.entry.name: _named(wish.entry) for wish in wishes}
        whole = {_named(wish.entry) for wish in wishes if not wish.partly}
        found: dict[GatePlace, list[str]] = {}
        for judged in (one for gates in self.context.judged.values() for one in gates if one.in_test):
            is_refused = refuses(judged.other) and judged.admitted and self.chip not in judged.may
            if (
                is_refused
                and not self._is_opened_elsewhere(judged, names)
                and not any(self.ways.beyond.lacking(judged))
            ):
                used = [names[name] for name in self._used(judged) if name in names]
                if judged.owns_comparison or self.ways.reasons.others_named(judged.gate.text):
                    used = [name for name in used if name in whole]
                if used:
                    found[GatePlace(judged.module.path, judged.at)] = list(dict.fromkeys(used))
        return found

    def _is_opened_elsewhere(self, judged: Judged, names: Container[str]) -> bool:
        """Whether a test calls what is opened itself, or asks a table that is not its own."""
        if judged.gate.is_a("lookup"):
            tables = (one.gate.name for one in self.ways.gates.judged(judged.module.path) if one.gate.is_a("table"))
            return judged.gate.name not in tables
        return judged.gate.is_a("helper-call") and any(name in names for name in judged.mentioned)

    def _used(self, judged: Judged) -> Iterator[str]:
        node = self.rows.world.definitions.around(judged.module, judged.gate.qualname or judged.gate.name)
        uses = (*judged.working.uses, *(node.definition.uses if node is not None else ()))
        yield from (use.name.rpartition(".")[2] for use in uses if use.how == "call")

    def _root(self, path: str) -> str:
        roots = {file.real: file.root for file in self.gathered.found.files}
        return roots.get(path) or package_root(path)

    def _spot_of_gate(self, place: GatePlace) -> CodeSpot:
        """Where to edit: of an error of C++ the last test in front of it."""
        last = next(iter(self.ways.gates.before(place)), None)
        return self._spot(place if last is None else GatePlace(place.path, last.at))

    def _spot(self, place: GatePlace) -> CodeSpot:
        found, judged = self.rows.table.gate(place), self.ways.gates.gate(place)
        name = judged.gate.qualname.partition("#")[0] if judged is not None else ""
        return CodeSpot(found.path, found.line, found.column, found.text, name if name != "<module>" else "")


def _is_met(ways: Sequence[OpenWay]) -> bool:
    """Whether something keeps the chip from some uses that it reaches: a gate to open, or an error of its own arm."""
    return bool(passable(ways)) or any(way.name == OWN_ARM for way in ways)


def _named(entry: RowEntry) -> str:
    return f"{entry.module}.{entry.name}" + (f"[{entry.backend.name}]" if entry.backend else "")
