"""What a rule returns: drafts of findings, and what would mend them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bwlint.chips import NO_TARGET, NONE, ChipSet, TargetSet
from bwlint.judging.claims import Claimed
from bwlint.model.expr import Span
from bwlint.model.facts import Gate, Module
from bwlint.model.located import Located

if TYPE_CHECKING:
    pass


@dataclass(frozen=True, slots=True)
class RelatedSpan:
    module: Located
    at: Span
    message: str


@dataclass(frozen=True, slots=True)
class Remedy:
    """What a fix of a finding has to bring about; how that is spelled is up to `fix`.

    `how` is what is mended: test (of the running program), order (of names or of releases, which
    stands for something else), names (a list of targets), guard (of the preprocessor), carry (a list, a flag or a
    condition of a build), text (words for people), size (a number of bytes), space (the state space of an instruction).
    `chips` are those for which the test holds afterwards, the guard compiles, the build makes what they load, or that
    the text names. `evidence` says why that is right, `unsafe` why a person should look at it first (None: it is safe).
    `amount` is the size wanted, in bytes. `at` is where to mend, if that is not where the finding points. `targets` are
    those that a guard of the preprocessor compiles for afterwards. `along` are chips of the same generation that a
    spelling may not tell apart from those; a fix which takes them along is unsafe.
    """

    how: str
    chips: ChipSet = NONE
    evidence: str = ""
    unsafe: str | None = None
    amount: int = 0
    at: Span | None = None
    targets: TargetSet = NO_TARGET
    along: ChipSet = NONE


@dataclass(frozen=True, slots=True)
class Draft:
    """A finding before it has text columns: what a rule returns."""

    rule: str
    category: str
    severity: str
    confidence: str
    module: Module
    at: Span
    message: str
    label: str
    advice: str
    admitted: ChipSet
    certain: ChipSet
    legal: ChipSet | None
    gate: Gate | None = None
    related: tuple[RelatedSpan, ...] = ()
    remedy: Remedy | str | None = None
    """What would mend it; a string says why nothing is proposed."""
    cause: tuple[str, Span] | None = None
    """The place of another gate, which is what is wrong or right about all who lead there."""
    claims: tuple[Claimed, ...] = ()
    """What can be tested of it, besides its gate."""
    rests_on: tuple[Gate, ...] = ()
    """Other gates of the file whose sets it tells: the test beside a text, the arms above a dead one."""
    compares: ChipSet = NONE
    """The chips that its gates are to be asked for, where they are not those of the run."""
