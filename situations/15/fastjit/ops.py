import ctypes
from functools import cache
from pathlib import Path

import torch

from .arch import Arch
from .builder import build

_CSRC = Path(__file__).parent / "csrc"


@cache
def _module(arch: Arch):
    lib = build("histogram", _CSRC / "histogram.cu", arch)
    lib.histogram.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_int, ctypes.c_void_p]
    lib.histogram.restype = ctypes.c_int
    return lib


def histogram(x: torch.Tensor, bins: int) -> torch.Tensor:
    """Counts of int32 values in [0, bins)."""
    out = torch.zeros(bins, dtype=torch.int32, device=x.device)
    stream = torch.cuda.current_stream(x.device).cuda_stream
    rc = _module(Arch.of(x.device)).histogram(x.data_ptr(), out.data_ptr(), x.numel(), bins, stream)
    if rc != 0:
        raise RuntimeError(f"histogram: CUDA error {rc}")
    return out
