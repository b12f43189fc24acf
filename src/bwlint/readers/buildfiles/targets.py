"""Lists of targets as people spell them: "8.0 9.0a 12.0+PTX", "80;90a-real", "sm_120a,sm_121a"."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from bwlint.chips import known_targets
from bwlint.chips.spelling import FORM, LISTED, LISTED_MAJOR, PREFIX

_ELEMENT = re.compile(
    rf"{PREFIX}?(?P<number>{LISTED})(?P<suffix>[a-z]?)(?P<form>{FORM})?"
    rf"|(?P<major>{LISTED_MAJOR})\.(?P<minor>[0-9])(?P<dotted>[a-z]?)(?P<ptx>\+ptx)?",
    re.I,
)
_SEPARATOR = re.compile(r"[\s;,|]+")
_LONGEST = 4096
_A_ROW = 3

_LIST_NAME = re.compile(r"(?<![\w-])[\w.-]{0,60}(?:arch_?list|arche?s|architectures)[\w-]{0,40}", re.I)
_ROW_NAME = re.compile(
    r"[\w.-]{0,60}(?:capabilit(?:y|ies)|compute_?caps|sms|(?:cuda|gpu|nvcc)_?arch(?!_?list|s|es|itec))[\w-]{0,40}", re.I
)


@dataclass(frozen=True, slots=True)
class Listed:
    """Names of targets ("120a") for cubins and for PTX, in order; `sure`: not all bare numbers, `dotted`: "12.0a"."""

    sass: tuple[str, ...]
    ptx: tuple[str, ...]
    sure: bool
    dotted: bool = False

    def __bool__(self) -> bool:
        return bool(self.sass or self.ptx)


def bare_is_both(name: str) -> bool:
    """Whether "10.0" in a list of that name stands for a cubin and PTX, as for CMake, TensorFlow, rules_cuda."""
    return "CUDA_ARCHITECTURES" in name or "CUDA_COMPUTE_CAPABILITIES" in name


def parse_list(text: str, *, with_ptx: bool = False) -> Listed | None:
    """The targets of a list whose elements all are such, else None; `with_ptx`: a bare one is a cubin and PTX."""
    text = text.strip(" \t\r\n;,")
    if not text or len(text) > _LONGEST:
        return None
    sass: dict[str, None] = {}
    ptx: dict[str, None] = {}
    sure = False
    for element in _SEPARATOR.split(text):
        match = _ELEMENT.fullmatch(element)
        if match is None:
            return None
        name = (match["number"] or match["major"] + match["minor"]) + (match["suffix"] or match["dotted"] or "").lower()
        form = (match["form"] or match["ptx"] or "").lower()
        sure = sure or not element.isdigit()
        if form != "-virtual":
            sass[name] = None
        is_virtual = element.lower().startswith("compute_") and with_ptx
        if form in ("-virtual", "+ptx") or is_virtual or (with_ptx and not form and not element[:1].isalpha()):
            ptx[name] = None
    return Listed(tuple(sass), tuple(ptx), sure, "." in text)


def list_names(also: Iterable[str] = ()) -> re.Pattern[str]:
    """Finds the names in a line that may be those of lists of architectures; `also` are whole names."""
    exact = "".join(rf"|(?<![\w-]){re.escape(name)}(?![\w-])" for name in sorted(also))
    return re.compile(rf"{_LIST_NAME.pattern}|(?<![\w-]){_ROW_NAME.pattern}{exact}", re.I)


def counts(name: str, listed: Listed, *, handed: bool = False) -> bool:
    """Whether the value of a variable is a list of targets, by the name, the receiver and the spelling."""
    if _LIST_NAME.fullmatch(name) or handed:
        return listed.sure or "cuda" in name.lower() or _is_row(listed)
    built = any(name[-1:].isalpha() for name in listed.sass)  # chips have no suffix
    return _ROW_NAME.fullmatch(name) is not None and (built or _is_row(listed))


def _is_row(listed: Listed) -> bool:
    """Several chips, ascending."""
    numbers = [int(name.rstrip("abcdefghijklmnopqrstuvwxyz")) for name in listed.sass]
    return len(set(known_targets(listed.sass))) >= _A_ROW and numbers == sorted(numbers)
