"""The engine: link facts, evaluate gates, call rules, merge drafts into findings."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import partial

from bwlint.chips import ChipSet
from bwlint.evaluate.sources import Sources
from bwlint.index import kept
from bwlint.index.remembered import NotedElsewhere, things_so_far
from bwlint.index.searched import searched
from bwlint.judging.aside import for_another_vendor, vendored
from bwlint.judging.context import Context, OfFiles
from bwlint.judging.drafts import Draft, RelatedSpan
from bwlint.judging.evidence import Evidence
from bwlint.judging.guards import Guarded, guards_of
from bwlint.ledger.question import Question
from bwlint.ledger.questions import questions_of
from bwlint.model.expr import Span, walk
from bwlint.model.facts import Gate, HandedOn, Module
from bwlint.model.findings import CONFIDENCES, SEVERITIES, Confidence, NoFix
from bwlint.model.kinds import ANSWERS, LISTED
from bwlint.model.progress import Advance, each, quiet
from bwlint.rules import checks, file_checks, guard_checks
from bwlint.run.again import LOADED, Again, as_told
from bwlint.run.merging import Unreached, one_each
from bwlint.sources import disk
from bwlint.sources.faults import Fault, adopt, as_far_as_it_goes, contained, noted
from bwlint.sources.read import Unread, read_bytes
from bwlint.sources.recorder import once
from bwlint.sources.search import remember_by
from bwlint.sources.tree import checkout_folder, project_folder
from bwlint.sources.walk import SourceFile
from bwlint.world import carried, unbuilt
from bwlint.world.arrivals import Arrivals
from bwlint.world.budget import Budget
from bwlint.world.builds import Builds
from bwlint.world.collect import Collected, Modules, load
from bwlint.world.definitions import Definitions
from bwlint.world.gates import TEST_FILE, Judged
from bwlint.world.handed import Handed, Parameter
from bwlint.world.libraries import Libraries
from bwlint.world.native import Native
from bwlint.world.outlines import Outlines
from bwlint.world.prepared import Preparations
from bwlint.world.proofs import Graph
from bwlint.world.refusals import Refusals
from bwlint.world.tree import Tree


@dataclass(frozen=True, slots=True)
class Analysis:
    """The drafts of a run by file, the tree they were found in, and counts."""

    drafts: tuple[tuple[SourceFile, tuple[Draft, ...]], ...]
    context: Context
    files: dict[str, SourceFile]
    stats: dict[str, int]
    questions: tuple[tuple[SourceFile, tuple[Question, ...]], ...] = ()
    """Of the files with facts."""
    found: Mapping[str, OfFile] = field(default_factory=dict)
    """By the real paths of files with facts."""


@dataclass(frozen=True, slots=True)
class Linked:
    """The files of a run as one world."""

    tree: Tree
    builds: Builds
    libraries: Libraries
    native: Native
    outlines: Outlines
    definitions: Definitions
    graph: Graph
    handed: Handed


def linked(
    collected: Collected,
    sources: Sources,
    budget: Budget,
    libraries: Libraries | None = None,
) -> Linked:
    """The world around the collected modules. The arguments are those of `analyse`."""
    known = libraries or Libraries()

    def read(real: str, dotted: str = "") -> Module | None:
        return load(real, dotted) if budget.allows(real) else None

    found, _ = once(read, LOADED, as_told)

    def taking(real: str, dotted: str, handed: frozenset[Parameter]) -> Module | None:
        return load(real, dotted, handed) if budget.allows(real) else None

    def content(real: str) -> bytes | Unread:
        return read_bytes(real) if budget.allows(real) else Unread("beyond the budget")

    tree, modules = Tree(sources, found), Modules.of(collected.modules)
    building = []
    for at, (file, card) in enumerate(zip(modules.files, modules.cards, strict=True)):
        make = modules.maker(at)
        if card.language == "python":
            tree.give(card.path, card.name, file.root, make)
        else:
            tree.give_other(make)
        building += [make] if card.carries else []
    builds = Builds((make() for make in building), found)
    native, outlines = Native(tree, builds, Refusals(tree), tree.searches, content), Outlines(tree, content)
    definitions = Definitions(tree, outlines, known, native)
    graph = Graph({"python": definitions, "cuda": native})
    handed = Handed(tree, definitions, taking)
    return Linked(tree, builds, known, native, outlines, definitions, graph, handed)


def context_of(
    world: Linked, collected: Collected, targets: ChipSet, budget: Budget, source: Callable[[str], str | None]
) -> Context:
    """What rules see of a world: the gates and guards of the collected modules, judged for `targets`.

    `budget` and `source` are those of `analyse`.
    """
    tree, builds, native = world.tree, world.builds, world.native
    evidence = Evidence(tree, world.definitions, world.graph, world.libraries, native, targets)
    modules = Modules.of(collected.modules)
    makers = {card.path: modules.maker(at) for at, card in enumerate(modules.cards)}
    both = zip(modules.files, modules.cards, strict=True)
    places = OfFiles({card.path: partial(_place, file.root, card.path) for file, card in both})

    def judged(real: str) -> list[Judged]:
        module = makers[real]()
        found = []
        for part in (module, *module.embedded):
            for gate in part.gates:
                with contained(real, "evaluating a test", gate.at.line):
                    sets = tree.sets(part, gate)
                    found += [] if sets is None else [Judged(part, gate, sets, places[real])]
        return found

    def guards(real: str) -> tuple[Guarded, ...]:
        module = makers[real]()
        parts = (partial(guards_of, tree, part) for part in (module, *module.embedded))
        return tuple(one for part in parts for one in as_far_as_it_goes(part, real, "evaluating guards"))

    return Context(
        tree,
        targets,
        evidence,
        native,
        Preparations(tree, world.definitions, native),
        Arrivals(tree, native.refusals, targets, budget, source, native.searches),
        judged=OfFiles({real: partial(judged, real) for real in makers}),
        guards=OfFiles({real: partial(guards, real) for real in makers}),
        builds=builds,
        places=places,
    )


def analyse(
    collected: Collected,
    sources: Sources,
    targets: ChipSet,
    rules: Iterable[str],
    budget: Budget | None = None,
    source: Callable[[str], str | None] = lambda real: None,
    libraries: Libraries | None = None,
    advance: Advance = quiet,
    jobs: int = 1,
    world: Linked | None = None,
    again: Again | None = None,
) -> Analysis:
    """Judge every gate of the collected modules by the named rules.

    `budget` is what may be read besides, `source` gives the text of a file by its real path, `libraries` is the table
    with the user's rows, `jobs` a number of processes, `world` that of the modules where it is known already.
    """
    budget = Budget() if budget is None else budget
    remember_by(searched)
    world = world or linked(collected, sources, budget, libraries)
    tree = world.tree
    context = context_of(world, collected, targets, budget, source)
    judging = Judging(context, world, frozenset(rules))
    modules = Modules.of(collected.modules)
    if again is not None:
        again.ask(tree.searches, tree.load, (world.outlines.again, world.native.again, carried.again, unbuilt.again))
    found = list(_found(judging, modules, budget, jobs, advance, again))
    adopt(fault for one in found for fault in one.faults)
    world.outlines.keep()
    for search in tree.searches.values():
        search.keep()
    stats = {
        "modules": len(modules),
        "gates": sum(card.gates for card in modules.cards),
        "gates_evaluated": sum(one.gates for one in found),
        "unreached": sum(one.silent for one in found),
    }
    drafts = tuple((file, one.drafts) for file, one in zip(modules.files, found, strict=True) if one.drafts)
    files = {file.real: file for file in modules.files}
    left = dict(zip(files, found, strict=True))

    questions = tuple((file, one.questions) for file, one in zip(modules.files, found, strict=True))
    return Analysis(drafts, context, files, stats, questions, left)


MIN_PART = 400
"""How much a part is at least that is judged in a process of its own, in gates, guards and operations."""
FOR_ALL_FACTS = 8
"""How many times as much it is where all facts have to be read for it."""


@dataclass(frozen=True, slots=True)
class OfFile:
    """The drafts of a file, how many others nobody can reach, and all that it asks."""

    drafts: tuple[Draft, ...]
    silent: int
    questions: tuple[Question, ...]
    gates: int = 0
    """How many were evaluated."""
    expected: tuple[str, ...] = ()
    """Roots of packages that came up."""
    faults: tuple[Fault, ...] = ()

    @property
    def left(self) -> tuple[tuple[Question, ...], int, int, tuple[str, ...]]:
        """All but the drafts."""
        return self.questions, self.silent, self.gates, self.expected


@dataclass(frozen=True, slots=True)
class _Part:
    """What was found in some files, and what was read for it beyond those given."""

    found: list[OfFile]
    read: frozenset[str]
    whole: bool


def _found(
    judging: Judging, modules: Modules, budget: Budget, jobs: int, advance: Advance, again: Again | None
) -> Iterator[OfFile]:
    """What the rules say of each file. With several jobs copies of this process judge the later files; where they may
    have read more than they would have one after the other, this one does it again.
    """
    told = {} if again is None else again.told
    both = zip(modules.files, modules.cards, strict=True)
    weights = [1 if file.real in told else card.weight for file, card in both]
    parts = min(jobs, sum(weights) // (MIN_PART * (FOR_ALL_FACTS if told else 1)))
    if parts > 1:
        from bwlint.world.workers import begin, can_copy, ended, stretches  # which a run on one file has no use for
    if parts <= 1 or not can_copy():
        yield from judging.of_all(modules, each(advance, "judging", range(len(modules))), again)
        return
    known = [item for _, one in modules for part in (one, *one.embedded) for item in (part, *part.gates, *part.guards)]

    def part(start: int, stop: int, advance: Advance = quiet) -> _Part:
        found = list(judging.of_all(modules, each(advance, "judging", range(start, stop)), again))
        return _Part(found, budget.read, not budget.ended)

    (start, stop), *later = stretches(weights, parts)
    kept.let_go()
    copies = [begin(*stretch, _watched(part, judging.outlines, modules, again), known) for stretch in later]
    begun = things_so_far()
    own = part(start, stop, advance)
    others = [
        _noted(ended(copy, known), modules.files[slice(*at)], begun, again)
        for copy, at in zip(copies, later, strict=True)
    ]
    yield from own.found
    whole = all(one is not None and one.whole for one in (own, *others))
    if whole and budget.adds(frozenset().union(*(one.read for one in others if one is not None))):
        for one in others:
            yield from one.found if one is not None else ()
        return
    yield from judging.of_all(modules, range(stop, len(modules)), again)


@dataclass(frozen=True, slots=True)
class _Watched:
    """What a copy of this process has found and noted, and of which things each file's is made."""

    part: _Part
    noted: NotedElsewhere
    reads: list[list[int]]


