"""relabelled: a cubin whose header names another chip than its notes."""

from __future__ import annotations

from bwlint.model.rule import RuleTraits

RULE = RuleTraits("relabelled")
