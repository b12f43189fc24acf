"""What is told of a chip does not rest on whether its sibling is asked about too."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bwlint.chips import ChipSet
from bwlint.evaluate.sources import Sources
from bwlint.run.engine import analyse
from bwlint.sources.walk import discover
from bwlint.world.collect import collect

FIXTURES = Path(__file__).parents[3] / "fixtures" / "arch-target"
Place = tuple[str, int, str]


def told(*chips: str) -> dict[Place, str]:
    """What the rule says of the fixtures for some chips, by file, line and severity."""
    files = collect(discover([str(FIXTURES)]).files, 1)
    found = analyse(files, Sources(), ChipSet.of(*chips), ["arch-target"])
    return {(file.path, one.at[0], one.severity): one.message for file, drafts in found.drafts for one in drafts}


@pytest.mark.parametrize(("chip", "sibling"), [("12.1", "12.0"), ("12.0", "12.1")])
def test_alone_and_with_its_sibling(chip: str, sibling: str) -> None:
    told_of = rf"(?:no target of|on|nothing for) {sibling} \([^)]*\)(?: too|\.| under)|{sibling} \([^)]*\) gets PTX"
    of_sibling = re.compile(rf"{told_of}|^(?!.*{re.escape(chip)}).*{sibling}")
    both, alone = told("12.0", "12.1"), told(chip)
    ours = {place for place, message in both.items() if not of_sibling.search(message)}
    assert len(ours) > 70
    assert {place: both[place] for place in ours - alone.keys()} == {}
    assert {place: alone[place] for place in alone.keys() - both.keys()} == {}
