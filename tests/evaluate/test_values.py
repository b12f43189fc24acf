from __future__ import annotations

from typing import Any

import pytest

from bwlint.evaluate.values import Capability, Method, Unknown


@pytest.mark.parametrize("part", [Method(None, "major"), None, "12", Unknown(), 12.0])
def test_a_capability_of_what_is_no_number_is_unknown(part: Any) -> None:
    assert Capability.made(12, 1) == Capability((12, 1))
    assert isinstance(Capability.made(part, 0), Unknown)
    assert isinstance(Capability.made(12, part), Unknown)
