"""One `bwlint check`: arguments in, a report out. The command prints and writes it."""

# Real paths are plain strings throughout, as `walk` gives them.

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from bwlint.index.remembered import answers
from bwlint.model.findings import Finding, Report, Skipped, Suppressed
from bwlint.model.ledger import Row
from bwlint.model.progress import Advance, quiet
from bwlint.run.gather import Gathered, gather, jobs_of
from bwlint.run.request import CheckRequest, GateSets, Outcome
from bwlint.settings.decisions import load
from bwlint.sources.disk import digest_of
from bwlint.sources.faults import contained, noted
from bwlint.sources.kinds import BINARY
from bwlint.sources.texts import Names
from bwlint.world.budget import Budget

if TYPE_CHECKING:
    from bwlint.run.again import Again
    from bwlint.run.engine import Linked
    from bwlint.sources.walk import SourceFile


def check(request: CheckRequest, stack: ExitStack, advance: Advance = quiet) -> Outcome:
    """Run a request. What it unpacks lives as long as `stack`.

    Raises UsageError and ConfigError.
    """
    return judge(gather(request, stack, advance))


def judge(gathered: Gathered) -> Outcome:
    """The report on the gathered files."""
    found, collected, settings, names = gathered.found, gathered.collected, gathered.settings, gathered.names
    carried, unread_binaries = _carried(gathered, names)
    told = _told(gathered, names, carried=carried)
    skipped = (*unread(gathered), *told.skipped, *unread_binaries)
    scanned = len(found.files) - len(collected.skipped)
    report = Report(
        gathered.targets.names,
        (*told.findings, *carried),
        tuple(sorted(set(skipped), key=lambda skip: (skip.path, skip.reason))),
        told.suppressed,
        {"files": scanned, **({"ignored": found.ignored} if found.ignored else {}), **told.stats},
    )
    severity, fail_on = settings.run.levels
    known = settings.run.baseline_file
    return Outcome(report, scanned, severity, fail_on, gathered.texts, names, told.sets, found.wheels, known, told.rows)


def unread(gathered: Gathered) -> tuple[Skipped, ...]:
    """What was not read, or not judged for an error of bwlint's own, so far; each with its reason."""
    found, names = gathered.found, gathered.names
    faults = (Skipped(names.reported(one.path, found.files[0]), one.reason) for one in noted())
    return (*found.skipped, *gathered.collected.skipped, *faults)


def told_of_text(gathered: Gathered, world: Linked) -> ToldOfText:
    """The report on the gathered text files, in their world."""
    return _told(gathered, gathered.names, world)


