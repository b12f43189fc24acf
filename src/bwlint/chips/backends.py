"""Backends that launchers can choose, the chips each runs on, and the cards that a launch names (backends.toml)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache

from bwlint.chips.chipset import NONE, ChipSet, group
from bwlint.data import table

_SWITCHES = frozenset({"", "true", "1"})
"""Values that name nothing."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A value of options of a launcher that does not run everywhere; `legal` are the chips on which it does.

    `by_links`: it takes NVLink; `costs`: it runs without it, only slower.
    """

    launcher: str
    options: frozenset[str]
    values: frozenset[str]
    legal: ChipSet
    what: str
    outcome: str
    instead: str
    by_links: bool
    costs: bool


@dataclass(frozen=True, slots=True)
class Backend:
    """What is known by its kernels: `values` of options of a kind name it, `kernels` finds it in a mangled name."""

    kind: str
    values: frozenset[str]
    kernels: re.Pattern[str]
    what: str


@dataclass(frozen=True, slots=True)
class Cards:
    """The chips that words name, and whether another vendor's are among them."""

    chips: ChipSet = NONE
    foreign: bool = False

    def __bool__(self) -> bool:
        return bool(self.chips) or self.foreign


@cache
def plans() -> tuple[Plan, ...]:
    """The rows of the table, in its order: the first that fits counts."""
    return tuple(
        Plan(
            launcher=row["launcher"],
            options=frozenset(row["options"]),
            values=frozenset(row["values"]),
            legal=~group("no-nvlink") if row.get("links") else ChipSet.of(*row["chips"]),
            what=row["what"],
            outcome=row["outcome"],
            instead=row["instead"],
            by_links="links" in row,
            costs=row.get("costs", False),
        )
        for row in table("backends")["plan"]
    )


@cache
def _by_option() -> dict[str, tuple[Plan, ...]]:
    names = dict.fromkeys(name for plan in plans() for name in plan.options)
    return {name: tuple(plan for plan in plans() if name in plan.options) for name in names}


def normal(option: str) -> str:
    """An option, a key or a variable as the table has it."""
    return option.lstrip("-").replace("_", "-").lower()


def plan_of(option: str, value: str) -> Plan | None:
    """What an option with this value asks for, where that does not run everywhere."""
    return next((plan for plan in _by_option().get(normal(option), ()) if value.lower() in plan.values), None)


@cache
def options() -> tuple[str, ...]:
    return tuple(_by_option())


@cache
def lonely() -> frozenset[str]:
    """Options that say all without a value."""
    return frozenset(name for plan in plans() if "" in plan.values for name in plan.options)


def linked(option: str, value: str) -> Plan | None:
    """What takes NVLink of that which an option, or the end of its name, stands for with this value."""
    name = normal(option)
    named = value.lower() not in _SWITCHES and "-" in name
    fitting = (plan for plan in plans() if named and plan.by_links and value.lower() in plan.values)
    return next((plan for plan in fitting if any(one.endswith(name) for one in plan.options)), None)


@cache
def backends() -> tuple[Backend, ...]:
    """Those that are known by their kernels, in the order of the table."""
    rows = table("backends")["ran"]
    return tuple(
        Backend(row["kind"], frozenset(row["values"]), re.compile(row["kernels"]), row["what"]) for row in rows
    )


@cache
def kind_of(option: str) -> str:
    """What an option chooses: attention, moe, exchange; "" where its name does not say."""
    kinds = ((kind, words) for kind, words in table("backends")["kinds"].items() if kind != "source")
    return next((kind for kind, words in kinds if re.search(words, normal(option))), "")


@cache
def engines() -> frozenset[str]:
    """Functions and classes that take options as keywords."""
    return frozenset(name for row in table("backends")["engine"] for name in row["names"])


@cache
def _cards() -> tuple[tuple[re.Pattern[str], ChipSet], ...]:
    return tuple((re.compile(row["words"], re.I), ChipSet.of(*row["chips"])) for row in table("backends")["card"])


@cache
def _any_card() -> re.Pattern[str]:
    pieces = "|".join(row["words"] for row in table("backends")["card"])
    return re.compile(rf"(?<![a-z0-9])(?:{pieces})(?:x\d+)?(?![a-z0-9])", re.I)


def card_words(text: str) -> tuple[str, ...]:
    """The words of a text that name a card, each once."""
    return tuple(dict.fromkeys(match[0].lower() for match in _any_card().finditer(text)))


def cards(words: Iterable[str]) -> Cards:
    """The cards that words of `card_words` name."""
    chips, foreign = NONE, False
    for word in words:
        found = next((named for pattern, named in _cards() if pattern.match(word)), NONE)
        chips |= found
        foreign = foreign or not found
    return Cards(chips, foreign)


@lru_cache(maxsize=4096)
def is_for_another_vendor(folder: str) -> bool:
    """Whether a folder is called after what another vendor makes: "rocm", "ascend_npu"."""
    parts = [part for part in re.split("[-_]", folder) if part]
    return bool(parts) and all(_named(part) == NONE for part in parts)


def _named(part: str) -> ChipSet | None:
    return next((named for pattern, named in _cards() if pattern.fullmatch(part)), None)


def cluster_words(text: str) -> tuple[str, ...]:
    """The words of a text by which it is for a cluster of servers, each once."""
    return tuple(dict.fromkeys(match[0] for match in _cluster().finditer(text)))


@cache
def _cluster() -> re.Pattern[str]:
    return re.compile(table("backends")["cluster"]["words"])


@cache
def looks() -> re.Pattern[str]:
    """What shows that code has looked at the chip or at the links."""
    return re.compile(table("backends")["looked"]["words"])
