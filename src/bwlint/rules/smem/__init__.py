"""smem: more shared memory than the chip gives to a block, or a limit that is not the block's."""

from __future__ import annotations

from bwlint.model.rule import RuleTraits

RULE = RuleTraits("smem", explains=3)
