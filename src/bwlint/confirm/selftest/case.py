"""A case of the self-test: what bwlint reads, how it is built, and how a GPU is asked. It holds no expected result."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from bwlint.chips import Chip, Target
from bwlint.chips.instructions import first_isa

INPUTS = Path(__file__).parent / "inputs"

Question = Literal["image", "program", "unnoticed", "bounds", "gate", "observed"]
"""What is asked of the device; `hardware` says what its answers mean."""


@dataclass(frozen=True, slots=True)
class PtxText:
    """PTX as it is, which the driver compiles."""


@dataclass(frozen=True, slots=True)
class AssembledCubin:
    """What ptxas makes of the PTX for its own target; with `label` its header is edited, and names that number."""

    label: str = ""


@dataclass(frozen=True, slots=True)
class Fatbin:
    """A fatbin of the PTX for several targets: `cubins` are assembled, `ptx` is put in as text."""

    cubins: tuple[str, ...] = ()
    ptx: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BuiltProgram:
    """An executable that nvcc makes of the input for `pairs` of -gencode ("80,sm_80"). With `others` each source is an
    object with relocatable code, these for pairs of their own. `code` is the source where the input is a build file,
    which has the pairs as FLAGS."""

    pairs: tuple[str, ...] = ("@PLAIN@,sm_@PLAIN@",)
    others: tuple[str, ...] = ()
    other_pairs: tuple[str, ...] = ()
    code: str = ""


@dataclass(frozen=True, slots=True)
class PickingGate:
    """A Python file whose `pick` hands out `behind`, a PTX statement, where its one test lets the device through."""


Make = PtxText | AssembledCubin | Fatbin | BuiltProgram | PickingGate


@dataclass(frozen=True, slots=True)
class Launch:
    """How the kernel `k` of an image is launched: with so many blocks; `opt_in` allows a cluster of any size."""

    grid: str = "1"
    opt_in: bool = False


@dataclass(frozen=True, slots=True)
class SelftestCase:
    """One case. `rule` is the rule whose claim it tests, `template` a file of `inputs`.

    `values` fill in its @NAMES@; they may speak of the chip that is asked: PLAIN (90), SPECIFIC (90a), FAMILY (120f),
    MAJOR, MINOR, OPTIN, DEFAULT, PER_SM (bytes of shared memory), PORTABLE, LARGEST (blocks of a cluster), THREADS,
    BLOCKS (of a multiprocessor), each with "+1" or "-1024" behind it; ISA is the first version of PTX that names
    TARGET, and LEAST at least.
    """

    name: str
    rule: str
    question: Question
    template: str
    make: Make
    values: Mapping[str, str] = field(default_factory=dict)
    launch: Launch = field(default_factory=Launch)


class NotForChip(Exception):
    """A case that a chip cannot have, such as one about a suffix that its targets lack; the message says why."""


_HOLE = re.compile(r"@([A-Z_]+)((?:[+-]\d+)?)@")
_WORD = re.compile(r"([A-Z_]+)((?:[+-]\d+)?)")
_LEAST = (7, 0)


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a chip with the values of a case in front."""

    chip: Chip
    values: Mapping[str, str] = field(default_factory=dict)

    def filled(self, text: str) -> str:
        """A text with its holes filled in. Raises NotForChip."""
        return _HOLE.sub(lambda hole: self.value(hole[1] + hole[2]), text)

    def value(self, text: str) -> str:
        """A value of a case: a word, a word and a number, or itself. Raises NotForChip."""
        found = _WORD.fullmatch(text)
        if found is None:
            return self.filled(text)
        word, more = found[1], found[2]
        given = self.values.get(word)
        plain = self.value(given) if given is not None else self._of_chip(word)
        return str(int(plain) + int(more)) if more else plain

    def number(self, text: str) -> int:
        return int(self.value(text))

    def _of_chip(self, word: str) -> str:
        if word in _NUMBERS:
            return str(getattr(self.chip, _NUMBERS[word]))
        if word in _SUFFIXES:
            suffix = _SUFFIXES[word]
            if suffix not in self.chip.suffixes:
                raise NotForChip(f"sm_{self.chip.joined} has no suffix {suffix!r}")
            return f"{self.chip.joined}{suffix}"
        if word == "ISA":
            return self._isa()
        known: int | None = getattr(self.chip, _LIMITS[word])
        if known is None:
            raise NotForChip(f"{_LIMITS[word]} of {self.chip} is not known")
        return str(known)

    def _isa(self) -> str:
        """The lowest version that names the target, and knows what the case asks for where that is newer."""
        least = max(_LEAST, _version(self.values.get("LEAST", "7.0")))
        own = first_isa(Target.parse(self.value("TARGET"))) or _LEAST
        return ".".join(map(str, max(own, least)))


_NUMBERS = {"PLAIN": "joined", "MAJOR": "major", "MINOR": "minor"}
_SUFFIXES = {"SPECIFIC": "a", "FAMILY": "f"}
_LIMITS = {
    "OPTIN": "smem_per_block_optin",
    "DEFAULT": "smem_per_block_default",
    "PER_SM": "smem_per_sm",
    "PORTABLE": "cluster_portable",
    "LARGEST": "cluster_optin",
    "THREADS": "max_threads_per_sm",
    "BLOCKS": "max_blocks_per_sm",
}


def _version(text: str) -> tuple[int, int]:
    major, minor = text.split(".")
    return int(major), int(minor)


def template(name: str) -> str:
    """The text of an input with its holes, which make Python's no Python yet."""
    return (INPUTS / (f"{name}.in" if name.endswith(".py") else name)).read_text(encoding="utf-8")


def rendered(case: SelftestCase, chip: Chip) -> str:
    """The input of a case for a chip, as bwlint and the compilers read it. Raises NotForChip."""
    words = Words(chip, case.values)
    for value in case.values.values():
        words.value(value)
    return words.filled(template(case.template))
