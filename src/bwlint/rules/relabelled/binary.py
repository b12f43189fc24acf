"""relabelled: a cubin whose header names another chip than its notes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bwlint.binaries.shipments import DeviceLibrary, Flaw, LoadUnit, Shipment
from bwlint.binaries.verdicts import runs
from bwlint.chips import NONE, ChipSet, chip_of_number
from bwlint.judging import claims
from bwlint.model.findings import Claim
from bwlint.model.images import CUBIN, Cubin


def check_binary(shipment: Shipment, asked: ChipSet) -> Iterator[Flaw]:
    for library in shipment.libraries:
        false: dict[tuple[str, str], list[tuple[LoadUnit, Cubin]]] = {}
        for unit in library.units:
            for found in unit.cubins.values():
                if found.relabelled:
                    false.setdefault(_names(found), []).append((unit, found))
        for (claimed, noted), some in false.items():
            yield _flaw(library, claimed, noted, some)


def _names(cubin: Cubin) -> tuple[str, str]:
    return f"sm_{cubin.number}{cubin.suffix}", f"sm_{cubin.noted}{cubin.noted_suffix}"


def _flaw(library: DeviceLibrary, claimed: str, noted: str, some: Sequence[tuple[LoadUnit, Cubin]]) -> Flaw:
    cubins = "a cubin" if len(some) == 1 else f"{len(some)} cubins"
    return Flaw(
        severity="error",
        path=library.path,
        message=f"The header of {cubins} says {claimed}, but the compiler's notes in it say {noted}.",
        label=f"{noted} under the name of {claimed}",
        advice=f"Compile for {claimed}: an edited header makes no code for it.",
        key=f"{claimed} {noted}",
        admitted=NONE,
        claims=(_claim(library, *some[0], noted),),
    )


def _claim(library: DeviceLibrary, unit: LoadUnit, cubin: Cubin, noted: str) -> Claim:
    """That the chips which the header names do not run it, where the code in it is of another generation."""
    named = runs(CUBIN, cubin.number, cubin.suffix)
    code = chip_of_number(cubin.noted) if cubin.noted is not None else None
    foreign = ChipSet.joining(chip for chip in named if code is None or chip.major != code.major)
    foreign = ChipSet.joining(chip for chip in foreign if unit.verdicts[chip.name].place is None)
    if not foreign:
        return claims.other(f"the code in it was compiled for {noted}", named)
    alone = len(library.units) == 1 or bool(unit.path)
    return claims.image(foreign, at=None if alone else unit.container.at, path=unit.path)
