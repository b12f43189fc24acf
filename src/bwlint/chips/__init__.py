"""Chips, sets of chips and compile targets: all that bwlint knows of the devices, as data."""

from bwlint.chips.chipset import EVERY, NONE, ChipSet, families, group, siblings
from bwlint.chips.devices import Chip, all_chips, chip, chip_of_number, hypothetical_chips, sold_chips
from bwlint.chips.targets import ALL_TARGETS, Suffix, Target, known_targets, parse_targets, targets_of
from bwlint.chips.targetset import EVERY_TARGET, NO_TARGET, TargetSet

__all__ = [
    "ALL_TARGETS",
    "EVERY",
    "EVERY_TARGET",
    "NONE",
    "NO_TARGET",
    "Chip",
    "ChipSet",
    "Suffix",
    "Target",
    "TargetSet",
    "all_chips",
    "chip",
    "chip_of_number",
    "families",
    "group",
    "hypothetical_chips",
    "known_targets",
    "parse_targets",
    "siblings",
    "sold_chips",
    "targets_of",
]
