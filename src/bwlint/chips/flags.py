"""nvcc's flags for targets, wherever they stand: ``-gencode arch=compute_120f,code=sm_120``, ``-arch=sm_90a``.

What `-arch` alone keeps (nvcc 13.0.88 and 13.5.37, `--dryrun` and cuobjdump): of sm_120 a cubin and PTX, of
compute_120 PTX; with a suffix PTX of the plain target besides, which ptxas is run on too; `all` and `all-major` plain
cubins and PTX of the newest; `native` the plain target of the chip at hand. With `-code` it is that of the PTX alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from bwlint.chips.spelling import ANY_TARGET, OF_TOOLS
from bwlint.chips.targets import ALL_TARGETS

_NAMED = rf"(?:[1-9]\d{{3}}[af]?|{ANY_TARGET})"
"""A target, or what somebody took for one: `sm_1020`."""
_GENCODE = re.compile(
    rf"arch=compute_(?P<arch>{_NAMED}),\s{{0,4}}code=[\\\"'\[]{{0,4}}"
    rf"(?P<codes>{OF_TOOLS}{_NAMED}(?:,\s{{0,4}}{OF_TOOLS}{_NAMED}){{0,20}})(?![\w{{$])"
)
_ARCH = re.compile(
    r"(?<![\w-])(?:-arch|--gpu-architecture|(?P<one>--(?:cuda-)?gpu-arch|--gpu-name))(?:=|[ \t]{1,4})[\"']?"
    rf"(?:(?P<kind>sm|compute)_(?P<arch>{_NAMED})(?![\w{{$])|(?P<any>all-major|all|native)(?![\w-]))"
)
_WITH_CODE = re.compile(r"(?<![\w-])(?:-code|--gpu-code)(?:=|[ \t]{1,4})[\"']?(?P<codes>[\w,]{0,200})")
_ONE_FORM = re.compile(r"(?<![\w-])--?(?P<form>cubin|ptx)(?![\w-])|(?<!-l)nvrtc|(?<![\w-])ptxas(?![\w=-])", re.I)
"""Where nothing but the named target is made: nvcc told to stop at one form, and the tools that make only one."""
PLAIN = tuple(target.name.removeprefix("sm_") for target in ALL_TARGETS if not target.suffix)
"""What is compiled for where a build names no target: `native`, `all`, a capability that is detected."""
WITHOUT_A_NAME = frozenset({"native", "all", "all-major"})
_CODE = re.compile(rf"(sm|compute|lto)_({_NAMED})")


@dataclass(frozen=True, slots=True)
class Flag:
    """A flag at `start:end`; `arch`: the target of the PTX, or what stands for nameless ones; what it keeps."""

    arch: str
    sass: tuple[str, ...]
    ptx: tuple[str, ...]
    start: int
    end: int


def find_flags(text: str, around: str = "") -> Iterator[Flag]:
    """The flags of a text, those for pairs first; `around` is the command that it is a part of."""
    for match in _GENCODE.finditer(text):
        yield from _kept(match, match["codes"])
    for match in _ARCH.finditer(text):
        if match["any"]:
            yield Flag(match["any"], PLAIN, (), match.start(), match.end())
        elif coded := _WITH_CODE.search(around or text):
            yield from _kept(match, coded["codes"])
        else:
            yield _shorthand(match, _ONE_FORM.search(around or text))


def _kept(match: re.Match[str], codes: str) -> Iterator[Flag]:
    names = _CODE.findall(codes)
    sass = tuple(name for kind, name in names if kind == "sm")
    ptx = tuple(name for kind, name in names if kind == "compute")
    if sass or ptx:
        yield Flag(match["arch"], sass, ptx, match.start(), match.end())


def _shorthand(match: re.Match[str], form: re.Match[str] | None) -> Flag:
    """What `-arch` keeps by itself."""
    arch = match["arch"]
    as_ptx = match["kind"] == "compute" or (form is not None and form["form"] == "ptx")
    sass: tuple[str, ...] = () if as_ptx else (arch,)
    ptx: tuple[str, ...]
    if match["one"] == "--gpu-name" or form is not None:
        ptx = (arch,) if as_ptx else ()
    else:
        ptx = (arch,) if match["one"] else tuple(dict.fromkeys((arch.rstrip("af"), arch)))
    return Flag(arch, sass, ptx, match.start(), match.end())
