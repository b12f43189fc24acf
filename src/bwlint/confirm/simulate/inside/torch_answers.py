"""torch: what `torch.cuda` and its C part say of the device, and what has no meaning without one."""

from __future__ import annotations

import contextlib
from typing import Any

from . import facts

_PROPERTIES = {
    "name": "name",
    "major": "major",
    "minor": "minor",
    "multi_processor_count": "multiprocessors",
    "total_memory": "total_memory",
    "warp_size": "warp_size",
    "max_threads_per_multi_processor": "max_threads_per_multiprocessor",
    "shared_memory_per_block": "shared_memory_per_block",
    "shared_memory_per_block_optin": "shared_memory_per_block_optin",
    "shared_memory_per_multiprocessor": "shared_memory_per_multiprocessor",
}


class SimulatedProperties:
    """What `get_device_properties` gives; what the tables do not have is an attribute that is missing."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return facts.ask(f"torch.cuda.get_device_properties().{name}", _PROPERTIES.get(name, name))


class InertStream:
    """A stream or an event: nothing runs, so there is nothing to wait for."""

    cuda_stream = cuda_event = 0
    stream_id = priority = device_index = 0

    def __init__(self, *_: Any, **__: Any) -> None: ...

    def __enter__(self) -> InertStream:
        return self

    def __exit__(self, *_: object) -> None: ...

    def query(self) -> bool:
        return True

    def elapsed_time(self, _: Any) -> float:
        return float(facts.refuse("torch.cuda.Event.elapsed_time", "nothing runs, so nothing takes its time"))

    def _nothing(self, *_: Any, **__: Any) -> None: ...

    synchronize = wait = record = wait_event = wait_stream = _nothing

    def record_event(self, event: Any = None) -> Any:
        return event or InertStream()


def _nothing(*_: Any, **__: Any) -> None: ...


def _zero(*_: Any, **__: Any) -> int:
    return 0


def _properties(*_: Any, **__: Any) -> SimulatedProperties:
    return SimulatedProperties()


_ANSWERS: dict[str, Any] = {
    "is_available": lambda: facts.told("torch.cuda.is_available", True),
    "device_count": lambda: facts.told("torch.cuda.device_count", 1),
    "get_device_capability": lambda _=None: facts.told("torch.cuda.get_device_capability", facts.capability()),
    "get_device_name": lambda _=None: facts.ask("torch.cuda.get_device_name", "name"),
    "get_device_properties": _properties,
    "mem_get_info": lambda *_, **__: facts.refuse("torch.cuda.mem_get_info", "how much is free depends on what runs"),
    "is_initialized": lambda: True,
    "current_device": _zero,
    "_exchange_device": _zero,
    "_maybe_exchange_device": _zero,
    **dict.fromkeys(["current_stream", "default_stream"], lambda *_, **__: InertStream()),
    **dict.fromkeys(["Stream", "Event", "ExternalStream"], InertStream),
    **dict.fromkeys(
        ["init", "_lazy_init", "set_device", "set_stream", "synchronize", "empty_cache", "ipc_collect"], _nothing
    ),
    **dict.fromkeys(["reset_peak_memory_stats", "manual_seed", "manual_seed_all", "seed", "seed_all"], _nothing),
    **dict.fromkeys(["memory_allocated", "memory_reserved", "max_memory_allocated", "max_memory_reserved"], _zero),
    "stream": lambda *_, **__: contextlib.nullcontext(),
}
_IN_C = {
    "_cuda_getDeviceProperties": _properties,
    "_cuda_getDeviceCount": lambda: facts.told("torch._C._cuda_getDeviceCount", 1),
    "_cuda_getDevice": _zero,
    "_cuda_setDevice": _nothing,
    "_cuda_init": _nothing,
    "_cuda_synchronize": _nothing,
    "_cuda_isInBadFork": lambda: False,
    "_cuda_getCurrentRawStream": _zero,
}


def apply(torch: Any) -> None:
    for module, answers in ((torch.cuda, _ANSWERS), (torch._C, _IN_C)):
        for name, answer in answers.items():
            setattr(module, name, answer if isinstance(answer, type) else _apart(answer))
    if torch.version.cuda is None:
        torch.version.cuda = facts.facts()["cuda"]
        torch.cuda.get_arch_list = _no_arch_list
        torch.backends.cuda.is_built = lambda: True
    if hasattr(torch, "compile"):
        torch.compile = _uncompiled
    if hasattr(torch, "overrides"):
        from . import torch_tensors

        torch_tensors.apply(torch)


def _apart(answer: Any) -> Any:
    """The same as a function of its own: TorchDynamo refuses one that stands under two names."""
    return lambda *arguments, **keywords: answer(*arguments, **keywords)


def _no_arch_list() -> list[str]:
    with contextlib.suppress(facts.Unanswered):
        facts.refuse(
            "torch.cuda.get_arch_list", "this torch is built without CUDA, for no chip: an empty list is given"
        )
    return []


def _uncompiled(model: Any = None, **_: Any) -> Any:
    """`torch.compile` as a function and as a decorator: what is compiled runs as it is written."""
    return model if model is not None else _uncompiled
