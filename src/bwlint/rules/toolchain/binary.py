"""toolchain: a shipment whose own compilers know no chip that is asked about."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from bwlint.binaries.needs import dotted
from bwlint.binaries.shipments import Flaw, Shipment
from bwlint.chips import ChipSet
from bwlint.chips.surroundings import variables
from bwlint.chips.toolkits import known_chips, releases, version
from bwlint.chips.wording import called, plain
from bwlint.judging import claims


def check_binary(shipment: Shipment, asked: ChipSet) -> Iterator[Flaw]:
    lost = shipment.unknown(asked)
    if not lost:
        return
    newest = shipment.compilers[-1]
    first = next((release for release in releases() if lost <= known_chips(version(release))), "")
    release = dotted(newest.release)
    is_front = all(one.is_front for one in shipment.compilers)
    says = f"`{newest.file}` (CUDA {release}) does not know {called(lost)}: {shipment.compiles_nothing(lost)}."
    yield Flaw(
        severity="note" if is_front else "warning",
        path=newest.path,
        message=says,
        label=f"knows {plain(newest.knows)}",
        advice=f"Ship one from CUDA {first} or newer.{_by_hand(shipment)}" if first else "Ship a newer one.",
        key="compiler",
        admitted=newest.knows,
        claims=(claims.other(says, lost),),
    )


def _by_hand(shipment: Shipment) -> str:
    """What who only installs a wheel can do: set the variable that names its package another assembler."""
    project = PurePosixPath(shipment.name).name.partition("-")[0]
    known = (it for it in variables().items() if it[1].instead and it[1].package == project)
    told = [f"{name} ({one.instead} from {project} {one.since} on)" for name, one in known]
    return f" To use this wheel, set {told[0]} to the ptxas of such a CUDA." if told else ""
