"""capability-type: a comparison that has the same answer on every chip because of its types, or raises."""

from __future__ import annotations

from bwlint.model.rule import RuleTraits

RULE = RuleTraits("capability-type", explains=1, notes_stand_apart=True)
