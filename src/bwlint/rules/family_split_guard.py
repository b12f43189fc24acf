"""family-split at a guard of the preprocessor: code for one member of a family compiles to nothing for another."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bwlint.chips import ChipSet, TargetSet, families, group
from bwlint.guards import Guarded, served
from bwlint.judge import Context, Draft, Related, plain

NAME = "family-split"
_MEANT = re.compile(
    r"\b(?:exact(?:ly)?|deliberate\w*|intention\w*|on purpose|only (?:on|tested|measured)|work-?around|erratum|rtx|gb10"
    r"|spark|5090)\b|sm_?121|12\.1",
    re.I,
)


def check_guard(context: Context, guarded: Guarded) -> Iterator[Draft]:
    parted = parts(context, guarded)
    if parted is None:
        return
    held, lost = parted
    severity, confidence, what = _level(guarded, lost)
    yield Draft(
        NAME,
        NAME,
        severity,
        confidence,
        guarded.module,
        guarded.guard.at,
        f"of one family this guard compiles for {plain(held)} and not for {plain(lost)}; both have the same "
        f"instructions{what}",
        f"compiles for {guarded.admitted & TargetSet.native(held | lost)}",
        "test the family: a half-open range of __CUDA_ARCH__, or every member's macro",
        guarded.admitted.chips,
        guarded.certain.chips,
        None,
        guarded.guard,
        (Related(guarded.module, guarded.other.at, "what the sibling gets"),) if guarded.other.at else (),
    )


def parts(context: Context, guarded: Guarded) -> tuple[ChipSet, ChipSet] | None:
    """The family members that a guard admits and refuses, where nothing else in the file serves the refused."""
    if guarded.working.empty:
        return None
    for family in families().values():
        here = family & guarded.sets.live.chips & context.targets
        held, lost = guarded.chips & here, guarded.refused & here
        if not held or not lost or held <= group("second-consumer"):
            continue  # what is for the second one alone is a remedy for it
        if not served(context, guarded, TargetSet.native(lost)) and not _other_guard(context, guarded, family, lost):
            return held, lost
    return None


def _other_guard(context: Context, guarded: Guarded, family: ChipSet, lost: ChipSet) -> bool:
    """Whether another guard of the file is there for just the refused members."""
    for other in context.guards[guarded.module.path]:
        if other is guarded or other.working.empty:
            continue
        if other.chips & family and other.chips & family <= lost:
            return True
    return False


def _level(guarded: Guarded, lost: ChipSet) -> tuple[str, str, str]:
    """Severity, confidence, and what becomes of the sibling in words."""
    if _MEANT.search(guarded.guard.comment):
        return "note", "low", " (a comment suggests that the exact part is meant)"
    named = [use.name for use in guarded.working.uses]
    if guarded.working.tuning and named:
        return "warning", "high", f"; `{named[0]}` is not defined there"
    if guarded.other.ends == "raise":
        return "warning", "high", f"; code built for {plain(lost)} ends in the error beside it"
    if guarded.other.empty:
        return "warning", "high", f"; for {plain(lost)} nothing is left of it"
    return "note", "medium", ""
