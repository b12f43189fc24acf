"""Tests over lists of architectures in Python that builds."""

from __future__ import annotations

import ast

import pytest

from bwlint.readers.buildfiles.asked_in_python import admitted, loop_variables


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        ('"12.0a" in archs', "120a"),
        ('"12.0a" in self.archs.split(";")', "120a"),
        ('"12.0a" not in arch_list', "120 120f 121 121a 121f"),
        ('"12.0a" in archs or "12.1a" in archs', "120a 121a"),
        ('"12.0a" in archs and quick', "120a"),
        ('any(a.startswith("12.0f") for a in archs)', "120f"),
        ('a in ("120a", "121a")', "120a 121a"),
        ('a != "120a"', "120 120f 121 121a 121f"),
        ('"12.0" in archs', ""),
        ('"12.0a" in text', ""),
        ('"12.0a" in archs if quick else 1', ""),
    ],
)
def test_what_passes(test: str, expected: str) -> None:
    tree = ast.parse(f"for a in archs:\n    {test}\n")
    found = admitted(ast.parse(test, mode="eval").body, loop_variables(tree))
    assert " ".join(sorted(name for name in found if name.startswith("12"))) == expected
