"""Literals that name a chip, and how to write another chip in the same way."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import libcst as cst

from bwlint.chips import Chip, chip_of_number
from bwlint.chips.spelling import member, spelled
from bwlint.fix.python.syntax import Syntax


@dataclass(frozen=True, slots=True)
class ChipLiteral:
    """`shape` is equal for literals that differ in their chip only; `write` gives it for another chip."""

    chip: Chip
    shape: str
    write: Callable[[Chip], cst.BaseExpression]


def literal(node: cst.BaseExpression) -> ChipLiteral | None:
    """What `(12, 0)`, `120`, `1200`, `"sm_120a"`, `"12.0"` or `Arch.sm_120a` name; None for all else."""
    if isinstance(node, cst.Tuple):
        return _pair(node)
    if isinstance(node, cst.Integer):
        return _number(node)
    if isinstance(node, cst.SimpleString):
        return _text(node)
    return _member(node) if isinstance(node, cst.Attribute) else None


def decimal(node: cst.BaseExpression) -> int | None:
    """The value of an integer written in plain digits."""
    return int(node.value) if isinstance(node, cst.Integer) and node.value.isdecimal() else None


def pair(chip: Chip) -> cst.Tuple:
    """`(12, 0)`."""
    return cst.Tuple([cst.Element(cst.Integer(str(chip.major))), cst.Element(cst.Integer(str(chip.minor)))])


def _chip_of(parts: Sequence[cst.BaseExpression]) -> Chip | None:
    """The chip whose major and minor two numbers are."""
    numbers = [decimal(part) for part in parts]
    if len(numbers) != 2 or numbers[0] is None or numbers[1] is None or numbers[1] > 9:
        return None
    return chip_of_number(numbers[0] * 10 + numbers[1])


def _pair(node: cst.Tuple) -> ChipLiteral | None:
    chip = _chip_of([element.value for element in node.elements])
    if chip is None:
        return None

    def write(other: Chip) -> cst.BaseExpression:
        first, second = node.elements
        major = first.with_changes(value=cst.Integer(str(other.major)))
        return node.with_changes(elements=[major, second.with_changes(value=cst.Integer(str(other.minor)))])

    return ChipLiteral(chip, "tuple", write)


def _number(node: cst.Integer) -> ChipLiteral | None:
    value = decimal(node)
    if value is None:
        return None
    for factor in (1, 10):
        chip = chip_of_number(value // factor)
        if chip is not None and value % factor == 0:
            return ChipLiteral(chip, f"joined*{factor}", _times(factor))
    return None


def _times(factor: int) -> Callable[[Chip], cst.BaseExpression]:
    return lambda other: cst.Integer(str(other.joined * factor))


def _text(node: cst.SimpleString) -> ChipLiteral | None:
    found = spelled(node.raw_value)
    chip = chip_of_number(found.number) if found is not None else None
    if found is None or chip is None:
        return None
    form = "dotted" if found.dotted else "target"

    def write(other: Chip) -> cst.BaseExpression:
        return cst.SimpleString(f"{node.prefix}{node.quote}{found.write(other.joined)}{node.quote}")

    return ChipLiteral(chip, f"{form} {node.prefix}{found.prefix}*{found.suffix}{found.form}", write)


def _member(node: cst.Attribute) -> ChipLiteral | None:
    found = member(node.attr.value)
    chip = chip_of_number(found.number) if found is not None else None
    if found is None or chip is None:
        return None

    def write(other: Chip) -> cst.BaseExpression:
        return node.with_changes(attr=cst.Name(found.write(other.joined)))

    return ChipLiteral(chip, f"member {found.prefix}*{found.suffix}", write)


def code(like: ChipLiteral, chip: Chip) -> str:
    return cst.Module([]).code_for_node(like.write(chip))


def literal_at(syntax: Syntax, node: ast.expr) -> ChipLiteral | None:
    if not isinstance(node, (ast.Constant, ast.Tuple, ast.Attribute)):
        return None
    try:
        return literal(cst.parse_expression(syntax.segment(node)))
    except (cst.ParserSyntaxError, ValueError):
        return None
