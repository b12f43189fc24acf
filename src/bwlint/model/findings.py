"""Findings, fixes, claims and reports, as rules produce them and reports print them.

Lines and columns are 1-based; columns count UTF-16 code units and an end column is one past the end
(`sources.read.SourceText` converts from the byte columns of `ast`). Chip sets are tuples of compute capabilities
such as ``("12.0", "12.1")`` in ascending order.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Literal, final

Severity = Literal["error", "warning", "note"]
FailOn = Literal["error", "warning", "note", "never"]
Confidence = Literal["high", "medium", "low"]
Category = Literal[
    "arch-target",
    "capability-type",
    "cluster",
    "excluded",
    "family-split",
    "leak",
    "message",
    "moe-plan",
    "other",
    "p2p-atomics",
    "sm-count",
    "smem",
    "tcgen05",
    "test-gate",
    "toolchain",
    "unified-memory",
    "wgmma",
]
Applicability = Literal["safe", "unsafe"]
FixKind = Literal["family", "type", "text", "admit", "bound", "size", "space", "check"]
"""What a fix does: completes a family, mends a comparison of unlike types, mends words, admits another family, writes
the size that a chip has; and, never safe, bounds an open test or drops a target, writes another state space."""

SEVERITIES: tuple[Severity, ...] = ("note", "warning", "error")
FAIL_ON: tuple[FailOn, ...] = (*SEVERITIES, "never")
CONFIDENCES: tuple[Confidence, ...] = ("low", "medium", "high")
KEY = "bwlint/v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryTraits:
    """What reports say of the findings of a category.

    `is_served`: builds and binaries admit nobody, they serve chips. `is_gateless`: they may stand on a text or a launch
    instead of a gate; then an empty set says nothing. `is_path`: they lead through a gate to what does not work behind.
    """

    is_served: bool = False
    is_gateless: bool = False
    is_path: bool = False


CATEGORIES: dict[Category, CategoryTraits] = {
    "arch-target": CategoryTraits(is_served=True),
    "capability-type": CategoryTraits(),
    "cluster": CategoryTraits(is_path=True),
    "excluded": CategoryTraits(is_path=True),
    "family-split": CategoryTraits(),
    "leak": CategoryTraits(is_path=True),
    "message": CategoryTraits(is_gateless=True),
    "moe-plan": CategoryTraits(is_gateless=True),
    "other": CategoryTraits(is_gateless=True),
    "p2p-atomics": CategoryTraits(is_path=True),
    "sm-count": CategoryTraits(is_gateless=True),
    "smem": CategoryTraits(is_path=True),
    "tcgen05": CategoryTraits(is_path=True),
    "test-gate": CategoryTraits(),
    "toolchain": CategoryTraits(is_gateless=True),
    "unified-memory": CategoryTraits(is_gateless=True),
    "wgmma": CategoryTraits(is_path=True),
}


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
    rule: str = ""
    """The code of the rule that told it, where this was a finding by itself; else ""."""


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


@final
@dataclass(frozen=True, slots=True)
class NoFix:
    """Why nothing is proposed. `technical`: a spelling was tried and is not right, which says nothing of the place."""

    reason: str
    technical: bool = field(default=False, compare=False)


ClaimKind = Literal[
    "gate",
    "guard",
    "instruction",
    "legal",
    "image",
    "build",
    "shared",
    "cluster",
    "bounds",
    "unchecked",
    "peer",
    "slow",
    "need",
    "other",
]
"""What is claimed:

gate         a condition of the running program holds on `holds` and fails on the other chips of `chips`
guard        a test of the preprocessor, the directive `subject`, may hold for `holds`, does for `certain` whatever else
             is defined, and fails for the other `targets`
