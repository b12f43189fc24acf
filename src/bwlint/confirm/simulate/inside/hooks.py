"""Has a library's stand-ins put in place as soon as the library itself is imported."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

from . import journal

_STAND_INS = {
    "torch": "torch_answers",
    "torch.utils.cpp_extension": "torch_builds",
    "triton.runtime.jit": "triton_launches",
    "triton.runtime.autotuner": "triton_launches",
    "triton.runtime.driver": "triton_driver",
    "pynvml": "nvml",
    "cuda.bindings.driver": "cuda_bindings",
    "cuda.bindings.runtime": "cuda_bindings",
    "cuda.cuda": "cuda_bindings",
    "cuda.cudart": "cuda_bindings",
    "ctypes": "ctypes_libraries",
    "cupy": "cupy_answers",
    "cutlass.cute": "cute_compiler",
    "numba.cuda": "numba_answers",
    "_pytest.runner": "endings",
}
"""The module of this folder whose `apply` is called with a library's module."""


def watch() -> None:
    sys.meta_path.insert(0, Finder())
    for name in _STAND_INS.keys() & sys.modules.keys():
        put(sys.modules[name])


def _stand_in(name: str) -> str | None:
    # Copies of NVML's bindings lie in many packages.
    return _STAND_INS.get(name) or ("nvml" if name.endswith(".pynvml") else None)


class Finder:
    """Finds what the others find, and has a loader put the stand-ins in once it is loaded."""

    def __init__(self) -> None:
        self._asking: set[str] = set()

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if _stand_in(name) is None or name in self._asking:
            return None
        self._asking.add(name)
        try:
            spec = self._found(name, path, target)
        finally:
            self._asking.discard(name)
        if spec is not None and spec.loader is not None:
            spec.loader = StandInLoader(spec.loader)
        return spec

    def _found(self, name: str, path: Any, target: Any) -> Any:
        for finder in sys.meta_path:
            spec = None if finder is self else finder.find_spec(name, path, target)
            if spec is not None:
                return spec
        return None


class StandInLoader:
    """A loader that calls `apply` of the stand-in after the module's own code."""

    def __init__(self, own: Any) -> None:
        self._own = own

    def __getattr__(self, name: str) -> Any:
        return getattr(self._own, name)

    def create_module(self, spec: Any) -> Any:
        return self._own.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._own.exec_module(module)
        module.__loader__ = self._own
        if module.__spec__ is not None:
            module.__spec__.loader = self._own
        put(module)


def put(module: ModuleType) -> None:
    """Put the stand-ins into a library's module; a library that has other parts is said not to be answered for."""
    try:
        import_module(f"{__package__}.{_stand_in(module.__name__)}").apply(module)
    except Exception as error:
        journal.note(
            "unanswered", module.__name__, reason=f"its parts are others here ({type(error).__name__}: {error})"
        )
