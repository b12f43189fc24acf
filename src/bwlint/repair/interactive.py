"""One fix after another, shown and asked about."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bwlint.model.escape import visible
from bwlint.repair.changes import TextChange
from bwlint.repair.comment import comment
from bwlint.repair.diff import blocks, lines_of, unified
from bwlint.repair.plan import Decision, Quit, Wish, silenced
from bwlint.repair.source import EditedFile
from bwlint.report.words import words
from bwlint.run.outcome import Outcome

QUESTION = "Apply this fix? [a]ccept, [s]kip, s[u]ppress this place, [q]uit, [?] "
REASON = "Why is it right as it is? (nothing: back) "
HELP = """a  apply the fix
s  leave this place as it is, in this run
u  write a comment that says why this place is right; it is not reported any more
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
        self.write(_shown(wish, outcome))
        while True:
            answer = self._line(QUESTION)
            if answer is None or answer == "q":
                return Quit()
            if answer == "a":
                return wish
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
            self.write("No comment with that reason can be put at this place.\n")
            return None
        return silenced(wish, ((real, change),))


def _shown(wish: Wish, outcome: Outcome) -> str:
    finding = wish.finding
    head = f"\n{finding.path}:{finding.region.line}:{finding.region.column}: {finding.name}: {finding.message}"
    rows = [head]
    if finding.fix is not None:
        proof = finding.fix.proof
        rows.append(f"{finding.fix.title} ({finding.fix.applicability})")
        rows.append(f"holds on: {_set(proof.before_may)}; then: {_set(proof.after_may)}")
        rows += [f"because: {proof.evidence}"] * bool(proof.evidence)
    lines = [visible(row) if row != head else "\n" + visible(head[1:]) for row in rows]
    return "\n".join([*lines, *_diffs(wish, outcome), ""])


def _set(names: Sequence[str]) -> str:
    return words(names) if names else "none"


def _diffs(wish: Wish, outcome: Outcome) -> list[str]:
    shown: list[str] = []
    for real in sorted(wish.files):
        file, text = outcome.names.files[real], outcome.texts.of(real)
        if text is not None:
            data = text.source.encode("utf-8", "surrogatepass")
            changes: tuple[TextChange, ...] = tuple(sorted(set(wish.in_file(real))))
            source = EditedFile(file, data, "utf-8", text.source, changes)
            patch = unified(file.path, lines_of(data), blocks(source)).decode("utf-8", "replace")
            shown += [visible(line) for line in patch.removesuffix("\n").split("\n")]
    return shown
