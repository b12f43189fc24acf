"""How loud a split is that only tunes."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysed import drafts, levels

HEAD = "import torch\n\n\ndef capability():\n    return torch.cuda.get_device_capability()\n\n\n"
ARM = "def plan(q, heads):\n    most = 0\n    if capability() == (12, 0):\n        {}\n    return run(q, most)\n"
ASKED = (
    'def {}():\n    """{}"""\n    return capability() == (12, 0)\n\n\n'
    "def plan(q):\n    if {}():\n        return quick(q)\n    return slow(q)\n"
)


@pytest.mark.parametrize(
    ("arm", "expected"),
    [
        ("most = (processors() - 1) // (16 * heads)", ["10 note"]),
        ("most = 64", ["10 note"]),
        ("most = None", ["10 warning"]),
        ("return run_quick(q)", ["10 warning"]),
    ],
)
def test_a_number_that_is_reckoned(tmp_path: Path, arm: str, expected: list[str]) -> None:
    assert levels(drafts(tmp_path, {"a.py": HEAD + ARM.format(arm)}, "family-split")) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("True on the part whose tuning table is picked.", ["10 note"]),
        ("True on the part that is tuned for.", ["10 note"]),
        ("True where the quick way works.", ["10 warning"]),
    ],
)
def test_a_function_that_says_that_it_tunes(tmp_path: Path, text: str, expected: list[str]) -> None:
    source = HEAD + ASKED.format("is_sm120", text, "is_sm120")
    assert levels(drafts(tmp_path, {"a.py": source}, "family-split")) == expected
