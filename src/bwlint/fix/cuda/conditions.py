"""Spellings of a test of the running program: the family's major version, or the missing part beside its twin."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from bwlint.chips import Chip
from bwlint.fix.change import WantedChange
from bwlint.fix.cuda.terms import Change, Term, bracketed, offsets, separator, terms, twin_text
from bwlint.model.expr import Expr, Span, walk
from bwlint.model.facts import Module
from bwlint.readers.cuda.lexer import Code

_PLAIN = re.compile(r"[\w.:>\-\[\]()]+")
_MINOR = re.compile(r"minor", re.IGNORECASE)
_BEFORE, _AFTER = ("(", ",", "=", ";", "{", "return"), (")", ",", ";", "?", "}")
_OPERATORS = ("==", "!=", "<=", ">=", "&=", "|=")
_NEAR = 200
_SIGNS = {"==": "||", "!=": "&&"}
_JOINING = {"==": "and", "!=": "or"}
_LOWER = {"==": ">=", "!=": "<"}
_LEAST_JOINED, _LEAST_HUNDREDFOLD = 20, 300


def widened(code: Code, module: Module, test: Expr, span: Span, twin: Chip, chip: Chip) -> Iterator[list[Change]]:
    """What a test may become so that `chip` is treated as `twin`, the most idiomatic first."""
    found = [term for root in _roots(module, test, span) for term in terms(code, root)]
    for term in found:
        yield from _minor_dropped(code, term, twin)
    comparisons = [term for term in found if _compared(term.node, twin) is not None]
    for term in comparisons:
        yield from _major(code, term, twin)
    for term in comparisons:
        if _in_a_list(code, term) or _listed_elsewhere(code, term, twin, chip):
            yield from _beside(code, term, twin, chip)
    for term in comparisons:
        yield from _divided(code, term, twin)
    for term in comparisons:
        yield from _beside(code, term, twin, chip)


def bounded(
    code: Code, module: Module, roots: Sequence[tuple[Expr, Span]], change: WantedChange
) -> Iterator[list[Change]]:
    """`sm >= 90` to `sm >= 90 && sm < 120`, `major < 9` to `major < 9 || major >= 12`, wherever that is asked."""
    found = [[term for root in _roots(module, test, span) for term in terms(code, root)] for test, span in roots]
    for term in found[0]:
        text = code.text[term.start : term.end]
        same = [one for others in found for one in others if code.text[one.start : one.end] == text]
        each = [list(kept_to(code, one, change)) for one in {one.start: one for one in same}.values()]
        yield from (list(changes) for changes in zip(*each, strict=False))


def kept_to(code: Code, term: Term, change: WantedChange) -> Iterator[Change]:
    """An open bound with its other end; where one generation is left, that alone."""
    op, value = _compares(term.node)
    first = min(change.chips, key=lambda chip: chip.joined)
    if value is None or op not in ("<", "<=", ">", ">="):
        return
    subject, end = code.source[slice(*offsets(code, term.node.args[1][0].at))], _number(first, value)
    for sign, kept in (("==", change.wanted), ("!=", ~change.wanted)):
        if {_number(chip, value) for chip in kept} == {value} and op == _LOWER[sign]:
            yield term.start, term.end, f"{subject} {sign} {value}"
    join, sign = ("&&", "<") if op in (">=", ">") else ("||", ">=")
    text = f"{subject} {sign} {end}"
    if term.inside("and" if join == "&&" else "or") or (
        term.parent is None and _stands_alone(code, *bracketed(code, term))
    ):
        yield term.end, term.end, f"{separator(code, term, join, len(text))}{text}"
    else:
        yield term.start, term.end, f"({code.source[term.start : term.end]} {join} {text})"


def _compares(node: Expr) -> tuple[str, int | None]:
    """The operator and the number of a comparison with a number of a chip."""
    if node.op != "cmp" or node.args[1][0].at is None:
        return "", None
    right = node.args[1][1]
    number = right.args[0] if right.op == "const" else None
    return node.args[0], number if type(number) is int else None


def _number(chip: Chip, like: int) -> int:
    """The number of a chip in the form of another one: 9, 90 or 900."""
    return chip.major if like < _LEAST_JOINED else chip.joined if like < _LEAST_HUNDREDFOLD else chip.joined * 10


def _roots(module: Module, test: Expr, span: Span) -> Iterator[Expr]:
    """The whole expression that a span lies in: the test, or what a variable that it reads is set to."""
    waiting, seen = [test], set[int]()
    while waiting:
        node = waiting.pop(0)
        if node.at is not None and node.at.holds(span):
            yield node
        for inner in walk(node):
            if inner.op == "var" and inner.args[0] not in seen:
                seen.add(inner.args[0])
                waiting.append(module.slots[inner.args[0]])


def _compared(node: Expr, twin: Chip) -> int | None:
    """What a comparison for (in)equality compares with, where that is the twin's number: joined, or times ten."""
    if node.op != "cmp" or node.args[0] not in _SIGNS:
        return None
    value = node.args[1][1]
    number = value.args[0] if value.op == "const" else None
    return number if number in (twin.joined, twin.joined * 10) and isinstance(number, int) else None


