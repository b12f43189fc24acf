"""NVML's bindings for Python, pynvml and its copies."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from . import facts

_ANSWERS = {
    **dict.fromkeys(("nvmlInit", "nvmlInitWithFlags", "nvmlShutdown"), lambda *_: None),
    **dict.fromkeys(("nvmlDeviceGetHandleByIndex", "nvmlDeviceGetHandleByUUID"), lambda _: "bwlint"),
    "nvmlDeviceGetCount": lambda: facts.told("nvmlDeviceGetCount", 1),
    "nvmlDeviceGetName": lambda _: facts.ask("nvmlDeviceGetName", "name"),
    "nvmlDeviceGetCudaComputeCapability": lambda _: facts.told(
        "nvmlDeviceGetCudaComputeCapability", facts.capability()
    ),
}


def _unanswered(name: str) -> Any:
    return lambda *_, **__: facts.refuse(name, "there is no driver")


def apply(pynvml: ModuleType) -> None:
    for name in dir(pynvml):
        if name.startswith(("nvmlDevice", "nvmlSystem", "nvmlInit", "nvmlShutdown")):
            setattr(pynvml, name, _ANSWERS.get(name) or _unanswered(name))
