import torch
import triton

from .kernels import chunk_scan_kernel, chunk_state_kernel
from .tuning import CHUNK_SCAN, CHUNK_STATE

CHUNK = 128


def _major(x: torch.Tensor) -> int:
    major = torch.cuda.get_device_capability(x.device)[0]
    if major < 8:
        raise RuntimeError("ssd needs tensor cores with bfloat16")
    return major


def chunk_state(x: torch.Tensor, b: torch.Tensor, dt: torch.Tensor) -> torch.Tensor:
    length, hdim = x.shape
    dstate = b.shape[1]
    chunks = triton.cdiv(length, CHUNK)
    cfg = CHUNK_STATE[_major(x)]
    s = torch.empty(chunks, hdim, dstate, device=x.device, dtype=torch.float32)
    grid = (chunks, triton.cdiv(hdim, cfg["block_m"]), triton.cdiv(dstate, cfg["block_n"]))
    chunk_state_kernel[grid](x, b, dt, s, length, dstate, hdim, BM=cfg["block_m"], BN=cfg["block_n"], CHUNK=CHUNK,
                             num_warps=cfg["num_warps"], num_stages=cfg["num_stages"])
    return s


def chunk_scan(c: torch.Tensor, s: torch.Tensor) -> torch.Tensor:
    length, dstate = c.shape
    hdim = s.shape[1]
    cfg = CHUNK_SCAN[_major(c)]
    y = torch.empty(length, hdim, device=c.device, dtype=c.dtype)
    grid = (triton.cdiv(length, CHUNK), CHUNK // cfg["block_m"], triton.cdiv(hdim, cfg["block_n"]))
    chunk_scan_kernel[grid](c, s, y, length, dstate, hdim, BM=cfg["block_m"], BN=cfg["block_n"], CHUNK=CHUNK,
                            num_warps=cfg["num_warps"], num_stages=cfg["num_stages"])
    return y
