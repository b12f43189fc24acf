"""Lists of targets as people spell them: "8.0 9.0a 12.0+PTX", "80;90a-real", "sm_120a,sm_121a"."""

from __future__ import annotations

import re
from dataclasses import dataclass

from bwlint.chips.spelling import FORM, LISTED, LISTED_MAJOR, PREFIX

_ELEMENT = re.compile(
    rf"{PREFIX}?(?P<number>{LISTED})(?P<suffix>[a-z]?)(?P<form>{FORM})?"
    rf"|(?P<major>{LISTED_MAJOR})\.(?P<minor>[0-9])(?P<dotted>[a-z]?)(?P<ptx>\+ptx)?",
    re.I,
)
_SEPARATOR = re.compile(r"[\s;,|]+")
_LONGEST = 4096


@dataclass(frozen=True, slots=True)
class Listed:
    """Names of targets ("120a") for cubins and for PTX, in order; `sure` if they are not all bare numbers."""

    sass: tuple[str, ...]
    ptx: tuple[str, ...]
    sure: bool

    def __bool__(self) -> bool:
        return bool(self.sass or self.ptx)


def parse_list(text: str, *, with_ptx: bool = False) -> Listed | None:
    """The targets of a list whose elements all are such, else None; "" is None too.

    `with_ptx` says that a bare element stands for a cubin and PTX, as in CMake's own variable.
    """
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
        if form in ("-virtual", "+ptx") or (with_ptx and not form):
            ptx[name] = None
    return Listed(tuple(sass), tuple(ptx), sure)
