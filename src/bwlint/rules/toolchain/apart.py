"""toolchain: a test for CUDA 12.8 or newer that is false under CUDA 13.0, as it asks for the minor apart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from bwlint.judging.aside import aside
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, Remedy
from bwlint.model.facts import Module, Operation
from bwlint.model.findings import Severity
from bwlint.rules.toolchain import RULE
from bwlint.rules.toolchain.pins import draft

__all__ = ["RULE", "check_file"]


def check_file(context: Context, module: Module) -> Iterator[Draft]:
    for one in module.operations:
        if one.kind == "release-apart":
            yield _draft(context, module, one)


def _draft(context: Context, module: Module, one: Operation) -> Draft:
    said = f"This asks for CUDA {one.name} or newer and is false under CUDA 13.0, whose minor is 0."
    why = f"{said} Images for 12.1 (GB10) come with CUDA 13."
    label, advice = "false under CUDA 13.0", "Compare major and minor at once."
    severity: Severity = "note" if aside(context, module) else "warning"
    found = draft(module, one, context.targets, severity, why, label, advice)
    remedy = Remedy("parts", evidence="a release is one number", unsafe="CUDA 13 then takes this path")
    return replace(found, remedy=remedy, cause=(module.path, "release-apart"))
