"""Candidates for the autotuner, largest first, and the filter that fits them to the GPU."""
import triton

from ffn.device import max_shared_bytes, sm_number


def _config(bm, bn, bk, stages, warps):
    return triton.Config({"BM": bm, "BN": bn, "BK": bk}, num_stages=stages, num_warps=warps)


CANDIDATES = [
    _config(128, 256, 64, 4, 8),
    _config(256, 128, 64, 3, 8),
    _config(128, 128, 64, 4, 8),
    _config(128, 128, 64, 3, 4),
    _config(128, 64, 64, 3, 4),
    _config(64, 64, 64, 2, 4),
]


def shared_bytes(config, itemsize: int) -> int:
    bm, bn, bk = (config.kwargs[k] for k in ("BM", "BN", "BK"))
    return config.num_stages * (bm * bk + bk * bn) * itemsize


def prune(configs, named_args, **kwargs):
    itemsize = named_args["A"].element_size()
    limit = max_shared_bytes(named_args["A"].device.index)
    fitting = [c for c in configs if shared_bytes(c, itemsize) <= limit]
    if named_args["M"] <= 64:
        fitting = [c for c in fitting if c.kwargs["BM"] == 64] or fitting
    if sm_number() >= 90:
        # eight warps only pay with the larger tiles there
        fitting = [c for c in fitting if c.num_warps == 4 or c.kwargs["BN"] >= 128] or fitting
    return fitting
