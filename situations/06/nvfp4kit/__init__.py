import torch

from .registry import lookup


def nvfp4_gemm(a, b, sfa, sfb, out_dtype=torch.bfloat16):
    major, minor = torch.cuda.get_device_capability(a.device)
    c = torch.empty((a.shape[0], b.shape[0]), dtype=out_dtype, device=a.device)
    run = lookup("nvfp4_gemm", major * 10 + minor)()
    run(a, b, sfa, sfb, c)
    return c
