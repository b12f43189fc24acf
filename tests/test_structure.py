"""What keeps the house in order beside the contracts of import-linter."""

from __future__ import annotations

import ast
from collections import Counter
from functools import cache
from pathlib import Path

import bwlint

SOURCE = Path(bwlint.__file__).parent
ROOMS = sorted(path.name for path in SOURCE.iterdir() if (path / "__init__.py").exists())


@cache
def parsed() -> dict[Path, ast.Module]:
    return {path: ast.parse(path.read_text("utf-8")) for path in SOURCE.rglob("*.py")}


def test_nothing_lies_on_the_doorstep() -> None:
    assert {path.stem for path in SOURCE.glob("*.py")} == {"__init__", "__main__", "cli", "codemods", "data"}


def test_a_class_has_a_name_of_its_own() -> None:
    nodes = (node for tree in parsed().values() for node in ast.walk(tree))
    names = Counter(node.name for node in nodes if isinstance(node, ast.ClassDef))
    assert [name for name, count in names.items() if count > 1] == []


def test_every_package_says_what_it_holds() -> None:
    assert [
        str(path) for path, tree in parsed().items() if path.name == "__init__.py" and not ast.get_docstring(tree)
    ] == []


def test_every_room_is_in_the_contract_and_in_the_table() -> None:
    root = SOURCE.parents[1]
    contract, table = (root / "pyproject.toml").read_text("utf-8"), (root / "CONTRIBUTING.md").read_text("utf-8")
    assert [room for room in ROOMS if f"bwlint.{room}" not in contract] == []
    assert [room for room in ROOMS if f"`{room}/`" not in table] == []


def test_tests_mirror_the_source() -> None:
    tests = Path(__file__).parent
    folders = {path.name for path in tests.iterdir() if path.is_dir() and list(path.rglob("test_*.py"))}
    assert folders <= {*ROOMS, "benchmarks"}


LOOKS = {
    "os": {"stat", "lstat", "listdir", "scandir", "walk", "access", "readlink", "open"},
    "path": {"exists", "lexists", "isfile", "isdir", "islink", "realpath", "getsize", "getmtime", "samefile"},
    "glob": {"glob", "iglob"},
}
METHODS = {"read_text", "read_bytes", "is_file", "iterdir", "rglob", "is_symlink", "samefile"}
UNWATCHED = {
    "cli.py": "the streams of the program",
    "codemods.py": "libcst's own runner",
    "data.py": "bwlint's own tables",
    "settings/catalog.py": "bwlint's own tables",
    "sources/disk.py": "where looks are noted",
    "sources/read.py": "notes what it opens",
    "sources/archives.py": "notes what it opens",
    "sources/walk.py": "notes what it opens",
    "sources/pypi.py": "packages, whose runs are not kept",
    "sources/wheels.py": "packages, whose runs are not kept",
    "sources/worktree.py": "asks git, for --fix and --diff, and for --since, whose other tree is not kept",
    "sources/held.py": "locks, for --fix",
    "inspection/__init__.py": "inspect's, and notes what it opens",
    "inspection/origins.py": "inspect's",
    "run/own_code.py": "inspect's, in a folder that it has unpacked",
    "matrix/proved.py": "matrix's: the receipts that it is given",
}
OF_OTHER_COMMANDS = ("commands", "confirm", "fleet", "index", "repair", "report", "trace")


def test_a_check_looks_at_the_disk_where_it_is_noted() -> None:
    """An answer is taken from the index as long as each look would show the same: none may go unnoted."""
    looking = {
        path.relative_to(SOURCE).as_posix()
        for path, tree in parsed().items()
        if path.relative_to(SOURCE).parts[0] not in OF_OTHER_COMMANDS
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and _looks(node.func)
    }
    assert looking <= UNWATCHED.keys()


def _looks(called: ast.expr) -> bool:
    if isinstance(called, ast.Name):
        return called.id == "open"
    if not isinstance(called, ast.Attribute):
        return False
    owner = called.value
    name = owner.id if isinstance(owner, ast.Name) else owner.attr if isinstance(owner, ast.Attribute) else ""
    return called.attr in LOOKS.get(name, ()) or (called.attr in METHODS and name != "disk")
