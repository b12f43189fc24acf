"""Enums of the tree: their members, and the member that has a value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bwlint.evaluate.objects import ClassValue, EvaluationFrame
from bwlint.evaluate.values import EnumMember, Number, Raises, Ref, Unknown, Vec
from bwlint.model.facts import Class

if TYPE_CHECKING:
    from bwlint.evaluate.interpreter import Interpreter

_NUMBERS = ("IntEnum", "IntFlag")
_OTHERS = ("Enum", "StrEnum", "Flag")


def kind_of(run: Interpreter, owner: ClassValue) -> str:
    """The last name of the enum that a class is one of, "" for no enum."""
    bases = [run.evaluate(base, EvaluationFrame(owner.module)).lanes[0] for base in owner.body.bases]
    names = [base.name.rpartition(".")[2] for base in bases if isinstance(base, Ref)]
    if "int" in names and "Enum" in names:
        return "IntEnum"
    return next((name for name in names if name in (*_NUMBERS, *_OTHERS)), "")


def member(body: Class, kind: str, name: str, value: Any) -> Any:
    if name.startswith("_"):
        return value
    if kind not in _NUMBERS:  # one whose value is not known is itself all the same
        return EnumMember(body.qualname, name, name if isinstance(value, Unknown) else value)
    if not isinstance(value, int):
        return Unknown()
    number = Number(value)
    number.name = name
    return number


def members(run: Interpreter, owner: ClassValue) -> list[Vec] | None:
    """The members of an enum in their order; None of another class, and where one is not known."""
    kind, frame = kind_of(run, owner), EvaluationFrame(owner.module)
    rows = {
        name: run.evaluate(value, frame).lanes[0]
        for name, value in owner.body.names.items()
        if not name.startswith("_") and value.op not in ("function", "class", "opaque")
    }
    if not kind or any(isinstance(value, (Unknown, Ref)) for value in rows.values()):
        return None
    return [Vec((member(owner.body, kind, name, value),)) for name, value in rows.items()]


def find(run: Interpreter, owner: ClassValue, kind: str, value: Any) -> Any:
    """`Enum(value)` on one chip."""
    if isinstance(value, EnumMember):
        return value
    for name, expression in owner.body.names.items():
        if expression.op in ("const", "tuple") and not name.startswith("_"):
            own = run.evaluate(expression, EvaluationFrame(owner.module)).lanes[0]
            if type(own) is type(value) and own == value:
                return member(owner.body, kind, name, own)
    certain = all(one.op in ("const", "tuple") for one in owner.body.names.values())
    return Raises(f"ValueError: {value!r}") if certain and isinstance(value, (int, str, tuple)) else Unknown()
