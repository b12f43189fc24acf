"""A fleet in words."""

from __future__ import annotations

import pytest

from bwlint.report.words import plain


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a_b.py", "a_b.py"),
        ("__init__.py", "\\_\\_init\\_\\_.py"),
        ("a|b", "a\\|b"),
        ("<script>&x", "\\<script\\>\\&x"),
        ("`a<b>_c` and *", "`a<b>_c` and \\*"),
        ("`a|b`", "\\`a\\|b\\`"),
        ("``x`", "\\``x`"),
        ("`", "\\`"),
        ("[a](b)", "\\[a\\](b)"),
        ("a\nb\x1b[2J", "a\\\\nb\\\\x1b\\[2J"),
    ],
)
def test_text_in_markdown(text: str, told: str) -> None:
    assert plain(text) == told
