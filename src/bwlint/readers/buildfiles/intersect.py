"""The arch-list intersection that many CMake projects use to pick a kernel's targets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


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
