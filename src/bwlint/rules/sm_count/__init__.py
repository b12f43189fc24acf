"""sm-count: code takes the multiprocessors of one product for those of the device, or memory for a product."""

from __future__ import annotations

from bwlint.model.rule import RuleTraits

RULE = RuleTraits("sm-count", explains=8, notes_stand_apart=True)
