"""The paths over another GPU's memory in words."""

from __future__ import annotations

from dataclasses import dataclass

from bwlint.chips import ChipSet
from bwlint.judging import claims
from bwlint.judging.claims import Claimed
from bwlint.model.expr import Span


@dataclass(frozen=True, slots=True)
class PathText:
    """What is said of a path: of a kernel started here, and what would show that it works."""

    message: str
    label: str
    advice: str


PATHS = {
    "remote-atomic": PathText(
        "what starts here changes another GPU's memory by system-scope atomics, and nothing within reach asks whether"
        " the pair has native atomics",
        "enters remote atomics",
        "ask cudaDevP2PAttrNativeAtomicSupported for each pair and have a path without remote atomics; that a GPU can"
        " access its peer does not show it",
    ),
    "multicast": PathText(
        "what starts here uses multicast memory (multimem), and nothing within reach asks whether the device has it",
        "enters multicast",
        "ask CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED first: the instructions assemble for every target from 9.0 on, and"
        " need a multicast object when they run",
    ),
    "peer-store": PathText(
        "what starts here stores to or polls another GPU's memory, and nothing within reach shows that the two have"
        " working peer access",
        "enters a peer's memory",
        "ask cudaDeviceCanAccessPeer, or better copy between the pair and compare: behind an IOMMU or ACS the driver"
        " says yes and no bytes arrive. No atomics are needed for this",
    ),
    "fabric": PathText(
        "fabric handles are asked for here, and nothing within reach asks whether the device supports them",
        "asks for fabric handles",
        "ask CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED, and use file descriptors elsewhere; neither the"
        " processor nor the generation of the GPU shows it",
    ),
    "rdma": PathText(
        "memory that GPUDirect RDMA can use is asked for here, and nothing within reach asks whether the device has it",
        "asks for GPUDirect RDMA",
        "ask CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED: consumer parts refuse the allocation",
    ),
}
_TOPOLOGY = "ask what connects each pair: NVML's state of its links, or the driver for access and native atomics"


def advice(path: str) -> str:
    """What to ask instead of guessing."""
    return PATHS[path].advice if path in PATHS else _TOPOLOGY


def chosen(path: str) -> str:
    """What code does to a path without asking for it: what connects GPUs is not for it to choose."""
    return "chosen" if path in PATHS else "assumed"


def claimed(path: str, chips: ChipSet, at: Span) -> Claimed:
    return Claimed(claims.peer(path if path in PATHS else "peer-store", chips), at)
