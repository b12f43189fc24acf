"""The lines on stderr at the end of a run, with the verdict of a check for each tree in a sentence: the cards, what
goes wrong on them, what was not read."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from posixpath import commonpath, isabs

from bwlint.chips import ChipSet, families
from bwlint.chips.products import cards
from bwlint.chips.wording import listed
from bwlint.model.escape import visible
from bwlint.model.findings import FAIL_ON, SEVERITIES, Category, FailOn, Report, Severity, Skipped
from bwlint.model.ledger import SAID, Ledger, RowKind
from bwlint.model.naming import counted
from bwlint.report.words import aligned
from bwlint.sources.pypi import PREFIX, is_package

_FEW = 3
"""Files that are named for each reason, and paths in a command."""


def at_least(report: Report, severity: FailOn) -> Report:
    """`report` without the findings below `severity`."""
    shown = SEVERITIES[FAIL_ON.index(severity) :]
    return replace(report, findings=tuple(f for f in report.findings if f.severity in shown))


def summary(report: Report, shown: Severity = "note", seconds: float | None = None) -> str:
    """``3 warnings, 2 notes (shown with --severity note), 2 files skipped in 1.2 s``. `report` is the whole report,
    `shown` the lowest severity that was printed."""
    counts = Counter(finding.severity for finding in report.findings)
    parts = [
        counted(counts[severity], severity)
        + ("" if severity in SEVERITIES[SEVERITIES.index(shown) :] else f" (shown with --severity {severity})")
        for severity in reversed(SEVERITIES)
        if counts[severity]
    ]
    if not parts:
        parts.append("no findings in what was read" if report.skipped else "no findings")
    offered = Counter(finding.fix.applicability for finding in report.findings if finding.fix)
    if offered["safe"]:
        parts.append(f"{offered['safe']} fixable with --fix")
    if offered["unsafe"]:
        more = "more" if offered["safe"] else "fixable"
        parts.append(f"{offered['unsafe']} {more} with --fix --unsafe-fixes")
    if report.suppressed:
        parts.append(f"{len(report.suppressed)} suppressed")
    if known := report.stats.get("baselined"):
        parts.append(f"{known} known before")
    if report.skipped:
        # Several things may be wrong with one.
        files = {file.path for file in report.skipped}
        parts.append(f"{counted(len(files), 'file')} skipped")
    if ignored := report.stats.get("ignored"):
        parts.append(f"{ignored} left out by .gitignore")
    return ", ".join(parts) + ("" if seconds is None else f" in {seconds:.1f} s")


def not_read(files: Iterable[Skipped], *, every: bool) -> str:
    """The files that were not read, one a line, each with its reason; without `every` a few for each reason."""
    places: dict[str, list[str]] = defaultdict(list)
    for file in files:
        places[file.reason].append(file.path)
    lines = []
    for reason, paths in places.items():
        shown = paths if every or len(paths) == _FEW + 1 else paths[:_FEW]
        lines += [f"skipped {visible(path)}: {visible(reason)}\n" for path in shown]
        if rest := len(paths) - len(shown):
            lines.append(f"skipped {counted(rest, 'more file')}: {visible(reason)} (--verbose lists them)\n")
    return "".join(lines)


def beyond(report: Report) -> str:
    """A line where the budget of files read for the sake of others ended; else nothing."""
    files = report.stats.get("unlinked", 0)
    if not files:
        return ""
    words = f"did not read {counted(files, 'file')} that calls and imports lead to; findings may differ with a larger"
    return f"bwlint: note: {words} --link-budget\n"


_BUILT_ELSEWHERE = "questions_built_for_others"


def looks(report: Report) -> str:
    """ "1,593 places concern the chip: 41 are for you to judge"; nothing where no row of the ledger was counted."""
    judged, left = report.stats.get("questions", 0), report.stats.get("questions_left", 0)
    if not judged:
        return ""
    concerns = "1 place concerns" if judged == 1 else f"{judged:,} places concern"
    return f"{concerns} the chip: {f'{left:,}' if left else 'none'} {'is' if left < 2 else 'are'} for you to judge"


def next_step(report: Report, paths: Iterable[str], target: Iterable[str] = (), chosen: Iterable[str] = ()) -> str:
    """A line with the commands that show what is left to decide and the repairs; nothing where there is neither.
    `chosen` are the options that say which findings a check shows, which are those that it repairs."""
    from shlex import join

    given = tuple(paths)
    asked = [word for name in target for word in ("--target", name)]
    rest = [*asked, *(given if len(given) <= _FEW else [commonpath(given) if all(map(isabs, given)) else "."])]
    offered = {finding.fix.applicability for finding in report.findings if finding.fix}
    unsafe = ["--unsafe-fixes"] if "unsafe" in offered else []
    commands = [["audit"]] if report.stats.get("questions_left") else []
    commands += [["check", "--fix", *unsafe, "--diff", *chosen]] if offered else []
    told = ", ".join(join(["bwlint", *command, *rest]) for command in commands)
    return f"bwlint: next: {visible(told)}\n" if told else ""


def questions(ledger: Ledger, which: str = "") -> str:
    """``1,593 checks of the chip; for 12.0 and 12.1: 1,402 pass, 6 fail, 150 review, 35 open``, and
    how many are decided and how. `which` says which of them the ledger has, where it has not all."""
    if not ledger.rows:
        return f"no checks of the chip{which}"
    chips: dict[str, list[str]] = defaultdict(list)
    for chip in ledger.targets:
        chips[_kinds(dict(row.verdicts).get(chip, "pass") for row in ledger.rows)].append(chip)
    told = "; ".join(f"for {' and '.join(some)}: {words}" for words, some in chips.items())
    files = {file.path for file in ledger.skipped}
    skipped = f"; {counted(len(files), 'file')} skipped" if files else ""
    count = f"{len(ledger.rows):,} check{'s' * (len(ledger.rows) != 1)} of the chip"
    return f"{count}{which}; {told}{_decided(ledger)}{skipped}"


def _kinds(verdicts: Iterable[RowKind]) -> str:
    counts = Counter(verdicts)
    order: tuple[RowKind, ...] = ("pass", "fail", "review", "open")
    return ", ".join(f"{counts[kind]:,} {kind}" for kind in order if counts[kind])


def _decided(ledger: Ledger) -> str:
    """How many rows people have decided, and how many that `check` reports they call fine."""
    made = [row.decision for row in ledger.rows if row.decision]
    counts = Counter(decision.said for decision in made)
    if not made:
        return ""
    against = sum(decision.said == "fine" and decision.was == "fail" for decision in made)
    findings = f" ({against:,} against what check reports)" if against else ""
    told = ", ".join(f"{counts[said]:,} {said}{findings * (said == 'fine')}" for said in SAID if counts[said])
    return f"; {len(made):,} decided: {told}"


def sightings(report: Report) -> str:
    """What a trace says of the findings, in numbers."""
    counts = Counter(finding.trace.sighting if finding.trace else "about no kernel" for finding in report.findings)
    words = ("seen", "contradicted", "not seen", "about no kernel")
    return "by the trace: " + (", ".join(f"{counts[word]} {word}" for word in words if counts[word]) or "no findings")


_LEVELS = tuple(reversed(SEVERITIES))


def statistics(report: Report) -> str:
    """A plain table, one row a rule and a total; empty where there is no finding."""
    if not report.findings:
        return ""
    columns = (*_LEVELS, *(["fixable"] if any(finding.fix for finding in report.findings) else []))
    counts: Counter[tuple[str, str, str]] = Counter()
    for finding in report.findings:
        for column in (finding.severity, *(["fixable"] if finding.fix else [])):
            counts.update([(finding.rule, finding.name, column), ("total", "", column)])
    named = sorted({(rule, name) for rule, name, _ in counts if name})
    rows = [
        (rule, name, *(str(counts[rule, name, column]) for column in columns)) for rule, name in (*named, ("total", ""))
    ]
    return "".join(f"{line}\n" for line in aligned([("rule", "name", *columns), *rows], names=2))


_FEW_KINDS = 3
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
    lines = []
    for tree, part in _parts(report, trees):
        told = filter(None, (_trouble(part, shown), _bundled(part, shown), looks(part), _skipped(part.skipped)))
        lines.append(f"bwlint: {visible(tree.name)} on {on}: {'; '.join(told)}\n")
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


def _trouble(report: Report, shown: Severity) -> str:
    """How many places go wrong in which way; of a report without one that, and of what it is true."""
    counts = Counter(finding.category for finding in at_least(report, shown).findings)
    if not counts:
        new = "new " if report.stats.get("baselined") else ""
        kind = f"{shown}s" if report.findings else "findings"
        others = report.stats.get(_BUILT_ELSEWHERE, 0)
        which = "the only build that names targets has" if others == 1 else f"{others} builds that name targets have"
        built = f", but {which} none for these cards" if others else ""
        return f"no {new}{kind}{' in what was read' if report.skipped else ''}{built}"
    kinds = counts.most_common(None if len(counts) == _FEW_KINDS + 1 else _FEW_KINDS)
    (_, first), *_ = kinds
    told = [f"{count} {_where(category, report.targets)}" for category, count in kinds]
    told[0] = told[0].replace(str(first), counted(first, "place"), 1)
    rest = counts.total() - sum(count for _, count in kinds)
    return ", ".join([*told, *([f"{rest} with other faults"] if rest else [])])


def _bundled(report: Report, shown: Severity) -> str:
    """ "46 of 47 are in csrc/cutlass, a project of its own"; nothing where all are, or none."""
    found = at_least(report, shown).findings
    counts = Counter(one.bundled for one in found if one.bundled)
    if not counts or counts.total() == len(found):
        return ""
    (folder, _), *others = counts.most_common()
    rest = f" and {counted(len(others), 'other folder')}" if others else ""
    return f"{counts.total()} of {len(found)} are in {visible(folder)}{rest}, with a licence and a build of their own"


def _where(category: Category, targets: Sequence[str]) -> str:
    asked = ChipSet.of(*targets)
    split = [family.names for family in families().values() if family & asked and len(family) > 1]
    twins = listed(split[0]) if len(split) == 1 else "cards of one family"
    return WHERE[category].format(it="it" if len(targets) == 1 else "at least one of them", twins=twins)


def _skipped(files: Iterable[Skipped]) -> str:
    """ "2 files skipped (larger than 10 MB)"; of several reasons the commonest, if there is one."""
    reasons = dict.fromkeys((file.path, file.reason) for file in files)
    if not reasons:
        return ""
    (reason, count), *others = Counter(reason for _, reason in reasons).most_common()
    most = f"{count} of them: " if others else ""
    is_commonest = all(number < count for _, number in others)
    told = counted(len({path for path, _ in reasons}), "file")
    return f"{told} skipped" + (f" ({most}{visible(reason)})" if is_commonest else "")


def trees(paths: Sequence[str], packages: Sequence[str]) -> tuple[AskedTree, ...]:
    """A tree for each of the `packages`, as reports name them, and for each folder among the arguments `paths`; their
    files are one together."""
    found = [AskedTree(_released(name), (f"{name}/",)) for name in packages]
    folders = [path for path in paths if Path(path).is_dir()]
    names = {path: Path(path).resolve().name or path for path in folders}
    known = Counter(names.values())
    # Wheels are looked for in folders that hold nothing else.
    are_alone = all(name.startswith(PREFIX) or name in paths for name in packages)
    for path in folders if are_alone else ():
        found.append(AskedTree(names[path] if known[names[path]] == 1 else path, (_beginning(path),)))
    files = [path for path in paths if path not in names and not is_package(path)]
    if files:
        name = Path(files[0]).name if len(files) == 1 else counted(len(files), "file")
        found.append(AskedTree(name, tuple(map(_beginning, files))))
    return tuple(found)


def _released(package: str) -> str:
    """A package by its name and version: "deepspeed 0.18.0" of pypi:deepspeed==0.18.0; a file by its name."""
    return package.removeprefix(PREFIX).replace("==", " ") if package.startswith(PREFIX) else Path(package).name


def _beginning(path: str) -> str:
    """How reports begin a path in what an argument names: without "./" in front."""
    plain = Path(path).as_posix()
    return "" if plain == "." else f"{plain.rstrip('/')}/"
