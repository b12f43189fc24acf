"""Chips, sets of chips and compile targets: all that bwlint knows of the devices, as data."""

from bwlint.chips.chipset import EVERY, NONE, ChipSet, families, siblings
from bwlint.chips.devices import Chip, all_chips, chip, hypothetical_chips
from bwlint.chips.groups import group
from bwlint.chips.targets import ALL_TARGETS, Suffix, Target, parse_targets, targets_of

__all__ = [
    "ALL_TARGETS",
    "EVERY",
    "NONE",
    "Chip",
    "ChipSet",
    "Suffix",
    "Target",
    "all_chips",
    "chip",
    "families",
    "group",
    "hypothetical_chips",
    "parse_targets",
    "siblings",
    "targets_of",
]
