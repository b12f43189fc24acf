"""The binaries of a scanned tree, for `bwlint check`."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import PurePosixPath

from bwlint.chips import ChipSet, Target, known_targets
from bwlint.inspection import examine, judged
from bwlint.inspection.origins import Origin
from bwlint.inspection.run_time import is_assembler
from bwlint.model.facts import Carry
from bwlint.model.findings import Finding, Related, Skipped
from bwlint.model.kinds import FLAGS, CarryKind
from bwlint.rules.arch_target import RULE as ARCH_TARGET
from bwlint.sources.faults import contained
from bwlint.sources.held import scratch_folder
from bwlint.sources.kinds import BINARY, kind_of
from bwlint.sources.texts import Names, Texts
from bwlint.sources.tree import project_folder
from bwlint.sources.walk import SourceFile
from bwlint.world.collect import Collected
from bwlint.world.gates import TEST_FILE

_EXAMPLE = re.compile(r"(?:^|/)(?:examples?|samples?|demos?)/")


def judged_binaries(
    files: Sequence[SourceFile],
    wheels: Sequence[tuple[str, str]],
    asked: ChipSet,
    enabled: Callable[[SourceFile], frozenset[str]],
    rules: frozenset[str],
) -> tuple[list[Finding], list[Skipped]]:
    """Findings in binaries, those of a folder together and those of a wheel, and what could not be read. `enabled` says
    which rules run on a file, `rules` which run on wheels, whose paths are for reports and real."""
    findings: list[Finding] = []
    skipped: list[Skipped] = []
    with ExitStack() as stack:
        scratch = scratch_folder(stack)
        for origin, rules_of in (*_folders(files, enabled), *_wheels(wheels, rules)):
            with contained(origin.files[0][1], "reading binaries"):
                shipment, unread = examine(origin, asked, scratch)
                every = frozenset[str]().union(*rules_of.values())
                found = judged(shipment, asked, every)
                findings += [each for each in found if each.name in _rules_on(each.path, rules_of, every)]
                skipped += unread
    unshipped = [PurePosixPath(file.path) for file in files if _is_unshipped(file)]
    places = {str(place) for path in unshipped for place in (path, path.parent)}
    return [replace(each, severity="note") if each.path in places else each for each in findings], skipped


def _is_unshipped(file: SourceFile) -> bool:
    """Whether a binary lies among the tests of its project, which read it, or among its examples, from some day."""
    place = file.real.removeprefix(project_folder(file.root)).lstrip(os.sep).replace(os.sep, "/")
    return TEST_FILE.search(place) is not None or _EXAMPLE.search(place) is not None


RulesOf = Mapping[str, frozenset[str]]
"""The names of the rules that run on each path."""


def _rules_on(path: str, rules_of: RulesOf, every: frozenset[str]) -> frozenset[str]:
    """Those of the file, or of the archive around it; all of them for what is said of a folder as a whole."""
    around = (path, *map(str, PurePosixPath(path).parents))
    return next((rules_of[place] for place in around if place in rules_of), every)


def _folders(
    files: Sequence[SourceFile], enabled: Callable[[SourceFile], frozenset[str]]
) -> Iterator[tuple[Origin, RulesOf]]:
    folders: dict[str, list[SourceFile]] = {}
    for file in files:
        folders.setdefault(str(PurePosixPath(file.path).parent), []).append(file)
    for folder, members in folders.items():
        pairs = tuple((file.path, file.real) for file in members)
        yield Origin(folder, pairs, is_named=False, wanted=_is_binary), {file.path: enabled(file) for file in members}


def _wheels(wheels: Sequence[tuple[str, str]], rules: frozenset[str]) -> Iterator[tuple[Origin, RulesOf]]:
    for reported, real in wheels:
        yield Origin(reported, ((reported, real),), is_named=False, wanted=_is_binary), {reported: rules}


def _is_binary(name: str) -> bool:
    """PTX is text, which has a reader of its own."""
    return kind_of(name) == BINARY or is_assembler(PurePosixPath(name).name)


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
