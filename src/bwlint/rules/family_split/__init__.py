"""family-split: a gate or a guard cuts one member of a chip family from another that runs the same code."""

from __future__ import annotations

from bwlint.model.rule import RuleTraits

RULE = RuleTraits("family-split", explains=6, concerns="kept-out")
