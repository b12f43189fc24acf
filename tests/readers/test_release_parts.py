"""Tests for a release of CUDA by its parts: which are false again under 13.0."""

from __future__ import annotations

import pytest

from bwlint.readers.release_parts import operations


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("if major >= 12 and minor >= 8:", ["12.8"]),
        ("if version[0] >= 12 and version[1] >= 9:", ["12.9"]),
        ("#if (VER_MAJOR >= 12) && (VER_MINOR >= 8)", ["12.8"]),
        ("#if VER_MAJOR >= 12 && \\\n    VER_MINOR >= 8", ["12.8"]),
        ("if (v.major < 12 || v.minor < 8)", ["12.8"]),
        ("#if VER_MAJOR > 12 || (VER_MAJOR >= 12 && VER_MINOR >= 8)", []),
        ("#if VER_MAJOR >= 13 || \\\n    (VER_MAJOR >= 12 && VER_MINOR >= 8)", []),
        ("if (VER_MAJOR >= 12 && VER_MINOR >= 8) ||\n   VER_MAJOR > 12:", []),
        ("#if VER_MAJOR >= 12 && VER_MINOR >= 4", []),
        ("#if VER_MAJOR == 12 && VER_MINOR >= 8", []),
        ("# if major >= 12 and minor >= 8:", []),
        ("if x.shape[0] >= 12 and x.shape[1] >= 8:", []),
        ("if rows >= 12 and minor >= 8:", []),
        ("if major >= 120 and minor >= 8:", []),
        ("if major >= 12 and minor >= 80:", []),
    ],
)
def test_found(text: str, found: list[str]) -> None:
    assert [one.name for one in operations(f"\n{text}\n", f"\n{text}\n")] == found
