"""What build files do to names of targets: texts that took an expression of the reader forever."""

from __future__ import annotations

import pytest

from bwlint.readers.buildfiles import digits


@pytest.mark.parametrize(
    "text",
    [
        "nvidia-smi --query-gpu=compute_cap | sed 's/^" + "\\" * 90,  # an escape was two things
        "case $sm_ in\n" + "1" * 90 + "\nesac",  # a number fell into globs in every way
    ],
)
def test_long_texts_end(text: str) -> None:
    assert not list(digits.operations(text, is_cmake=False))
