"""tcgen05: the fifth-generation tensor core in code for a chip without one."""

from __future__ import annotations

from bwlint.model.rule import RuleTraits

RULE = RuleTraits("tcgen05", concerns="let-in")
