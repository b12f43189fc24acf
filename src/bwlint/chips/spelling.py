"""How people and tools spell chips and targets: pieces of expressions without groups, and names read whole."""

from __future__ import annotations

import re
from dataclasses import dataclass

NUMBER = "[0-9]{2,3}"
"""A chip's number: 90, 120."""
SUFFIX = "[afAF]?"
"""What pins a target to its chip or its family, where anything does."""
TARGET = NUMBER + SUFFIX
"""120, 120a."""
ANY_TARGET = NUMBER + "[a-z]?"
"""A target with a suffix that no toolkit may know: a build that asks for 120b is found out, not overlooked."""
LISTED = "(?:[3-9][0-9]|1[0-9][0-9])"
"""The number of a chip that stands bare in a list: nothing around it says that it is no other number."""
LISTED_MAJOR = "(?:[3-9]|1[0-9])"
FORM = r"(?:-real|-virtual|\+(?i:ptx))"
"""What lists of targets say of one: 120-real, 12.0+PTX."""
ROUGHLY = "(?:[0-9]{2,3}|[0-9]{1,2}x|[0-9]xx)"
"""A number that may leave its end open: 120, 12x, 1xx."""
SINCE_HOPPER = "(?:9[0-9]|1[0-2][0-9])"
"""The number of a chip with TMA and clusters."""

SM = "[Ss][Mm]"
IN_NAMES = SM + "_?"
"""In front of a number in an identifier: sm_120, is_sm120a_supported, Sm100."""
IN_WORDS = SM + "[ _-]?"
"""In front of a number in a sentence: SM 120, sm-120."""
OF_TOOLS = "(?:sm|compute|lto)_"
"""In front of a number where the toolkit is spoken to: compute_120f."""
PREFIX = "(?:[Ss][Mm]_?|(?i:compute)_|(?i:lto)_)"
"""In front of a number in a text that is a target and nothing else."""

_WHOLE = re.compile(
    rf"(?P<prefix>{PREFIX}?)(?P<number>{NUMBER})(?P<suffix>{SUFFIX})(?P<form>{FORM}?)"
    rf"|(?P<major>[0-9]{{1,2}})\.(?P<minor>[0-9])(?P<dotted_suffix>{SUFFIX})(?P<dotted_form>{FORM}?)"
)
_NAMED = re.compile(rf"{IN_NAMES}({NUMBER})(?![0-9xX])")
_OWN_WORD = re.compile(rf"(?<![A-Za-z0-9]){IN_NAMES}[0-9]{{1,3}}[afxAFX]?(?![A-Za-z0-9])")


@dataclass(frozen=True, slots=True)
class Spelling:
    """A target as it is written: "SM_120A" has the prefix "SM_" and the suffix "A", "12.0+PTX" is `dotted`."""

    prefix: str
    number: int
    suffix: str
    form: str
    dotted: bool

    @property
    def target(self) -> str:
        """The name as flags have it: "120a"."""
        return f"{self.number}{self.suffix.lower()}"

    @property
    def is_member(self) -> bool:
        """Whether a member of an enum can be called so: `Arch.sm_120a`."""
        return self.prefix.lower().startswith("sm")

    def write(self, number: int) -> str:
        """Another chip's number in the same spelling."""
        major, minor = divmod(number, 10)
        digits = f"{major}.{minor}" if self.dotted else str(number)
        return f"{self.prefix}{digits}{self.suffix}{self.form}"


def spelled(text: str) -> Spelling | None:
    """The target that a text is, "sm_120a", "compute_120f", "120-real", "12.0+PTX"; None where it is more or less."""
    found = _WHOLE.fullmatch(text)
    if found is None:
        return None
    if found["number"]:
        return Spelling(found["prefix"], int(found["number"]), found["suffix"], found["form"], False)
    number = int(found["major"] + found["minor"])
    return Spelling("", number, found["dotted_suffix"], found["dotted_form"], True)


def member(name: str) -> Spelling | None:
    """The target that a member of an enum is named after, the `sm_120a` of `Arch.sm_120a`."""
    found = spelled(name)
    return found if found is not None and found.is_member else None


def numbers(name: str) -> tuple[int, ...]:
    """The chips that an identifier names, wherever: 100 and 120 of `gemm_sm100_or_SM120a`."""
    return tuple(int(digits) for digits in _NAMED.findall(name))


def numberless(name: str) -> str | None:
    """An identifier without its targets' numbers, `is_sm_supported` of `is_sm120a_supported`; None without any."""
    plain, count = _OWN_WORD.subn("sm", name)
    return plain if count else None


def in_words(number: int) -> str:
    """A piece for one chip in a sentence: "SM120", "sm_120a"."""
    return rf"{IN_WORDS}{number}{SUFFIX}(?![A-Za-z0-9_])"


def in_names(number: int) -> str:
    """A piece for one chip in an identifier, by its number or its generation's: sm120, sm_12x."""
    return rf"{IN_NAMES}(?:{number}(?![0-9])|{number // 10}[xX])"


def of_generation(major: int) -> str:
    """A piece for any chip of a generation, or all of it, in an identifier: sm120, sm_12x."""
    return rf"{IN_NAMES}{major}[0-9xX](?![0-9])"
