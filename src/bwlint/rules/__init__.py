"""One module a rule. A module has `NAME`, the name of its TOML, and one or more of these:

`check(context, judged)` for gates over chips, `check_guard(context, guarded)` for guards of the preprocessor over
targets, `check_file(context, module)` for what a file holds as a whole.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from typing import Any

from bwlint.facts import Module
from bwlint.judge import Context, Draft, Judged

Check = Callable[[Context, Judged], Iterable[Draft]]
FileCheck = Callable[[Context, Module], Iterable[Draft]]


@cache
def checks() -> dict[str, Check]:
    """The check of every rule that looks at gates, by rule name."""
    return _having("check")


@cache
def file_checks() -> dict[str, FileCheck]:
    """The check of every rule that looks at a file's operations and carries, by rule name."""
    return _having("check_file")


def _having(name: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for entry in pkgutil.iter_modules(__path__):
        module = import_module(f"{__name__}.{entry.name}")
        if hasattr(module, name):
            found[module.NAME] = getattr(module, name)
    return found
