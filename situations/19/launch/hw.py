from functools import lru_cache

import torch


@lru_cache(maxsize=None)
def sm_version(index: int = 0) -> int:
    if not torch.cuda.is_available() or torch.version.hip:
        return 0
    major, minor = torch.cuda.get_device_capability(index)
    return major * 10 + minor
