"""Where the data files lie, in a checkout, an editable install and a wheel."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_PACKAGE = Path(__file__).parent
_Row = TypeVar("_Row")


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


@cache
def any_of(name: str, rows: str, field: str = "name") -> re.Pattern[str]:
    """Any of the expressions that rows of a table have in a field."""
    return re.compile("|".join(dict.fromkeys(row[field] for row in table(name)[rows] if field in row)))


def read_toml(path: Path) -> dict[str, Any]:
    """The parsed file; raises `OSError` or `ValueError` (undecodable text, broken TOML)."""
    return parsed_toml(path.read_text(encoding="utf-8"))


def parsed_toml(text: str) -> dict[str, Any]:
    """The content of a text; raises `ValueError`, and `RecursionError` where it is nested too deeply."""
    return tomllib.loads(text)


def made(kind: type[_Row], row: Mapping[str, Any]) -> _Row:
    """A row of a table as the dataclass that has its keys; keys that it lacks are left out."""
    own = {field.name for field in fields(kind)}  # type: ignore[arg-type]
    return kind(**{key: tuple(value) if isinstance(value, list) else value for key, value in row.items() if key in own})
