"""Spellings of one expression as libcst rewrites them, and the edits of the text for them; literals that name a
chip, and how to write another chip in the same way.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider

from bwlint.chips import Chip, chip_of_number
from bwlint.chips.spelling import member, spelled
from bwlint.fix.change import WantedChange
from bwlint.fix.python.syntax import Syntax, between, parse
from bwlint.model.expr import Span
from bwlint.model.findings import Edit, NoFix, Region
from bwlint.sources.read import SourceText

Codemod = Callable[[cst.CSTNode, WantedChange], Iterator[cst.BaseExpression]]

_READ = (cst.Name, cst.Attribute, cst.Subscript)
Place = tuple[int, int]


def rewrites(node: cst.CSTNode, change: WantedChange) -> Iterator[cst.BaseExpression]:
    """What `node` may become so that `change` happens."""
    for codemod in _TYPE if change.kind == "type" else _FAMILY:
        yield from codemod(node, change)


def _minor_dropped(node: cst.CSTNode, change: WantedChange) -> Iterator[cst.BaseExpression]:
    """`major == 12 and minor == 0` to `major == 12`; `major != 12 or minor != 0` to `major != 12`."""
    if not isinstance(node, cst.BooleanOperation):
        return
    operator: type[cst.BaseCompOp] = cst.Equal if isinstance(node.operator, cst.And) else cst.NotEqual
    for dropped, kept in ((node.right, node.left), (node.left, node.right)):
        if _is_minor_test(dropped, operator, change):
            yield kept.with_changes(lpar=node.lpar or kept.lpar, rpar=node.rpar or kept.rpar)


def _is_minor_test(node: cst.BaseExpression, operator: type[cst.BaseCompOp], change: WantedChange) -> bool:
    if not isinstance(node, cst.Comparison) or len(node.comparisons) != 1 or not isinstance(node.left, _READ):
        return False
    target = node.comparisons[0]
    return isinstance(target.operator, operator) and _is_minor(target.comparator, change)


def _is_minor(node: cst.BaseExpression, change: WantedChange) -> bool:
    return decimal(node) in {chip.minor for chip in change.twins}


def _minor_joined(node: cst.CSTNode, change: WantedChange) -> Iterator[cst.BaseExpression]:
    """`minor == 0` to `minor in (0, 3)`, where the major alone would admit too much."""
    if not isinstance(node, cst.Comparison) or len(node.comparisons) != 1 or not isinstance(node.left, _READ):
        return
    comparator = node.comparisons[0].comparator
    if _is_minor(comparator, change):
        added = [cst.Integer(str(chip.minor)) for chip in change.chips]
        yield from _membership(node, node.left, [comparator, *added])


def _major_alone(node: cst.CSTNode, change: WantedChange) -> Iterator[cst.BaseExpression]:
    """`torch.cuda.get_device_capability() == (12, 0)` to `...[0] == 12`; what is in a name may be None."""
    if not isinstance(node, cst.Comparison) or len(node.comparisons) != 1:
        return
    target = node.comparisons[0]
    found = literal(target.comparator)
    if found is None or found.chip not in change.twins or not isinstance(target.operator, (cst.Equal, cst.NotEqual)):
        return
    if found.shape == "tuple" and isinstance(node.left, cst.Call) and _asks_torch(node.left):
        major = cst.Subscript(node.left, [cst.SubscriptElement(cst.Index(cst.Integer("0")))])
        value = cst.Integer(str(found.chip.major))
        yield node.with_changes(left=major, comparisons=[target.with_changes(comparator=value)])


def _asks_torch(node: cst.Call) -> bool:
    """Whether a call is one that answers with a tuple on every machine that has a device."""
    function = node.func
    return isinstance(function, cst.Attribute) and (
        function.attr.value == "get_device_capability"
        and isinstance(function.value, cst.Attribute)
        and function.value.attr.value == "cuda"
    )


def _equality_joined(node: cst.CSTNode, change: WantedChange) -> Iterator[cst.BaseExpression]:
    """`cap == (12, 0)` to `cap in ((12, 0), (12, 1))`, or with digits, text, enum members."""
    if not isinstance(node, cst.Comparison) or len(node.comparisons) != 1:
        return
    left, right = node.left, node.comparisons[0].comparator
    for value, subject in ((right, left), (left, right)):
        found = literal(value)
        if found is not None and found.chip in change.twins:
            written = {found.chip: value, **{chip: found.write(chip) for chip in change.beside(found.chip)}}
            yield from _membership(
                node, subject, [written[chip] for chip in sorted(written, key=lambda chip: chip.joined)]
            )


def _equality_typed(node: cst.CSTNode, change: WantedChange) -> Iterator[cst.BaseExpression]:
    """`cap == 120`, where `cap` is a tuple, to `cap in ((12, 0), (12, 1))`."""
    if not isinstance(node, cst.Comparison) or len(node.comparisons) != 1:
        return
    target = node.comparisons[0]
    found = literal(target.comparator)
    if found is None:
        return
    pairs = [pair(chip) for chip in sorted((found.chip, *change.beside(found.chip)), key=lambda chip: chip.joined)]
    if len(pairs) > 1:
        yield from _membership(node, node.left, pairs)
    else:
        yield node.with_changes(comparisons=[target.with_changes(comparator=pairs[0])])


def _membership(
    node: cst.Comparison, subject: cst.BaseExpression, values: Sequence[cst.BaseExpression]
) -> Iterator[cst.BaseExpression]:
    """`subject in (values)` in the place of a test for equality, `not in` in the place of its opposite."""
    operator = node.comparisons[0].operator
    if not isinstance(operator, (cst.Equal, cst.NotEqual)):
        return
    choice = cst.Tuple([cst.Element(value) for value in values])
    word = cst.In() if isinstance(operator, cst.Equal) else cst.NotIn()
    yield node.with_changes(left=subject, comparisons=[cst.ComparisonTarget(word, choice)])


_FAMILY: tuple[Codemod, ...] = (_minor_dropped, _major_alone, _equality_joined, _minor_joined)
_TYPE: tuple[Codemod, ...] = (_equality_typed,)


@dataclass(frozen=True, slots=True)
class _Parsed:
    """Whole lines of a file as libcst has them, and where each node stands in them."""

    text: SourceText
    module: cst.Module
    positions: dict[cst.CSTNode, CodeRange]


def edits(path: str, source: str, span: Span, change: WantedChange) -> Iterator[Edit] | NoFix:
    """Edits that rewrite one node of `span`, outer nodes first; `NoFix` says why there can be none."""
    lines = _statement(source, span)
    if lines is None:
        return NoFix("the text is not the one that was read")
    first, code = lines
    try:
        parsed = _parse(code)
    except (cst.ParserSyntaxError, RecursionError, ValueError) as error:
        return NoFix(f"libcst cannot parse the statement: {_first_line(error)}")
    if parsed.module.code != code:
        return NoFix("libcst does not give the text of the statement back as it is")
    return _edits(path, parsed, first, span, change)


def _first_line(error: Exception) -> str:
    message = error.message if isinstance(error, cst.ParserSyntaxError) else str(error)
    return message.partition("\n")[0] or type(error).__name__


def _statement(source: str, span: Span) -> tuple[int, str] | None:
    """The lines of the module's statement in which `span` lies: the number of the first, and their text."""
    syntax = parse(source)
    if syntax is None:
        return None
    first, last = span[0], span[2]
    # backwards, since statements may share a line
    for node in reversed(syntax.tree.body):
        start = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", []))])
        end = node.end_lineno or start
        if start <= last and first <= end:
            first, last = min(first, start), max(last, end)
    text = SourceText(source)
    if last > len(text.lines):
        return None
    stop = text.offset(last + 1, 1) if last < len(text.lines) else len(source)
    return first, source[text.offset(first, 1) : stop]


