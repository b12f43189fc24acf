"""What is computed of times: medians with their spread, ratios round by round, JSON and back."""

from __future__ import annotations

import json

import pytest
from measured import SMALL, timing
from timing.figures import Ratio, Spread, as_json, difference, from_json, ratio, spread, table


@pytest.mark.parametrize(
    ("numbers", "found"),
    [([3.0, 1.0, 2.0], (2.0, 1.0, 3.0)), ([1.0, 2.0], (1.5, 1.0, 2.0)), ([4.0], (4.0, 4.0, 4.0))],
)
def test_a_spread_is_the_middle_and_both_ends(numbers: list[float], found: tuple[float, float, float]) -> None:
    assert spread(numbers) == Spread(*found)


def test_nothing_has_no_spread() -> None:
    with pytest.raises(ValueError, match="nothing was measured"):
        spread([])
    assert timing("semgrep", reason="not installed").seconds is None


@pytest.mark.parametrize(
    ("of", "to", "found"),
    [
        ([2.0, 9.0, 4.0], [1.0, 3.0, 2.0], Spread(2.0, 2.0, 3.0)),
        # The machine was slow in the second round, for both of them.
        ([1.0, 10.0, 1.0], [2.0, 20.0, 2.0], Spread(0.5, 0.5, 0.5)),
        ([2.0, 2.0, 2.0], [1.0], Spread(2.0, 2.0, 2.0)),
        ([], [1.0], None),
    ],
)
def test_a_ratio_is_of_runs_in_the_same_round(of: list[float], to: list[float], found: Spread | None) -> None:
    expected = None if found is None else Ratio("a", "b", found)
    assert ratio(timing("a", *of), timing("b", *to)) == expected


def test_a_hook_is_seconds_over_nothing() -> None:
    over = difference(timing("hook", 0.5, 0.75), timing("python -c pass", 0.25, 0.25))
    assert over == Ratio("hook", "python -c pass", Spread(0.375, 0.25, 0.5), is_difference=True)


def test_memory_is_the_most_of_all_runs() -> None:
    assert timing("a", 1.0, 2.0, memory=[30.0, 50.0]).memory == 50
    assert timing("a", 1.0, memory=[None]).memory is None


def test_json_has_every_run_and_comes_back_as_it_was() -> None:
    text = as_json(SMALL)
    assert from_json(text) == SMALL
    cold = json.loads(text)["groups"][0]["timings"][0]
    assert [run["seconds"] for run in cold["runs"]] == [8.0, 9.0, 10.0]
    assert cold["seconds"] == {"median": 9.0, "low": 8.0, "high": 10.0}


def test_results_of_another_version_are_refused() -> None:
    with pytest.raises(ValueError, match="version 99"):
        from_json(as_json(SMALL).replace('"version": 1', '"version": 99', 1))


def test_people_see_medians_ratios_and_why_something_is_missing() -> None:
    shown = " ".join(table(SMALL.groups).split())
    assert "bwlint, no index 9.00 s (8.00 to 10.00) 4.50 s of work 300 MiB" in shown
    assert "semgrep not installed (semgrep is neither on PATH" in shown
    assert "bwlint, no index / ruff 3 (3 to 4)" in shown
    assert "hook, no index over python -c pass 0.45 s" in shown
