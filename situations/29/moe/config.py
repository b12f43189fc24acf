from __future__ import annotations

import importlib.util
import os
from dataclasses import dataclass, field

import torch


def _has(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


def default_runner() -> str:
    forced = os.environ.get("MOE_RUNNER")
    if forced:
        return forced
    if torch.cuda.is_available() and torch.cuda.get_device_capability()[0] >= 9 and _has("deep_gemm"):
        return "grouped"
    return "loop"


@dataclass
class MoeConfig:
    num_experts: int
    top_k: int
    hidden: int
    inner: int
    runner: str = field(default_factory=default_runner)
    block: int = 128

    def __post_init__(self):
        if self.hidden % self.block or self.inner % self.block:
            raise ValueError(f"sizes must be multiples of {self.block}")
        if self.runner not in ("grouped", "loop"):
            raise ValueError(f"unknown runner {self.runner!r}")