instruction  `subject`, or what it wraps, does not assemble for `targets`
legal        `subject`, or what it wraps, assembles for `targets`
image        no image of the file (or of `subject`, a container's offset such as "0x40" or a kernel) loads on `chips`
build        what nvcc makes of `subject` ("compute_90,sm_90;compute_90,compute_90") does not load on `chips`; without
             `chips`, nvcc refuses it
shared       a block of `chips`, or the code that ptxas makes for `targets`, cannot have `amounts` (bytes) of `subject`
             ("dynamic", "static", or "default": dynamic without an opt-in) shared memory
cluster      a cluster of `amounts` (x, y, z) cannot be launched on `chips` without an opt-in; `subject` is a kernel of
             a binary, or "builder": a template's builder for `chips` refuses it in a static_assert
bounds       `amounts` (threads, blocks) are more than a multiprocessor of `chips` holds: the minimum is dropped
unchecked    nobody would notice that `chips` refuse `amounts` (bytes; none: not known) of dynamic shared memory
peer         memory of a peer used as `subject` says (peer-store, remote-atomic, multicast, fabric, rdma) may not work
             on `chips`
slow         `subject`, or what it wraps, assembles for `targets` to a call of the driver; of a binary, the kernel
             `subject` makes such calls on `chips`
need         `subject`, behind a gate or in a build, works on `holds` and not on the other `chips`: no rung tests it
other        what is to be seen in the source: no rung tests it
"""

BUILDER = "builder"
"""The subject of a claim on a cluster that no compiler lets reach a launch."""


@dataclass(frozen=True, slots=True)
class Claim:
    """What can be tested of a finding. `chips` are compute capabilities, `targets` names such as "sm_120a".

    `says` is the claim as a sentence without its period. The other fields are as `ClaimKind` says: of a gate, `holds`
    are the chips on which it may hold, `certain` those on which it does whatever else is so, `raises` those on which
    it raises. `at` is the place (of a gate its whole test; of an instruction the instruction) in the finding's file,
    or in that at `path`, told like the finding's, where it is not "".
    """

    kind: ClaimKind
    says: str
    chips: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    holds: tuple[str, ...] = ()
    certain: tuple[str, ...] = ()
    raises: tuple[str, ...] = ()
    subject: str = ""
    amounts: tuple[int, ...] = ()
    at: Region | None = None
    path: str = ""


Outcome = Literal["confirmed", "refuted", "inconclusive"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a test of a finding came to, and why in one sentence."""

    outcome: Outcome
    reason: str


Sighting = Literal["seen", "not seen", "contradicted"]


@dataclass(frozen=True, slots=True)
class Seen:
    """What a trace of a program says of the kernel that a finding is about: in a word, and in a sentence."""

    sighting: Sighting
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One reported place.

    `admitted` is the may set of the gate, `certain` its must set, `legal` the chips on which what is
    behind the gate works (None: not known). `what` is one sentence of advice: what to write instead.
    """

    rule: str
    name: str
    category: Category
    severity: Severity
    confidence: Confidence
    path: str
    region: Region
    message: str
    admitted: tuple[str, ...] = ()
    certain: tuple[str, ...] = ()
    legal: tuple[str, ...] | None = None
    label: str = ""
    advice: str = ""
    related: tuple[Related, ...] = ()
    fix: Fix | None = None
    fix_refused: str | None = None
    ways: tuple[Fix, ...] = field(default=(), compare=False)
    """The edits that a person has to choose from, in no report: only where somebody asks for them."""
    fingerprint: str = ""
    content: str = field(default="", compare=False)
    """The fingerprint without the function around it: the same where code was moved into another one."""
    bundled: str = field(default="", compare=False)
    """The folder of another project, within the one at hand, that the file comes with: where reports put it last."""
    within: str = field(default="", compare=False)
    """The function or class around it; "" where there is none, or in a binary."""
    claims: tuple[Claim, ...] = ()
    """All of them are true where the finding is."""
    verdict: Verdict | None = None
    """None where nobody has put it to the test."""
    trace: Seen | None = None
    """None where no trace was given, or the finding is about no kernel."""


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


def fingerprint(rule: str, gate_text: str, qualified_name: str, ordinal: int) -> str:
    """32 hex digits of a finding.

    `gate_text` is the source of the gate, its white space left out of account; `qualified_name` the function
    or class around it; `ordinal` tells equal gates of one such place apart. No path and no line enters.
    """
    parts = (KEY, rule, "".join(gate_text.split()), qualified_name, str(ordinal))
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]
