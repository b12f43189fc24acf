"""torch.utils.cpp_extension: extensions that are built when they are loaded."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from . import facts


class UnbuiltExtension(ModuleType):
    """The module that would have been built: its functions are launches."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)

        def launch(*arguments: Any, **keywords: Any) -> Any:
            facts.launch("extension", f"{self.__name__}.{name}", arguments, keywords)
            return facts.refuse(f"what {self.__name__}.{name} gives", "the extension is not built")

        return launch


def _load(name: str, *_: Any, **__: Any) -> UnbuiltExtension:
    facts.launch("build", f"torch.utils.cpp_extension: {name}")
    return UnbuiltExtension(name)


def apply(cpp_extension: ModuleType) -> None:
    for function in ("load", "load_inline"):
        setattr(cpp_extension, function, _load)
