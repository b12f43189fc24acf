"""Compile targets: a chip's number and a suffix, which chips load or compile what was built for them, and which pairs
of targets nvcc and ptxas accept: PTX for `arch`, assembled for `code`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal, cast

from bwlint.chips.chipset import NONE, ChipSet
from bwlint.chips.devices import Chip, all_chips, chip, chip_of_number
from bwlint.chips.spelling import spelled

Suffix = Literal["", "f", "a"]

_PREFIXES = frozenset({"", "sm_", "compute_", "lto_"})
"""Those that the toolkit writes: other spellings are reported."""
# Each form was run: nvcc --dryrun for 18 x 18 pairs, and ptxas on PTX of each target for each of the others.
_NVCC = "nvcc fatal : Incompatible code generation requested: arch='compute_{arch}', code='sm_{code}'"
_FUTURE = "ptxas fatal : Program with .target 'sm_{arch}' cannot be compiled to future architecture"


@dataclass(frozen=True, slots=True)
class Target:
    """A compile target: sm_120a has the number 120 and the suffix "a". Unknown ones raise `ValueError`."""

    number: int
    suffix: Suffix = ""

    def __post_init__(self) -> None:
        known = chip_of_number(self.number)
        if known is None:
            chips = all_chips()
            near = ", ".join(chip.name for chip in chips if chip.major == self.number)
            known_ones = (
                f"write {near}" if near else f"bwlint knows those from sm_{chips[0].joined} to sm_{chips[-1].joined}"
            )
            raise ValueError(f"unknown target {self.name}: {known_ones}")
        if self.suffix and self.suffix not in known.suffixes:
            raise ValueError(f"unknown target {self.name}: sm_{self.number} has no suffix {self.suffix!r}")

    @classmethod
    def parse(cls, text: str) -> Target:
        """The target of "sm_120a", "compute_120f", "120a", "12.0a" or "12.1"; raises `ValueError`."""
        found = spelled(text.strip().lower())
        if found is None or found.prefix not in _PREFIXES or found.form:
            raise ValueError(f"not a target: {text!r} ({_names()})")
        return cls(found.number, cast(Suffix, found.suffix))

    @property
    def name(self) -> str:
        """The name as the toolkit writes it: "sm_120a"."""
        return f"sm_{self.number}{self.suffix}"

    @property
    def chip(self) -> Chip:
        return cast(Chip, chip_of_number(self.number))

    def loads_on(self) -> ChipSet:
        """The chips that load a cubin for this target: "a" its own chip, else later ones of its line too."""
        own = self.chip
        if self.suffix == "a":
            return ChipSet.of(own.name)
        return ChipSet.where(lambda other: _same_line(own, other) and other.minor >= own.minor)

    def jits_on(self) -> ChipSet:
        """The chips for which a driver compiles PTX of this target."""
        own = self.chip
        if self.suffix == "":
            return ChipSet.where(lambda other: other.joined >= own.joined)
        new_name = ChipSet.of(own.renamed_to) if own.renamed_to else NONE
        return self.loads_on() | new_name

    def __str__(self) -> str:
        return self.name


def _same_line(own: Chip, other: Chip) -> bool:
    # 10.1 has the major of the 100 family but is another line of silicon: it became 11.0.
    alike = own.major == other.major and own.family == other.family
    return alike and (own == other or not (own.tegra or other.tegra))


def targets_of(chip: Chip) -> tuple[Target, ...]:
    """The chip's native targets: plain first, then those with a suffix."""
    suffixes = cast(tuple[Suffix, ...], ("", *chip.suffixes))
    return tuple(Target(chip.joined, suffix) for suffix in suffixes)


ALL_TARGETS: tuple[Target, ...] = tuple(target for chip in all_chips() for target in targets_of(chip))


def chip_named(text: str) -> Chip:
    """The chip of a number, a target or a product ("12.1", "sm_121a", "spark"); raises `ValueError`."""
    return _asked(text).chip


def known_targets(names: Iterable[str]) -> Iterator[Target]:
    """The targets of some names that are of a known chip."""
    for name in names:
        try:
            yield Target.parse(name)
        except ValueError:
            continue


@cache
def _names() -> str:
    """What may be written for a target."""
    known = ", ".join(f"{one.name} ({one.card or one.products[0]})" for one in all_chips() if one.products)
    return f"write a card, its number, or a target such as sm_120a: {known}"


def _asked(text: str) -> Target:
    found = _by_product().get(letters(text))
    return Target.parse(text) if found is None else Target(found)


@cache
def _by_product() -> dict[str, int]:
    """The number of the target of what is sold, by its names and what is left of them without the series; and of a
    generation that is one chip: hopper.
    """
    from bwlint.chips.products import products

    named = [(name, one.joined) for one in all_chips() for name in one.products]
    named += [(name, chip(one.chip).joined) for one in products() for name in (one.name, *one.aliases)]
    generations = Counter(one.generation for one in all_chips())
    named += [(one.generation, one.joined) for one in all_chips() if generations[one.generation] == 1]
    found = {letters(name): number for name, number in named}
    return {without_series(name): number for name, number in found.items()} | found


_SERIES = re.compile(r"^(?:geforce)?(?:rtx|dgx|jetson|agx)+")


def letters(text: str) -> str:
    """A product's name as it is compared: "RTX PRO 6000" is rtxpro6000."""
    return re.sub(r"[^a-z0-9]", "", text.lower())


def without_series(letters: str) -> str:
    """What people leave of such a name: pro6000."""
    return _SERIES.sub("", letters)


def parse_targets(names: Iterable[str]) -> tuple[ChipSet, tuple[Target, ...]]:
    """The chips that a user asks about, and those of his targets that pin a suffix, each once, as given.

    "sm_120" names the chip 12.0; "sm_120a" names it too and pins the target; so do products ("gb10", "RTX 5090").
    Commas may stand between them. Raises `ValueError`, also for names without a word in them.
    """
    names = tuple(names)
    parts = [part.strip() for name in names for part in name.split(",") if part.strip()]
    if names and not parts:
        raise ValueError(f"{names[0]!r} names no target ({_names()})")
    targets = dict.fromkeys(_asked(part) for part in parts)
    chips = ChipSet.joining(target.chip for target in targets)
    return chips, tuple(target for target in targets if target.suffix)


def refusal(arch: Target, code: Target) -> str | None:
    """The words in which nvcc, or after it ptxas, refuses ``arch=compute_*,code=sm_*``; None where both accept."""
    names = {"arch": arch.name.removeprefix("sm_"), "code": code.name.removeprefix("sm_")}
    if not _passes_nvcc(arch, code):
        return _NVCC.format(**names)
    if arch.suffix == "a" and arch != code:
        return _FUTURE.format(**names)
    return None


def _passes_nvcc(arch: Target, code: Target) -> bool:
    if code.number < arch.number:
        return False
    if arch.suffix == "a":
        return code.suffix == "a"
    return arch.suffix == "" or arch.chip.family == code.chip.family


def same_cubin(one: Target, other: Target) -> bool:
    """Whether nvcc refuses to make both cubins in one build: the plain and the family one of the same number."""
    return one.number == other.number and {one.suffix, other.suffix} == {"", "f"}
