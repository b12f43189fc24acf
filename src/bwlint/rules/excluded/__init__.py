"""excluded: a chip is kept out though the thing behind the gate or guard works there."""

from __future__ import annotations

from bwlint.model.rule import RuleTraits

RULE = RuleTraits("excluded", explains=7, concerns="kept-out")
