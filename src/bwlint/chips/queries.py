"""C and C++ names that read the device: macros, fields, and functions that return the answer (sources.toml)."""

from __future__ import annotations

import re
from functools import cache

from bwlint.data import table


@cache
def attributes() -> dict[str, str]:
    """The kind of source that an attribute of the device gives, or a function that fills a structure, by its name."""
    return {name: row["returns"] for row in table("sources")["attribute"] for name in row["names"]}


@cache
def products() -> dict[str, tuple[str, ...]]:
    """What the cards of a chip call themselves, by the chip's name."""
    return {row["chip"]: tuple(row["names"]) for row in table("sources")["product"]}


@cache
def names_model(part: str) -> bool:
    """Whether a part of a card's name says which one it is: "RTX 50", and not "PCIE" or "80GB"."""
    low = part.lower()
    return any(letter.isdecimal() for letter in low) and any(
        low in name.lower() for names in products().values() for name in names
    )


@cache
def is_product(text: object) -> bool:
    """Whether it is all that a card calls itself."""
    return any(text in names for names in products().values())


@cache
def structures() -> str:
    """A piece for the types of variables that hold the properties of a device."""
    return "(?:" + "|".join(re.escape(name) for row in table("sources")["structure"] for name in row["names"]) + ")"


@cache
def successes() -> frozenset[str]:
    """What a call of the driver returns that went well."""
    return frozenset(name for row in table("sources")["success"] for name in row["names"])