def _minor_dropped(code: Code, term: Term, twin: Chip) -> Iterator[list[Change]]:
    """`major == 12 && minor == 0` to `major == 12`."""
    if term.node.op not in ("and", "or"):
        return
    operands = [
        Term(node, *offsets(code, node.at), (term.start, term.end), term) for node in term.node.args[0] if node.at
    ]
    for index, minor in enumerate(operands):
        if not _is_minor(code, minor, twin, term.node.op):
            continue
        if index:
            yield [(bracketed(code, operands[index - 1])[1], bracketed(code, minor)[1], "")]
        else:
            yield [(bracketed(code, minor)[0], bracketed(code, operands[1])[0], "")]


def _is_minor(code: Code, term: Term, twin: Chip, op: str) -> bool:
    node = term.node
    if node.op != "cmp" or _JOINING.get(node.args[0]) != op:
        return False
    left, right = node.args[1]
    named = left.at is not None and _MINOR.search(code.text[slice(*offsets(code, left.at))]) is not None
    return named and right.op == "const" and right.args[0] == twin.minor


def _major(code: Code, term: Term, twin: Chip) -> Iterator[list[Change]]:
    """`major * 10 + minor == 120` to `major == 12`."""
    left, _ = term.node.args[1]
    if left.op != "bin" or left.args[0] != "+" or left.args[1].op != "bin" or left.args[1].args[0] != "*":
        return
    major = left.args[1].args[1]
    if major.at is not None:
        text = code.source[slice(*offsets(code, major.at))]
        yield [(term.start, term.end, f"{text} {term.node.args[0]} {twin.major}")]


def _in_a_list(code: Code, term: Term) -> bool:
    """Whether the same value is compared with another number beside a term."""
    if term.parent is None or term.parent.node.op not in ("or", "and"):
        return False
    others = (node for node in term.parent.node.args[0] if node != term.node and node.op == "cmp")
    mine = _subject(code, term.node)
    return any(node.args[0] == term.node.args[0] and _subject(code, node) == mine for node in others)


def _listed_elsewhere(code: Code, term: Term, twin: Chip, chip: Chip) -> bool:
    """Whether the file compares the same value with both numbers in other places."""
    text = " ".join(code.text[term.start : term.end].split())
    return twin_text(text, twin, chip) in code.text


def _subject(code: Code, node: Expr) -> str:
    left = node.args[1][0]
    return "".join(code.text[slice(*offsets(code, left.at))].split()) if left.at is not None else ""


def _beside(code: Code, term: Term, twin: Chip, chip: Chip) -> Iterator[list[Change]]:
    """`sm == 120` to `sm == 120 || sm == 121`."""
    sign = _SIGNS[term.node.args[0]]
    start, end = bracketed(code, term)
    written = twin_text(code.source[start:end], twin, chip)
    if written == code.source[start:end] or "//" in written or "/*" in written:
        return
    added = f"{separator(code, term, sign, len(written))}{written}"
    if term.inside("or" if sign == "||" else "and") or (term.parent is None and _stands_alone(code, start, end)):
        yield [(end, end, added)]
    elif (start, end) == (term.start, term.end):
        yield [(start, end, f"({code.source[start:end]} {sign} {written})")]
    else:
        yield [(term.end, term.end, f" {sign} {twin_text(code.source[term.start : term.end], twin, chip)}")]


def _stands_alone(code: Code, start: int, end: int) -> bool:
    """Whether nothing that binds an expression stands beside it."""
    before, after = code.text[max(0, start - _NEAR) : start].rstrip(), code.text[end : end + _NEAR].lstrip()
    return before.endswith(_BEFORE) and not before.endswith(_OPERATORS) and after.startswith(_AFTER)


def _divided(code: Code, term: Term, twin: Chip) -> Iterator[list[Change]]:
    """`sm == 120` to `sm / 10 == 12`."""
    left, right = term.node.args[1]
    if left.at is None or right.at is None or (left.op == "bin" and left.args[0] == "+"):
        return
    text = code.source[slice(*offsets(code, left.at))]
    subject = text if _PLAIN.fullmatch(text) else f"({text})"
    factor = right.args[0] // twin.major
    yield [(term.start, term.end, f"{subject} / {factor} {term.node.args[0]} {twin.major}")]
