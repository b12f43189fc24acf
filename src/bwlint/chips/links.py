"""GPU names, the links between GPUs, and the number formats sent over them (links.toml)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeVar

from bwlint.chips.products import Product, products
from bwlint.data import made, table

_LONGEST_NAME = 64
_NOISE = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Link:
    """What joins two GPUs; `gb_per_s` is that of one direction."""

    name: str
    what: str
    gb_per_s: float
    kind: str
    latency_us: float
    all_reduce: str
    aliases: tuple[str, ...] = ()
    unverified: str = ""

    @property
    def is_network(self) -> bool:
        return self.kind == "network"


@dataclass(frozen=True, slots=True)
class Wire:
    """How the values of an activation travel."""

    name: str
    bytes_per_value: int
    block: int
    scale_bytes: int


@dataclass(frozen=True, slots=True)
class WeightForm:
    """How the values of a weight lie in memory."""

    name: str
    bits: float
    group: int = 1
    scale_bits: int = 0
    experts_only: bool = False

    @property
    def bytes_per_value(self) -> float:
        return (self.bits + self.scale_bits / self.group) / 8


class UnknownNameError(Exception):
    """A name that is in no table; the message says which is nearest."""


@cache
def links() -> tuple[Link, ...]:
    return tuple(made(Link, row) for row in table("links")["link"])


@cache
def wires() -> Mapping[str, Wire]:
    return {row["name"]: made(Wire, row) for row in table("links")["wire"]}


@cache
def weight_forms() -> Mapping[str, WeightForm]:
    return {row["name"]: made(WeightForm, row) for row in table("links")["weight"]}


def exchange_remark(kind: str, peer: str) -> str:
    """What to know where tokens are exchanged over a kind of link by GPUs that reach a peer's memory so; or ""."""
    rows = (row for row in table("links")["exchange"] if row["kind"] == kind and row.get("peer", peer) == peer)
    return next((str(row["says"]) for row in rows), "")


def share_for_weights() -> float:
    """The part of a GPU's memory that weights may take."""
    return float(table("links")["memory"]["share"])


def product(name: str) -> Product:
    """The GPU of a name as people write it, of those whose links are known; raises `UnknownNameError`."""
    return _named(name, [one for one in products() if one.links], "GPU")


def link(name: str) -> Link:
    """The link of a name; raises `UnknownNameError`."""
    return _named(name, links(), "link")


_Named = TypeVar("_Named", bound="Product | Link")


def _named(name: str, rows: Sequence[_Named], what: str) -> _Named:
    keys: dict[str, _Named] = {}
    for row in rows:
        keys |= dict.fromkeys(map(_key, (row.name, *row.aliases)), row)
    found = keys.get(_key(name))
    if found is not None:
        return found
    from difflib import get_close_matches

    near = get_close_matches(_key(name[:_LONGEST_NAME]), keys, n=1, cutoff=0.5)
    known = ", ".join(row.name for row in rows)
    hint = f"did you mean {keys[near[0]].name}? " if near else ""
    raise UnknownNameError(f"unknown {what} {name[:_LONGEST_NAME]!r}: {hint}known are {known}")


def _key(name: str) -> str:
    return _NOISE.sub("", name.lower())
