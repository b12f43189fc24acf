"""CuTe DSL: what is compiled is written down, and what was compiled is a launch."""

from __future__ import annotations

from typing import Any

from . import facts


class UncompiledKernel:
    """What `cute.compile` gives."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self, *arguments: Any, **keywords: Any) -> None:
        facts.launch("cute", self._name, arguments, keywords)


class RefusingCompiler:
    """`cute.compile`, with or without options in brackets."""

    def __getitem__(self, _: Any) -> RefusingCompiler:
        return self

    def __call__(self, function: Any, *_: Any, **__: Any) -> UncompiledKernel:
        kind = function if hasattr(function, "__qualname__") else type(function)
        name = f"{kind.__module__}.{kind.__qualname__}"
        facts.launch("build", f"cute.compile: {name}")
        return UncompiledKernel(name)


def apply(cute: Any) -> None:
    cute.compile = RefusingCompiler()
