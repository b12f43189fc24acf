"""The rules about instructions and atoms that ptxas refuses, or assembles to a routine in software."""

from __future__ import annotations

from functools import partial

from bwlint.judging.legality import drafts
from bwlint.model.rule import RuleTraits
from bwlint.rules.suffix_lost import RULE as SUFFIX_LOST
from bwlint.rules.tcgen05 import RULE as TCGEN05
from bwlint.rules.tma_slow_path import RULE as TMA_SLOW_PATH

_WGMMA = RuleTraits("wgmma", concerns="let-in")
_ILLEGAL_INSTRUCTION = RuleTraits("illegal-instruction")

FILE_CHECKS = (
    (_ILLEGAL_INSTRUCTION, partial(drafts, kind="unknown")),
    (SUFFIX_LOST, partial(drafts, kind="suffix")),
    (TCGEN05, partial(drafts, kind="tcgen05")),
    (TMA_SLOW_PATH, partial(drafts, kind="slow")),
    (_WGMMA, partial(drafts, kind="wgmma")),
)
"""Each rule with the check that tells of its kind of charge."""
