"""p2p-atomics: a path over another GPU's memory is switched on and nothing within reach shows that it works."""

from __future__ import annotations

from bwlint.model.rule import RuleTraits

RULE = RuleTraits(
    "p2p-atomics",
    explains=2,
    unmended="to ask the pair of GPUs or to keep the path to chips with NVLink is for its callers to say",
)