_COUNTED = ("modules", "gates", "gates_evaluated", "unreached")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldOfText:
    """What is said of the text of a run; without facts and comments of bwlint it has no findings."""

    findings: tuple[Finding, ...] = ()
    suppressed: tuple[Suppressed, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    stats: Mapping[str, int]
    sets: GateSets = field(default_factory=dict)
    rows: tuple[Row, ...] = ()


def _told(
    gathered: Gathered,
    names: Names,
    world: Linked | None = None,
    carried: Sequence[Finding] = (),
) -> ToldOfText:
    unread = {skip.path for skip in gathered.collected.skipped}
    marked = [file for file in gathered.collected.marked if file.path not in unread]
    rules = gathered.settings.all_rules(gathered.found.files)  # whatever there is to judge: an unknown one is an error
    collected = gathered.collected
    if not (collected.modules or marked):
        return _unjudged(gathered, names, carried)
    from bwlint.run.audit import rows_of
    from bwlint.run.engine import analyse  # half of what a hook loads, and most files have nothing to judge
    from bwlint.run.findings_of_drafts import Proofs, finish

    settings, files, texts, advance = gathered.settings, gathered.found.files, gathered.texts, gathered.advance
    request = settings.request
    budget = Budget.of(request.link_budget, (file.real for file in files))
    libraries, jobs = settings.libraries(), jobs_of(request.jobs)
    sources, targets = gathered.sources, gathered.targets
    again = _again(gathered, rules)
    analysis = analyse(collected, sources, targets, rules, budget, texts.source, libraries, advance, jobs, world, again)
    level = (settings.run.severity or "warning") if request.fixes else None
    proofs = Proofs(level, request.ways, request.stdin is not None)
    finished = finish(analysis, marked, texts, names, settings.enabled, advance, proofs=proofs, again=again)
    stats = {**analysis.stats, **({"unlinked": len(budget.refused)} if budget.ended else {})}
    judged = analysis.context.judged if again is None else {}
    sets = {path: tuple((entry.sets.may, entry.sets.must) for entry in gates) for path, gates in judged.items()}
    rows: tuple[Row, ...] = ()
    with contained(gathered.found.files[0].real, "listing questions"):
        rows = rows_of(gathered, names, analysis, finished.findings, finished.suppressed, carried)
    stats |= _left(gathered, rows)
    if again is not None and not budget.ended:
        again.keep()
    return ToldOfText(
        findings=finished.findings,
        suppressed=finished.suppressed,
        skipped=finished.skipped,
        stats=stats,
        sets=sets,
        rows=rows,
    )


def _again(gathered: Gathered, rules: frozenset[str]) -> Again | None:
    """What is known of the files of a run whose outcome is remembered file by file."""
    known = answers()
    if known is None:
        return None
    from bwlint.run.again import Again
    from bwlint.world.collect import Modules

    settings = gathered.settings

    def said(file: SourceFile) -> str:
        return digest_of((settings.run, sorted(rules), sorted(settings.enabled(file))))

    return Again(known, Modules.of(gathered.collected.modules), cache(said))


def _unjudged(gathered: Gathered, names: Names, carried: Sequence[Finding]) -> ToldOfText:
    """What is said of text without facts: its words and what binaries carry are questions all the same."""
    stats = dict.fromkeys(_COUNTED, 0)
    if not (gathered.collected.seen or carried):
        return ToldOfText(stats=stats)
    from bwlint.run.audit import rows_of

    rows = rows_of(gathered, names, carried=carried)
    return ToldOfText(stats={**stats, **_left(gathered, rows)}, rows=rows)


def _left(gathered: Gathered, rows: tuple[Row, ...]) -> dict[str, int]:
    """How many questions there are, how many of them `bwlint audit` shows for somebody to decide, and how many builds
    there are for other chips, where none is for those that were asked about."""
    if not rows:
        return {}
    asked = gathered.targets.names
    built = [[dict(row.table).get(chip) for chip in asked] for row in rows if row.form == "build" and not row.rough]
    others = 0 if any("yes" in answers for answers in built) else sum(set(one) == {"no"} for one in built)
    counts = {"questions": len(rows), "questions_left": len(left_to_decide(gathered, rows))}
    return counts | ({"questions_built_for_others": others} if others else {})


def left_to_decide(gathered: Gathered, rows: Iterable[Row]) -> tuple[Row, ...]:
    """The rows that `bwlint audit` shows for somebody to decide, less those that somebody has decided."""
    asking = [row for row in rows if row.kind in ("fail", "review")]
    decided = {decision.fingerprint for decision in load(gathered.settings.decisions_file).made} if asking else set()
    return tuple(row for row in asking if row.fingerprint not in decided)


def _carried(gathered: Gathered, names: Names) -> tuple[list[Finding], list[Skipped]]:
    """Findings in the binaries of the tree and of wheels, and those that could not be read."""
    found, settings, targets = gathered.found, gathered.settings, gathered.targets
    binaries = [file for file in found.files if file.kind == BINARY]
    if not (binaries or found.wheels):
        return [], []
    from bwlint.inspection.in_tree import confronted, judged_binaries, promises

    if not gathered.inspected:
        gathered.advance("reading binaries", 0, 0)
        rules = settings.rules_of_run()
        gathered.inspected.append(judged_binaries(binaries, found.wheels, targets, settings.enabled, rules))
    carried, skipped = gathered.inspected[0]
    return confronted(carried, targets, promises(gathered.collected, targets, gathered.texts, names)), skipped
