"""What keeps the house in order beside the contracts of import-linter."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import bwlint

SOURCE = Path(bwlint.__file__).parent
PARSED = {path: ast.parse(path.read_text("utf-8")) for path in SOURCE.rglob("*.py")}
ROOMS = sorted(path.name for path in SOURCE.iterdir() if (path / "__init__.py").exists())


def test_nothing_lies_on_the_doorstep() -> None:
    assert {path.stem for path in SOURCE.glob("*.py")} == {"__init__", "__main__", "cli", "codemods", "data"}


def test_a_class_has_a_name_of_its_own() -> None:
    names = Counter(node.name for tree in PARSED.values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    assert [name for name, count in names.items() if count > 1] == []


def test_every_package_says_what_it_holds() -> None:
    assert [
        str(path) for path, tree in PARSED.items() if path.name == "__init__.py" and not ast.get_docstring(tree)
    ] == []


def test_every_room_is_in_the_contract_and_in_the_table() -> None:
    root = SOURCE.parents[1]
    contract, table = (root / "pyproject.toml").read_text("utf-8"), (root / "CONTRIBUTING.md").read_text("utf-8")
    assert [room for room in ROOMS if f"bwlint.{room}" not in contract] == []
    assert [room for room in ROOMS if f"`{room}/`" not in table] == []


def test_tests_mirror_the_source() -> None:
    tests = Path(__file__).parent
    folders = {path.name for path in tests.iterdir() if path.is_dir() and list(path.rglob("test_*.py"))}
    assert folders <= set(ROOMS)
