"""capability-type: a function that makes a number of a target's name and knows none with a suffix."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bwlint.chips import NONE, ChipSet
from bwlint.chips.wording import plain
from bwlint.evaluate.values import Unknown
from bwlint.judging import claims
from bwlint.judging.claims import Claimed
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace
from bwlint.model.expr import Expr, Span, const, walk_through
from bwlint.model.facts import Function, Module
from bwlint.rules.capability_type import RULE

_OF_DIGITS = frozenset({"isdigit", "isdecimal", "isnumeric"})
_PREFIX = "sm_"
_MOST_SLOTS = 20


def check_file(context: Context, module: Module) -> Iterator[Draft]:
    for function in module.functions.values() if module.language == "python" else ():
        asked = _asks_for_digits(module, function)
        if asked is not None and not context.in_test(module):
            yield from _of(context, module, function, *asked)


def _asks_for_digits(module: Module, function: Function) -> tuple[Expr, Span] | None:
    """The name from which a function takes the prefix, and where it asks whether all that is left is digits."""
    calls = [
        node
        for node in walk_through((function.returns,), module.slots, _MOST_SLOTS)
        if node.op == "call" and node.args[0].op == "attr"
    ]
    asked = next((node.at for node in calls if node.args[0].args[1] in _OF_DIGITS), None)
    name = next((node.args[0].args[0] for node in calls if _PREFIX in map(_text, node.args[1])), None)
    return (name, asked) if name is not None and asked is not None else None


def _text(node: Expr) -> object:
    return node.args[0] if node.op == "const" else None


def _of(context: Context, module: Module, function: Function, name: Expr, at: Span) -> Iterator[Draft]:
    """The chips whose name it knows, and does not know with the suffix of what is compiled for one part or family."""
    answers: dict[object, ChipSet] = {}
    for chip in context.targets:
        given = f"{_PREFIX}{chip.joined}"
        known = _answer(context, module, function, name, given)
        lost = {_answer(context, module, function, name, f"{given}{suffix}") for suffix in chip.suffixes}
        if known in (chip.joined, str(chip.joined)) and len(lost) == 1 and _is_none_of_them(*lost):
            (said,) = lost
            answers[said] = answers.get(said, NONE) | ChipSet.joining((chip,))
    for said, wrong in answers.items():
        example = f"{_PREFIX}{next(iter(wrong)).joined}"
        says = f'of "{example}" it makes a number, and of "{example}a" {said!r}'
        meaning = ": too old for every lower bound" if type(said) is int else ""
        called = function.qualname.rpartition(".")[2]
        is_asked = _is_asked(context, module, called)
        yield Draft(
            rule=RULE,
            place=DraftPlace(module=module, at=at, admitted=NONE, certain=NONE),
            severity="warning" if is_asked else "note",
            confidence="high" if is_asked else "low",
            message=f"`{called}` knows no target with a suffix: {says}{meaning}",
            label="false for 120a and 120f" if is_asked else "nobody here asks it",
            advice="take the suffix off first: the digits at its beginning are the number",
            claims=(
                Claimed(
                    claims.other(f"`{called}` takes {plain(wrong)} with a suffix for no number", wrong), at, module
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
