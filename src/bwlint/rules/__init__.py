"""One module a rule. A module has `NAME`, the name of its TOML, and one or more of these:

`check(context, judged)` for gates over chips, `check_guard(context, guarded)` for guards of the preprocessor over
targets, `check_file(context, module)` for what a file holds as a whole, `check_binary(shipment, asked)` for binaries.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bwlint.binaries.shipments import Flaw, Shipment
    from bwlint.chips import ChipSet
    from bwlint.judging.context import Context
    from bwlint.judging.drafts import Draft
    from bwlint.judging.guards import Guarded
    from bwlint.model.facts import Module
    from bwlint.world.gates import Judged

Check = Callable[["Context", "Judged"], Iterable["Draft"]]
GuardCheck = Callable[["Context", "Guarded"], Iterable["Draft"]]
FileCheck = Callable[["Context", "Module"], Iterable["Draft"]]
BinaryCheck = Callable[["Shipment", "ChipSet"], Iterable["Flaw"]]


@cache
def checks() -> dict[str, Check]:
    """The check of every rule that looks at gates, by rule name."""
    return dict(_having("check"))


@cache
def guard_checks() -> tuple[tuple[str, GuardCheck], ...]:
    """Rule names, and what they check of guards of the preprocessor."""
    return _having("check_guard")


@cache
def file_checks() -> tuple[tuple[str, FileCheck], ...]:
    """Rule names, and what they check of a file's operations and carries."""
    return _having("check_file")


@cache
def binary_checks() -> tuple[tuple[str, BinaryCheck], ...]:
    """Rule names, and what they check of a shipment of binaries: modules whose names end in _binary."""
    return _having("check_binary", of_binaries=True)


def _having(name: str, *, of_binaries: bool = False) -> tuple[tuple[str, Any], ...]:
    # Each kind loads what the other does not need.
    names = [entry.name for entry in pkgutil.iter_modules(__path__) if entry.name.endswith("_binary") == of_binaries]
    modules = [import_module(f"{__name__}.{name}") for name in names]
    return tuple((module.NAME, getattr(module, name)) for module in modules if hasattr(module, name))
