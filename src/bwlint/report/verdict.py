"""The verdict of a check for each tree, in a sentence: the cards, what goes wrong on them, what was not read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from bwlint.chips import ChipSet, families
from bwlint.chips.cards import cards
from bwlint.chips.wording import listed
from bwlint.model.escape import visible
from bwlint.model.findings import Category, Report, Severity, Skipped
from bwlint.model.naming import counted
from bwlint.report.summary import at_least, looks

_FEW = 3
"""Kinds of trouble that a sentence names; the others are counted."""

WHERE: dict[Category, str] = {
    "arch-target": "where a build has no code, or the wrong code, for {it}",
    "capability-type": "where the capability is compared wrongly",
    "cluster": "where a cluster or bulk copy does not suit {it}",
    "excluded": "where {it} is kept out of code that runs there",
    "family-split": "where {twins} are treated differently",
    "leak": "where {it} is let in and cannot run the code",
    "message": "where a text names other cards than its check",
    "moe-plan": "where a launch asks for kernels or links that {it} lacks",
    "other": "with another fault",
    "p2p-atomics": "where another GPU's memory is used without proof that it works",
    "sm-count": "where one card's number of multiprocessors is taken for all",
    "smem": "where a kernel asks for more shared memory or threads than {it} allows",
    "tcgen05": "where {it} gets to tcgen05 instructions, which it lacks",
    "test-gate": "where a test runs or is skipped on the wrong cards",
    "toolchain": "where a release of CUDA or a library does not fit {it}",
    "unified-memory": "where a query asks for GPU memory that GB10 does not report",
    "wgmma": "where {it} gets to wgmma instructions, which it lacks",
}
"""What findings of a category have in common, said of so many places; `it` is the card, or at least one of several."""


@dataclass(frozen=True, slots=True)
class AskedTree:
    """Something that a run was asked about: its name for people, and how the paths of reports on it begin: with a slash
    at the end, "" for all."""

    name: str
    beginnings: tuple[str, ...]


def verdicts(report: Report, shown: Severity, trees: Sequence[AskedTree], said: Sequence[str]) -> str:
    """A line for each tree. `report` is the whole report, `shown` the lowest severity that was printed, `said` the
    chips as the user wrote them."""
    on = cards(report.targets, said)
    lines = (f"bwlint: {visible(tree.name)} on {on}: {_verdict(part, shown)}\n" for tree, part in _parts(report, trees))
    return "".join(lines)


def _parts(report: Report, trees: Sequence[AskedTree]) -> Iterator[tuple[AskedTree, Report]]:
    """Each tree with what the report has of it; the questions of a run are counted for all of it."""
    if len(trees) == 1:
        yield trees[0], report
        return
    of_begin = {begin: tree for tree in trees for begin in tree.beginnings}
    order = sorted(of_begin, key=len, reverse=True)

    def is_of(tree: AskedTree, path: str) -> bool:
        return next((of_begin[begin] for begin in order if f"{path}/".startswith(begin)), None) is tree

    counts = {key: value for key, value in report.stats.items() if not key.startswith("questions")}
    for tree in trees:
        found = tuple(one for one in report.findings if is_of(tree, one.path))
        skipped = tuple(one for one in report.skipped if is_of(tree, one.path))
        yield tree, replace(report, findings=found, skipped=skipped, stats=counts)


def _verdict(report: Report, shown: Severity) -> str:
    return "; ".join(filter(None, (_trouble(report, shown), looks(report), _skipped(report.skipped))))


def _trouble(report: Report, shown: Severity) -> str:
    """How many places go wrong in which way; of a report without one that, and of what it is true."""
    counts = Counter(finding.category for finding in at_least(report, shown).findings)
    if not counts:
        new = "new " if report.stats.get("baselined") else ""
        kind = f"{shown}s" if report.findings else "findings"
        return f"no {new}{kind}{' in what was read' if report.skipped else ''}"
    kinds = counts.most_common(None if len(counts) == _FEW + 1 else _FEW)
    (_, first), *_ = kinds
    told = [f"{count} {_where(category, report.targets)}" for category, count in kinds]
    told[0] = told[0].replace(str(first), counted(first, "place"), 1)
    rest = counts.total() - sum(count for _, count in kinds)
    return ", ".join([*told, *([f"{rest} with other faults"] if rest else [])])


def _where(category: Category, targets: Sequence[str]) -> str:
    asked = ChipSet.of(*targets)
    split = [family.names for family in families().values() if family & asked and len(family) > 1]
    twins = listed(split[0]) if len(split) == 1 else "cards of one family"
    return WHERE[category].format(it="it" if len(targets) == 1 else "at least one of them", twins=twins)


def _skipped(files: Iterable[Skipped]) -> str:
    """ "2 files skipped (larger than 10 MB)"; of several reasons the commonest."""
    reasons = dict.fromkeys((file.path, file.reason) for file in files)
    if not reasons:
        return ""
    (reason, count), *others = Counter(reason for _, reason in reasons).most_common()
    most = f"{count} of them: " if others else ""
    return f"{counted(len({path for path, _ in reasons}), 'file')} skipped ({most}{visible(reason)})"
