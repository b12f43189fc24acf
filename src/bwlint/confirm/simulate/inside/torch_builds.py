"""torch.utils.cpp_extension: extensions that are built when they are loaded."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from . import facts
from .extensions import UnbuiltExtension


def _load(name: str, *_: Any, **__: Any) -> UnbuiltExtension:
    facts.launch("build", f"torch.utils.cpp_extension: {name}")
    return UnbuiltExtension(name)


def apply(cpp_extension: ModuleType) -> None:
    for function in ("load", "load_inline"):
        setattr(cpp_extension, function, _load)
