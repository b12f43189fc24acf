"""nvcc's flags for targets, wherever they stand: ``-gencode arch=compute_120f,code=sm_120``, ``-arch=sm_90a``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from bwlint.chips.spelling import ANY_TARGET, OF_TOOLS

_NAMED = rf"(?:[1-9]\d{{3}}[af]?|{ANY_TARGET})"
"""A target, or what somebody took for one: `sm_1020`."""
_GENCODE = re.compile(
    rf"arch=compute_(?P<arch>{_NAMED}),\s{{0,4}}code=[\\\"'\[]{{0,4}}"
    rf"(?P<codes>{OF_TOOLS}{_NAMED}(?:,\s{{0,4}}{OF_TOOLS}{_NAMED}){{0,20}})(?![\w{{$])"
)
_ARCH = re.compile(
    r"(?<![\w-])(?:-arch|--gpu-architecture|--(?:cuda-)?gpu-arch|--gpu-name)(?:=|[ \t]{1,4})[\"']?"
    rf"(?P<kind>sm|compute)_(?P<arch>{_NAMED})(?![\w{{$])"
)
_CODE = re.compile(rf"(sm|compute|lto)_({_NAMED})")


@dataclass(frozen=True, slots=True)
class Flag:
    """One flag at `start:end` of a text. `arch` is the target of the PTX, `sass` and `ptx` what is kept."""

    arch: str
    sass: tuple[str, ...]
    ptx: tuple[str, ...]
    start: int
    end: int


def find_flags(text: str) -> Iterator[Flag]:
    """The flags of a text, those for pairs first."""
    for match in _GENCODE.finditer(text):
        codes = _CODE.findall(match["codes"])
        sass = tuple(name for kind, name in codes if kind == "sm")
        ptx = tuple(name for kind, name in codes if kind == "compute")
        if sass or ptx:
            yield Flag(match["arch"], sass, ptx, match.start(), match.end())
    for match in _ARCH.finditer(text):
        sass = (match["arch"],) if match["kind"] == "sm" else ()
        yield Flag(match["arch"], sass, (match["arch"],), match.start(), match.end())