def _watched(
    part: Callable[[int, int], _Part], outlines: Outlines, modules: Modules, again: Again | None
) -> Callable[[int, int], _Watched]:
    """A part for a copy of this process."""

    def work(start: int, stop: int) -> _Watched:
        watch, begun = disk.watch(), things_so_far()
        disk.watch_for(None if watch is None else watch.began)
        found = part(start, stop)
        outlines.keep()
        reads = [] if again is None else [again.reads[file.real] for file in modules.files[start:stop]]
        return _Watched(found, NotedElsewhere.here(begun), reads)

    return work


def _noted(answer: _Watched | None, files: Sequence[SourceFile], begun: int, again: Again | None) -> _Part | None:
    if answer is None:
        return None
    numbers = list(range(begun))
    answer.noted.adopt(numbers)
    if again is not None:
        for file, reads in zip(files, answer.reads, strict=True):
            again.reads[file.real].extend(numbers[one] for one in reads)
    return answer.part


class Judging:
    """The rules of a run at work on its files."""

    def __init__(self, context: Context, world: Linked, wanted: frozenset[str]) -> None:
        self._context = context
        self.outlines = world.outlines
        self._native = world.native
        self._handed = world.handed
        self._unreached = Unreached(world.native, context.arrivals, context.targets)
        self._gates = [(rule, check) for rule, check in checks() if rule.name in wanted]
        self._guards = [(rule.name, check) for rule, check in guard_checks() if rule.name in wanted]
        self._files = [(rule.name, check) for rule, check in file_checks() if rule.name in wanted]
        self.tree = world.tree

    def of_all(self, modules: Modules, places: Iterable[int], again: Again | None) -> Iterator[OfFile]:
        """What the rules say of the files at some places, one after the other, or have said."""
        for at in places:
            file = modules.files[at]
            told = None if again is None else again.told.get(file.real)
            if told is not None:
                self.tree.expect_again(told.expected)
                yield OfFile((), told.silent, told.questions, told.gates, told.expected)
                continue
            with nullcontext() if again is None else again.about(file.real):
                found = self.of(*modules[at])
            yield found

    def of(self, file: SourceFile, module: Module) -> OfFile:
        """What the rules say of one file."""
        before, begun = len(self.tree.expected), len(noted())
        found = OfFile((), 0, ())
        with contained(module.path, "judging"):
            found = self._told(file, module)
        asking = partial(questions_of, self._context, module)
        questions = tuple(as_far_as_it_goes(asking, module.path, "asking questions"))
        expected = tuple(self.tree.expected[before:])
        return replace(found, questions=questions, expected=expected, faults=noted(begun))

    def _told(self, file: SourceFile, module: Module) -> OfFile:
        drafts = _at_origins(self._context, module, list(self._drafts(module)))
        merged = one_each(_as_lesser(self._context, self._native, module, drafts))
        others = bool(merged) and self._native.unbuilt.includes_none(module.path)
        elsewhere = others or for_another_vendor(self._context, module)
        reached = () if elsewhere else tuple(draft for draft in merged if not self._unreached.holds(file.root, draft))
        return OfFile(reached, len(merged) - len(reached), (), len(self._context.beside(module)))

    def _drafts(self, module: Module) -> Iterator[Draft]:
        context = self._context
        for judged in context.judged[module.path]:
            if context.is_mocked(judged) or judged.is_sample:
                continue
            for rule, check in self._gates:
                if (rule.asks_builds or not judged.sets.flags) and (rule.asks_choices or judged.gate.kind != "choice"):
                    asking, line = partial(check, context, judged), judged.gate.at.line
                    yield from _weighed(judged, as_far_as_it_goes(asking, module.path, rule.name, line))
        for one, judged in () if context.in_test(module) else self._handed.asked(module):
            for rule, check in self._gates:
                if rule.asks_handed:
                    found = as_far_as_it_goes(partial(check, context, judged), module.path, rule.name, one.at.line)
                    yield from (_handed_on(module, one, draft) for draft in _weighed(judged, found))
        for guarded in context.guards[module.path]:
            for name, check_guard in self._guards:
                asking, line = partial(check_guard, context, guarded), guarded.guard.at.line
                yield from as_far_as_it_goes(asking, module.path, name, line)
        for part in (module, *module.embedded):
            for name, check_file in self._files:
                yield from as_far_as_it_goes(partial(check_file, context, part), module.path, name)


