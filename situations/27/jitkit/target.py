from __future__ import annotations

import functools
import os

import torch

_SUFFIX = {9: "a", 10: "a", 12: "a"}


@functools.lru_cache
def native(index: int) -> str:
    major, minor = torch.cuda.get_device_capability(index)
    return f"{major}{minor}{_SUFFIX.get(major, '')}"


def gencode(index: int) -> list[str]:
    """Options for one device: built where it runs, so the exact chip and nothing else."""
    override = os.environ.get("JITKIT_ARCH")
    name = override or native(index)
    return ["-gencode", f"arch=compute_{name},code=sm_{name}"]
