"""cluster in binaries: a kernel that demands a larger cluster than the chip is known to take.

Where a chip may take it with an opt-in that is a note: whether callers keep the chip away is not in the binary.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from bwlint.binaries.operations import Loaded, loaded
from bwlint.binaries.shipments import Flaw, Shipment
from bwlint.chips import Chip, ChipSet
from bwlint.chips.wording import called, plain
from bwlint.judging import claims
from bwlint.model.findings import Claim
from bwlint.model.images import Cubin, Kernel


def check_binary(shipment: Shipment, asked: ChipSet) -> Iterator[Flaw]:
    for found in loaded(shipment, asked, _is_over):
        size = max(prod(kernel.cluster or ()) for kernel in found.kernels)
        portable = min(chip.cluster_portable or 0 for chip in found.chips)
        certain = all(chip.cluster_optin is not None and size > chip.cluster_optin for chip in found.chips)
        yield Flaw(
            severity="error" if certain else "note",
            confidence="high" if certain else "medium",
            path=found.library.path,
            message=(
                f"{found.named}: compiled for clusters of {size} blocks. The portable maximum of"
                f" {called(found.chips)} is {portable}."
            ),
            label="a larger cluster needs an opt-in, and a device that takes it",
            advice="Query cudaOccupancyMaxPotentialClusterSize, or compile for at most 8 blocks.",
            key=f"cluster {size} {plain(found.chips)}",
            admitted=found.chips,
            claims=(_too_large(found),),
        )


def _too_large(found: Loaded) -> Claim:
    kernel = max(found.kernels, key=lambda kernel: prod(kernel.cluster or ()))
    return claims.cluster(kernel.cluster or (), found.chips, kernel.name)


def _is_over(kernel: Kernel, _: Cubin, chip: Chip) -> bool:
    """Whether a cluster is over what the chip is known to take, with an opt-in if need be."""
    known = chip.cluster_optin or chip.cluster_portable or 0
    return kernel.cluster is not None and prod(kernel.cluster) > known
