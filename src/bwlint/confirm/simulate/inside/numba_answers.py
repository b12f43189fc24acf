"""Numba: its device and its launches."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from . import facts


class NumbaDevice:
    """What `numba.cuda.get_current_device()` gives."""

    id = 0

    @property
    def compute_capability(self) -> tuple[int, int]:
        found: tuple[int, int] = facts.told("numba.cuda.get_current_device().compute_capability", facts.capability())
        return found

    @property
    def name(self) -> str:
        return str(facts.ask("numba.cuda.get_current_device().name", "name"))

    def __getattr__(self, name: str) -> Any:
        names = {"MULTIPROCESSOR_COUNT": "multiprocessors", "MAX_SHARED_MEMORY_PER_BLOCK": "shared_memory_per_block"}
        return facts.ask(f"numba.cuda.get_current_device().{name}", names.get(name, name))


def apply(cuda: Any) -> None:
    device = NumbaDevice()
    cuda.is_available = lambda: facts.told("numba.cuda.is_available", True)
    cuda.get_current_device = lambda: device
    cuda.current_context = lambda *_: SimpleNamespace(device=device)
    cuda.synchronize = lambda: None
    dispatcher = getattr(getattr(cuda, "dispatcher", None), "CUDADispatcher", None)
    if dispatcher is not None:
        dispatcher.call = _launched


def _launched(self: Any, arguments: Any, *_: Any) -> None:
    function = getattr(self, "py_func", self)
    facts.launch("numba", f"{function.__module__}.{function.__qualname__}", arguments)
