"""relabelled: a cubin whose header names another chip than its notes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from bwlint.chips import NONE, ChipSet
from bwlint.images import Cubin
from bwlint.shipments import Flaw, Library, Shipment

NAME = "relabelled"


def check_binary(shipment: Shipment, asked: ChipSet) -> Iterator[Flaw]:
    for library in shipment.libraries:
        false = [found for unit in library.units for found in unit.cubins.values() if found.relabelled]
        for (claimed, noted), count in Counter(map(_names, false)).items():
            yield _flaw(library, claimed, noted, count)


def _names(cubin: Cubin) -> tuple[str, str]:
    return f"sm_{cubin.number}{cubin.suffix}", f"sm_{cubin.noted}{cubin.noted_suffix}"


def _flaw(library: Library, claimed: str, noted: str, count: int) -> Flaw:
    cubins = "a cubin" if count == 1 else f"{count} cubins"
    return Flaw(
        NAME,
        "error",
        "high",
        library.path,
        f"the header of {cubins} says {claimed}, and the compiler's notes in it say {noted}",
        f"{noted} under the name of {claimed}",
        f"compile for {claimed}: an edited header makes no code for it",
        f"{claimed} {noted}",
        NONE,
    )
