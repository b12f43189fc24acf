from functools import lru_cache

import torch


@lru_cache(maxsize=1)
def is_cuda() -> bool:
    return torch.cuda.is_available() and torch.version.cuda is not None


@lru_cache(maxsize=1)
def is_hip() -> bool:
    return torch.version.hip is not None


@lru_cache(maxsize=1)
def device_capability() -> tuple[int, int]:
    if not is_cuda():
        return (0, 0)
    return torch.cuda.get_device_capability()


@lru_cache(maxsize=1)
def is_sm100_supported() -> bool:
    return device_capability()[0] == 10


@lru_cache(maxsize=1)
def is_sm120_supported() -> bool:
    return device_capability()[0] == 12
