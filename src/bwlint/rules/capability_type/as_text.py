"""capability-type: a capability that is ordered as a text or of which a part is taken by its place, and a function
that makes a number of a target's name and knows none with a suffix.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from bwlint.chips import NONE, Chip, ChipSet
from bwlint.chips.wording import called, plain
from bwlint.evaluate.values import CHIPS, Guess, Unknown, Vec
from bwlint.judging import claims
from bwlint.judging.claims import Claimed
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace, Remedy
from bwlint.model.details import MisreadDigits
from bwlint.model.expr import Expr, Span, const, walk, walk_through
from bwlint.model.facts import Function, Module, Operation
from bwlint.model.findings import NoFix

_TWO_DIGITS = ChipSet.where(lambda chip: chip.major > 9)
_MEANINGS: tuple[Callable[[Chip], str], ...] = (
    lambda chip: str(chip.major),
    lambda chip: str(chip.minor),
    lambda chip: str(chip.joined),
    lambda chip: chip.name,
)
_OF_DIGITS = frozenset({"isdigit", "isdecimal", "isnumeric"})
_PREFIX = "sm_"
_MOST_SLOTS = 20
_ENOUGH = 4
"""Chips with a major of one digit on which a part has to mean the same."""


def check_file(context: Context, module: Module) -> Iterator[Draft]:
    yield from _suffixed(context, module)
    told: set[int] = set()
    for one in module.operations:
        if one.kind != "as-text" or one.at[0] in told:
            continue
        wrong, says = _misread(context, module, one)
        wrong &= context.targets & ChipSet.common(context.tree.may(module, test) for test in one.path)
        if wrong:
            told.add(one.at[0])
            yield Draft(
                place=DraftPlace(module=module, at=one.at, admitted=NONE, certain=NONE),
                severity="warning",
                confidence="high",
                message=f"`{one.name}` misreads {called(wrong)}: {says}.",
                label="fits capabilities with a major of one digit",
                advice="Match or split the whole name, or turn it into numbers first.",
                remedy=_remedy(context, module, one),
                claims=(Claimed(claims.other(f"`{one.name}` misreads {plain(wrong)}", wrong), one.at, module),),
            )


def _misread(context: Context, module: Module, one: Operation) -> tuple[ChipSet, str]:
    """The chips of which an expression makes something else than of those before them, and how."""
    if isinstance(one.detail, MisreadDigits):
        return ChipSet.of(*one.detail.chips), one.detail.says
    (found,) = one.amounts
    if found.op == "cmp":
        return _ordered(context, module, found)
    if found.op == "tuple":
        return _unpacked(context, module, found.args[0][0])
    if found.op == "call":
        return _number_cut(context, module, found.args[1][0])
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
    return ChipSet.joining(wrong), f'texts are ordered by their first character, so "{first}" < "{text}"'


def _remedy(context: Context, module: Module, one: Operation) -> Remedy | NoFix:
    """Compare the numbers, where each chip's text is one."""
    found = next(iter(one.amounts), None)
    if found is None or found.op != "cmp":
        return NoFix("decide whether a suffix can follow, as in 12.0a: then match the whole name")
    values = [context.tree.value(module, side) for side in found.args[1]]
    lanes = [lane for value in values if value.device for lane in value.spread()]
    known = all(isinstance(lane, str) and lane.isdigit() for lane in lanes)
    why = None if known else "int() raises on a text that is no number, and nothing here shows that this is always one"
    return Remedy("meaning", evidence="numbers are ordered as they are meant", unsafe=why)


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
        says = f'"{texts[old[-1]]}" gives "{parts[old[-1]]}", and "{texts[chip]}" gives "{part}"'
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
    return wrong, '"120" has more characters than there are names, and unpacking raises ValueError'


def _number_cut(context: Context, module: Module, part: Expr) -> tuple[ChipSet, str]:
    """`int(arch[3:5])` of what is called like a capability; a known text is reported where it is cut."""
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


_NUMBER_ALONE = "its callers then take sm_120a for sm_120"


def _suffixed(context: Context, module: Module) -> Iterator[Draft]:
    """A function that makes a number of a target's name and knows none with a suffix."""
    for function in module.functions.values() if module.language == "python" else ():
        asked = _asks_for_digits(module, function)
        if asked is not None and not context.in_test(module):
            yield from _of(context, module, function, *asked)


