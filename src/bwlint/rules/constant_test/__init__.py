"""constant-test: comparisons of the device that are joined so that every chip gets the same answer."""

from __future__ import annotations

from bwlint.model.rule import RuleTraits

RULE = RuleTraits("constant-test", explains=1)
