"""Which options of a launch line split a model over GPUs, and how each plan is written with them (launchers.toml)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from bwlint.data import made, table


@dataclass(frozen=True, slots=True)
class LaunchOption:
    """An option; `kind` is size (takes a number), value (takes a word) or switch."""

    role: str
    names: tuple[str, ...]
    kind: str
    needs: str = ""
    """It splits nothing, and makes sense where a plan has this role alone."""


@dataclass(frozen=True, slots=True)
class PlanSpelling:
    """How a plan is written: the value of each role. With `alike` the line is none, and costs what one does."""

    plan: str
    options: Mapping[str, str]
    alike: str = ""


@dataclass(frozen=True, slots=True)
class Launcher:
    """A program that serves a model."""

    name: str
    version: str
    command: re.Pattern[str]
    options: tuple[LaunchOption, ...]
    spellings: tuple[PlanSpelling, ...]
    remarks: Mapping[str, str]
    """What to know of a plan beside its spelling."""


@cache
def launchers() -> tuple[Launcher, ...]:
    return tuple(_launcher(row) for row in table("launchers")["launcher"])


def _launcher(row: Mapping[str, Any]) -> Launcher:
    name = row["name"]
    return Launcher(
        name,
        row["version"],
        re.compile(row["command"]),
        tuple(made(LaunchOption, each) for each in _of(name, "option")),
        tuple(made(PlanSpelling, each) for each in _of(name, "plan")),
        {each["plan"]: each["says"] for each in _of(name, "remark")},
    )


def _of(launcher: str, kind: str) -> list[Mapping[str, Any]]:
    return [row for row in table("launchers")[kind] if row["launcher"] == launcher]
