"""Results as a drawing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from measured import SMALL
from timing.figures import Results, from_json
from timing.plot import plot

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results"
TEXT = "{http://www.w3.org/2000/svg}text"


def words(drawing: str) -> list[str]:
    return [text.text or "" for text in ElementTree.fromstring(drawing).iter(TEXT)]


def test_it_shows_what_was_measured_and_why_something_was_not() -> None:
    shown = words(plot(SMALL))
    assert {"tree & more", "700 files, 20 MiB", "9.0 s", "300 MiB", "1/2", "all", "cuobjdump, images"} <= set(shown)
    assert "not installed" in shown
    assert any("a chip, 2 cores" in line and "2026-11-24" in line for line in shown)


def test_it_is_for_light_and_dark_pages_and_asks_nobody() -> None:
    drawing = plot(SMALL)
    assert "prefers-color-scheme: dark" in drawing
    assert "http" not in drawing.replace("http://www.w3.org/2000/svg", "")
    assert "<script" not in drawing


@pytest.mark.parametrize(
    "results",
    [
        SMALL,
        replace(SMALL, groups=()),
        *(replace(SMALL, groups=(group,)) for group in SMALL.groups),
        replace(SMALL, groups=tuple(replace(group, timings=()) for group in SMALL.groups)),
        replace(SMALL, groups=tuple(replace(group, timings=group.timings[-1:]) for group in SMALL.groups)),
    ],
)
def test_everything_is_on_the_card(results: Results) -> None:
    root = ElementTree.fromstring(plot(results))
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    for text in root.iter(TEXT):
        assert 0 <= float(text.attrib["x"]) <= width
        assert 0 < float(text.attrib["y"]) < height


def test_what_is_kept_is_drawn_as_it_would_be_now() -> None:
    """`python benchmarks/speed.py --plot` draws it again."""
    for kept in RESULTS.glob("*.json"):
        assert kept.with_suffix(".svg").read_text("utf-8") == plot(from_json(kept.read_text("utf-8")))
