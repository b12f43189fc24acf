"""What is in the wheel."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from bwlint.data import hooks_file

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The names of the files in a wheel of this tree."""
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=120)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as content:
        return set(content.namelist())


def test_rules_are_packed(names: set[str]) -> None:
    packed = {name.rpartition("/")[2] for name in names if name.startswith("bwlint/rules_data/")}
    assert packed == {path.name for path in (ROOT / "rules").glob("*.toml")}


def test_the_hooks_are_packed(names: set[str]) -> None:
    assert hooks_file().relative_to(ROOT).as_posix() == ".pre-commit-hooks.yaml"
    assert "bwlint/commands/hooks.yaml" in names


def test_modules_tables_schemas_and_inputs_are_packed(names: set[str]) -> None:
    source = ROOT / "src"
    wanted = {
        path.relative_to(source).as_posix()
        for path in (source / "bwlint").rglob("*")
        if path.is_file() and not any(part.startswith((".", "__pycache__")) for part in path.relative_to(source).parts)
    }
    assert {"bwlint/report/receipts.schema.json", "bwlint/confirm/selftest/inputs/report.h"} < wanted
    assert wanted <= names


def test_nothing_else_is_packed(names: set[str]) -> None:
    rest = {name for name in names if not name.startswith("bwlint/") and ".dist-info/" not in name}
    assert not rest
    assert not [name for name in names if "fixtures" in name or "tests" in name]
