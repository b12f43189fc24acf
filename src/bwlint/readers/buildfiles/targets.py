"""Lists of targets as people spell them: "8.0 9.0a 12.0+PTX", "80;90a-real", "sm_120a,sm_121a"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
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


@dataclass(frozen=True, slots=True)
class _Arch:
    major: int
    minor: int
    suffix: str
    ptx: bool = False

    @classmethod
    def of(cls, text: str) -> _Arch:
        text, plus, _ = text.partition("+")
        number = text.rstrip("af")
        major, _, minor = number.partition(".")
        return cls(int(major), int(minor), text[len(number) :], bool(plus))

    @property
    def place(self) -> tuple[int, int]:
        return self.major, self.minor

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}{self.suffix}{'+PTX' if self.ptx else ''}"


def loose_intersection(offered: Sequence[str], requested: Sequence[str]) -> tuple[str, ...]:
    """What a kernel is built for: `offered` are the targets its author lists, `requested` those of the build.

    Elements are such as "9.0a", "12.0f", "8.0+PTX". An offered one with a suffix serves the request of its own
    number, one with "f" else a request of its major; any other request gets the highest plain one that is not above
    it, of its own major unless that one carries PTX. Raises ValueError for what is no version.
    """
    exact = [arch for arch in map(_Arch.of, offered) if arch.suffix]
    plain = sorted((arch for arch in map(_Arch.of, offered) if not arch.suffix), key=lambda arch: arch.place)
    left = list(map(_Arch.of, requested))
    built: dict[_Arch, None] = {}
    unused: list[_Arch] = []
    for arch in exact:
        mine = [asked for asked in left if asked.place == arch.place]
        if mine:
            built[arch] = None
            left = [asked for asked in left if asked.place != arch.place]
        else:
            unused.append(arch)
    for arch in unused:
        mine = [asked for asked in left if arch.suffix == "f" and asked.major == arch.major]
        if mine:
            built[mine[0]] = None
            left.remove(mine[0])
    for asked in left:
        below = [arch for arch in plain if arch.place <= asked.place and (arch.ptx or arch.major == asked.major)]
        if below:
            built[below[-1]] = None
    return tuple(str(arch) for arch in built)
