"""p2p-atomics: a path over another GPU's memory is switched on and nothing within reach shows that it works."""

from __future__ import annotations

from bwlint.model.findings import NoFix
from bwlint.model.rule import RuleTraits

RULE = RuleTraits("p2p-atomics", explains=2)
BY_HAND = NoFix("choose the path between GPUs that have no NVLink")
