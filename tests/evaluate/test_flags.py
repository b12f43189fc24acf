"""Flags that are named after compile targets: as sets of chips, where two of them stand together."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bwlint.world.tree import Sets

Evaluate = Callable[..., "Sets | None"]
PARAMETERS = "has_sm90 = caps.get('sm90')\nhas_sm100f = caps.get('sm100f')\nhas_sm120 = caps.get('sm120')\n"

HOLDS = [
    ("has_sm120 or has_sm121", "", "12.x"),
    ("self.has_sm100 or self.has_sm120", "", "10.0 and 12.0"),
    ("not has_sm90a and not has_sm120", "", "every chip but 9.0 and 12.0"),
    ("(has_sm90 or has_sm120) and has_sm120f", "", "12.0 only"),
    ("caps.sm_capabilities.get('sm120') or caps.sm_capabilities['sm_103a']", "", "10.3 and 12.0"),
    ("'compute_120' in archs or 'compute_121' in archs", "", "12.x"),
    ("has_sm120f or has_sm90", "", "9.0 and 12.x"),
    ("has_sm120", PARAMETERS, "12.0 only"),
    ("not has_sm90", PARAMETERS, "every chip but 9.0"),
]
KNOWN = [
    ("has_sm120 or has_sm121", "has_sm120 = major == 12\nhas_sm121 = False\n", "12.x"),
    ("is_sm100 or is_sm120", "is_sm100 = major == 10\nis_sm120 = major == 12\n", "10.x and 12.x"),
]
SILENT = [
    ("has_sm120", ""),
    ("has_sm120 or use_fast_path", ""),
    ("has_sm120 or has_sm120", ""),
    ("sm120_kernel or sm121_kernel", ""),
    ("has_sm4 or has_sm999", ""),
    ("names.get('sm120') or names.get('sm121')", ""),
    ("'compute_120' in text or 'compute_121' in text", ""),
    ("has_sm120 == has_sm121", ""),
]


@pytest.mark.parametrize(("condition", "setup", "expected"), HOLDS)
def test_flags_of_a_build(evaluate: Evaluate, condition: str, setup: str, expected: str) -> None:
    sets = evaluate(condition, setup)
    assert sets is not None
    assert sets.flags
    assert sets.guessed
    assert str(sets.core) == expected


@pytest.mark.parametrize(("condition", "setup", "expected"), KNOWN)
def test_flags_that_are_assigned_are_what_they_are_assigned(
    evaluate: Evaluate, condition: str, setup: str, expected: str
) -> None:
    sets = evaluate(condition, setup)
    assert sets is not None
    assert not sets.flags
    assert str(sets.core) == expected


@pytest.mark.parametrize(("condition", "setup"), SILENT)
def test_names_that_are_no_flags_of_a_build(evaluate: Evaluate, condition: str, setup: str) -> None:
    assert evaluate(condition, setup) is None
