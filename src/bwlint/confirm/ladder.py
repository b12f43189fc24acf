"""The ladder: each claim goes up every rung that knows its kind, whatever the rung below has shown."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import cast

from bwlint.confirm.receipt import RUNGS, Attempt, Rung, Tried
from bwlint.confirm.world import Subject, World


def climb(subject: Subject, world: World) -> Tried:
    """All attempts at one claim. What goes wrong in a rung, even in our own code, is a reason and no end of the run."""
    attempts = tuple(_attempt(rung, subject, world) for rung in RUNGS if subject.claim.kind in _module(rung).KINDS)
    return Tried(subject.claim, attempts)


def _attempt(rung: Rung, subject: Subject, world: World) -> Attempt:
    try:
        attempt = cast(Attempt, _module(rung).attempt(subject, world))
    except Exception as error:
        return Attempt(rung, True, True, False, None, f"internal error: {type(error).__name__}: {error}")
    if attempt.executed and world.altered:
        # What ran was not what was released.
        return replace(attempt, outcome="inconclusive", reason=f"{world.altered}; it said: {attempt.reason}")
    return attempt


@cache
def _module(rung: Rung) -> ModuleType:
    return import_module(f"bwlint.confirm.rungs.{rung}")
