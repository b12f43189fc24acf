"""smem in binaries: a kernel with more static shared memory than a block of the chip has."""

from __future__ import annotations

from collections.abc import Iterator

from bwlint.binaries.operations import loaded
from bwlint.binaries.shipments import Flaw, Shipment
from bwlint.chips import Chip, ChipSet
from bwlint.chips.wording import called, kib, plain
from bwlint.judging import claims
from bwlint.model.images import Cubin, Kernel


def check_binary(shipment: Shipment, asked: ChipSet) -> Iterator[Flaw]:
    for found in loaded(shipment, asked, _is_over):
        most = max(kernel.shared for kernel in found.kernels)
        limit = min(chip.smem_per_block_optin or most for chip in found.chips)
        yield Flaw(
            severity="error",
            path=found.library.path,
            message=(
                f"The static shared memory of {found.named} is up to {kib(most)}."
                f" {called(found.chips)} {'allows' if len(found.chips) == 1 else 'allow'} {kib(limit)} a block."
            ),
            label=f"over the limit of {plain(found.chips)}",
            advice="Use fewer stages or smaller tiles for this chip.",
            key=f"smem {plain(found.chips)}",
            admitted=found.chips,
            claims=(claims.shared("static", most, found.chips),),
        )


def _is_over(kernel: Kernel, _: Cubin, chip: Chip) -> bool:
    return chip.smem_per_block_optin is not None and kernel.shared > chip.smem_per_block_optin
