"""What a file hands to something by keyword."""

from __future__ import annotations

import pytest

from bwlint.readers.python.calls import keywords_given


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("Gemm(a, b)", set()),
        ("Gemm(a, stages=2)\nGemm(a, depth=3)", {"stages", "depth"}),
        ("Other(a, stages=2)", set()),
        ("kernels.Gemm(stages=2)", set()),
        ("partial(Gemm, stages=2)(a, depth=1)", {"stages"}),
        ("functools.partial(Gemm, stages=2)", {"stages"}),
        ("partial(Other, Gemm, stages=2)", set()),
        ("Gemm(**options)", set()),
        ("def (", set()),
    ],
)
def test_keywords(source: str, expected: set[str]) -> None:
    assert keywords_given(source, "Gemm") == expected
