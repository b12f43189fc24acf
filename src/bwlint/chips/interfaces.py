"""Functions of libraries that are told by a text which of their kernels to use: the rows of a `call`."""

from __future__ import annotations

import re
from functools import cache

from bwlint.data import table


def is_told_by_text(name: str) -> bool:
    """Whether a function, by its last name, is handed the name of a backend."""
    return _names().fullmatch(name) is not None


@cache
def _names() -> re.Pattern[str]:
    return re.compile("|".join(dict.fromkeys(row["call"] for row in table("libraries")["need"] if "call" in row)))
