"""Functions with several ways out: what is known of their result where nobody knows which way is taken."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bwlint.chips import EVERY, NONE, ChipSet
from bwlint.world.tree import Sets

Evaluate = Callable[..., "Sets | None"]

ASKED = "def has(major):\n    if not anything():\n        return False\n    return cap >= (major, 0)\n"
OVERRIDDEN = (
    "def capability():\n    if os.environ.get('ARCH'):\n        return parsed(os.environ['ARCH'])\n    return cap\n"
)
BY_PHASE = (
    "def supports(prefill=False):\n    if os.environ.get('INVARIANT'):\n        return False\n"
    "    if cap == (9, 0) or cap[0] == 12:\n        return not prefill\n    return cap[0] == 10\n"
)
UNDER_ONE_DOUBT = (
    "def capability():\n    if anything():\n        if cap[0] >= 9:\n            return (cap[0], 9)\n"
    "        return cap\n    raise ValueError('no GPU')\n"
)
TWO_DOUBTS = UNDER_ONE_DOUBT.replace("if cap[0] >= 9:", "if cap[0] >= 9 and other():")
FITS = "def fits(rows):\n    if anything():\n        return False\n    return fitted(rows)\n"
TENS = ChipSet.where(lambda chip: chip.major == 10)
ASKS = TENS | ChipSet.of("9.0", "12.0", "12.1")
CONSUMER, ADA = ChipSet.of("12.0", "12.1"), ChipSet.of("8.9")
OLDER = ChipSet.where(lambda chip: chip.major < 10)


@pytest.mark.parametrize(
    ("setup", "condition", "may", "must", "core"),
    [
        (ASKED, "not has(10)", EVERY, OLDER, OLDER),
        (ASKED, "has(10)", EVERY - OLDER, NONE, EVERY - OLDER),
        (ASKED.replace("False", "True"), "has(10)", EVERY, EVERY - OLDER, EVERY - OLDER),
        (OVERRIDDEN, "capability() == (12, 0)", ChipSet.of("12.0"), ChipSet.of("12.0"), ChipSet.of("12.0")),
        (OVERRIDDEN, "capability()[0] >= 10", EVERY - OLDER, EVERY - OLDER, EVERY - OLDER),
        (UNDER_ONE_DOUBT, "something() or capability() == (12, 9)", EVERY, CONSUMER, CONSUMER),
        (UNDER_ONE_DOUBT, "something() or capability() == (8, 9)", EVERY, ADA, ADA),
        (TWO_DOUBTS, "something() or capability() == (12, 9)", EVERY, NONE, CONSUMER),
        (FITS, "fits(8) and cap[0] >= 10", EVERY - OLDER, NONE, EVERY - OLDER),
        (FITS, "not fits(8) or cap[0] >= 10", EVERY, EVERY - OLDER, EVERY - OLDER),
        (BY_PHASE, "supports(prefill=True)", TENS, NONE, TENS),
        (BY_PHASE, "supports(prefill=False)", ASKS, NONE, ASKS),
        (BY_PHASE, "supports(anything())", ASKS, NONE, TENS),
    ],
)
def test_a_way_out_that_may_be_taken(
    evaluate: Evaluate, setup: str, condition: str, may: ChipSet, must: ChipSet, core: ChipSet
) -> None:
    found = evaluate(condition, setup)
    assert found is not None
    assert (found.may, found.must, found.core, found.guessed) == (may, must, core, False)
