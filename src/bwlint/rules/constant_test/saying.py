"""What is said of a chain of comparisons that has one outcome, in a program and in the preprocessor."""

from __future__ import annotations

from bwlint.chips import EVERY
from bwlint.judging import claims
from bwlint.judging.claims import Claimed
from bwlint.judging.drafts import Draft, DraftPlace
from bwlint.judging.foregone import Foregone
from bwlint.model.kinds import Language
from bwlint.model.rule import RuleTraits


def draft_of(rule: RuleTraits, found: Foregone, place: DraftPlace) -> Draft:
    what = _called(found)
    if found.holds:
        message = f"always true: whatever {what} is, one of these comparisons holds"
    else:
        message = f"never true: whatever {what} is, one of these comparisons fails"
    outcome = "true" if found.holds else "false"
    return Draft(
        rule=rule,
        place=place,
        severity="warning",
        confidence="high",
        message=message,
        label=f"{outcome} on every chip",
        advice=_advice(found, place.module.language),
        claims=(Claimed(claims.other(f"this is {outcome} whatever {what} is", EVERY), place.at, place.module),),
    )


def _called(found: Foregone) -> str:
    subject = found.subject
    name = subject.args[1] if subject.op in ("param", "var", "attr") else subject.args[0]
    named = subject.op in ("param", "var", "attr", "name", "macro") and isinstance(name, str) and name
    return f"`{name}`" if named else "the device"


def _advice(found: Foregone, language: Language) -> str:
    if found.node.op == "cmp":
        return "turn the bounds round"
    both, one = ("&&", "||") if language == "cuda" else ("and", "or")
    return f"join them with `{both if found.holds else one}`"
