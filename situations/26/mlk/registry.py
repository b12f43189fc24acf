from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Callable


@dataclass(frozen=True)
class KernelSpec:
    op: str
    min_sm: int
    target: str
    dtypes: tuple[str, ...] = ("float16", "bfloat16")

    def resolve(self) -> Callable:
        module, name = self.target.split(":")
        return getattr(import_module(f"mlk.kernels.{module}"), name)


class Registry:
    def __init__(self) -> None:
        self._specs: list[KernelSpec] = []

    def extend(self, specs) -> None:
        self._specs.extend(specs)

    @lru_cache(maxsize=None)
    def best(self, op: str, sm: int, dtype: str) -> KernelSpec:
        fitting = [s for s in self._specs if s.op == op and dtype in s.dtypes and s.min_sm <= sm]
        if not fitting:
            raise NotImplementedError(f"{op}: no kernel for sm_{sm} and {dtype}")
        return max(fitting, key=lambda s: s.min_sm)


REGISTRY = Registry()
