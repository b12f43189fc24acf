"""Show fixes one by one and ask for each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from bwlint.model.escape import visible
from bwlint.model.findings import CATEGORIES, Finding, Proof
from bwlint.repair.changes import TextChange
from bwlint.repair.comment import comment
from bwlint.repair.plan import Decision, Quit, Wish, moving
from bwlint.repair.source import EditedFile
from bwlint.report.words import reasons, words
from bwlint.run.request import Outcome

QUESTION = "Apply this fix? [a]ccept, [s]kip, s[u]ppress this place, [q]uit, [?] "
CHOICE = "Which fix? {ways}, [s]kip, s[u]ppress this place, [q]uit, [?] "
REASON = "Why is it right as it is? (nothing: back) "
HELP = """a  apply the fix; a number applies the fix of that number
s  leave this place as it is, in this run
u  write a comment that says why this place is right; bwlint reports it no more
q  ask no more; what was accepted so far is applied
"""

Read = Callable[[str], str]
"""Shows a question and returns a line; raises EOFError where there is none."""


@dataclass(frozen=True, slots=True)
class Dialog:
    """Asks by `read` and tells by `write` (text with its line ends, fit for a terminal)."""

    read: Read
    write: Callable[[str], None]

    def decide(self, wish: Wish, outcome: Outcome) -> Decision:
        """What is to be done about a fix of the findings in `outcome`."""
        ways = {str(number): replace(way, others=()) for number, way in enumerate((wish, *wish.others), 1)}
        question = CHOICE.format(ways=" ".join(f"[{number}]" for number in ways)) if wish.others else QUESTION
        self.write(_shown(wish, outcome))
        while True:
            answer = self._line(question)
            if answer is None or answer == "q":
                return Quit()
            if answer == "a" and not wish.others:
                return wish
            if answer in ways:
                return ways[answer]
            if answer == "s":
                return None
            if answer == "u":
                made = self._suppressed(wish, outcome)
                if made is not None:
                    return made
            elif answer:
                self.write(HELP)

    def _line(self, question: str) -> str | None:
        try:
            return self.read(question).strip()
        except EOFError:
            self.write("\n")
            return None

    def _suppressed(self, wish: Wish, outcome: Outcome) -> Wish | None:
        reason = self._line(REASON)
        if not reason:
            return None
        real = outcome.names.real(wish.finding.path)
        text = outcome.texts.of(real)
        if text is None or real not in outcome.names.files:
            return None
        change = comment(outcome.names.files[real], text, [wish.finding], reason)
        if change is None:
            self.write("This place takes no comment with that reason.\n")
            return None
        return replace(wish, changes=((real, change),), note=True)


def _shown(wish: Wish, outcome: Outcome) -> str:
    finding, ways = wish.finding, (wish, *wish.others)
    place = f"{finding.path}:{finding.region.line}:{finding.region.column}"
    lines = ["", visible(f"{place}: {finding.name}: {finding.message}")]
    names = sorted({name for way in ways if way.finding.fix for name in moving(way.finding.fix.proof)}, key=_in_order)
    for number, way in enumerate(ways, 1):
        if (fix := way.finding.fix) is None:
            continue
        head = f"{number}  " if wish.others else ""
        rows = [f"{head}{fix.title} ({fix.applicability})"]
        rows += _effects(fix.proof, names) if wish.others else _sets(finding, fix.proof)
        rows += reasons(fix.proof)
        lines += [*(visible(row) for row in rows), *_diffs(way, outcome)]
    return "\n".join([*lines, ""])


def _sets(finding: Finding, proof: Proof) -> Iterator[str]:
    """The sets of what is edited, where the edit changes them: of a build that is not all that the build has."""
    before, after = (words(names) if names else "none" for names in (proof.before_may, proof.after_may))
    edited = "the edited target loads on" if CATEGORIES[finding.category].is_served else "the check is true on"
    if before != after:
        yield f"{edited}: {before}; then: {after}"


def _effects(proof: Proof, names: Sequence[str]) -> Iterator[str]:
    """What an edit does on the chips, or to the targets, on which one of the ways changes anything."""
    alike = defaultdict[tuple[str, str], list[str]](list)
    for name in names:
        before = _state(name, proof.before_may, proof.before_must)
        alike[before, _state(name, proof.after_may, proof.after_must)].append(name)
    for (before, after), chips in alike.items():
        yield f"   {words(chips)}: {f'{before}, as now' if before == after else f'{before} now, then {after}'}"


def _state(name: str, may: Sequence[str], must: Sequence[str]) -> str:
    return "holds" if name in must else "may hold" if name in may else "does not hold"


def _in_order(name: str) -> tuple[int, str]:
    """Capabilities and targets by their numbers."""
    return int("".join(filter(str.isdigit, name)) or 0), name


def _diffs(wish: Wish, outcome: Outcome) -> list[str]:
    shown: list[str] = []
    for real in sorted(wish.files):
        file, text = outcome.names.files[real], outcome.texts.of(real)
        if text is not None:
            data = text.source.encode("utf-8", "surrogatepass")
            changes: tuple[TextChange, ...] = tuple(sorted(set(wish.in_file(real))))
            source = EditedFile(file, data, "utf-8", text.source, changes)
            patch = source.diff(file.path, source.blocks).decode("utf-8", "replace")
            shown += [visible(line) for line in patch.removesuffix("\n").split("\n")]
    return shown
