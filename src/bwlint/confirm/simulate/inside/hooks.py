"""Has a library's stand-ins put in place as soon as the library itself is imported. Compiled code that this machine
cannot load for want of CUDA, or would build, or has where the user says so, stands in for itself."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.machinery import ExtensionFileLoader, ModuleSpec
from types import ModuleType
from typing import Any

from . import facts

_STAND_INS = {
    "torch": "torch_answers.for_torch",
    "torch.utils.cpp_extension": "hooks.for_builds",
    **dict.fromkeys(("triton.runtime.jit", "triton.runtime.autotuner"), "library_answers.for_launches"),
    "triton.runtime.driver": "library_answers.for_driver",
    "pynvml": "library_answers.for_nvml",
    **dict.fromkeys(
        ("cuda.bindings.driver", "cuda.bindings.runtime", "cuda.cuda", "cuda.cudart"), "library_answers.for_cuda"
    ),
    "ctypes": "hooks.for_ctypes",
    "cupy": "library_answers.for_cupy",
    "cutlass.cute": "library_answers.for_cute",
    "numba.cuda": "library_answers.for_numba",
    "_pytest.runner": "processes.for_pytest",
}
"""The function of this folder that is called with a library's module."""


def watch() -> None:
    _watch_extensions()
    sys.meta_path.insert(0, Finder())
    for name in _STAND_INS.keys() & sys.modules.keys():
        put(sys.modules[name])


def _stand_in(name: str) -> str | None:
    # Copies of NVML's bindings lie in many packages.
    return _STAND_INS.get(name) or (_STAND_INS["pynvml"] if name.endswith(".pynvml") else None)


class Finder:
    """Finds what the others find, and has a loader put the stand-ins in once it is loaded."""

    def __init__(self) -> None:
        self._asking: set[str] = set()

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if _stand_in(name) is None or name in self._asking:
            return None
        self._asking.add(name)
        others: Iterator[Any] = (finder for finder in sys.meta_path if finder is not self)
        try:
            spec = next(filter(None, (other.find_spec(name, path, target) for other in others)), None)
        finally:
            self._asking.discard(name)
        if spec is not None and spec.loader is not None:
            spec.loader = StandInLoader(spec.loader)
        return spec


class StandInLoader:
    """A loader that puts the stand-ins in after the module's own code."""

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
        file, _, function = str(_stand_in(module.__name__)).partition(".")
        getattr(import_module(f"{__package__}.{file}"), function)(module)
    except Exception as error:
        facts.note("unanswered", module.__name__, reason=f"its parts are others here ({type(error).__name__}: {error})")


FOR_WANT_OF_CUDA = re.compile(r"lib(?:cu|nv|torch_cuda|c10_cuda|nccl)\w*\.so|undefined symbol")


class UnbuiltExtension(ModuleType):
    """The module that would have been built: its functions are launches."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)

        def launch(*arguments: Any, **keywords: Any) -> Any:
            facts.launch("extension", f"{self.__name__}.{name}", arguments, keywords)
            return facts.refuse(f"what {self.__name__}.{name} gives", "the extension is not built")

        return launch


def _watch_extensions() -> None:
    """From now on what would load beside a GPU stands in for itself."""
    create, execute = ExtensionFileLoader.create_module, ExtensionFileLoader.exec_module

    def create_module(self: Any, spec: ModuleSpec) -> ModuleType:
        try:
            return create(self, spec)
        except ImportError as error:
            if not FOR_WANT_OF_CUDA.search(str(error)):
                raise
            facts.note("unanswered", f"import {spec.name}", reason=f"a stand-in takes its place: {error}")
            return UnbuiltExtension(spec.name)

    def exec_module(self: Any, module: ModuleType) -> None:
        if not isinstance(module, UnbuiltExtension):
            execute(self, module)

    ExtensionFileLoader.create_module = create_module  # type: ignore[method-assign]
    ExtensionFileLoader.exec_module = exec_module  # type: ignore[method-assign]
    sys.meta_path.insert(0, NamedFinder())


class NamedFinder:
    """Finds the modules that the user says are there, and nothing in them."""

    def find_spec(self, name: str, _: Any = None, __: Any = None) -> ModuleSpec | None:
        return ModuleSpec(name, self, is_package=True) if name in facts.stand_ins() else None  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return UnbuiltExtension(spec.name)

    def exec_module(self, _: ModuleType) -> None: ...


class UnbuiltFunction:
    """A function of a library that is not loaded. One without a declared result gives none, any other has no answer."""

    restype: Any = None
    argtypes: Any = None

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __call__(self, *arguments: Any) -> None:
        facts.launch("library", self.__name__, arguments)
        if self.restype is not None:
            facts.refuse(f"what {self.__name__} gives", "its library is not loaded")


def for_ctypes(ctypes: ModuleType) -> None:
    """Libraries that lie here and cannot be loaded."""
    begin, item = ctypes.CDLL.__init__, ctypes.CDLL.__getitem__

    def init(self: Any, name: Any, *more: Any, **named: Any) -> None:
        try:
            begin(self, name, *more, **named)
        except OSError as error:
            path = os.fspath(name) if name is not None else ""
            if not os.path.exists(path) or not FOR_WANT_OF_CUDA.search(str(error)):  # noqa: PTH110
                raise
            file = os.path.basename(path)  # noqa: PTH119
            facts.note("unanswered", f"loading {file}", reason=f"a stand-in takes its place: {error}")
            self._handle, self._name, self._stood_in_for = 0, path, True

    def getitem(self: Any, name: Any) -> Any:
        if "_stood_in_for" not in vars(self):
            return item(self, name)
        return UnbuiltFunction(f"{os.path.basename(self._name)}: {name}")  # noqa: PTH119

    ctypes.CDLL.__init__, ctypes.CDLL.__getitem__ = init, getitem


def _build(name: str, *_: Any, **__: Any) -> UnbuiltExtension:
    facts.launch("build", f"torch.utils.cpp_extension: {name}")
    return UnbuiltExtension(name)


def for_builds(cpp_extension: ModuleType) -> None:
    """torch's extensions that are built when they are loaded."""
    for function in ("load", "load_inline"):
        setattr(cpp_extension, function, _build)
