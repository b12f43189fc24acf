"""tma-slow-path: bulk loads that assemble to a test and a call of the driver."""

from __future__ import annotations

from bwlint.model.rule import RuleTraits

RULE = RuleTraits("tma-slow-path")
