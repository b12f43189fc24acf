"""Our walk over a syntax tree gives what that of Python gives."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from bwlint.readers.nodes import below

SOURCES = sorted((Path(__file__).parents[2] / "src" / "bwlint" / "readers").rglob("*.py"))


@pytest.mark.parametrize("path", SOURCES[:12], ids=lambda path: path.stem)
def test_the_same_nodes_in_the_same_order(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert below(tree) == list(ast.walk(tree))
