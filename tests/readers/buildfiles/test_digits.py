"""What build files do to names of targets: texts that once ended the reader, or kept it busy forever."""

from __future__ import annotations

import pytest

from bwlint.readers.buildfiles import digits


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("nvidia-smi --query-gpu=compute_cap | sed 's/^" + "\\" * 90, 0),  # an escape was two things
        ("case $sm_ in\n" + "1" * 90 + "\nesac", 0),  # a number fell into globs in every way
        ("nvidia-smi --query-gpu=compute_cap | cut -c1,", 1),  # no second place
    ],
)
def test_broken_texts_are_read(text: str, expected: int) -> None:
    assert len(list(digits.operations(text, is_cmake=False))) == expected
