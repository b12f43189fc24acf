"""What rules produce and what reports, fixes and the JSON contract consume.

Lines and columns are 1-based; columns count UTF-16 code units and an end column is one past the end
(`source.Text` converts from the byte columns of `ast`). Chip sets are tuples of compute capabilities
such as ``("12.0", "12.1")`` in ascending order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning", "note"]
Confidence = Literal["high", "medium", "low"]
Applicability = Literal["safe", "unsafe"]
FixKind = Literal["family", "type", "text", "admit", "bound", "size", "space"]
"""What a fix does: completes a family, mends a comparison of unlike types, mends words; and, never safe, admits another
family, bounds an open test or drops a target, writes a smaller size, another state space."""

SEVERITIES: tuple[Severity, ...] = ("note", "warning", "error")


@dataclass(frozen=True, slots=True)
class Region:
    """A half-open stretch of one file."""

    line: int
    column: int
    end_line: int
    end_column: int


WHOLE_FILE = Region(1, 1, 1, 1)
"""Of findings in binaries, which have no lines."""


@dataclass(frozen=True, slots=True)
class Related:
    """Another place that the finding rests on: the kernel behind a gate, the helper's body, a sibling."""

    path: str
    region: Region
    message: str


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace `region` of `path` by `text`."""

    path: str
    region: Region
    text: str


@dataclass(frozen=True, slots=True)
class Proof:
    """The sets of a gate before and after an edit, both computed by the interpreter on the text as it stands then.

    Of a guard of the preprocessor they are names of targets such as "sm_120a", else compute capabilities.
    """

    before_may: tuple[str, ...]
    before_must: tuple[str, ...]
    after_may: tuple[str, ...]
    after_must: tuple[str, ...]
    evidence: str


@dataclass(frozen=True, slots=True)
class Fix:
    applicability: Applicability
    kind: FixKind
    title: str
    edits: tuple[Edit, ...]
    proof: Proof


@dataclass(frozen=True, slots=True)
class Finding:
    """One reported place.

    `admitted` is the may set of the gate, `certain` its must set, `legal` the chips on which what is
    behind the gate works (None: not known). `what` is one sentence of advice: what to write instead.
    """

    rule: str
    name: str
    category: str
    severity: Severity
    confidence: Confidence
    path: str
    region: Region
    message: str
    admitted: tuple[str, ...]
    certain: tuple[str, ...]
    legal: tuple[str, ...] | None
    label: str = ""
    advice: str = ""
    related: tuple[Related, ...] = ()
    fix: Fix | None = None
    fix_refused: str | None = None
    fingerprint: str = ""


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that was not read, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Suppressed:
    """A finding silenced by a comment, with the reason that the comment gives."""

    finding: Finding
    reason: str


@dataclass(frozen=True, slots=True)
class Report:
    """Everything one run has to say; reports render it and nothing else."""

    targets: tuple[str, ...]
    findings: tuple[Finding, ...]
    skipped: tuple[Skipped, ...]
    suppressed: tuple[Suppressed, ...]
    stats: dict[str, int]
