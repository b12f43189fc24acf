"""The spellings of a capability test that can be rewritten, each as a codemod of one node.

A codemod takes a node and what is to change and gives replacements for the node, the most idiomatic first. It
need not be right: what it gives is tried on every chip before anybody sees it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import libcst as cst

from bwlint.chips import Chip
from bwlint.fix.change import WantedChange
from bwlint.fix.python.literals import decimal, literal, pair

Codemod = Callable[[cst.CSTNode, WantedChange], Iterator[cst.BaseExpression]]

_OPPOSITE: dict[type[cst.BaseCompOp], Callable[..., cst.BaseCompOp]] = {
    cst.Equal: cst.NotEqual,
    cst.NotEqual: cst.Equal,
    cst.In: cst.NotIn,
    cst.NotIn: cst.In,
}
_READ = (cst.Name, cst.Attribute, cst.Subscript)


def rewrites(node: cst.CSTNode, change: WantedChange) -> Iterator[cst.BaseExpression]:
    """What `node` may become so that `change` happens."""
    for codemod in _TYPE if change.kind == "type" else _FAMILY:
        yield from codemod(node, change)


def _negated(node: cst.CSTNode, change: WantedChange) -> Iterator[cst.BaseExpression]:
    """`not cap == (12, 0)` to `cap not in ((12, 0), (12, 1))`, `not (major == 12 and minor == 0)` to `major != 12`."""
    if not isinstance(node, cst.UnaryOperation) or not isinstance(node.operator, cst.Not):
        return
    for positive in rewrites(node.expression, change):
        if not isinstance(positive, cst.Comparison) or len(positive.comparisons) != 1:
            continue
        target = positive.comparisons[0]
        opposite = _OPPOSITE.get(type(target.operator))
        if opposite is not None:
            old: Any = target.operator
            operator = opposite(whitespace_before=old.whitespace_before, whitespace_after=old.whitespace_after)
            comparisons = [target.with_changes(operator=operator)]
            yield positive.with_changes(lpar=node.lpar, rpar=node.rpar, comparisons=comparisons)


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
    """`torch.cuda.get_device_capability() == (12, 0)` to `...[0] == 12`, `major * 10 + minor == 120` to `major == 12`.

    Names are left to a list of members: what is in them may be None, which equals nothing and has no first item.
    """
    if not isinstance(node, cst.Comparison) or len(node.comparisons) != 1:
        return
    target = node.comparisons[0]
    found = literal(target.comparator)
    if found is None or found.chip not in change.twins or not isinstance(target.operator, (cst.Equal, cst.NotEqual)):
        return
    major = _major_of(node.left, found.shape)
    if major is not None:
        value = cst.Integer(str(found.chip.major))
        yield node.with_changes(left=major, comparisons=[target.with_changes(comparator=value)])


def _major_of(node: cst.BaseExpression, shape: str) -> cst.BaseExpression | None:
    """The major version in what is compared with a literal of some shape."""
    if shape == "tuple" and isinstance(node, cst.Call):
        return cst.Subscript(node, [cst.SubscriptElement(cst.Index(cst.Integer("0")))]) if _asks_torch(node) else None
    if not shape.startswith("joined") or not isinstance(node, cst.BinaryOperation) or node.lpar:
        return None
    product = node.left
    joins = isinstance(node.operator, cst.Add) and isinstance(product, cst.BinaryOperation)
    if not joins or not isinstance(product, cst.BinaryOperation) or not isinstance(product.operator, cst.Multiply):
        return None
    return product.left if isinstance(product.left, _READ) and not product.lpar else None


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
            yield from _membership(node, subject, [written[chip] for chip in sorted(written, key=_place)])


def _equality_typed(node: cst.CSTNode, change: WantedChange) -> Iterator[cst.BaseExpression]:
    """`cap == 120`, where `cap` is a tuple, to `cap in ((12, 0), (12, 1))`."""
    if not isinstance(node, cst.Comparison) or len(node.comparisons) != 1:
        return
    target = node.comparisons[0]
    found = literal(target.comparator)
    if found is None:
        return
    pairs = [pair(chip) for chip in sorted((found.chip, *change.beside(found.chip)), key=_place)]
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


def _place(chip: Chip) -> int:
    return chip.joined


_FAMILY: tuple[Codemod, ...] = (_negated, _minor_dropped, _major_alone, _equality_joined, _minor_joined)
_TYPE: tuple[Codemod, ...] = (_equality_typed,)
