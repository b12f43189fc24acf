"""tcgen05 in binaries: a kernel of the fifth-generation tensor core in a cubin for a chip without one."""

from __future__ import annotations

from collections.abc import Iterator

from bwlint.binaries.operations import Loaded, loaded
from bwlint.binaries.shipments import Flaw, Shipment
from bwlint.chips import NONE, ChipSet
from bwlint.chips.wording import called, plain
from bwlint.judging import claims
from bwlint.model.findings import Claim


def check_binary(shipment: Shipment, asked: ChipSet) -> Iterator[Flaw]:
    legal = ChipSet.where(lambda chip: bool(chip.tmem_per_sm))
    for found in loaded(shipment, asked, lambda kernel, _, chip: bool(kernel.tcgen05) and not chip.tmem_per_sm):
        yield Flaw(
            severity="error",
            path=found.library.path,
            message=f"{found.named}: tcgen05 instructions in a cubin that loads on {called(found.chips)}.",
            label="tensor memory, which these chips lack",
            advice="Compile for the chip: its own assembler refuses these instructions.",
            key=f"tcgen05 {plain(found.chips)}",
            admitted=found.chips,
            legal=legal,
            claims=(_no_tensor_memory(found),),
        )


def _no_tensor_memory(found: Loaded) -> Claim:
    kernel = found.kernels[0].name
    return claims.need(kernel, found.chips, NONE, f"`{kernel}` needs tensor memory, and {plain(found.chips)} has none")
