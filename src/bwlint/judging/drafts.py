"""What a rule returns: draft findings, and the remedy for each."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Literal

from bwlint.chips import NO_TARGET, NONE, ChipSet, TargetSet
from bwlint.judging.claims import Claimed
from bwlint.model.expr import Span
from bwlint.model.facts import Gate, Located, Module, Side
from bwlint.model.findings import Category, Confidence, NoFix, Severity
from bwlint.model.rule import NO_RULE, RuleTraits
from bwlint.world.gates import Judged

if TYPE_CHECKING:
    from bwlint.judging.amounts import Asked
    from bwlint.judging.guards import Guarded


@dataclass(frozen=True, slots=True)
class RelatedSpan:
    module: Located
    at: Span
    message: str
    rule: str = ""
    """The name of the rule whose finding this was, before it became a place of another; else ""."""


Mending = Literal[
    "test",
    "admit",
    "order",
    "names",
    "rows",
    "guard",
    "carry",
    "text",
    "promise",
    "size",
    "space",
    "wrapper",
    "status",
    "macros",
    "answer",
    "meaning",
    "parts",
    "imported",
    "release",
]
"""What is mended: a test of the running program; one that another generation is written into; an order of names or of
releases, which stands for something else; a list of targets by name; a table of what each chip has; a guard of the
preprocessor; a list, a flag or a condition of a build; words for people; a number of bytes; the state space of an
instruction; the class that is put around kernels; a status or an error that nobody looks at; macros that are named
after one part; what a function answers; a condition or a list that says another thing than it means; major and minor
that are asked for apart; a flag that an import alone sets; the release of CUDA."""


@dataclass(frozen=True, slots=True)
class Remedy:
    """What a fix of a finding has to bring about; how that is spelled is up to `fix`.

    `chips` are those for which the test holds afterwards, the guard compiles, the build makes what they load, or that
    the text names. `evidence` says why that is right, `unsafe` why a person should look at it first (None: it is safe).
    `amount` is the size wanted, in bytes. `at` is where to mend, if that is not where the finding points. `targets` are
    those that a guard of the preprocessor compiles for afterwards. `named` are the chips that stand there by name: what
    is done for them alone, where nothing shows that the others of their families may follow. `release` is the one asked
    for, and the one to ask for. `home` is the file to mend, if it is another one. `also` are other tests of the file
    that are mended with it, or none is.
    """

    how: Mending
    chips: ChipSet = NONE
    _: KW_ONLY
    named: ChipSet = NONE
    evidence: str = ""
    unsafe: str | None = None
    amount: int = 0
    at: Span | None = None
    targets: TargetSet = NO_TARGET
    release: tuple[str, str] = ("", "")
    home: Module | None = None
    also: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftPlace:
    """Where a draft points, and which chips get there."""

    module: Module
    at: Span
    admitted: ChipSet
    certain: ChipSet
    gate: Gate | None = None

    @classmethod
    def of_gate(cls, judged: Judged, at: Span | None = None) -> DraftPlace:
        """A test of the running program, or a part of it."""
        admitted, certain = judged.may, judged.must
        return cls(module=judged.module, at=at or judged.at, admitted=admitted, certain=certain, gate=judged.gate)

    @classmethod
    def of_side(cls, judged: Judged, side: Side) -> DraftPlace:
        """A test, for the chips that take one of its sides."""
        certain = judged.sets.live & (judged.sets.must if side is judged.gate.yes else ~judged.sets.may)
        return cls(module=judged.module, at=judged.at, admitted=judged.on(side), certain=certain, gate=judged.gate)

    @classmethod
    def of_guard(cls, guarded: Guarded) -> DraftPlace:
        admitted, certain = guarded.admitted.chips, guarded.certain.chips
        return cls(module=guarded.module, at=guarded.guard.at, admitted=admitted, certain=certain, gate=guarded.guard)

    @classmethod
    def of_request(cls, one: Asked, certain: ChipSet) -> DraftPlace:
        """An operation that asks the device for an amount."""
        return cls(module=one.module, at=one.operation.at, admitted=one.targets.chips, certain=certain)


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A finding before it has text columns: what a rule returns."""

    rule: RuleTraits = NO_RULE
    """`rules` fills it in: that of the check."""
    category: Category | None = None
    """None: that of the rule."""
    place: DraftPlace
    severity: Severity
    confidence: Confidence
    message: str
    label: str
    advice: str
    legal: ChipSet | None = None
    related: tuple[RelatedSpan, ...] = ()
    remedy: Remedy | NoFix | None = None
    cause: tuple[str, Span | str] | None = None
    """The place of another gate, which is what is wrong or right about all who lead there."""
    claims: tuple[Claimed, ...] = ()
    """What can be tested of it, besides its gate."""
    rests_on: tuple[Gate, ...] = ()
    """Other gates of the file whose sets it tells: the test beside a text, the arms above a dead one."""
    compares: ChipSet = NONE
    """The chips that its gates are to be asked for, where they are not those of the run."""
    copies: tuple[Draft, ...] = ()
    """The same of files with the same bytes."""
    merged: tuple[Draft, ...] = ()
    """The drafts of the same fault that became places of this one: they are mended with it."""

    @property
    def module(self) -> Module:
        return self.place.module

    @property
    def at(self) -> Span:
        return self.place.at

    @property
    def gate(self) -> Gate | None:
        return self.place.gate
