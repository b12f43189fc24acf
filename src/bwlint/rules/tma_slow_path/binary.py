"""tma-slow-path in binaries: kernels that call the driver's routines for bulk loads."""

from __future__ import annotations

from collections.abc import Iterator

from bwlint.binaries.operations import loaded
from bwlint.binaries.shipments import Flaw, Shipment
from bwlint.chips import ChipSet
from bwlint.chips.wording import called, plain
from bwlint.judging import claims
from bwlint.model.images import DRIVER_CALL


def check_binary(shipment: Shipment, asked: ChipSet) -> Iterator[Flaw]:
    for found in loaded(shipment, asked, lambda kernel, _, chip: bool(kernel.driver_calls)):
        calls = sorted({call for kernel in found.kernels for call in kernel.driver_calls})
        names = ", ".join(call.removeprefix(DRIVER_CALL) for call in calls)
        yield Flaw(
            severity="note",
            path=found.library.path,
            message=f"{found.named}: bulk loads that call a routine of the driver on {called(found.chips)}: {names}.",
            label="in software where the destination is not the block's own, or with multicast",
            advice="Load to .shared::cta where the destination is the block's own.",
            key=f"slow {plain(found.chips)}",
            admitted=found.chips,
            claims=(claims.calls(found.kernels[0].name, found.chips),),
        )
