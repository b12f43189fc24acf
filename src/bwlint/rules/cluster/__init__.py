"""cluster: a thread block cluster of a fixed size that nobody asked the device about, or that a builder refuses."""

from __future__ import annotations

from bwlint.model.rule import RuleTraits

RULE = RuleTraits(
    "cluster",
    explains=4,
    unmended="to ask what fits, to take smaller clusters or to go without is a choice: multicast is software there",
)
