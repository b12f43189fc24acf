"""leak: a chip is let through to something that does not work there."""

from __future__ import annotations

from bwlint.model.rule import RuleTraits

RULE = RuleTraits("leak", explains=5, concerns="let-in", asks_choices=True, asks_handed=True)
