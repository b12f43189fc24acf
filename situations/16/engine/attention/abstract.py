from abc import ABC, abstractmethod

import torch

from engine.platforms.interface import DeviceCapability


class AttentionBackend(ABC):
    @classmethod
    def supports_compute_capability(cls, capability: DeviceCapability) -> bool:
        return True

    @classmethod
    def supports_head_size(cls, head_size: int) -> bool:
        return True

    @abstractmethod
    def forward(self, q: torch.Tensor, kv: torch.Tensor, tables: torch.Tensor, lens: torch.Tensor) -> torch.Tensor: ...


class MLABackend(AttentionBackend):
    rank = 512
    rope = 64

    @classmethod
    def supports_head_size(cls, head_size: int) -> bool:
        return head_size == cls.rank + cls.rope

    def __init__(self, scale: float):
        self.scale = scale
