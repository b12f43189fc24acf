"""suffix-lost: code that wants a suffix of its target which the target does not have."""

from __future__ import annotations

from bwlint.model.rule import RuleTraits

RULE = RuleTraits("suffix-lost", explains=9)
