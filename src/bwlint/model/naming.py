"""Names and counts in messages: "1 file", "2 files"."""

from __future__ import annotations

import re
from functools import cache

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_PREFIX = re.compile(r"^(?:m|k|g|s)_(?=\w)")


@cache
def spoken(name: str) -> str:
    """A name in lower case with underscores, less the marks of members and constants: `mSMVersion` is sm_version."""
    plain = _HUMP.sub("_", name.rpartition("::")[2]).lower().rstrip("_")
    return _PREFIX.sub("", plain)


def called_by(dotted: str) -> str:
    """The last part of a dotted name; of an object that is called, the name of its class."""
    return dotted.removesuffix(".__call__").rpartition(".")[2]


def counted(number: int, noun: str) -> str:
    """ "1 container", "3 containers"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
