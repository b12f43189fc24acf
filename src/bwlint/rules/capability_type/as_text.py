"""capability-type: a capability that is ordered as a text, or of which a part is taken by its place."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from bwlint.chips import NONE, Chip, ChipSet
from bwlint.chips.wording import plain
from bwlint.evaluate.values import CHIPS, Guess, Vec
from bwlint.judging import claims
from bwlint.judging.claims import Claimed
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace
from bwlint.model.expr import Expr, walk
from bwlint.model.facts import Module, Operation
from bwlint.rules.capability_type import RULE

_TWO_DIGITS = ChipSet.where(lambda chip: chip.major > 9)
_MEANINGS: tuple[Callable[[Chip], str], ...] = (
    lambda chip: str(chip.major),
    lambda chip: str(chip.minor),
    lambda chip: str(chip.joined),
    lambda chip: chip.name,
)
_ENOUGH = 4
"""Chips with a major of one digit on which a part has to mean the same."""


def check_file(context: Context, module: Module) -> Iterator[Draft]:
    told: set[int] = set()
    for one in module.operations:
        if one.kind != "as-text" or one.at[0] in told:
            continue
        wrong, says = _misread(context, module, one)
        wrong &= context.targets & ChipSet.common(context.tree.may(module, test) for test in one.path)
        if wrong:
            told.add(one.at[0])
            yield Draft(
                rule=RULE,
                place=DraftPlace(module=module, at=one.at, admitted=NONE, certain=NONE),
                severity="warning",
                confidence="high",
                message=f"`{one.name}` goes wrong on {plain(wrong)}: {says}",
                label="fits capabilities with a major of one digit",
                advice="split it at the dot, or turn it into numbers before it is compared or taken apart",
                claims=(Claimed(claims.other(f"`{one.name}` goes wrong on {plain(wrong)}", wrong), one.at, module),),
            )


def _misread(context: Context, module: Module, one: Operation) -> tuple[ChipSet, str]:
    """The chips of which an expression makes something else than of those before them, and how."""
    (found,) = one.amounts
    if found.op == "cmp":
        return _ordered(context, module, found)
    if found.op == "const":
        return _TWO_DIGITS, str(found.args[0])
    if found.op == "tuple":
        return _unpacked(context, module, found.args[0][0])
    if found.op == "call":
        return _number_cut(context, module, found.args[1][0])
    if found.op in ("bin", "fstr"):
        return _TWO_DIGITS, 'of "12.0" the first and the third character are "1."'
    return _cut(context, module, found)


def _ordered(context: Context, module: Module, found: Expr) -> tuple[ChipSet, str]:
    """`"120" < "80"`: the first character in which two texts differ decides."""
    sides = [context.tree.value(module, side) for side in found.args[1]]
    (text,) = (one.lanes[0] for one in sides if one.uniform and isinstance(one.lanes[0], str))
    (mine,) = (one for one in sides if one.lanes[0] is not text)
    wrong = {
        chip: lane for chip, lane in _texts(mine, text).items() if (lane < text) != (_number(lane) < _number(text))
    }
    _, first = _shown(context, wrong)
    return ChipSet.joining(wrong), f'texts are ordered by their first character, and "{first}" < "{text}"'


def _texts(value: Vec, like: str = "") -> dict[Chip, str]:
    """The text that a value of the device is on each chip; of a mere name, as `like` is spelt."""
    lanes = zip(CHIPS, value.spread(), strict=True) if value.device else ()
    spelt = ((chip, lane.form(like) if isinstance(lane, Guess) else lane) for chip, lane in lanes)
    return {chip: text for chip, text in spelt if isinstance(text, str) and re.search("[0-9]", text)}


def _shown(context: Context, wrong: dict[Chip, str]) -> tuple[Chip, str]:
    """An example for a sentence: one of the chips that are asked about, where there is one."""
    return next((pair for pair in wrong.items() if pair[0] in context.targets), (CHIPS[-1], ""))


def _number(text: str) -> list[int]:
    return [int(digits) for digits in re.findall("[0-9]+", text)]


def _cut(context: Context, module: Module, found: Expr) -> tuple[ChipSet, str]:
    """`"86"[:2]` is all of it and `"120"[:2]` is not."""
    texts = _texts(context.tree.value(module, found.args[0]))
    parts = {chip: part for chip, part in _texts(context.tree.value(module, found)).items() if chip in texts}
    return _other_than_meant(context, module, texts, parts)


def _other_than_meant(
    context: Context, module: Module, texts: dict[Chip, str], parts: dict[Chip, str]
) -> tuple[ChipSet, str]:
    """What the parts of texts mean on chips with a major of one digit, and the chips on which they mean another."""
    old = [chip for chip in parts if chip not in _TWO_DIGITS]
    for meaning in _MEANINGS:
        if len(old) < _ENOUGH or any(parts[chip] != meaning(chip) for chip in old):
            continue
        wrong = {chip: part for chip, part in parts.items() if part != meaning(chip)}
        if not wrong or _is_expected(context, module, set(wrong.values())):
            return NONE, ""
        chip, part = _shown(context, wrong)
        says = f'of "{texts[old[-1]]}" this is "{parts[old[-1]]}", and of "{texts[chip]}" "{part}"'
        return ChipSet.joining(wrong), says
    return NONE, ""


def _unpacked(context: Context, module: Module, text: Expr) -> tuple[ChipSet, str]:
    """`major, minor = "120"`; a pair of numbers has a part for each name."""
    value = context.tree.value(module, text)
    texts = {chip: lane for chip, lane in zip(CHIPS, value.spread(), strict=True) if isinstance(lane, str)}
    wrong = _TWO_DIGITS if text.op != "var" else NONE
    if texts or any(isinstance(lane, list | tuple) for lane in value.lanes):
        fits = [chip for chip, lane in texts.items() if len(lane) == len("90")]
        wrong = ChipSet.joining(chip for chip in texts if chip not in fits) if fits and value.device else NONE
    return wrong, 'a text such as "120" has more characters than there are names: ValueError'


def _number_cut(context: Context, module: Module, part: Expr) -> tuple[ChipSet, str]:
    """`int(arch[3:5])` of what is called like a capability; what is known to be a text is told where it is cut."""
    lanes = context.tree.value(module, part.args[0]).spread()
    if not all(isinstance(lane, Guess) and not lane.part for lane in lanes):
        return NONE, ""
    places = [one.args[0] for one in part.args[1:]]
    texts = {chip: f"sm_{chip.joined}" for chip in CHIPS}
    parts = {chip: text[slice(*places)] if part.op == "slice" else text[places[0]] for chip, text in texts.items()}
    return _other_than_meant(context, module, texts, parts)


def _is_expected(context: Context, module: Module, parts: set[str]) -> bool:
    """Whether the file asks for such a part by its text: who writes "12" knows what comes of "120"."""
    tests = [one.gate.test for one in context.beside(module)]
    constants = (node.args[0] for node in walk((*tests, *module.names.values())) if node.op == "const")
    return any(isinstance(value, str) and value in parts for value in constants)