def _asks_for_digits(module: Module, function: Function) -> tuple[Expr, Span] | None:
    """The call by which a function takes the prefix of a name, and where it asks whether all that is left is digits."""
    calls = [
        node
        for node in walk_through((function.returns,), module.slots, _MOST_SLOTS)
        if node.op == "call" and node.args[0].op == "attr"
    ]
    asked = next((node.at for node in calls if node.args[0].args[1] in _OF_DIGITS), None)
    cut = next((node for node in calls if _PREFIX in map(_text, node.args[1])), None)
    return (cut, asked) if cut is not None and asked is not None else None


def _text(node: Expr) -> object:
    return node.args[0] if node.op == "const" else None


def _of(context: Context, module: Module, function: Function, cut: Expr, at: Span) -> Iterator[Draft]:
    """The chips whose name it knows, and does not know with the suffix of what is compiled for one part or family."""
    name, answers = cut.args[0].args[0], dict[object, ChipSet]()
    for chip in context.targets:
        given = f"{_PREFIX}{chip.joined}"
        known = _answer(context, module, function, name, given)
        lost = {_answer(context, module, function, name, f"{given}{suffix}") for suffix in chip.suffixes}
        if known in (chip.joined, str(chip.joined)) and len(lost) == 1 and _is_none_of_them(*lost):
            (said,) = lost
            answers[said] = answers.get(said, NONE) | ChipSet.joining((chip,))
    for said, wrong in answers.items():
        example = f"{_PREFIX}{next(iter(wrong)).joined}"
        says = f'"{example}" gives a number, and "{example}a" gives {said!r}'
        meaning = ", which is too old for every lower bound" if type(said) is int else ""
        name_of_it = function.qualname.rpartition(".")[2]
        is_asked = _is_asked(context, module, name_of_it)
        yield Draft(
            place=DraftPlace(module=module, at=at, admitted=NONE, certain=NONE),
            severity="warning" if is_asked else "note",
            confidence="high" if is_asked else "low",
            message=f"`{name_of_it}` knows no target with a suffix: {says}{meaning}.",
            label="false for 120a and 120f" if is_asked else "not called here",
            advice="Strip the suffix first: the leading digits are the number.",
            remedy=Remedy("meaning", at=cut.at, evidence="sm_120a is for the chip of sm_120", unsafe=_NUMBER_ALONE),
            claims=(
                Claimed(
                    claims.other(f"`{name_of_it}` reads no number from {plain(wrong)} with a suffix", wrong), at, module
                ),
            ),
        )


def _is_asked(context: Context, module: Module, name: str) -> bool:
    """Whether its file has a function's name once more, or another file that defines none of that name has it."""
    search = context.search(module)
    hits = search.word("python", name) if search.complete("python") else ()
    defined = [hit for hit in hits if hit.text.lstrip().startswith(f"def {name}")]
    own = {hit.file.real for hit in defined} - {module.path}
    return not hits or any(hit.file.real not in own for hit in hits if hit not in defined)


def _is_none_of_them(said: object) -> bool:
    """Whether an answer stands for no chip at all and is no error, which its caller would see."""
    return said is None or said is False or (type(said) is int and said <= 0)


def _answer(context: Context, module: Module, function: Function, name: Expr, text: str) -> object:
    """What a function gives for a name, if tests of anything else are passed and their own ways out not taken."""
    for path, value in function.returns:
        *tests, answer = (_with(module, one, name, text) for one in (*path, value))
        asked = [test for test, one in zip(tests, path, strict=True) if test != _with(module, one)]
        if not asked and answer == _with(module, value):
            continue
        holds = [context.tree.value(module, test).only() for test in asked]
        if all(one is True for one in holds):
            return context.tree.value(module, answer).only()
        if not any(one is False for one in holds):
            break
    return Unknown()


def _with(module: Module, node: Any, name: Expr | None = None, text: str = "") -> Any:
    """An expression without its references, and with a text in the place of a name."""
    if not isinstance(node, Expr):
        return tuple(_with(module, one, name, text) for one in node) if isinstance(node, tuple) else node
    if name is not None and node[:2] == name[:2]:
        return const(text)
    if node.op == "var":
        return _with(module, module.slots[node.args[0]], name, text)
    return node._replace(args=_with(module, node.args, name, text))
