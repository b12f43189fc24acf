"""A rule's traits for the code that handles its findings; its texts for users are in the catalogue."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class RuleTraits:
    """One rule by its name in the catalogue. The defaults are those of a rule whose findings stand by themselves.

    `explains` ranks rules of which one test breaks several at once: that of the lowest number says most, and the others
    become its related places. `notes_stand_apart` says that notes of such a rule are about another thing.
    `follows` is true of rules about what follows from a test, which is their first related place: they are left out
    beside a finding about the test, "unless-severer" if that is the less severe one.
    `concerns` is whether findings are about chips that are let in, or that are kept out, by what stands there: where no
    such chip gets, they are notes. `asks_builds` is true of rules that look at flags of a build, which are named after
    targets; `asks_choices` of rules that look at what is done for a text that the device picked elsewhere,
    `asks_handed` of rules that look at what functions of other files do with what they are handed.
    """

    name: str
    _: KW_ONLY
    explains: int | None = None
    notes_stand_apart: bool = False
    follows: Literal["always", "unless-severer"] | None = None
    concerns: Literal["let-in", "kept-out"] | None = None
    asks_builds: bool = False
    asks_choices: bool = False
    asks_handed: bool = False


NO_RULE = RuleTraits("")
