"""One module or folder for each rule.

A rule is a constant `RULE`, of its module or of its folder, which says all that others have to know of it. Its modules
have one or more of these: `check(context, judged)` for gates over chips, `check_guard(context, guarded)` for guards of
the preprocessor over targets, `check_file(context, module)` for what a file holds as a whole, and, in modules called
`binary`, which load nothing of the languages, `check_binary(shipment, asked)`. A module of several rules has
`FILE_CHECKS` instead: pairs of a rule and its check. Here each draft and flaw is given the rule whose check found it.
"""

from __future__ import annotations

import pkgutil
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from bwlint.model.rule import RuleTraits

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
def checks() -> tuple[tuple[RuleTraits, Check], ...]:
    """Rules, and what they check of gates."""
    return _having("check")


@cache
def guard_checks() -> tuple[tuple[RuleTraits, GuardCheck], ...]:
    """Rules, and what they check of guards of the preprocessor."""
    return _having("check_guard")


@cache
def file_checks() -> tuple[tuple[RuleTraits, FileCheck], ...]:
    """Rules, and what they check of a file's operations and carries."""
    several = (pair for module in _modules() for pair in getattr(module, "FILE_CHECKS", ()))
    return (*_having("check_file"), *(_named(rule, check) for rule, check in several))


@cache
def binary_checks() -> tuple[tuple[RuleTraits, BinaryCheck], ...]:
    """Rules, and what they check of a shipment of binaries."""
    return _having("check_binary", of_binaries=True)


def _having(name: str, *, of_binaries: bool = False) -> tuple[tuple[RuleTraits, Any], ...]:
    modules = _modules(of_binaries=of_binaries)
    return tuple(_named(_rule_of(module), getattr(module, name)) for module in modules if hasattr(module, name))


def _named(rule: RuleTraits, check: Callable[..., Iterable[Any]]) -> tuple[RuleTraits, Any]:
    """A rule and its check, whose findings say that they are of this rule."""
    return rule, lambda *asked: (replace(one, rule=rule) for one in check(*asked))


def _rule_of(module: ModuleType) -> RuleTraits:
    """The `RULE` of a module, or of the folder that it is in."""
    rule: RuleTraits = getattr(module, "RULE", None) or sys.modules[module.__name__.rpartition(".")[0]].RULE
    return rule


def _modules(*, of_binaries: bool = False) -> Iterator[ModuleType]:
    """The modules for binaries, or the others: each kind loads what the other does not need."""
    for entry in pkgutil.walk_packages(__path__, f"{__name__}."):
        if not entry.ispkg and (entry.name.rpartition(".")[2] == "binary") == of_binaries:
            yield import_module(entry.name)
