"""The plan to port, as data for reports and patches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bwlint.model.findings import Fix, Related, Skipped
from bwlint.model.ledger import Row
from bwlint.sources.walk import SourceFile

Verdict = Literal["opens", "unproved", "partly", "switch", "impossible", "unseen"]
"""`opens` where edits let the chip through to what is known to work there, `unproved` where nothing says whether it
does, `partly` where the operation works but for some arguments or uses, `switch` where it is no operation but an answer
by which others go another way, `impossible` where each way ends in what the
chip lacks, `unseen` where no gate was found."""


@dataclass(frozen=True, slots=True)
class CodeSpot:
    """A place as reports tell it: `path` as reported, 1-based `line` and `column`, the code there in one line. `within`
    is the function of a gate."""

    path: str
    line: int
    column: int
    text: str
    within: str = ""


@dataclass(frozen=True, slots=True)
class PortStep:
    """One edit. `kind` is the kind of the gate (list, condition, predicate, ...), kernel, code, build or test; `admits`
    are the chips that it lets through today, `wanted` those that it has to let through besides.

    `real` is the real path of its file. `fix` has the edits with real paths, and their proof; without one `words` say
    why there is none. `proved` says that what stands behind it is known to work on the chip.
    """

    number: int
    kind: str
    at: CodeSpot
    real: str
    admits: tuple[str, ...]
    wanted: tuple[str, ...]
    fix: Fix | None
    words: str
    proved: bool
    needed_by: tuple[str, ...]
    said: str = ""
    """What `bwlint check` says of the place, with the code of the rule, where no way of an operation leads there."""
    related: tuple[Related, ...] = ()
    """The places that this rests on."""
    also: tuple[CodeSpot, ...] = ()
    """Other places with the same code, of which the same is said."""
    keeps_out: bool = False
    """Whether it opens nothing: it keeps the chip out of code that this cannot run."""


@dataclass(frozen=True, slots=True)
class Lack:
    """What a way ends in that the chip has not: `what` works on `legal` alone. `by_check`: the check there is all that
    says so."""

    at: CodeSpot
    what: str
    legal: tuple[str, ...]
    by_check: bool = False


@dataclass(frozen=True, slots=True)
class Way:
    """One way from an operation to its end: its `gates` from the name inwards, with the numbers of those that are steps
    of the plan. `shown` says what is known to work behind it; empty where nothing in the tree says so. The gates in
    front of what the chip lacks are no steps."""

    name: str
    steps: tuple[int, ...]
    gates: tuple[CodeSpot, ...]
    lacks: tuple[Lack, ...]
    shown: tuple[str, ...]
    chosen: bool = False


@dataclass(frozen=True, slots=True)
class PortRow:
    """An operation that does not work on the chip, or not in all uses. `now` is the word of the matrix, with the `arm`
    of a fallback. `shared` are the steps that are on every way that opens, `instead` what the library has for the chip
    meanwhile."""

    name: str
    now: str
    arm: str
    at: CodeSpot
    verdict: Verdict
    ways: tuple[Way, ...]
    shared: tuple[int, ...]
    instead: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Port:
    """`steps` stand in the order in which they are to be made: what is behind comes before what leads there, and what
    keeps the chip out of something comes last. `scanned`
    counts the files that were read, which are among `files`. `left` are rows of the ledger that no step answers,
    `apart` errors that turn the chip away and that no operation was seen to meet. `answered` counts the operations that
    the matrix answers, for whichever chip."""

    chip: str
    rows: tuple[PortRow, ...]
    steps: tuple[PortStep, ...]
    scanned: int = 0
    skipped: tuple[Skipped, ...] = ()
    files: tuple[SourceFile, ...] = ()
    left: tuple[Row, ...] = ()
    apart: tuple[CodeSpot, ...] = ()
    answered: int = 0
