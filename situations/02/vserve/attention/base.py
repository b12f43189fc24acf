from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import torch

from vserve.platform import DeviceCapability

_REGISTRY: dict[str, type[AttentionBackend]] = {}


def register(name: str, priority: int):
    def wrap(cls: type[AttentionBackend]) -> type[AttentionBackend]:
        cls.name = name
        cls.priority = priority
        _REGISTRY[name] = cls
        return cls

    return wrap


class AttentionBackend(ABC):
    name: ClassVar[str]
    priority: ClassVar[int]
    min_capability: ClassVar[DeviceCapability] = DeviceCapability(8, 0)
    head_sizes: ClassVar[tuple[int, ...]] = (64, 96, 128, 256)

    @classmethod
    def why_not(cls, capability: DeviceCapability, head_size: int) -> list[str]:
        reasons = []
        if capability < cls.min_capability:
            reasons.append(f"needs compute capability {cls.min_capability.as_version_str()}")
        if head_size not in cls.head_sizes:
            reasons.append(f"head size {head_size} not supported")
        return reasons

    @abstractmethod
    def decode(self, q: torch.Tensor, kv: torch.Tensor, tables: torch.Tensor, lens: torch.Tensor) -> torch.Tensor: ...


def by_priority() -> list[type[AttentionBackend]]:
    return sorted(_REGISTRY.values(), key=lambda c: c.priority, reverse=True)
