"""Which code nvcc is asked for, per device."""
from __future__ import annotations

from dataclasses import dataclass

import torch

# majors whose kernels use instructions outside the baseline
_ACCELERATED = {
    9: "90a",
    10: "100f",
    12: "120a",
}


@dataclass(frozen=True)
class Arch:
    major: int
    minor: int

    @classmethod
    def of(cls, device: torch.device | int | None = None) -> Arch:
        return cls(*torch.cuda.get_device_capability(device))

    @property
    def code(self) -> str:
        return _ACCELERATED.get(self.major, f"{self.major}{self.minor}")

    def nvcc_flags(self) -> list[str]:
        return [f"-gencode=arch=compute_{self.code},code=sm_{self.code}", f"-DFASTJIT_SM={self.major * 10 + self.minor}"]
