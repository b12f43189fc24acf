"""Check that a build knows how to compile a target name before a fix lets the name in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import PurePath

from bwlint.chips import Target, TargetSet, known_targets, siblings
from bwlint.fix import Job
from bwlint.judging.compiled import behind
from bwlint.judging.guards import guards_of
from bwlint.model.facts import Carry, Module
from bwlint.model.findings import Fix
from bwlint.model.kinds import ACCEPTING
from bwlint.rules.family_split.guard import parts

_MOST_FILES = 60
_WORD = re.compile(r"\w+")
_EXACT = rb"__CUDA_ARCH(?:__\s*==\s*|_FEAT_SM|_FAMILY_SPECIFIC__\s*==\s*)%d"


def unaware(job: Job, fix: Fix) -> str | None:
    """What is compiled for a name that a fix adds, and knows its twin alone, as a sentence; None: nothing."""
    carry = next((one for one in job.module.carries if one.at == job.at and one.kind in ACCEPTING), None)
    if job.remedy.how != "carry" or carry is None:
        return None
    accepted = TargetSet.of(*(target.name for target in known_targets(carry.sass)))
    for new in known_targets(word for edit in fix.edits for word in _WORD.findall(edit.text)):
        for twin in siblings(new.chip):
            old = Target(twin.joined, new.suffix)
            said = _told_apart(job, carry, old, new) if old in accepted else None
            if said is not None:
                return said
    return None


def _told_apart(job: Job, carry: Carry, old: Target, new: Target) -> str | None:
    kernels = [one for one in job.module.carries if one.kind == "kernel" and old in known_targets(one.sass)]
    if kernels and not any(new.chip in target.loads_on() for one in kernels for target in known_targets(one.sass)):
        return f"line {kernels[0].at[0]} compiles for {old} and nothing for {new.chip}"
    context = job.context
    for module in behind(context, job.module, carry).modules or _asking(job, old):
        for guarded in context.guards.setdefault(module.path, guards_of(context.tree, module)):
            if old in guarded.admitted and new not in guarded.admitted and parts(context, guarded) is not None:
                place = f"{PurePath(module.path).name}:{guarded.guard.at[0]}"
                return f"{place} compiles code for {old} and not for {new}"
    return None


def _asking(job: Job, target: Target) -> Iterator[Module]:
    """The C++ files of the project that ask the compiler for the part of a target."""
    found = job.context.search(job.module).matches("cuda", re.compile(_EXACT % target.chip.joined))
    for path in islice(dict.fromkeys(file.real for file, _ in found), _MOST_FILES):
        module = job.context.tree.headers.at(path)
        if module is not None:
            yield module
