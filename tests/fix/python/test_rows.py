"""Rows of tables that are keyed by the capability, copied for the twin."""

from __future__ import annotations

import pytest

from bwlint.fix.edited import apply
from bwlint.model.findings import Fix, NoFix

from .conftest import Make

COPIED = [
    ("SMEM_BY_ARCH = {100: 1, 120: 2}\n", "SMEM_BY_ARCH = {100: 1, 120: 2, 121: 2}\n"),
    ("ROWS = {(10, 0): 1, (12, 0): 2}\n", "ROWS = {(10, 0): 1, (12, 0): 2, (12, 1): 2}\n"),
    ("ROWS = {(12, 0): 2, (10, 0): 1}\n", "ROWS = {(12, 0): 2, (12, 1): 2, (10, 0): 1}\n"),
    (
        "NAMES = {(10, 0): 'sm_100a', (12, 0): 'sm_120a'}\n",
        "NAMES = {(10, 0): 'sm_100a', (12, 0): 'sm_120a', (12, 1): 'sm_121a'}\n",
    ),
    (
        "ROWS = {\n    (10, 0): 1,\n    (12, 0): 2,\n}\n",
        "ROWS = {\n    (10, 0): 1,\n    (12, 0): 2,\n    (12, 1): 2,\n}\n",
    ),
    (
        "ROWS = {\n    (10, 0): 1,\n    (12, 0): 2\n}\n",
        "ROWS = {\n    (10, 0): 1,\n    (12, 0): 2,\n    (12, 1): 2\n}\n",
    ),
    (
        "ROWS = {\n    (12, 0): 2,  # RTX 5090\n    (10, 0): 1,\n}\n",
        "ROWS = {\n    (12, 0): 2,  # RTX 5090\n    (12, 1): 2,\n    (10, 0): 1,\n}\n",
    ),
    (
        "ROWS = {\n    (10, 0): 1,\n    (12, 0): 2  # RTX 5090\n}\n",
        "ROWS = {\n    (10, 0): 1,\n    (12, 0): 2,  # RTX 5090\n    (12, 1): 2\n}\n",
    ),
    (
        "ROWS = {\n    (10, 0): 1,\n    (12, 0): (\n        'sm_120a',\n        120,\n    ),\n}\n",
        "ROWS = {\n    (10, 0): 1,\n    (12, 0): (\n        'sm_120a',\n        120,\n    ),\n"
        "    (12, 1): (\n        'sm_121a',\n        120,\n    ),\n}\n",
    ),
    (
        "ROWS = {\r\n    (10, 0): 1,\r\n    (12, 0): 2,\r\n}\r\n",
        "ROWS = {\r\n    (10, 0): 1,\r\n    (12, 0): 2,\r\n    (12, 1): 2,\r\n}\r\n",
    ),
]


@pytest.mark.parametrize(("before", "after"), COPIED)
def test_row_is_copied_for_the_twin(snippet: Make, before: str, after: str) -> None:
    fix = snippet(before).propose(unsafe_reason="a person knows")
    assert isinstance(fix, Fix), fix
    assert (apply(before, fix.edits), fix.applicability) == (after, "unsafe")


@pytest.mark.parametrize("before", [before for before, _ in COPIED if "'sm_120a'}" not in before])
def test_not_safely(snippet: Make, before: str) -> None:
    assert snippet(before).refused() == "decide the values of the row"


@pytest.mark.parametrize(
    ("before", "row"),
    [
        ("ROWS = {(10, 0): 'sm_100a', (12, 0): 'sm_120a'}\n", "(12, 1): 'sm_121a'"),
        ("ROWS = {(9, 0): ('h', ['sm_90a']), (12, 0): ('b', ['sm_120a'])}\n", "(12, 1): ('b', ['sm_121a'])"),
        ("SMEM = {(10, 0): 227 * 1024, (12, 0): (100 - 1) * 1024}\n", "(12, 1): (100 - 1) * 1024"),
        ("SMEM = {'sm_100': 232448, 'sm_120': 101376}\n", "'sm_121': 101376"),
        ("SMEM = {(10, 0): 228 * 1024, (12, 0): 100 * 1024}\n", "(12, 1): 100 * 1024"),
        ("SMEM_BY_ARCH = {90: 227, 86: 99, 120: 99}\n", "121: 99"),
        ("SMEM = {'8.0': 163, '9.0': 227, '12.0': 99}\n", "'12.1': 99"),
    ],
)
def test_row_that_can_say_nothing_else(snippet: Make, before: str, row: str) -> None:
    """Targets of the other chip, and memory of which both have as much."""
    assert snippet(before).fixed() == before.replace("}", f", {row}}}")


@pytest.mark.parametrize(
    "before",
    [
        "PEAK = {(10, 0): 2250, (12, 0): 1000}\n",
        "SMS = {(10, 0): 148, (12, 0): 188}\n",
        "SMEM_BY_ARCH = {90: 227, 86: 99, 120: 100}\n",
        "SMEM_BY_ARCH = {90: 228, 86: 99, 120: 99}\n",
        "NAMES = {(10, 0): 'B200', (12, 0): 'RTX 5090 sm_120a'}\n",
        "ROWS = {(10, 0): ('sm_100a', 4), (12, 0): ('sm_120a', 2)}\n",
        "NAMES = {(10, 0): 'blackwell', (12, 0): 'blackwell_consumer'}\n",
        "TILES = {(10, 0): (228 - 1) * 512, (12, 0): (100 - 1) * 512}\n",
    ],
)
def test_row_that_may_say_something_else(snippet: Make, before: str) -> None:
    assert snippet(before).refused() == "decide the values of the row"


@pytest.mark.parametrize(
    "text",
    [
        "ROWS = {(10, 0): f(1), (12, 0): f(2)}\n",
        "ROWS = {(10, 0): lambda: 1, (12, 0): lambda: 2}\n",
        "ROWS = {(10, 0): 1, (12, 0): [x for x in y]}\n",
        "ROWS = {(10, 0): 1, (12, 0): 1 + x}\n",
        "ROWS = {(10, 0): 1, (12, 0): f'{x}'}\n",
    ],
)
def test_computed_rows(snippet: Make, text: str) -> None:
    found = snippet(text).propose(unsafe_reason="a person knows")
    assert found == NoFix("the row of the twin is computed, and not written out")
