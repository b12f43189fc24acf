from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from bwlint.chips import EVERY, NONE, ChipSet, group
from bwlint.rules.family_split import gate

FAMILY = ChipSet.of("12.0", "12.1")


@pytest.mark.parametrize(
    ("core", "decided", "together"),
    [
        (FAMILY, True, True),  # is_sm120a() or is_sm121a()
        (NONE, True, True),
        (ChipSet.of("12.0"), True, False),
        (EVERY, False, False),  # what others may have set parts the family all the same
        (group("datacenter-blackwell"), False, False),
    ],
)
def test_who_asks_is_known_to_part_nobody(
    monkeypatch: pytest.MonkeyPatch, core: ChipSet, decided: bool, together: bool
) -> None:
    user = SimpleNamespace(core=core, sets=SimpleNamespace(decided=decided))
    monkeypatch.setattr(gate, "asking", lambda *_: iter([user]))
    judged = cast("Any", SimpleNamespace(gate=SimpleNamespace(kind="flag")))
    assert gate._asked_together(cast("Any", None), judged, FAMILY) == together
