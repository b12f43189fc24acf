"""relabelled: a cubin whose header names another chip than its notes."""

from __future__ import annotations

from collections.abc import Iterator

from bwlint.chips import NONE, ChipSet, chip_of_number
from bwlint.shipments import Flaw, Library, Shipment

NAME = "relabelled"


def check_binary(shipment: Shipment, asked: ChipSet) -> Iterator[Flaw]:
    for library in shipment.libraries:
        claims: dict[tuple[int, int], int] = {}
        for unit in library.units:
            for found in unit.cubins.values():
                if found.relabelled and found.noted is not None:
                    claims[(found.number, found.noted)] = claims.get((found.number, found.noted), 0) + 1
        for (number, noted), count in claims.items():
            yield _flaw(library, number, noted, count)


def _flaw(library: Library, number: int, noted: int, count: int) -> Flaw:
    real = chip_of_number(noted)
    cubins = "a cubin" if count == 1 else f"{count} cubins"
    return Flaw(
        NAME,
        "error",
        "high",
        library.path,
        f"the header of {cubins} says sm_{number}, and the compiler's notes in it say sm_{noted}",
        f"sm_{noted} under the name of sm_{number}",
        f"compile for sm_{number}: an edited header makes no code for it",
        f"{number} {noted}",
        NONE if real is None else ChipSet.of(real.name),
    )