_ASKED_ELSEWHERE = NoFix("the check is in another file: mend it there")
_LESS: dict[Confidence, Confidence] = {"high": "medium", "medium": "low", "low": "low"}


def _weighed(judged: Judged, drafts: Iterable[Draft]) -> Iterator[Draft]:
    """Drafts with what they rest on: a guessed name is less sure, and an assumed toolkit is said."""
    for draft in drafts:
        if judged.sets.guessed or not judged.sets.decided:
            draft = replace(draft, confidence=_LESS[draft.confidence])
        if judged.sets.toolkit:
            draft = replace(draft, label=f"{draft.label} if its checks of the CUDA version pass")
        yield draft


def _handed_on(module: Module, one: HandedOn, draft: Draft) -> Draft:
    """A draft about a test in another file, told at the call that hands on what is asked there."""
    place = replace(draft.place, module=module, at=one.at, gate=None)
    asked = RelatedSpan(draft.module, draft.at, "checked here")
    return replace(draft, place=place, remedy=_ASKED_ELSEWHERE, related=(asked, *draft.related))


def _as_lesser(context: Context, native: Native, module: Module, drafts: Sequence[Draft]) -> Sequence[Draft]:
    """Drafts with what nobody compiles, and what is another project's, told as such: nobody here would act on it."""
    if all(draft.severity == "note" for draft in drafts):
        return drafts
    if native.unbuilt.holds(module.path):
        says = "no build of the project compiles this file"
    elif vendored(context, module):
        says = "a copy of another project's file, by its folder"
    else:
        return drafts
    return [replace(draft, severity="note", label=f"{draft.label}; {says}") for draft in drafts]


