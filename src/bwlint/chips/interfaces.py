"""Where code selects a library whose kernels run on some chips only: by an option, or by an import."""

from __future__ import annotations

import re
from functools import cache

from bwlint.data import table


@cache
def optional_modules() -> tuple[bytes, ...]:
    """Modules that a project may import where they are installed."""
    return tuple(row["module"].encode() for row in table("libraries")["optional"])


def is_told_by_text(name: str) -> bool:
    """Whether a function, by its last name, is handed the name of a backend: the rows of a `call`."""
    return _names().fullmatch(name) is not None


@cache
def _names() -> re.Pattern[str]:
    return re.compile("|".join(dict.fromkeys(row["call"] for row in table("libraries")["need"] if "call" in row)))
