"""Facts about the simulated chip, and the answers that stand-ins give from them."""

from __future__ import annotations

import json
import os
from functools import cache
from typing import Any, NoReturn

from . import journal

_LEAST_ADDRESS = 1 << 40
_OF_PRODUCT = frozenset({"name", "multiprocessors", "total_memory"})


class Unanswered(AttributeError, RuntimeError):
    """Nobody knows the answer. As an attribute it is missing, as a call it fails."""


@cache
def _job() -> dict[str, Any]:
    with open(os.path.join(os.environ[journal.FOLDER], "job.json"), encoding="utf-8") as file:  # noqa: PTH118, PTH123
        found: dict[str, Any] = json.load(file)
    return found


def facts() -> dict[str, Any]:
    """The chip's facts by name; what is not known is not there."""
    found: dict[str, Any] = _job()["facts"]
    return found


def stand_ins() -> list[str]:
    """The modules that are to be there, though they are not built."""
    found: list[str] = _job()["stand_ins"]
    return found


def capability() -> tuple[int, int]:
    return facts()["major"], facts()["minor"]


def joined() -> int:
    """The capability as digits: 121."""
    major, minor = capability()
    return major * 10 + minor


def told(query: str, answer: Any) -> Any:
    """Write the question down with its answer, which is given back."""
    journal.note("query", query, answer=repr(answer) if not isinstance(answer, str) else answer)
    return answer


def ask(query: str, fact: str) -> Any:
    """The fact of that name; raises `Unanswered` where the tables do not have it."""
    answer = facts().get(fact)
    if answer is None:
        told_of = facts()["chip"]
        instead = facts().get("instead") if fact in _OF_PRODUCT else None
        refuse(query, instead or f"bwlint's tables do not say it of {told_of}")
    return told(query, answer)


def refuse(query: str, reason: str) -> NoReturn:
    """Say that a question has no answer."""
    journal.note("unanswered", query, reason=reason)
    raise Unanswered(f"bwlint: {query} is not answered for {facts()['chip']}: {reason}")


def launch(kind: str, name: str, arguments: Any = (), keywords: Any = None) -> None:
    """Write a launch down that does not happen."""
    told_arguments = [*map(shape, arguments), *(f"{key}={shape(value)}" for key, value in (keywords or {}).items())]
    journal.note("launch", name, how=kind, arguments=told_arguments[:40])


def shape(value: Any) -> str:
    """An argument in a few letters: bfloat16[2, 8], 3, None, list."""
    dims, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    if dims is not None and dtype is not None:
        return f"{str(dtype).rpartition('.')[2]}{list(dims)}"
    if isinstance(value, int) and value >= _LEAST_ADDRESS:
        return "address"
    if value is None or isinstance(value, bool | int | float):
        return repr(value)
    return repr(value[:160]) if isinstance(value, str) else type(value).__name__
