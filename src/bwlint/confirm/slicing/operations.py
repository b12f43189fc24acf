"""What the text of a slice is rewritten to use where Python's own would not do with a value that nobody knows.

This runs in the child.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bwlint.confirm.slicing.builtins import plain
from bwlint.confirm.slicing.unread import NotReached, UnknownValue, among, related


def _is(left: Any, right: Any, negated: bool) -> Any:
    if isinstance(left, UnknownValue) or isinstance(right, UnknownValue):
        return related("is", left, right, negated)
    left, right = plain(left), plain(right)
    return (left is not right) if negated else (left is right)


def _in(item: Any, container: Any, negated: bool) -> Any:
    if isinstance(item, UnknownValue) and not isinstance(container, UnknownValue):
        return among(item, container, negated)
    if isinstance(container, UnknownValue):
        return related("in", item, container, negated)
    return (item not in container) if negated else (item in container)


def _text(*parts: Any) -> Any:
    """An f-string: its texts, and values with their conversions and formats."""
    for part in parts:
        if isinstance(part, tuple) and isinstance(part[0], UnknownValue):
            return related("text", part[0], None)
    return "".join(part if isinstance(part, str) else _formatted(*part) for part in parts)


def _formatted(value: Any, conversion: int, spec: str) -> str:
    if conversion == ord("r"):
        value = repr(value)
    elif conversion == ord("s"):
        value = str(value)
    return format(value, spec)


def _caught(types: Any) -> Any:
    """What an `except` catches: nobody here raises an exception that nobody knows."""
    if isinstance(types, tuple):
        return tuple(each for each in types if not isinstance(each, UnknownValue))
    return () if isinstance(types, UnknownValue) else types


def _bases(*bases: Any) -> tuple[Any, ...]:
    return tuple(plain(base) for base in bases if not isinstance(base, UnknownValue))


OPERATIONS: dict[str, Callable[..., Any] | type] = {
    "__bw_is__": _is,
    "__bw_in__": _in,
    "__bw_type__": lambda value: related("type", value, None) if isinstance(value, UnknownValue) else type(value),
    "__bw_text__": _text,
    "__bw_decorator__": lambda found: (lambda thing: thing) if isinstance(found, UnknownValue) else found,
    "__bw_caught__": _caught,
    "__bw_bases__": _bases,
    "__bw_NotReached__": NotReached,
}
