"""Compares bwlint's verdicts with those of ptxas on random PTX statements.

    python tools/ptx_fuzz.py [PTXAS] [--forms N] [--seed N]

Statements that ptxas takes for no target, and not for the target's sake, are counted apart: they are no PTX. Even of
those, a target of which ptxas complains must be one that bwlint calls illegal.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable
from dataclasses import dataclass

import ptxas
from ptx_grammar import statements
from ptx_table import ABOUT_TARGET, Measured, measure

from bwlint.chips import EVERY_TARGET, Target, TargetSet
from bwlint.chips.instructions import verdict

_DIRECTIVES = re.compile(r" (?=\.)")


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A statement of which bwlint and ptxas say different things for a target."""

    statement: str
    target: str
    bwlint: bool
    errors: tuple[str, ...]

    def __str__(self) -> str:
        ours = "legal" if self.bwlint else "illegal"
        return f"{self.statement}  sm_{self.target}: bwlint {ours}, ptxas {' || '.join(self.errors) or 'legal'}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How many statements are legal somewhere, illegal everywhere for the targets' sake, and no PTX."""

    legal: int
    nowhere: int
    nonsense: int
    disagreements: tuple[Disagreement, ...]


def judge(measured: Measured, newest: bool = True) -> Outcome:
    """Compare what a ptxas said with the table. `newest`: it is the ptxas that the table's `legal` is of."""
    counts = {"legal": 0, "nowhere": 0, "nonsense": 0}
    found: list[Disagreement] = []
    for statement in measured.answers:
        kind = _kind(measured, statement)
        counts[kind] += 1
        found += _compare(measured, statement, kind, legal(statement, newest))
    return Outcome(counts["legal"], counts["nowhere"], counts["nonsense"], tuple(found))


def _kind(measured: Measured, statement: str) -> str:
    answers = measured.answers[statement].values()
    if any(not said.errors for said in answers):
        return "legal"
    about_it = all(any(ABOUT_TARGET.search(error) for error in said.errors) for said in answers)
    only = all(all(ABOUT_TARGET.search(error) for error in said.errors) for said in answers)
    return "nowhere" if about_it and only else "nonsense"


def legal(statement: str, newest: bool = True) -> TargetSet:
    """Where bwlint says that a statement, or a line of directives, is legal."""
    found = EVERY_TARGET
    for part in _DIRECTIVES.split(statement) if statement.startswith(".") else [statement]:
        said = verdict(part)
        found &= said.legal if newest else said.older
    return found


def _compare(measured: Measured, statement: str, kind: str, ours: TargetSet) -> Iterable[Disagreement]:
    for target, said in measured.answers[statement].items():
        taken = Target.parse(target) in ours
        if kind == "nonsense":
            wrong = taken and any(ABOUT_TARGET.search(error) for error in said.errors)
        else:
            wrong = taken == bool(said.errors)
        if wrong:
            yield Disagreement(statement, target, taken, said.errors)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ptxas", nargs="?", help="a ptxas, or a folder that pip install --target filled")
    parser.add_argument("--forms", type=int, default=2000, help="how many statements")
    parser.add_argument("--seed", type=int, default=120)
    parser.add_argument("--older", action="store_true", help="this ptxas is the older one that the table knows")
    options = parser.parse_args()
    tool = ptxas.find(options.ptxas)
    measured = measure(tool, list(statements(options.forms, options.seed)))
    outcome = judge(measured, newest=not options.older)
    for one in outcome.disagreements:
        print(one)
    print(
        f"ptxas {tool.version}, {len(tool.targets)} targets: {outcome.legal} statements legal for some, "
        f"{outcome.nowhere} for none, {outcome.nonsense} no PTX; {len(outcome.disagreements)} disagreements"
    )
    return 1 if outcome.disagreements else 0


if __name__ == "__main__":
    raise SystemExit(main())
