"""Compare build files with the binaries in the tree: targets that were requested but not built."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from bwlint.chips import ChipSet, Target, known_targets
from bwlint.model.facts import Carry
from bwlint.model.findings import Finding, Related
from bwlint.model.kinds import FLAGS, CarryKind
from bwlint.rules.arch_target import RULE as ARCH_TARGET
from bwlint.sources.texts import Names, Texts
from bwlint.world.collect import Collected

_ASKS: frozenset[CarryKind] = FLAGS | {"list", "piece", "request", "kernel"}

Promises = dict[str, Related]
"""For names of chips the place that asks for it."""


def promises(collected: Collected, asked: ChipSet, texts: Texts, names: Names) -> Promises:
    """The first place for each asked chip where a build file of the tree names a target that it loads."""
    found: Promises = {}
    for file, module in collected.modules:
        for carry in module.carries:
            if carry.kind not in _ASKS:
                continue
            for chip in asked.names:
                target = _target_for(carry, chip)
                text = texts.of(file.real) if target and chip not in found else None
                if text is not None:
                    place = names.reported(file.real, file)
                    found[chip] = Related(place, text.region(*carry.at), f"the build asks for {target} here")
    return found


def confronted(findings: Iterable[Finding], asked: ChipSet, promised: Promises) -> list[Finding]:
    """The findings, those on what a binary lacks with the place that asks for it."""
    return [_confronted(finding, asked, promised) for finding in findings]


def _confronted(finding: Finding, asked: ChipSet, promised: Promises) -> Finding:
    if finding.name != ARCH_TARGET.name:
        return finding
    missing = [promised[chip] for chip in asked.names if chip not in finding.admitted and chip in promised]
    return replace(finding, related=(*finding.related, *dict.fromkeys(missing)))


def _target_for(carry: Carry, chip: str) -> Target | None:
    """The target of a carry that a chip loads: the chip's own, else one of its family."""
    loaded = (target for target in known_targets(carry.sass) if chip in target.loads_on())
    return max(loaded, key=lambda target: target.number, default=None)
