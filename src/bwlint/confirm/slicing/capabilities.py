"""The capability of a chip in the forms that libraries give it, and their tests of it. This runs in the child."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

from bwlint.confirm.slicing.unread import NotReached


@dataclass(frozen=True, slots=True)
class ChipNumbers:
    """A compute capability; `smem` are the bytes of shared memory that a block may ask for, None: not known."""

    major: int
    minor: int
    smem: int | None


class DeviceCapability(NamedTuple):
    """vLLM's: a NamedTuple, which equals the plain tuple and is ordered with it, and never equals a number."""

    major: int
    minor: int

    def as_version_str(self) -> str:
        return f"{self.major}.{self.minor}"

    def to_int(self) -> int:
        return self.major * 10 + self.minor


def _by_pair(holds: Callable[[Any, Any], bool]) -> Callable[[Arch, object], bool]:
    def compare(self: Arch, other: object) -> bool:
        return holds(self._pair, other._pair) if isinstance(other, Arch) else NotImplemented

    return compare


class Arch(Enum):
    """CuTe DSL's: ordered by major and minor alone, and equal to members only. 10.1 is 11.0 in its later versions."""

    sm_80 = (8, 0, "")
    sm_86 = (8, 6, "")
    sm_87 = (8, 7, "")
    sm_89 = (8, 9, "")
    sm_90 = (9, 0, "")
    sm_90a = (9, 0, "a")
    sm_100 = (10, 0, "")
    sm_100a = (10, 0, "a")
    sm_100f = (10, 0, "f")
    sm_103 = (10, 3, "")
    sm_103a = (10, 3, "a")
    sm_103f = (10, 3, "f")
    sm_110 = (11, 0, "")
    sm_110a = (11, 0, "a")
    sm_110f = (11, 0, "f")
    sm_101 = sm_110
    sm_101a = sm_110a
    sm_101f = sm_110f
    sm_120 = (12, 0, "")
    sm_120a = (12, 0, "a")
    sm_120f = (12, 0, "f")
    sm_121 = (12, 1, "")
    sm_121a = (12, 1, "a")
    sm_121f = (12, 1, "f")

    def __init__(self, major: int, minor: int, suffix: str) -> None:
        self.major, self.minor, self.suffix = major, minor, suffix

    def is_family_of(self, arch: Arch) -> bool:
        return self.major == arch.major and self.minor >= arch.minor and self.suffix in ("a", "f")

    @classmethod
    def of(cls, chip: ChipNumbers) -> Arch:
        """The member that the DSL takes for the resident device; where it has none it raises before any test."""
        found = cls.__members__.get(f"sm_{chip.major}{chip.minor}{'a' if chip.major >= 9 else ''}")
        if found is None or found._pair != (chip.major, chip.minor):
            raise NotReached
        return found

    __lt__, __le__, __gt__, __ge__ = map(_by_pair, (operator.lt, operator.le, operator.gt, operator.ge))

    @property
    def _pair(self) -> tuple[int, int]:
        return (self.major, self.minor)


VALUES: dict[str, Callable[[ChipNumbers], Any]] = {
    "tuple": lambda chip: (chip.major, chip.minor),
    "named": lambda chip: DeviceCapability(chip.major, chip.minor),
    "joined": lambda chip: chip.major * 10 + chip.minor,
    "major": lambda chip: chip.major,
    "minor": lambda chip: chip.minor,
    "version": lambda chip: f"{chip.major}.{chip.minor}",
    "digits": lambda chip: f"{chip.major}{chip.minor}",
    "sm": lambda chip: f"sm_{chip.major}{chip.minor}",
    "sm-suffixed": lambda chip: f"sm_{chip.major}{chip.minor}{'a' if chip.major >= 9 else ''}",
    "true": lambda _: True,
    "false": lambda _: False,
    "none": lambda _: None,
}


# What vLLM's `Platform` does: a tuple is compared with the NamedTuple, a number with the joined digits.
def _is_capability(chip: ChipNumbers, capability: Any) -> bool:
    current = DeviceCapability(chip.major, chip.minor)
    return current == capability if isinstance(capability, tuple) else current.to_int() == capability


def _has_capability(chip: ChipNumbers, capability: Any) -> bool:
    current = DeviceCapability(chip.major, chip.minor)
    return current >= capability if isinstance(capability, tuple) else bool(current.to_int() >= capability)


def _is_family(chip: ChipNumbers, capability: Any) -> bool:
    return bool(DeviceCapability(chip.major, chip.minor).to_int() // 10 == capability // 10)


def _at_least_parts(chip: ChipNumbers, major: Any, minor: Any = 0) -> bool:
    return bool((chip.major, chip.minor) >= (major, minor))


TESTS: dict[str, Callable[..., bool]] = {
    "equals": _is_capability,
    "at-least": _has_capability,
    "family": _is_family,
    "at-least-parts": _at_least_parts,
}
