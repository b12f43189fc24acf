from functools import cache

import torch

IS_HIP = torch.version.hip is not None
IS_CUDA = torch.version.cuda is not None


@cache
def capability(index: int) -> tuple[int, int]:
    if IS_HIP or IS_CUDA:
        return torch.cuda.get_device_capability(index)
    return (0, 0)


def round_multiple(x: int, m: int) -> int:
    return (x + m - 1) // m * m
