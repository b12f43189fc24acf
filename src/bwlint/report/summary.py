"""The lines on stderr at the end of a run."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import replace
from posixpath import commonpath, isabs

from bwlint.model.escape import visible
from bwlint.model.findings import FAIL_ON, SEVERITIES, FailOn, Report, Severity, Skipped
from bwlint.model.ledger import SAID, Ledger, RowKind
from bwlint.model.naming import counted

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
        + ("" if _reaches(severity, shown) else f" (shown with --severity {severity})")
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


def looks(report: Report) -> str:
    """ "1,593 places concern the chip: 41 need a look"; nothing where nobody counted the rows of the ledger."""
    judged, left = report.stats.get("questions", 0), report.stats.get("questions_left", 0)
    if not judged:
        return ""
    concerns = "1 place concerns" if judged == 1 else f"{judged:,} places concern"
    return f"{concerns} the chip: {f'{left:,}' if left else 'none'} need{'s' * (left < 2)} a look"


def next_step(report: Report, paths: Iterable[str], target: Iterable[str] = ()) -> str:
    """A line with the commands that show what is left to decide and the repairs; nothing where there is neither."""
    from shlex import join

    given = tuple(paths)
    asked = [word for name in target for word in ("--target", name)]
    rest = [*asked, *(given if len(given) <= _FEW else [commonpath(given) if all(map(isabs, given)) else "."])]
    offered = {finding.fix.applicability for finding in report.findings if finding.fix}
    unsafe = ["--unsafe-fixes"] if "unsafe" in offered else []
    commands = [["audit"]] if report.stats.get("questions_left") else []
    commands += [["check", "--fix", *unsafe, "--diff"]] if offered else []
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


def _reaches(severity: Severity, shown: Severity) -> bool:
    return SEVERITIES.index(severity) >= SEVERITIES.index(shown)


def sightings(report: Report) -> str:
    """What a trace says of the findings, in numbers."""
    counts = Counter(finding.trace.sighting if finding.trace else "about no kernel" for finding in report.findings)
    words = ("seen", "contradicted", "not seen", "about no kernel")
    return "by the trace: " + (", ".join(f"{counts[word]} {word}" for word in words if counts[word]) or "no findings")
