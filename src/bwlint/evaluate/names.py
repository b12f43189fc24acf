"""Names that programs give to capabilities, for values that nobody assigns in reach."""

from __future__ import annotations

import re
from functools import cache

from bwlint.chips.spelling import IN_NAMES
from bwlint.chips.words import said
from bwlint.evaluate.values import CHIPS, Guess, Vec
from bwlint.model.expr import Expr, walk
from bwlint.model.facts import Path

DEVICE = re.compile(
    rf"capabilit|compute_?cap|compute_version|(?:^|_)arch(?:_|s?$)|{IN_NAMES}[0-9]|(?:^|_)sm_(?:version|major|minor|arch)"
    r"|(?:^|_)(?:cc|sm|cap|major|minor)(?:_|s?$)|blackwell|hopper|ampere|(?:^|_)ada(?:_|$)|device_sm"
    r"|get_device_properties|get_device_name|DeviceGetName|shared_memory_per_block|^Arch$|cuda_arch|family_of",
    re.IGNORECASE,
)
"""Identifiers of conditions worth evaluating."""

SKIPPING_MARKS = ("skipif", "skipIf", "skipUnless")
"""Decorators of pytest and unittest that skip a test where a condition holds; the last one where it does not."""

_PREFIX = r"_*(?:(?:sm|cc|arch|device|gpu|cuda|nv|dev|target|compute|capability|cap|current|major|min|runtime)_)*"
_MAJOR = re.compile(rf"{_PREFIX}major(?:_version)?$")
_MINOR = re.compile(rf"{_PREFIX}minor(?:_version)?$")
_WHOLE = re.compile(
    rf"{_PREFIX}(?:arch|capability|compute_capability|compute_cap|cc|sm|sm_version|cuda_arch|cap|sm_arch|sm_num|"
    r"compute_arch|dev_capability|arch_enum)$"
)
_GIVEN_MACRO = re.compile(said("given-macro"))
_MACRO_OF_AMD = re.compile(said("amd-macro"))
_NO_CAPABILITY = re.compile(said("other-numbers"))


def compiles_by_default(tests: Path, around: Path = ()) -> bool:
    """Whether code under some tests compiles with what is `around` it, where no build defines what turns it off."""
    return tests[: len(around)] == around and all(map(_holds_by_default, tests[len(around) :]))


def _holds_by_default(test: Expr) -> bool:
    asked = test.args[0] if test.op == "not" else None
    if asked is None or asked.op != "defined":
        return False
    return _MACRO_OF_AMD.search(asked.args[0]) is not None or _GIVEN_MACRO.search(asked.args[0]) is None


@cache
def guess(name: str) -> Vec | None:
    """The sixteen guesses for a name that is called like a capability, or None."""
    name = name.lower()
    if _MAJOR.match(name):
        part = "major"
    elif _MINOR.match(name):
        part = "minor"
    elif _WHOLE.match(name):
        part = ""
    else:
        return None
    if looks_like_version(name) and not name.endswith("sm_version"):
        return None
    return Vec(
        tuple(Guess(chip.major, chip.minor, name, part) for chip in CHIPS),
        device=True,
        guessed=True,
    )


def guess_flag(target: str) -> Vec:
    """A flag that is named after a target holds on its chip; after a family target, on its chip and the later ones."""
    major, minor = divmod(int(target.rstrip("af")), 10)
    later = target.endswith("f")
    lanes = [chip.major == major and (chip.minor == minor or (later and chip.minor > minor)) for chip in CHIPS]
    return Vec(tuple(lanes), device=True, guessed=True)


_DRIVER = re.compile(r"(?:cu|cuda)[A-Z]\w+$")
_OF_DEVICE = re.compile(f"{DEVICE.pattern}|device|gpu", re.IGNORECASE)


def of_a_release(value: Expr) -> bool:
    """Whether a value is called after a release and after no device: `major, minor = nvrtc_version()`."""
    words = [word for node in walk(value) for word in node.args if isinstance(word, str)]
    return any(map(looks_like_version, words)) and not any(map(_OF_DEVICE.search, words))


def is_status(value: Expr) -> bool:
    """Whether a value is what a call of the driver gives back: an error code, whatever it is called."""
    return value.op == "call" and value.args[0].op == "attr" and bool(_DRIVER.match(value.args[0].args[1]))


def looks_like_version(text: str) -> bool:
    return bool(_NO_CAPABILITY.search(text.lower()))
