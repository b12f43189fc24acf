"""The builtins that a slice has: those that compute. This runs in the child."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

from bwlint.confirm.slicing.standins import LibrariesOnChip, Properties
from bwlint.confirm.slicing.unread import UnknownValue, related

_NAMES = (
    *("abs", "all", "any", "bool", "bytes", "callable", "chr", "classmethod", "complex", "dict"),
    *("divmod", "enumerate", "filter", "float", "frozenset", "getattr", "hash", "hex", "int"),
    *("issubclass", "iter", "list", "map", "max", "min", "next", "object", "ord", "pow", "property"),
    *("range", "repr", "reversed", "round", "set", "slice", "sorted", "staticmethod", "str", "sum"),
    *("super", "tuple", "type", "zip", "True", "False", "None", "NotImplemented", "Ellipsis"),
    *("__build_class__", "__debug__"),
)


def reduced(world: LibrariesOnChip) -> dict[str, Any]:
    """Those that compute; those that want a plain value give an unknown one for an unknown one."""
    found = {name: getattr(builtins, name) for name in _NAMES if hasattr(builtins, name)}
    found |= {
        name: value
        for name, value in vars(builtins).items()
        if isinstance(value, type) and issubclass(value, BaseException)
    }

    def has(owner: Any, name: str) -> Any:
        if isinstance(owner, UnknownValue):
            # every build of PyTorch has this module, whatever it is built for
            return True if (owner._bw_key, name) == ("torch", "cuda") else related("hasattr", owner, name)
        answer = hasattr(owner, name)
        if isinstance(owner, Properties):
            world.assumed[f"PyTorch's properties of a device have `{name}`"] = None
        return answer

    for name in ("len", "isinstance", "issubclass", "callable", "all", "any", "repr", "round", "range", "chr", "ord"):
        found[name] = _careful(name, getattr(builtins, name))
    found["hasattr"] = has
    found["print"] = lambda *_, **__: None
    found["int"] = _converting(int)
    found["str"] = _converting(str)
    found["float"] = _converting(float)
    found["bool"] = bool
    return found


def _careful(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any) -> Any:
        if any(isinstance(arg, UnknownValue) for arg in args):
            return related(name, args[0], args[1] if len(args) > 1 else None)
        return real(*args)

    return call


def _converting(kind: type) -> type:
    """`int`, `str` or `float`, which leave a value that nobody knows as it is; still what `isinstance` asks for."""

    class _Converting(type):
        def __call__(cls, *args: Any, **keywords: Any) -> Any:
            if args and isinstance(args[0], UnknownValue):
                return related(kind.__name__, args[0], None)
            return kind(*args, **keywords)

        def __instancecheck__(cls, value: object) -> bool:
            return isinstance(value, kind)

        def __subclasscheck__(cls, other: type) -> bool:
            return issubclass(other, kind)

        def __eq__(cls, other: object) -> bool:
            return other is kind or other is cls

        def __hash__(cls) -> int:
            return hash(kind)

    return _Converting(kind.__name__, (kind,), {})


def plain(value: Any) -> Any:
    """Python's own type where a slice has ours."""
    return value.__mro__[1] if isinstance(value, type) and type(value).__name__ == "_Converting" else value
