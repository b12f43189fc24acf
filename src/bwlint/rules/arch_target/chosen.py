"""arch-target where a program picks the target that it compiles for the chip at hand: tried on every chip."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import permutations

from bwlint.chips import EVERY, NONE, ChipSet, Target, known_targets, siblings, spelling
from bwlint.chips.flags import find_flags
from bwlint.chips.wording import plain
from bwlint.evaluate.values import CHIPS
from bwlint.judging import claims
from bwlint.judging.claims import Claimed
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace
from bwlint.model.expr import Expr, Span, walk
from bwlint.model.facts import Function, Module, Path
from bwlint.model.findings import NoFix
from bwlint.rules.arch_target import RULE
from bwlint.world.builds import pair_of

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
    for one, other in permutations(reached & context.targets, 2):
        mine, others = _target(picked[one]), _target(picked[other])
        if other not in siblings(one) or mine is None or others is None or one not in mine.loads_on():
            continue
        if mine == others and other not in others.loads_on():
            yield _exact(module, value.at, mine, ChipSet.of(other.name))


def _may_name(function: Function, value: Expr) -> bool:
    """Whether a function is called after a target, or its value has a piece of one's name."""
    texts = (node.args[0] for node in walk(value) if node.op == "const" and isinstance(node.args[0], str))
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
        rule=RULE,
        place=DraftPlace(module=module, at=at, admitted=target.loads_on(), certain=target.loads_on()),
        severity="warning",
        confidence="medium",
        message=f"{target} is picked on {plain(left)} too, and is loaded by {plain(target.loads_on())} only",
        label=f"not for {plain(left)}",
        advice=f"name the chip's own target there ({', '.join(f'sm_{chip.joined}{target.suffix}' for chip in left)})",
        remedy=NoFix("whether the compiler knows the other target is not shown"),
        claims=(Claimed(claims.build([pair_of(target, target)], left), at),),
    )
