"""toolchain: functions that ask for another release of CUDA than the first that knows a chip."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from bwlint.chips import NONE, Chip, ChipSet, Target, all_chips, siblings
from bwlint.chips.spelling import IN_NAMES, NUMBER, SUFFIX
from bwlint.chips.targets import known_targets
from bwlint.chips.toolkits import first_release, first_toolkit, releases, version, within
from bwlint.chips.wording import called, listed, marked
from bwlint.chips.words import said
from bwlint.judging import claims
from bwlint.judging.claims import Claimed
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace, Remedy
from bwlint.model.details import LeastRelease
from bwlint.model.expr import Span
from bwlint.model.facts import Carry, Function, Module, Operation
from bwlint.model.findings import Confidence, NoFix, Severity
from bwlint.model.kinds import CarryKind
from bwlint.rules.toolchain.asked import AskedFunction
from bwlint.world.builds import runs_on

_TARGET = re.compile(rf"{IN_NAMES}({NUMBER}{SUFFIX})(?![0-9A-Za-z])")
_FAMILY = re.compile(rf"{IN_NAMES}([0-9]{{1,2}})[xX]")
_OTHER_NEED = re.compile(rf"(?i)\b{said('own-floor')}\b")
_NEWEST_ROWS = 100
"""Rows of older chips may have releases that something else needs."""
_ADDING_UP: frozenset[CarryKind] = frozenset({"list", "piece", "gencode"})
"""What a build makes of all its sources: what one kernel is offered for may need a later release for itself."""
_FOR_ITS_BUILD = "decide from which release on a build serves the chip"
_FOR_ITS_AUTHOR = "only you know whether something besides the chip needs this release"


@dataclass(frozen=True, slots=True)
class _Fault:
    """What is said of one version that is asked for."""

    at: Span
    release: str
    message: str
    label: str
    advice: str
    severity: Severity = "warning"
    confidence: Confidence = "medium"
    needs: str = ""
    """The release to ask for."""
    refusal: str = _FOR_ITS_AUTHOR
    unsafe: str | None = _FOR_ITS_AUTHOR


def check_file(context: Context, module: Module) -> Iterator[Draft]:
    yield from _of_lists(context, module)
    if module.language != "python" or context.in_test(module):
        return
    for one in module.operations:
        target = next(known_targets([one.name]), None) if one.kind == "floor" else None
        floor = one.detail.release if isinstance(one.detail, LeastRelease) else ""
        fault = _of_row(module, one, floor, target) if target is not None and target.chip in context.targets else None
        if target is not None and fault is not None:
            yield _draft(module, fault, ChipSet.of(target.chip.name))
    for function in module.functions.values():
        asked = AskedFunction(context.tree, module, function)
        if asked.asks and not _has_another_need(context, module, function):
            yield from _judged(context, asked)


def _judged(context: Context, asked: AskedFunction) -> Iterator[Draft]:
    floors = {chip: asked.floor(chip) for chip in all_chips()}
    by_chip = len(set(floors.values())) > 1  # else it asks all for the same, and what needs that is not the chip
    refused: dict[tuple[Span, str], list[Chip]] = {}
    for chip in context.targets:
        floor, need = floors[chip], _need(asked.function, chip)
        fault = _late_family(asked, chip)
        at = None if fault or not floor or floor == releases()[0] else asked.decides(chip, _before(floor), floor)
        if fault is None and floor and need and at and by_chip:
            if version(floor) > version(need):
                refused.setdefault((at, floor), []).append(chip)
            else:
                fault = _too_early(asked, chip, at, floor)
        if fault is not None:
            yield _draft(asked.module, fault, ChipSet.of(chip.name))
    for (at, floor), chips in refused.items():
        yield _draft(asked.module, _too_late(asked, chips, at, floor), ChipSet.joining(chips))


def _too_late(asked: AskedFunction, chips: Sequence[Chip], at: Span, floor: str) -> _Fault:
    """Chips are refused under releases that know them."""
    needs = {chip: _need(asked.function, chip) for chip in chips}
    known = _known(asked.function, needs)
    message = f"This refuses {called(ChipSet.joining(chips))} below CUDA {floor}, but nvcc knows {known}."
    advice = f"Require CUDA {_asking(needs)}."
    made = asked.target(chips[0], floor)
    for_target = made is not None and first_toolkit(made) == floor
    if for_target:
        exact = Target(chips[0].joined, "a")
        message += f" {made} needs {floor}, but {exact} does not."
        advice = f"Below {floor} name {exact}, which {needs[chips[0]]} knows."
    named = all(_is_named(asked.function, chip) for chip in chips)
    return _Fault(
        at=at,
        release=floor,
        message=message,
        label=f"requires {floor}",
        advice=advice,
        severity="warning" if named and not for_target else "note",
        confidence="medium" if named else "low",
        needs="" if for_target else max(filter(None, needs.values()), key=version),
    )


def _known(function: Function, needs: Mapping[Chip, str | None]) -> str:
    """Since when nvcc knows what a function is for: the target that it is called after, or each chip."""
    named = [one for one in _named_targets(function) if {first_toolkit(one)} == set(needs.values())]
    if named:
        return f"{named[0]} from {first_toolkit(named[0])} on"
    return listed([f"{marked(ChipSet.of(chip.name))} from {need} on" for chip, need in needs.items()])


def _asking(needs: Mapping[Chip, str | None]) -> str:
    if len(set(needs.values())) == 1:
        return str(next(iter(needs.values())))
    return listed([f"{need} for {chip.name}" for chip, need in needs.items()])


def _too_early(asked: AskedFunction, chip: Chip, at: Span, floor: str) -> _Fault | None:
    late = [one for one in _named_targets(asked.function) if chip in one.loads_on() and _after(one, floor)]
    oldest = min((one.min_cuda for one in siblings(chip) if one.min_cuda), key=version, default=floor)
    if not late or version(floor) < version(oldest):
        return None  # it is not for the chip that this release is asked for
    return _Fault(
        at=at,
        release=floor,
        message=f"This accepts {late[0]} from CUDA {floor} on, but nvcc knows it from {first_toolkit(late[0])} on.",
        label=f"accepts {floor}",
        advice=f"Require CUDA {first_toolkit(late[0])}.",
        needs=first_toolkit(late[0]) or "",
        severity="warning" if late[0].suffix else "note",
    )


def _late_family(asked: AskedFunction, chip: Chip) -> _Fault | None:
    """A target that does not load on the chip under a release that knows the one that later releases are given."""
    for release, after in zip(releases(), releases()[1:], strict=False):
        old, new = asked.target(chip, release), asked.target(chip, after)
        if old is None or new is None or chip in old.loads_on() or chip not in new.loads_on() or _after(new, release):
            continue
        at = asked.decides(chip, release, after)
        if at is not None:
            return _Fault(
                at=at,
                release=after,
                message=f"Below CUDA {after} this names {old}, which {called(ChipSet.of(chip.name))} does not load. "
                f"nvcc knows {new} from {first_toolkit(new)} on.",
                label=f"{new} from {after} on",
                advice=f"Name {new} from {first_toolkit(new)} on.",
                needs=first_toolkit(new) or "",
                confidence="high",
            )
    return None


def _of_row(module: Module, one: Operation, floor: str, target: Target) -> _Fault | None:
    """What is wrong with a release that is said to be the first for a target."""
    need = first_toolkit(target)
    if need is None or version(floor)[:2] == version(need) or _speaks_of_another(one.qualname):
        return None
    if version(floor) > version(need):
        message = f"This leaves out {target} below CUDA {floor}, but nvcc {need} knows it."
    else:
        message = f"This offers {target} from CUDA {floor} on, but nvcc knows it from {need} on."
    label, advice = f"{need} is enough and needed", f"Require CUDA {need}."
    unsafe = None if _of_nvcc_alone(module, one.qualname) else _FOR_ITS_AUTHOR
    return _Fault(at=one.at, release=floor, message=message, label=label, advice=advice, needs=need, unsafe=unsafe)


def _of_nvcc_alone(module: Module, qualname: str) -> bool:
    """Whether other rows of a table, for two chips or more, say just when nvcc got to know them."""
    rows = [(next(known_targets([one.name]), None), one) for one in module.operations if one.kind == "floor"]
    same = {
        target.chip
        for target, one in rows
        if target and one.qualname == qualname and one.detail == LeastRelease(first_toolkit(target) or "")
    }
    return len([chip for chip in same if chip.joined >= _NEWEST_ROWS]) > 1


def _need(function: Function, chip: Chip) -> str | None:
    """The first release that knows a chip, or the target for it that a function is called after."""
    needs = [first for one in _named_targets(function) if chip in one.loads_on() and (first := first_toolkit(one))]
    return max(needs, key=version) if needs else chip.min_cuda


def _named_targets(function: Function) -> list[Target]:
    return list(known_targets(name.lower() for name in _TARGET.findall(function.qualname)))


def _is_named(function: Function, chip: Chip) -> bool:
    """Whether a function is called after a chip or its family."""
    families = {int(major) for major in _FAMILY.findall(function.qualname)}
    return chip.major in families or any(chip in one.loads_on() for one in _named_targets(function))


def _after(target: Target, release: str) -> bool:
    """Whether a target came with a later release."""
    first = first_toolkit(target)
    return first is not None and version(first) > version(release)


def _before(release: str) -> str:
    return releases()[releases().index(release) - 1]


def _has_another_need(context: Context, module: Module, function: Function) -> bool:
    """Whether a function's name, documentation or a text in it names something else that needs a release."""
    near = [one.gate for one in context.beside(module) if one.gate.qualname == function.qualname]
    texts = [prose.text for gate in near for side in (gate.yes, gate.no) for prose in side.texts]
    said_of_it = (function.doc, *(gate.comment for gate in near), *texts)
    return _speaks_of_another(function.qualname) or any(map(_OTHER_NEED.search, said_of_it))


