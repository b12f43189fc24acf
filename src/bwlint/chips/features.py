"""What a shipped library is for, by the name of its file (features.toml)."""

from __future__ import annotations

import re
from functools import cache
from pathlib import PurePosixPath

from bwlint.data import table

_ENDING = re.compile(r"(?:\.(?:cpython-[\w-]+|abi3|cp\w+-win_amd64))?\.(?:so(?:\.\d+)*|a|pyd|dll)$")


def feature(path: str) -> str:
    """What people call the work of a library, "attention 2"; its file's name without the ending where none is known."""
    name = PurePosixPath(path).name
    return next((word for pattern, word in _rows() if pattern.search(name)), "") or _ENDING.sub("", name)


@cache
def _rows() -> tuple[tuple[re.Pattern[str], str], ...]:
    rows = table("features")["feature"]
    return tuple((re.compile(rf"(?<![a-z0-9])(?:{row['name']})(?![a-z0-9])", re.I), row["feature"]) for row in rows)
