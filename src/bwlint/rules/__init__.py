"""One module a rule. A module has `NAME`, the name of its TOML, and `check(context, judged)`."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module

from bwlint.judge import Context, Draft, Judged

Check = Callable[[Context, Judged], Iterable[Draft]]


@cache
def checks() -> dict[str, Check]:
    """The check of every rule that looks at gates, by rule name."""
    found: dict[str, Check] = {}
    for entry in pkgutil.iter_modules(__path__):
        module = import_module(f"{__name__}.{entry.name}")
        if hasattr(module, "check"):
            found[module.NAME] = module.check
    return found
