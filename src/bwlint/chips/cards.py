"""Chips by the products under which people have them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from bwlint.chips.devices import Chip
from bwlint.chips.devices import chip as chip_of
from bwlint.chips.products import products
from bwlint.chips.targets import letters, without_series
from bwlint.chips.wording import listed


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
