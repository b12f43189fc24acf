"""GPU products, what differs between those of one compute capability (products.toml), and chips by their products."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from bwlint.chips.chipset import ChipSet
from bwlint.chips.devices import Chip
from bwlint.chips.devices import chip as chip_of
from bwlint.chips.targets import letters, without_series
from bwlint.chips.wording import listed
from bwlint.data import made, table

_FEW = 3
"""How many products a message names."""


@dataclass(frozen=True, slots=True)
class Product:
    """`memory_gib` is what a program can query, `memory_gb` what the data sheet says; `server`: data centres
    have it; `links` are those that it can have, its own first; `device_name` is what the driver calls it. What is not
    known is 0 or empty.
    """

    name: str
    chip: str
    multiprocessors: int = 0
    memory_gib: int = 0
    server: bool = False
    memory_gb: float = 0
    memory_gb_per_s: float = 0
    links: tuple[str, ...] = ()
    peer: str = ""
    aliases: tuple[str, ...] = ()
    per_host: int = 0
    shared_memory: bool = False
    unverified: str = ""
    device_name: str = ""


@dataclass(frozen=True, slots=True)
class Splitter:
    """A function that makes groups of multiprocessors: where and under which names it takes how many of how many."""

    groups: int
    count: int
    names: tuple[str, str]


@cache
def products() -> tuple[Product, ...]:
    return tuple(made(Product, row) for row in table("products")["product"])


@cache
def splitters() -> dict[str, Splitter]:
    return {row["name"]: made(Splitter, row) for row in table("products")["splitter"]}


@cache
def memory_queries(how: Literal["call", "column", "table"]) -> frozenset[str]:
    """What asks a device how much memory it has, and gets no answer where that is the memory of its host."""
    return frozenset(row["name"] for row in table("products")["memory"] if row["how"] == how)


@cache
def no_answer(how: Literal["call", "column", "table"]) -> str:
    """The status that NVML gives there for such a device, or what nvidia-smi prints."""
    (text,) = {str(row["answer"]) for row in table("products")["memory"] if row["how"] == how}
    return text


@cache
def memory_error() -> str:
    """The exception that NVML's Python bindings raise there."""
    (name,) = {str(row["raises"]) for row in table("products")["memory"] if row["how"] == "call"}
    return name


def products_of(chips: ChipSet) -> tuple[Product, ...]:
    """Those of some chips of which the multiprocessors are known, in the order of these."""
    known = (one for one in products() if one.chip in chips.names and one.multiprocessors)
    return tuple(sorted(known, key=lambda one: one.multiprocessors))


def having(multiprocessors: int) -> str:
    """The product that has so many multiprocessors; "" where there is none."""
    return next((one.name for one in products() if one.multiprocessors == multiprocessors), "")


def named(text: str, chips: ChipSet) -> Product | None:
    """The product of data centres, of some chips, that a text speaks of."""
    words = re.findall(r"[a-z]+\d+", text.lower())
    return next((one for one in products_of(chips) if one.server and one.name.lower() in words), None)


def told(found: Iterable[Product]) -> str:
    """A few products with their numbers, for a message: "GB10 has 48, RTX 5080 84"."""
    by_share = sorted(found, key=lambda one: (-float(one.chip), one.multiprocessors))[:_FEW]
    first, *others = by_share
    return ", ".join(
        (f"{first.name} has {first.multiprocessors}", *(f"{one.name} {one.multiprocessors}" for one in others))
    )


def card(chip: Chip, said: Iterable[str] = ()) -> str:
    """ "RTX 5090 (12.0)", "DGX Spark (GB10, 12.1)": a chip by the products that `said` names, as a user wrote them,
    else by the one that most people have."""
    name = product(chip, said)
    silicon = [chip.products[0]] if chip.card and name == chip.card else []
    told = ", ".join([*silicon, chip.name])
    return f"{name} ({told})" if name else told


def product(chip: Chip, said: Iterable[str] = ()) -> str:
    """That name alone; "" where nobody sells it."""
    return " / ".join(dict.fromkeys(_named(chip, said))) or chip.card or next(iter(chip.products), "")


def cards(chips: Sequence[str], said: Iterable[str] = ()) -> str:
    """ "RTX 5090 (12.0) and DGX Spark (GB10, 12.1)"."""
    said = tuple(said)
    return listed([card(chip_of(name), said) for name in chips])


def _named(chip: Chip, said: Iterable[str]) -> Iterator[str]:
    """The products of a chip that words name: as the table of chips calls them, else as that of products does."""
    spelled = [(name, name) for name in chip.products]
    spelled += [(text, row.name) for row in products() if row.chip == chip.name for text in (row.name, *row.aliases)]
    known: dict[str, str] = {}
    for text, name in spelled:
        key = letters(text)
        known.setdefault(key, name)
        known.setdefault(without_series(key), name)
    for word in (letters(part) for text in said for part in text.split(",")):
        if word in known:
            yield known[word]
