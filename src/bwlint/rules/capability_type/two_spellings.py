"""capability-type: one attribute that a file compares with texts of two spellings, "80" and "sm_80"."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bwlint.chips import EVERY, NONE
from bwlint.chips.spelling import member
from bwlint.judging import claims
from bwlint.judging.claims import Claimed
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace, RelatedSpan
from bwlint.model.expr import Expr, Span, walk
from bwlint.model.facts import Module
from bwlint.rules.capability_type import RULE

_EQUAL = frozenset({"==", "!=", "in", "not in"})


@dataclass(frozen=True, slots=True)
class _Compared:
    """An attribute beside texts that are written down: `self.arch.capability == "sm_80"`."""

    attribute: str
    spellings: frozenset[str]
    text: str
    equal: bool
    at: Span


def check_file(context: Context, module: Module) -> Iterator[Draft]:
    """The comparisons for equality with names of targets, where the file knows the attribute as bare digits.

    An order is asked of digits alone, and who tests for both spellings in one place expects both.
    """
    found = [one for judged in context.beside(module) for one in _compared(judged.gate.test)]
    for attribute in dict.fromkeys(one.attribute for one in found):
        mine = [one for one in found if one.attribute == attribute]
        named = [one for one in mine if one.equal and one.spellings == {"name"}]
        digits = [one for one in mine if one.spellings == {"digits"}]
        if named and digits and len(named) + len(digits) == len(mine):
            yield _draft(module, named, digits[0])


def _compared(test: Expr) -> Iterator[_Compared]:
    for node in walk(test):
        if node.op != "cmp" or node.at is None:
            continue
        sides = [side.args[-1] if side.op == "source" else side for side in node.args[1]]  # what a reader took it for
        owner = next((_dotted(side) for side in sides if isinstance(side, Expr) and side.op == "attr"), "")
        texts = [one.args[0] for one in walk(node.args[1]) if one.op == "const" and isinstance(one.args[0], str)]
        spellings = frozenset(map(_spelling, texts))
        if owner and texts and "" not in spellings:
            yield _Compared(owner, spellings, texts[0], node.args[0] in _EQUAL, node.at)


def _dotted(node: Expr) -> str:
    """`self.arch.capability`; nothing of what is called or looked up on the way."""
    if node.op == "attr":
        owner = _dotted(node.args[0])
        return f"{owner}.{node.args[1]}" if owner else ""
    return str(node.args[-1]) if node.op in ("param", "name") else ""


def _spelling(text: str) -> str:
    if text.isdigit():
        return "digits"
    return "name" if member(text) is not None else ""


def _draft(module: Module, named: list[_Compared], digits: _Compared) -> Draft:
    first = named[0]
    says = f'`{first.attribute}` is no text such as "{first.text}" where it is one such as "{digits.text}"'
    others = (RelatedSpan(module, one.at, "and so is this") for one in named[1:])
    return Draft(
        rule=RULE,
        place=DraftPlace(module=module, at=first.at, admitted=NONE, certain=NONE),
        severity="warning",
        confidence="medium",
        message=f"this comparison is the same on every chip: {says}, as this file compares it, too",
        label="never equal to bare digits",
        advice="compare it with one spelling, or with a number",
        related=(RelatedSpan(module, digits.at, f'compared with "{digits.text}" here'), *others),
        claims=(Claimed(claims.other(says, EVERY), first.at, module),),
    )
