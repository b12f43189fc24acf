from functools import lru_cache

import torch
from triton.runtime import driver


@lru_cache(maxsize=None)
def sm_number(index: int | None = None) -> int:
    major, minor = torch.cuda.get_device_capability(index)
    return 10 * major + minor


@lru_cache(maxsize=None)
def max_shared_bytes(index: int | None = None) -> int:
    if index is None:
        index = torch.cuda.current_device()
    return driver.active.utils.get_device_properties(index)["max_shared_mem"]
