"""Where the data files lie, in a checkout, an editable install and a wheel."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_PACKAGE = Path(__file__).parent


def rules_folder() -> Path:
    """The folder with one TOML a rule: packed into a wheel, at the root of a checkout."""
    packed = _PACKAGE / "rules_data"
    return packed if packed.is_dir() else _PACKAGE.parents[1] / "rules"


def hooks_file() -> Path:
    """The manifest of the hooks for pre-commit: packed into a wheel, at the root of a checkout."""
    packed = _PACKAGE / "commands" / "hooks.yaml"
    return packed if packed.is_file() else _PACKAGE.parents[1] / ".pre-commit-hooks.yaml"


def tables_folder() -> Path:
    """The folder with the tables of chips, instructions and libraries."""
    return _PACKAGE / "chips"


@cache
def table(name: str) -> dict[str, Any]:
    """The parsed table `name`, such as "devices" for chips/devices.toml: one for the process, not to be changed."""
    return read_toml(tables_folder() / f"{name}.toml")


def read_toml(path: Path) -> dict[str, Any]:
    """The parsed file; raises `OSError` or `ValueError` (undecodable text, broken TOML)."""
    return tomllib.loads(path.read_text(encoding="utf-8"))
