"""Compiled modules that this machine cannot load for want of CUDA, and those that the user says are there."""

from __future__ import annotations

import re
import sys
from importlib.machinery import ExtensionFileLoader, ModuleSpec
from types import ModuleType
from typing import Any

from . import facts, journal

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


def watch() -> None:
    """From now on what would load beside a GPU stands in for itself."""
    create, execute = ExtensionFileLoader.create_module, ExtensionFileLoader.exec_module

    def create_module(self: Any, spec: ModuleSpec) -> ModuleType:
        try:
            return create(self, spec)
        except ImportError as error:
            if not FOR_WANT_OF_CUDA.search(str(error)):
                raise
            journal.note("unanswered", f"import {spec.name}", reason=f"a stand-in takes its place: {error}")
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