# One statement may hold several findings, and libcst is the slowest part of a fix.
@lru_cache(maxsize=4)
def _parse(code: str) -> _Parsed:
    module = cst.parse_module(code)
    positions = MetadataWrapper(module, unsafe_skip_copy=True).resolve(PositionProvider)
    return _Parsed(SourceText(code), module, dict(positions))


def _edits(path: str, parsed: _Parsed, first: int, span: Span, change: WantedChange) -> Iterator[Edit]:
    start = _place(parsed.text, span[0] - first + 1, span[1])
    end = _place(parsed.text, span[2] - first + 1, span[3])
    for node in _within(parsed, start, end):
        for replacement in rewrites(node, change):
            found = _edit(parsed, node, replacement)
            if found is not None:
                region, new = found
                lines = (region.line + first - 1, region.end_line + first - 1)
                yield Edit(path, Region(lines[0], region.column, lines[1], region.end_column), new)


def _place(text: SourceText, line: int, byte: int) -> Place:
    """A place as `ast` gives it, in code points as libcst counts them."""
    return line, len(text.line(line).encode("utf-8", "surrogatepass")[:byte].decode("utf-8", "ignore"))


def _within(parsed: _Parsed, start: Place, end: Place) -> list[cst.CSTNode]:
    found = [
        ((range_.start.line, range_.start.column), (-range_.end.line, -range_.end.column), node)
        for node, range_ in parsed.positions.items()
        if isinstance(node, cst.BaseExpression)
        and start <= (range_.start.line, range_.start.column)
        and (range_.end.line, range_.end.column) <= end
    ]
    return [node for _, _, node in sorted(found, key=lambda item: item[:2])]


def _edit(parsed: _Parsed, node: cst.CSTNode, replacement: cst.BaseExpression) -> tuple[Region, str] | None:
    """Where to put which text so that `replacement` stands for `node`, and no comment and nothing around it changes."""
    if _comments(node) != _comments(replacement):
        return None
    old = parsed.text.source
    start, end = _offsets(parsed, node)
    changed = parsed.module.deep_replace(node, replacement)
    new = changed.code if isinstance(changed, cst.Module) else ""
    if not (new.startswith(old[:start]) and new.endswith(old[end:]) and len(new) >= start + len(old) - end):
        return None
    written = new[start : len(new) - len(old) + end]
    if _runs_on(old[:start], written) or _runs_on(written, old[end:]):
        return None
    return between(parsed.text, "", start, end, written).region, written


def _runs_on(before: str, after: str) -> bool:
    """Whether two texts meet within a word, as in `12and`."""
    return re.search(r"\w\Z", before[-1:]) is not None and re.match(r"\w", after) is not None


def _offsets(parsed: _Parsed, node: Any) -> tuple[int, int]:
    """Where a node stands in the text, with its own parentheses."""
    first = parsed.positions[node.lpar[0] if node.lpar else node].start
    last = parsed.positions[node.rpar[-1] if node.rpar else node].end
    return _offset(parsed.text, first.line, first.column), _offset(parsed.text, last.line, last.column)


def _offset(text: SourceText, line: int, column: int) -> int:
    return text.offset(line, text.column_of_character(line, column))


def _comments(node: cst.CSTNode) -> list[str]:
    found = [node.value] if isinstance(node, cst.Comment) else []
    for child in node.children:
        found += _comments(child)
    return found


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
