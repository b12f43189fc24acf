"""One `bwlint check`: arguments in, a report out. What is printed and written is the command's business."""

# Real paths are plain strings throughout, as `walk` gives them.

from __future__ import annotations

from contextlib import ExitStack

from bwlint.model.findings import Finding, Report, Skipped
from bwlint.model.progress import Advance, quiet
from bwlint.run.engine import Analysis, analyse
from bwlint.run.findings_of_drafts import finish
from bwlint.run.gather import Gathered, gather, jobs_of
from bwlint.run.outcome import GateSets, Outcome
from bwlint.run.request import CheckRequest
from bwlint.sources.kinds import BINARY
from bwlint.sources.texts import Names
from bwlint.world.budget import Budget


def check(request: CheckRequest, stack: ExitStack, advance: Advance = quiet) -> Outcome:
    """Run a request. What it unpacks lives as long as `stack`.

    Raises UsageError and ConfigError.
    """
    return judge(gather(request, stack, advance))


def judge(gathered: Gathered) -> Outcome:
    """What there is to say of what was gathered."""
    request, found, collected, texts = gathered.settings.request, gathered.found, gathered.collected, gathered.texts
    settings, targets, sources = gathered.settings, gathered.targets, gathered.sources
    budget = Budget.of(request.link_budget, (file.real for file in found.files))
    rules, libraries = settings.all_rules(found.files), settings.libraries()
    jobs = jobs_of(request.jobs)
    analysis = analyse(collected, sources, targets, rules, budget, texts.source, libraries, gathered.advance, jobs)
    names = gathered.names
    unread = {skip.path for skip in collected.skipped}
    marked = [file for file in collected.marked if file.path not in unread]
    severity = settings.run.severity or "warning"
    mended = severity if request.fixes else None
    finished = finish(analysis, marked, texts, names, settings.enabled, gathered.advance, mended=mended)
    carried, unread_binaries = _carried(gathered, names)
    skipped = (*found.skipped, *collected.skipped, *finished.skipped, *unread_binaries)
    scanned = len(found.files) - len(collected.skipped)
    report = Report(
        targets.names,
        (*finished.findings, *carried),
        tuple(sorted(set(skipped), key=lambda skip: (skip.path, skip.reason))),
        finished.suppressed,
        {"files": scanned, **analysis.stats, **({"unlinked": len(budget.refused)} if budget.ended else {})},
    )
    fail_on = settings.run.fail_on or "warning"
    return Outcome(report, scanned, severity, fail_on, texts, names, _sets(analysis), found.wheels)


def _sets(analysis: Analysis) -> GateSets:
    judged = analysis.context.judged
    return {path: tuple((entry.sets.may, entry.sets.must) for entry in gates) for path, gates in judged.items()}


def _carried(gathered: Gathered, names: Names) -> tuple[list[Finding], list[Skipped]]:
    """Findings in the binaries of the tree and of wheels, and those that could not be read."""
    found, settings, targets = gathered.found, gathered.settings, gathered.targets
    binaries = [file for file in found.files if file.kind == BINARY]
    if not (binaries or found.wheels):
        return [], []
    from bwlint.inspection.in_tree import judged_binaries
    from bwlint.inspection.promises import confronted, promises

    if not gathered.inspected:
        gathered.advance("reading binaries", 0, 0)
        rules = settings.rules_of_run()
        gathered.inspected.append(judged_binaries(binaries, found.wheels, targets, settings.enabled, rules))
    carried, skipped = gathered.inspected[0]
    return confronted(carried, targets, promises(gathered.collected, targets, gathered.texts, names)), skipped
