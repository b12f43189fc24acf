"""The result of a repair, in lines for stderr."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from bwlint.model.escape import visible
from bwlint.model.findings import Finding
from bwlint.model.naming import counted
from bwlint.repair.passes import MOST_PASSES, Repaired
from bwlint.report.summary import at_least

_MOST_REASONS = 5


def summary(repaired: Repaired, did: str, unwritten: Collection[str] = (), *, verbose: bool) -> str:
    """What was fixed (`did`), what has to wait, what is not fixed and why; `unwritten` files stayed as they were."""
    left = f"deferred {counted(repaired.left, 'finding')} after {MOST_PASSES} passes; run it again for the rest"
    waiting = [left] if repaired.left else []
    lines = [*_fixed(repaired, did, unwritten), *waiting, *_refused(repaired, verbose=verbose)]
    return "".join(f"bwlint: {line}\n" for line in lines)


def _fixed(repaired: Repaired, did: str, unwritten: Collection[str]) -> Iterable[str]:
    written = [done for done in repaired.done if not done.wish.files & set(unwritten)]
    fixed = [done for done in written if not done.wish.note]
    notes = len(written) - len(fixed)
    if fixed:
        counts = Counter(done.wish.finding.name for done in fixed).most_common()
        rules = ", ".join(f"{count} {name}" for name, count in counts)
        files = len({spot.real for done in fixed for spot in done.spots})
        later = sum(done.number > 1 for done in fixed)
        in_turn = f", {later} of them in a later pass" if later else ""
        yield f"{did} {counted(len(fixed), 'finding')} in {counted(files, 'file')}: {rules}{in_turn}"
    if notes:
        yield f"suppressed {counted(notes, 'finding')} by a comment"


def _refused(repaired: Repaired, *, verbose: bool) -> Iterable[str]:
    """Reasons with their counts, of the findings that are shown."""
    refused = not_fixed(repaired)
    if not refused:
        return
    reasons = Counter(reason for _, reason in refused).most_common()
    shown = reasons if verbose else reasons[:_MOST_REASONS]
    rest = sum(count for _, count in reasons[len(shown) :])
    words = [visible(reason) + f" ({count})" * (len(reasons) > 1) for reason, count in shown]
    words += [f"other reasons ({rest}; --verbose lists them)"] * bool(rest)
    yield f"did not fix {counted(len(refused), 'finding')}: {'; '.join(words)}"
    if verbose:
        for finding, reason in refused:
            place = f"{finding.path}:{finding.region.line}:{finding.region.column}"
            yield f"not fixed: {visible(place)}: {finding.name}: {visible(reason)}"


def not_fixed(repaired: Repaired) -> Sequence[tuple[Finding, str]]:
    """The findings that are left though somebody looked for a fix, each with the reason."""
    found = [(refusal.finding, refusal.reason) for refusal in repaired.refused]
    left = at_least(repaired.outcome.report, repaired.outcome.severity).findings
    found += [(finding, finding.fix_refused) for finding in left if finding.fix_refused is not None]
    return sorted(found, key=lambda entry: (entry[0].path, entry[0].region.line, entry[0].region.column))
