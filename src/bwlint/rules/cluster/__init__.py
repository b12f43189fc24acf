"""cluster: a thread block cluster of a fixed size that nobody asked the device about, or that a builder refuses."""

from __future__ import annotations

from bwlint.model.findings import NoFix
from bwlint.model.rule import RuleTraits

RULE = RuleTraits("cluster", explains=4)
BY_HAND = NoFix("which cluster size these chips run with is your choice")