def _at_origins(context: Context, module: Module, drafts: Sequence[Draft]) -> list[Draft]:
    """Report a flag or predicate once where all its uses are wrong, and each wrong use where only some are."""
    judged = context.judged[module.path] if any(draft.gate is not None for draft in drafts) else ()
    flags = frozenset(one.gate.name for one in judged if one.gate.kind == "flag")
    origins = {id(one.gate): origin for one in judged if (origin := _origin(judged, flags, one)) is not None}
    uses: dict[Span, int] = defaultdict(int)
    for origin in origins.values():
        uses[origin.at] += 1
    told = {(draft.rule.name, draft.gate.at) for draft in drafts if draft.gate is not None and draft.severity != "note"}
    grouped: dict[tuple[str, Span], list[Draft]] = defaultdict(list)
    kept: list[Draft] = []
    for draft in drafts:
        origin = origins.get(id(draft.gate)) if draft.gate is not None else None
        too_broad = context.targets <= draft.place.admitted  # the helper may be right, and this use of it wrong
        asked = draft.gate is not None and (draft.gate.kind == "helper-call" or (origin and origin.kind == "predicate"))
        at_use = asked and too_broad and (draft.rule.name, origin and origin.at) not in told
        if origin is None or draft.gate is None or at_use:
            kept.append(draft)
        else:
            grouped[(draft.rule.name, origin.at)].append(draft)
    lists = {(d.rule.name, d.at): d for d in kept if d.gate is not None and d.gate.kind in LISTED}
    for (rule, at), group in grouped.items():
        own = lists.get((rule, at))  # a comment above a list counts for all who read it
        if own is None and 2 * len({d.gate.at for d in group if d.gate}) < uses[at]:
            kept += group
            continue
        first = own or max(group, key=lambda d: (SEVERITIES.index(d.severity), CONFIDENCES.index(d.confidence)))
        kept = [draft for draft in kept if draft is not own]
        related = tuple(RelatedSpan(module, d.at, "used here") for d in group[:8])
        label = first.label if own else _label(judged, at, first)
        kept.append(replace(first, place=replace(first.place, at=at), label=label, related=(*first.related, *related)))
    return kept


