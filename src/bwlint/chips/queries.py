"""What C and C++ ask the device by, beside functions that give the answer back (sources.toml)."""

from __future__ import annotations

import re
from functools import cache

from bwlint.data import table


@cache
def attributes() -> dict[str, str]:
    """The kind of source that an attribute of the device gives, or a function that fills a structure, by its name."""
    return {name: row["returns"] for row in table("sources")["attribute"] for name in row["names"]}


@cache
def structures() -> str:
    """A piece for the types of variables that hold the properties of a device."""
    return "(?:" + "|".join(re.escape(name) for row in table("sources")["structure"] for name in row["names"]) + ")"


@cache
def successes() -> frozenset[str]:
    """What a call of the driver returns that went well."""
    return frozenset(name for row in table("sources")["success"] for name in row["names"])
