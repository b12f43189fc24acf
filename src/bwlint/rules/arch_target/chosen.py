"""arch-target where a program picks the target that it compiles for the chip at hand, tried on every chip, and for
flags of a build that are named after targets: a list of modules against what they compile for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from bwlint.chips import EVERY, NONE, ChipSet, Target, known_targets, siblings, spelling
from bwlint.chips.flags import find_flags
from bwlint.chips.wording import called, plain
from bwlint.evaluate.values import CHIPS
from bwlint.judging import claims
from bwlint.judging.claims import Claimed
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace, RelatedSpan, Remedy
from bwlint.judging.family_evidence import place_in
from bwlint.judging.siblings import Admission, admission, calls
from bwlint.model.expr import Expr, Span, is_text, walk
from bwlint.model.facts import Function, Module, Path, Use
from bwlint.model.findings import NoFix
from bwlint.world.builds import pair_of
from bwlint.world.gates import Judged

_NAMES = re.compile(r"(?:sm|compute)_")
_PICKS = re.compile(r"arch|target|gencode|sm_?name", re.I)


def check_file(context: Context, module: Module) -> Iterator[Draft]:
    if module.language != "python" or context.in_test(module):
        return
    told = [carry.at for carry in module.carries]
    for text in module.targets:
        target = Target.parse(text.text.rpartition("_")[2])
        left = _sent_to(context, module, text.at) - target.loads_on()
        if left and not any(at.holds(text.at) or text.at.holds(at) for at in told):
            told.append(text.at)
            yield _exact(module, text.at, target, left)
    for function in module.functions.values():
        for path, value in function.returns:
            if value.at is not None and _may_name(function, value) and not any(map(value.at.holds, told)):
                yield from _returned(context, module, path, value)


def _sent_to(context: Context, module: Module, at: Span) -> ChipSet:
    """The asked chips of one family that a test around a place asks for; none where others get there too."""
    here = context.let_in(module, at)
    asked = here & context.targets
    return asked if any(here <= siblings(chip) for chip in asked) else NONE


def _returned(context: Context, module: Module, path: Path, value: Expr) -> Iterator[Draft]:
    """The value of a function that names a target, on two chips of a family."""
    assert value.at is not None
    reached = ChipSet.common(context.tree.may(module, test) for test in path)
    found = context.tree.value(module, value)
    if reached == EVERY and not found.device:
        return  # a name that is given, whatever the chip
    picked = dict(zip(CHIPS, found.spread(), strict=True))
    pairs = ((one, other) for other in reached & context.targets for one in siblings(other) & reached if one != other)
    for one, other in pairs:
        mine, others = _target(picked[one]), _target(picked[other])
        if mine is None or others is None or one not in mine.loads_on():
            continue
        if mine == others and other not in others.loads_on():
            yield _exact(module, value.at, mine, ChipSet.of(other.name))


def _may_name(function: Function, value: Expr) -> bool:
    """Whether a function is called after a target, or its value has a piece of one's name."""
    texts = (node.args[0] for node in walk(value) if is_text(node))
    return _PICKS.search(function.qualname) is not None or any(map(_NAMES.search, texts))


def _target(text: object) -> Target | None:
    """The one target that a string is, or that nvcc's flags in it make."""
    if not isinstance(text, str):
        return None
    whole = spelling.spelled(text)
    found = list(known_targets([whole.target] if whole else [name for flag in find_flags(text) for name in flag.sass]))
    return found[0] if len(found) == 1 else None


def _exact(module: Module, at: Span, target: Target, left: ChipSet) -> Draft:
    return Draft(
        place=DraftPlace(module=module, at=at, admitted=target.loads_on(), certain=target.loads_on()),
        severity="warning",
        confidence="medium",
        message=f"This picks {target} on {called(left)} too, but only {plain(target.loads_on())} loads it.",
        label=f"not for {plain(left)}",
        advice=f"Name the chip's own target there ({', '.join(f'sm_{chip.joined}{target.suffix}' for chip in left)}).",
        remedy=NoFix("nothing here shows that the compiler knows the other target"),
        claims=(Claimed(claims.build([pair_of(target, target)], left), at),),
    )


def check(context: Context, judged: Judged) -> Iterator[Draft]:
    """A flag keeps a module from a build for a chip, and the module's own list compiles it for that chip."""
    if not judged.sets.flags or judged.gate.kind != "condition":
        return
    side = judged.gate.yes
    here = judged.on(side)
    lost: dict[ChipSet, list[tuple[Use, Admission]]] = {}
    for use in calls(context, judged, side):
        found = admission(context, judged.module, use)
        if found is None or not found.chips & here:
            continue
        missing = context.targets & found.chips - here - _elsewhere(context, judged, use)
        if missing:
            lost.setdefault(missing, []).append((use, found))
    for missing, places in lost.items():
        yield _left_out(context, judged, missing, places)


def _elsewhere(context: Context, judged: Judged, use: Use) -> ChipSet:
    """The chips for which other conditions of the file build the same module."""
    found = NONE
    for other in context.beside(judged.module):
        if other is judged or not other.sets.flags:
            continue
        for side in (other.gate.yes, other.gate.no):
            if any(use.name == named.name and use.at != named.at for named in side.uses):
                found |= other.on(side)
    return found


def _remedy(context: Context, judged: Judged, missing: ChipSet, places: list[tuple[Use, Admission]]) -> Remedy:
    """The flag of the missing chip asked for too; safe where all that it lets in is compiled for that chip."""
    name = places[0][0].name.rpartition(".")[2]
    evidence = f"`{name}` is compiled for {places[0][1].chips} ({place_in(judged, places[0][1].at)})"
    known = {use.at for use, _ in places}
    uses = (use for use in calls(context, judged, judged.gate.yes) if use.at not in known)
    own = [(use.at, other) for use in uses if spelling.numberless(other := use.name.rpartition(".")[2])]
    if not own:
        return Remedy("test", judged.core | missing, evidence=evidence)
    unsafe = f"`{own[0][1]}` is let in too, and is made for its own chip"
    at = own[0][0] if len(own) == 1 else None  # what it is kept apart from
    return Remedy("test", judged.core | missing, evidence=evidence, unsafe=unsafe, at=at)


def _left_out(context: Context, judged: Judged, missing: ChipSet, places: list[tuple[Use, Admission]]) -> Draft:
    here = judged.on(judged.gate.yes)
    parted = any(siblings(chip) & here for chip in missing)
    name = places[0][0].name.rpartition(".")[2]
    what = f"`{name}`" if len(places) == 1 else f"`{name}` and {len(places) - 1} more"
    compiled = "which compiles" if len(places) == 1 else "which compile"
    related = [
        RelatedSpan(place.at, place.at.at, f"`{place.name}` is compiled for {place.chips}") for _, place in places[:8]
    ]
    return Draft(
        place=DraftPlace.of_gate(judged),
        severity="warning" if parted else "note",
        confidence="high" if parted else "medium",
        message=f"A build for {called(missing)} alone leaves out {what}, {compiled} for {plain(missing)} too.",
        label=f"asks for {here & places[0][1].chips or here}",
        advice=f"Ask for {called(missing)} too{'' if parted else ', or compile it at first use'}.",
        related=tuple(related),
        remedy=_remedy(context, judged, missing, places),
        claims=(Claimed(claims.other(f"a build for {plain(missing)} alone leaves out {what}", missing, name)),),
    )
