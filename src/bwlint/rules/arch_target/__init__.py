"""arch-target: what a build compiles for is not what its chips can load."""

from __future__ import annotations

from bwlint.model.rule import RuleTraits

RULE = RuleTraits("arch-target", asks_builds=True)
