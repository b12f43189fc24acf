"""Which sources a Python function hands to a compiler."""

from __future__ import annotations

import ast

import pytest

from bwlint.readers.kernels import kernel_sources


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ('build("name", [CSRC / "a.cu"])', ("a.cu",)),
        ('build("name", [CSRC / "a.cu", CSRC / "b.cpp"], extra_cuda_cflags=flags)', ("a.cu", "b.cpp")),
        ('build("name", [CSRC / "sub" / "a.cu"])', ("sub/a.cu",)),
        ('build("name", [CSRC / f"a_{dtype}_sm90.cu"])', ("a_*_sm90.cu",)),
        ('paths = ["csrc/a.cu"]\n    build("name", paths)', ("csrc/a.cu",)),
        ('for kind in kinds:\n        paths.append(CSRC / f"{kind}.cu")', ("*.cu",)),
        ('"""Compiles a.cu."""', ()),
        ('"""a.cu"""', ()),
        ('log("compiling a.cu now")', ()),
        ('build("name", [CSRC / "a.py"])', ()),
        ('build("name", [CSRC / "a.cu.jinja"])', ()),
        ("pass", ()),
    ],
)
def test_sources(body: str, expected: tuple[str, ...]) -> None:
    found = kernel_sources(ast.parse(f"def generate():\n    {body}\n"))
    assert set(found.get("generate", ())) == set(expected)


def test_methods_have_their_class_name() -> None:
    assert kernel_sources(ast.parse('class A:\n    def f(self): return b("a.cu")')) == {"A.f": ("a.cu",)}