def _speaks_of_another(name: str) -> bool:
    return _OTHER_NEED.search(name.replace("_", " ")) is not None


def _draft(module: Module, fault: _Fault, chips: ChipSet) -> Draft:
    return Draft(
        place=DraftPlace(module=module, at=fault.at, admitted=NONE, certain=NONE),
        severity=fault.severity,
        confidence=fault.confidence,
        message=fault.message,
        label=fault.label,
        advice=fault.advice,
        remedy=Remedy(
            "release",
            chips,
            evidence=f"nvcc {fault.needs} is the first that knows what is asked for",
            unsafe=fault.unsafe,
            release=(fault.release, fault.needs),
        )
        if fault.needs
        else NoFix(fault.refusal),
        claims=(Claimed(claims.other(fault.message, chips, fault.release), fault.at),),
    )


def _of_lists(context: Context, module: Module) -> Iterator[Draft]:
    """A list of a build that has a chip from a later release of CUDA on than the first that knows it."""
    if context.builds.retired(module.path):
        return
    lists: dict[str, list[Carry]] = defaultdict(list)
    for carry in module.carries:
        if carry.kind in _ADDING_UP:
            lists["" if carry.kind == "gencode" else carry.name].append(carry)
    for carries in lists.values():
        yield from _served_late(context, module, carries)


def _served_late(context: Context, module: Module, carries: Sequence[Carry]) -> Iterator[Draft]:
    for family in dict.fromkeys(siblings(chip) for chip in context.targets):
        asked = family & context.targets
        need = first_release(asked)
        serving = [carry for carry in carries if asked & runs_on([carry])]
        first = min(serving, key=_begins, default=None)
        if first is None or first.kind == "list" or not need or _begins(first) <= version(need):
            continue  # one list instead of another is told where it stops
        between = within((need, first.toolkit[0]))
        if any(between & within(carry.toolkit) for carry in carries):
            floor, oldest = first.toolkit[0], min(chip.joined for chip in asked)
            fault = _Fault(
                at=first.at,
                release=floor,
                message=f"Nothing here serves {called(asked)} below CUDA {floor}, but nvcc {need} knows sm_{oldest}.",
                label=f"from {floor} on",
                advice=f"Offer sm_{oldest} from {need} on, or sm_{oldest}a for kernels that need the suffix.",
                refusal=_FOR_ITS_BUILD,
            )
            yield _draft(module, fault, asked)


def _begins(carry: Carry) -> tuple[int, ...]:
    return version(carry.toolkit[0] or releases()[0])
