"""Rows of tables that are keyed by the capability, copied for the twin."""

from __future__ import annotations

import pytest

from bwlint.fix.apply import apply
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


@pytest.mark.parametrize("before", [before for before, _ in COPIED])
def test_never_safely(snippet: Make, before: str) -> None:
    fix = snippet(before).propose()
    assert isinstance(fix, Fix), fix
    assert fix.proof.evidence == "a test (unsafe: what stands in a row may be true of the twin alone)"


SHARED = [
    ("SMEM_BY_ARCH = {90: 227, 86: 99, 120: 99}\n", "SMEM_BY_ARCH = {90: 227, 86: 99, 120: 99, 121: 99}\n"),
    (
        "CAP = {'sm_80': 166912, 'sm_90': 232448, 'sm_120': 101376}\n",
        "CAP = {'sm_80': 166912, 'sm_90': 232448, 'sm_120': 101376, 'sm_121': 101376}\n",
    ),
    (
        "CAP = {\n    'sm_120': (100 - 1) * 1024,\n    'sm_90': 232448,\n    'sm_80': (164 - 1) * 1024,\n}\n",
        "CAP = {\n    'sm_120': (100 - 1) * 1024,\n    'sm_121': (100 - 1) * 1024,\n    'sm_90': 232448,\n"
        "    'sm_80': (164 - 1) * 1024,\n}\n",
    ),
    (
        "SMEM = {'8.0': 163, '9.0': 227, '12.0': 99}\n",
        "SMEM = {'8.0': 163, '9.0': 227, '12.0': 99, '12.1': 99}\n",
    ),
]


@pytest.mark.parametrize(("before", "after"), SHARED)
def test_shared_memory_of_a_block_is_a_fact(snippet: Make, before: str, after: str) -> None:
    fix = snippet(before).propose()
    assert isinstance(fix, Fix), fix
    assert (apply(before, fix.edits), fix.applicability) == (after, "safe")


@pytest.mark.parametrize(
    "before",
    [
        "SMEM_BY_ARCH = {90: 227, 86: 99, 120: 100}\n",
        "SMEM_BY_ARCH = {90: 228, 86: 99, 120: 99}\n",
        "SMEM_BY_ARCH = {90: 132, 86: 84, 120: 188}\n",
        "SMEM_BY_ARCH = {90: 227, 86: 99, 120: 64}\n",
    ],
)
def test_a_row_that_is_no_block_s_is_for_a_person(snippet: Make, before: str) -> None:
    fix = snippet(before).propose()
    assert isinstance(fix, Fix), fix
    assert fix.applicability == "unsafe"


@pytest.mark.parametrize(
    "text",
    [
        "ROWS = {(10, 0): f(1), (12, 0): f(2)}\n",
        "ROWS = {(10, 0): lambda: 1, (12, 0): lambda: 2}\n",
        "ROWS = {(10, 0): 1, (12, 0): [x for x in y]}\n",
        "ROWS = {(10, 0): 1, (12, 0): f'{x}'}\n",
    ],
)
def test_computed_rows(snippet: Make, text: str) -> None:
    found = snippet(text).propose(unsafe_reason="a person knows")
    assert found == NoFix("the row of the twin is computed, and not written out")