def _label(judged: Sequence[Judged], at: Span, draft: Draft) -> str:
    """What is said of a flag or predicate in place of what was said of a use of it, which may be turned round."""
    origin = next((one for one in judged if one.gate.at == at), None)
    use = next((one for one in judged if one.gate is draft.gate), None)
    if origin is None or use is None:
        return draft.label
    chips = draft.place.admitted
    own = origin.told(origin.gate.yes if chips <= origin.core else origin.gate.no, chips)
    said = (use.told(side, told) for side in (use.gate.yes, use.gate.no) for told in (chips, use.core))
    return next((own + draft.label.removeprefix(one) for one in said if draft.label.startswith(one)), draft.label)


def _origin(judged: Sequence[Judged], flag_names: frozenset[str], entry: Judged) -> Gate | None:
    """The flag or predicate of the same file whose value a gate uses."""
    leaf = entry.gate.leaf
    names = entry.mentioned
    if entry.gate.kind != "lookup":  # what a table lacks may be an error where it is read
        names |= {node.args[1] for node in walk(entry.gate.test) if node.op == "var"}
    flags = flag_names & names
    for other in judged:
        if entry.gate.kind in ANSWERS and other.gate.kind not in LISTED:
            continue
        if (
            other.gate.kind == "flag"
            and leaf is not None
            and not entry.gate.at.holds(leaf)
            and other.gate.at.holds(leaf)
        ):
            return other.gate
        if other.gate.kind == "flag" and other.gate.qualname == "<module>" and flags == {other.gate.name}:
            return other.gate  # of several each may be right
        if (
            entry.gate.kind == "helper-call"
            and other.gate.qualname == entry.gate.name
            and other.other.ends_in("skip", "raise")
        ):
            return other.gate
        if other.gate.kind in LISTED and other.gate.name in names and _same_owner(other.gate, entry.gate):
            return other.gate
        if other.gate.kind == "predicate" and other.gate.name in names and "." not in other.gate.qualname:
            return other.gate
    return None


def _same_owner(declared: Gate, user: Gate) -> bool:
    """A list of the module, or of the class in which a gate stands."""
    return declared.qualname == "<module>" or user.qualname.startswith(f"{declared.qualname}.")


def _place(root: str, path: str) -> str:
    """The path of a file within its project; within the checkout, where the project is one of the checkout's tests."""
    within, whole = (
        path.removeprefix(folder).lstrip(os.sep).replace(os.sep, "/")
        for folder in (project_folder(root), checkout_folder(root))
    )
    return whole if TEST_FILE.search(whole) else within
