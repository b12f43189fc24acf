"""Gates of Python trees, side by side: what bwlint's interpreter says of them on every chip, and what CPython does.

    python tools/gate_agreement.py [--first N] PATH...

Every gate that the interpreter decides is cut out of the source with all that it uses and run, as `bwlint confirm` does
with the gates of findings: code of the trees runs here, in a child that can compute and do nothing else. Gates that
differ are printed, then how many were evaluated, agreed and differed, and why the others were not decided.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from bwlint.chips import ChipSet
from bwlint.confirm.receipt import Attempt, not_eligible
from bwlint.confirm.rungs.evaluate import tested
from bwlint.confirm.workbench import Workbench
from bwlint.model.findings import Claim
from bwlint.run.engine import linked
from bwlint.run.findings_of_drafts import gate_claim
from bwlint.run.gather import gather
from bwlint.run.request import CheckRequest
from bwlint.sources.texts import Texts
from bwlint.world.budget import Budget
from bwlint.world.gates import Judged

ASKED = ("8.0", "8.6", "8.9", "9.0", "10.0", "10.3", "11.0", "12.0", "12.1")


_GUESSED = "the interpreter takes a name for the device, and nothing says what its value is"


@dataclass(frozen=True, slots=True)
class Compared:
    """One gate: its file, what is claimed of it, whether the interpreter guessed, and what CPython made of it."""

    path: str
    claim: Claim
    guessed: bool
    attempt: Attempt

    @property
    def outcome(self) -> str:
        return self.attempt.outcome or "not eligible"


def claims(path: str, stack: ExitStack) -> Iterator[tuple[str, Claim, bool]]:
    """The gates of a tree that the interpreter decides, with the real path of their file, and whether it guessed."""
    gathered = gather(CheckRequest((path,)), stack)
    tree = linked(gathered.collected, gathered.sources, Budget()).tree
    texts = Texts()
    for file, module in gathered.collected.modules:
        text = texts.of(file.real)
        for gate in module.gates if module.language == "python" and text is not None else ():
            sets = tree.sets(module, gate)
            if sets is None or sets.flags or text is None:
                continue
            judged = Judged(module, gate, sets, file.path)
            yield file.real, gate_claim(judged, ChipSet.of(*ASKED), text.region(*gate.at)), sets.guessed


def compare(path: str, first: int | None = None) -> Iterator[Compared]:
    """The gates of a tree, the `first` of them or all."""
    with ExitStack() as stack, tempfile.TemporaryDirectory() as folder:
        world = Workbench(Path(folder), may_slice=True)
        for real, claim, guessed in islice(claims(path, stack), first):
            # a name that is taken for the device has no value that could be simulated
            attempt = not_eligible("evaluate", _GUESSED) if guessed else tested(claim, real, world)
            yield Compared(real, claim, guessed, attempt)


def main(arguments: Sequence[str]) -> int:
    """Print what differs and the counts; 1 where something differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int)
    parser.add_argument("paths", nargs="+")
    given = parser.parse_args(arguments)
    outcomes: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for path in given.paths:
        for found in compare(path, given.first):
            outcomes[found.outcome] += 1
            if found.outcome == "refuted":
                assert found.claim.at is not None
                place = f"{found.path}:{found.claim.at.line}"
                print(f"{place}: {found.claim.subject[:150]}\n    {found.attempt.reason}", flush=True)
            elif found.outcome != "confirmed":
                reasons[f"{found.outcome}: {re.sub('`[^`]*`', '`...`', found.attempt.reason)}"] += 1
    for outcome, count in outcomes.most_common():
        print(f"{count:6} {outcome}")
    for reason, count in reasons.most_common():
        print(f"{count:6} {reason}")
    return outcomes["refuted"] > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
