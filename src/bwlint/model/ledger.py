"""The rows of an audit, as data for reports.

A row is one question: a gate with its arms, a guard, a list of a build, a table, an amount, names of a generation.
What stands in no row speaks of no chip.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, get_args

from bwlint.model.findings import Skipped

RowKind = Literal["fail", "review", "open", "pass"]
"""SARIF's words. fail: a finding of `check`. review: the sets treat an asked chip unlike a neighbour, and nothing
proves that right or wrong. open: not evaluated, or nothing is known of what is behind it. pass: it cannot matter.
"""
ROW_KINDS: tuple[RowKind, ...] = ("fail", "review", "open", "pass")

RowForm = Literal[
    "gate", "guard", "build", "list", "table", "amount", "finding", "asked", "name", "product", "unit", "text", "word"
]
"""What asks.

gate, guard      a condition of the running program; one of the preprocessor
build            architectures that a build is told to compile for
list, table      chips that something is declared for; rows by chip
amount           bytes, clusters, multiprocessors, peers: an operation that some chips lack
finding          something that `check` reports and no other row has
asked            a comparison that is recognised by its spelling alone
name             identifiers or files called after a generation
product          a chip by the name that it is sold under
unit             instructions and links that not all chips have, by their words
text             a comment or a text for people that names chips
word             an architecture or a capability that is named or handed on, and compared with nothing
"""
ROW_FORMS: tuple[RowForm, ...] = get_args(RowForm)
NAMING: frozenset[RowForm] = frozenset({"name", "product", "unit", "text", "word"})
"""Forms that only name something."""
RowGroup = Literal["own", "unbuilt", "generated", "vendored"]
"""Whose code it is: rows of all but "own" come last. unbuilt: no build of the project compiles the file."""

Answer = str
"""What a question answers a chip: "yes", "no", "may" (it depends on more than the chip), "error", "-" (no such chip
gets here), "?" (not known), or the arm of a chain that it takes: "arm 1" ... "else"."""
ANSWERS: tuple[Answer, ...] = ("yes", "no", "may", "error", "-", "?")


@dataclass(frozen=True, slots=True)
class RowPlace:
    """A place of a row: lines are 1-based, `says` is its part in the question ("asked here", "behind it")."""

    path: str
    line: int
    end_line: int
    says: str = ""


@dataclass(frozen=True, slots=True)
class RowWay:
    """What some of the asked chips get: `does` is a phrase, "raises \"needs SM90\"", "calls `fp4_gemm`"."""

    chips: tuple[str, ...]
    does: str


@dataclass(frozen=True, slots=True)
class ScorePart:
    """One named weight of the score; `says` is its sentence in the table of weights."""

    name: str
    points: int
    says: str


Said = Literal["fine", "broken", "later"]
SAID: tuple[Said, ...] = ("fine", "broken", "later")


@dataclass(frozen=True, slots=True)
class Decision:
    """What a person has decided about a row. `date` is ISO, `who` a name and an address as git has them.

    `was` is the kind that its row had without it, once it is applied.
    """

    fingerprint: str
    said: Said
    reason: str
    who: str = ""
    date: str = ""
    was: RowKind | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One question. `verdicts` and `table` go by compute capability, asked chips first; `kind` is the worst verdict.

    `subject` is the operation, class or feature around it, `question` its text on one line, `rough` says that its table
    comes from its spelling. `behind` is what it leads to, with where that is seen; `why` one sentence for the kind.
    `score` is the sum of `parts`. `places` begin with the question's own. `findings` are fingerprints of findings told
    in it, `same_subject` those of other rows. `fingerprint` is made of form, subject, text and table: neither path nor
    line. `questions` are the fingerprints of what was joined in it, its own where that is nothing.
    """

    kind: RowKind
    form: RowForm
    group: RowGroup
    subject: str
    question: str
    verdicts: tuple[tuple[str, RowKind], ...]
    table: tuple[tuple[str, Answer], ...]
    rough: bool
    ways: tuple[RowWay, ...]
    behind: str
    why: str
    score: int
    parts: tuple[ScorePart, ...]
    places: tuple[RowPlace, ...]
    fingerprint: str
    findings: tuple[str, ...] = ()
    same_subject: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    decision: Decision | None = None


@dataclass(frozen=True, slots=True)
class Ledger:
    """The rows of a run, most suspicious first; `targets` are the asked compute capabilities."""

    targets: tuple[str, ...]
    rows: tuple[Row, ...]
    skipped: tuple[Skipped, ...] = ()
    stats: dict[str, int] = field(default_factory=dict)
    stale: tuple[Decision, ...] = ()
    """Decisions of the file that no row answers to any more."""


What = Literal["asked", "chip", "generation", "product", "unit", "toolkit", "word"]
"""What a word is: compared with a number, a chip by number, a generation, a product, what not all chips have, a
toolkit, or an architecture that is compared with nothing."""
WHATS: tuple[What, ...] = ("asked", "chip", "generation", "product", "unit", "toolkit", "word")
"""From what says most to what says least."""


@dataclass(frozen=True, slots=True)
class Sighting:
    """A line with words of one sort, the strongest that it has.

    `tokens` are the words as they are written, identifiers whole; `text` is the line without its indentation, `within`
    the function, class or macro around it ("" = none), `prose` whether it is a comment or stands in a docstring.
    """

    line: int
    what: What
    tokens: tuple[str, ...]
    text: str
    within: str
    prose: bool
