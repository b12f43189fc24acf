"""Modules of Python's own, and packaging, as far as they do nothing but compute. This runs in the child."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from types import ModuleType
from typing import Any

from bwlint.confirm.slicing.unread import UnknownValue, related

_WHOLE = frozenset({"math", "operator", "itertools", "functools", "re", "enum", "typing", "dataclasses", "abc"})
LIBRARIES = frozenset({*_WHOLE, "collections", "packaging", "contextlib", "types", "numbers", "typing_extensions"})

_HARMLESS = {
    "collections": {"namedtuple", "OrderedDict", "defaultdict", "Counter", "deque", "abc"},
    "packaging": {"version"},
    "contextlib": {"contextmanager", "suppress", "nullcontext"},
    "types": {"SimpleNamespace", "MappingProxyType"},
}


def load_libraries() -> None:
    """Import what slices may use, while this process may still read files."""
    for name in (*LIBRARIES, "collections.abc", "packaging.version", "encodings.utf_8", "sre_compile"):
        try:
            _MODULES[name] = importlib.import_module(name)
        except ImportError:
            continue


_MODULES: dict[str, ModuleType] = {}


class _Public:
    """The public names of a module of Python's own."""

    def __init__(self, module: ModuleType, allowed: set[str] | None) -> None:
        self._module, self._allowed = module, allowed

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or (self._allowed is not None and name not in self._allowed):
            raise AttributeError(name)
        found = getattr(self._module, name)
        inner = _MODULES.get(f"{self._module.__name__}.{name}")
        if isinstance(found, ModuleType):
            return _Public(inner or found, None if inner is not None else set())
        return _careful(name, found) if self._module.__name__ in ("math", "re") and callable(found) else found


def _careful(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
    """A function that gives an unknown value for an unknown one."""

    def call(*args: Any, **keywords: Any) -> Any:
        unread = next((arg for arg in args if isinstance(arg, UnknownValue)), None)
        return real(*args, **keywords) if unread is None else related(name, unread, None)

    return call


def of_library(dotted: str, rest: str) -> Any:
    top = dotted.partition(".")[0]
    module = _MODULES.get(top) or _MODULES["typing"]
    found: Any = _Public(module, _HARMLESS.get(top))
    for name in rest.split(".") if rest else ():
        found = getattr(found, name)
    return found
