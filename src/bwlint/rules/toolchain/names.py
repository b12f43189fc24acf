"""toolchain: files of libraries that CUDA 13 does not have, and variables that a tool does not read on these chips."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from bwlint.chips import ChipSet, group, siblings
from bwlint.chips.mentions import mentioned
from bwlint.chips.surroundings import variables
from bwlint.chips.targets import known_targets
from bwlint.chips.toolkits import releases, version
from bwlint.chips.wording import called
from bwlint.chips.words import families, nicknames
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft
from bwlint.model.details import Environment, Soname
from bwlint.model.facts import Module, Operation
from bwlint.model.findings import NoFix, Severity
from bwlint.rules.toolchain import RULE
from bwlint.rules.toolchain.pins import draft

__all__ = ["RULE", "check_file"]
_NEWEST = version(releases()[-1])[0]
_BLACKWELL = group("blackwell-and-newer")
_FOR_ITS_AUTHOR = NoFix("how a library or a tool is found is your choice")


def check_file(context: Context, module: Module) -> Iterator[Draft]:
    if context.in_test(module):
        return
    for one in module.operations:
        if isinstance(one.detail, Soname) and one.detail.major < _NEWEST:
            yield _soname(context, module, one, one.detail.major)
        elif isinstance(one.detail, Environment):
            yield from _variable(context, module, one, one.detail)


def _soname(context: Context, module: Module, one: Operation, number: int) -> Draft:
    library = one.name.partition(".so")[0]
    message = f"CUDA {_NEWEST} has no {one.name}, and this file tries no other name of {library}."
    return _draft(
        module,
        one,
        context.targets,
        severity="note" if one.checked else "warning",
        message=f"{message} Images for 12.1 (GB10) come with CUDA {_NEWEST}.",
        label=f"CUDA {number} only",
        advice=f"Try {library}.so.{_NEWEST} too, or take the number from torch.version.cuda.",
    )


def _variable(context: Context, module: Module, one: Operation, given: Environment) -> Iterator[Draft]:
    known = variables()[one.name]
    reached = context.targets & context.let_to(module, one.at)
    if known.instead:
        meant = (context.let_in(module, one.at) | _spoken_of(given.near, context.targets)) & reached & _BLACKWELL
        if meant:
            yield _draft(
                module,
                one,
                meant,
                severity="warning",
                message=f"On {called(meant)} {known.package} from {known.since} on does not read {one.name}. It reads"
                f" {known.instead} there.",
                label="does nothing there",
                advice=f"Set {known.instead} too.",
            )
    elif known.is_target:
        yield from _fixed_target(context, module, one, given)


def _fixed_target(context: Context, module: Module, one: Operation, given: Environment) -> Iterator[Draft]:
    target = next(known_targets([given.value]), None)
    picked = context.let_in(module, one.at)  # what a test picks for a chip is told as such
    if target is None or target.chip not in context.targets or picked:
        return
    later = ChipSet.where(lambda chip: chip in siblings(target.chip) and chip.joined > target.number)
    left_out = (later - target.loads_on()) & context.targets & context.let_to(module, one.at)
    if not left_out:
        return
    meant = _spoken_of(given.near, left_out) & left_out
    yield _draft(
        module,
        one,
        left_out,
        severity="warning" if meant else "note",
        message=f"{one.name} is fixed to {target}, which {called(left_out)} does not load.",
        label=f"{target} is exact",
        advice="Leave it unset, so that it follows the device, or set the family target.",
    )


def _spoken_of(text: str, chips: ChipSet) -> ChipSet:
    """Those of some chips that a text speaks of by number, nickname or family."""
    found = mentioned(text).exact & chips
    for chip in chips:
        one = ChipSet.of(chip.name)
        if re.search(rf"(?i)\b(?:{nicknames(one)}|{families(one)})\b", text):
            found |= one
    return found


def _draft(
    module: Module, one: Operation, chips: ChipSet, *, severity: Severity, message: str, label: str, advice: str
) -> Draft:
    found = draft(module, one, chips, severity, message, label, advice)
    return replace(found, confidence="medium" if severity == "warning" else "low", remedy=_FOR_ITS_AUTHOR)
