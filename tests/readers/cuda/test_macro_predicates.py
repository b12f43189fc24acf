"""Macros that ask for the device are predicates by their own name."""

from __future__ import annotations

import pytest

from bwlint.readers import cuda


@pytest.mark.parametrize(
    ("define", "names"),
    [
        ("#define IS_SM120(prop) ((prop).major == 12 && (prop).minor == 0)\n", ["IS_SM120"]),
        ("#define IS_SM12X(prop) (prop.major == 12)\n", ["IS_SM12X"]),
        ("#define MAJOR_OF(prop) (prop.major)\n", []),
    ],
)
def test_a_macro_with_a_condition_is_a_predicate(define: str, names: list[str]) -> None:
    found = cuda.read("a.h", define)
    assert [gate.name for gate in found.gates if gate.kind == "predicate"] == names
