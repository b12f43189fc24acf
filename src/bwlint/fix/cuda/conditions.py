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

_LABEL = re.compile(r"case\s+\Z")
_BRACE_OR_LABEL = re.compile(r"[{}]|(?<!\w)case(?!\w)")
_NUMBER = re.compile(r"\s*\(?\d+[uUlL]*\)?\s*:")
_END_OF_LABEL = re.compile(r"\s*:")
_PLAIN = re.compile(r"[\w.:>\-\[\]()]+")
_MINOR = re.compile(r"minor", re.IGNORECASE)
_BEFORE, _AFTER = ("(", ",", "=", ";", "{", "return"), (")", ",", ";", "?", "}")
_OPERATORS = ("==", "!=", "<=", ">=", "&=", "|=")
_NEAR = 200
_SIGNS = {"==": "||", "!=": "&&"}
_OPPOSITE = {"==": "!=", "!=": "=="}
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
    yield from _labelled(code, span, twin, chip)
    for term in found:
        yield from _minor_joined(code, term, twin, chip)


def bounded(
    code: Code, module: Module, roots: Sequence[tuple[Expr, Span]], change: WantedChange
) -> Iterator[list[Change]]:
    """`sm >= 90` to `sm >= 90 && sm < 120`, `major < 9` to `major < 9 || major >= 12`, at all tests that ask the same;
    `sm == 86 || sm == 89` to the same with `|| sm == 120 || sm == 121`.
    """
    found = [[term for root in _roots(module, test, span) for term in terms(code, root)] for test, span in roots]
    for term in found[0]:
        text = code.text[term.start : term.end]
        same = [one for others in found for one in others if code.text[one.start : one.end] == text]
        each = [list(kept_to(code, one, change)) for one in {one.start: one for one in same}.values()]
        yield from (list(changes) for changes in zip(*each, strict=False))
    for term in found[0]:
        if term.node.op == "or" and term.node.args[0]:
            yield from _listed_too(code, term, change)


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


def _listed_too(code: Code, term: Term, change: WantedChange) -> Iterator[list[Change]]:
    """One more comparison for each chip behind a list of such."""
    last = [Term(node, *offsets(code, node.at), (term.start, term.end), term) for node in term.node.args[0] if node.at]
    node = last[-1].node
    op, value = _compares(node)
    if op != "==" or value is None or len({_subject(code, one.node) for one in last if one.node.op == "cmp"}) != 1:
        return
    subject = code.source[slice(*offsets(code, node.args[1][0].at))]
    numbers = dict.fromkeys(_number(chip, value) for chip in sorted(change.chips, key=lambda chip: chip.joined))
    end = bracketed(code, last[-1])[1]
    yield [(end, end, "".join(f"{separator(code, last[-1], '||', 20)}{subject} == {each}" for each in numbers))]


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
    """`major == 12 && minor == 0` to `major == 12`; `!(major == 12 && minor == 0)` to `major != 12`."""
    if term.node.op not in ("and", "or"):
        return
    operands = [
        Term(node, *offsets(code, node.at), (term.start, term.end), term) for node in term.node.args[0] if node.at
    ]
    for index, minor in enumerate(operands):
        if not _is_minor(code, minor, twin, term.node.op):
            continue
        kept = [one for one in operands if one is not minor]
        if len(kept) == 1 and term.parent is not None:
            yield [_alone(code, term, kept[0])]
        if index:
            yield [(bracketed(code, operands[index - 1])[1], bracketed(code, minor)[1], "")]
        else:
            yield [(bracketed(code, minor)[0], bracketed(code, operands[1])[0], "")]


def _minor_joined(code: Code, term: Term, twin: Chip, chip: Chip) -> Iterator[list[Change]]:
    """`minor == 0` to `(minor == 0 || minor == 3)`, where the major alone would admit too much."""
    if term.parent is None or term.parent.node.op not in ("and", "or"):
        return
    if _is_minor(code, term, twin, term.parent.node.op):
        text, sign = code.source[term.start : term.end], _SIGNS[term.node.args[0]]
        other = re.sub(rf"(?<!\w){twin.minor}(?!\w)(?!.*\d)", str(chip.minor), text, flags=re.DOTALL)
        if other != text:
            yield [(term.start, term.end, f"({text} {sign} {other})")]


def _is_minor(code: Code, term: Term, twin: Chip, op: str) -> bool:
    node = term.node
    if node.op != "cmp" or _JOINING.get(node.args[0]) != op:
        return False
    left, right = node.args[1]
    named = left.at is not None and _MINOR.search(code.text[slice(*offsets(code, left.at))]) is not None
    return named and right.op == "const" and right.args[0] == twin.minor


def _alone(code: Code, term: Term, kept: Term) -> Change:
    """The one operand that is left, without the brackets that held two; a negation goes into the operator."""
    text = code.source[kept.start : kept.end]
    parent = term.parent
    if parent is not None and parent.node.op == "not" and kept.node.op == "cmp" and kept.node.args[0] in _OPPOSITE:
        sign = kept.node.args[0]
        return parent.start, bracketed(code, term)[1], text.replace(sign, _OPPOSITE[sign], 1)
    return *bracketed(code, term), text


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


def _numbered(code: Code, label: int) -> bool:
    """Whether all labels of the `switch` of a label are numbers: a name, or a range, may be what is to be added."""
    opening, depth = label, 0
    while opening > 0 and depth < 1:
        opening -= 1
        depth += (code.text[opening] == "{") - (code.text[opening] == "}")
    depth = 0
    for match in _BRACE_OR_LABEL.finditer(code.text, opening):
        depth += (match[0] == "{") - (match[0] == "}")
        if depth == 0:
            break
        if depth == 1 and match[0] == "case" and not _NUMBER.match(code.text, match.end()):
            return False
    return True


def _labelled(code: Code, span: Span, twin: Chip, chip: Chip) -> Iterator[list[Change]]:
    """`case 120:` to `case 120:` and `case 121:` below it."""
    start, end = offsets(code, span)
    for match in re.finditer(rf"(?<!\w){twin.joined}(0?)(?!\w)", code.text[start:end]):
        first, last = start + match.start(), start + match.end()
        label = _LABEL.search(code.text, code.line_start(first), first)
        close = _END_OF_LABEL.match(code.text, last)
        if label is None or close is None or not _numbered(code, label.start()):
            continue
        begin = code.line_start(first)
        indent = code.text[begin : label.start()]
        gap = f"\n{indent}" if not indent.strip() else " "
        if "\r\n" in code.source:
            gap = gap.replace("\n", "\r\n")
        word = twin_text(code.source[label.start() : close.end()], twin, chip)
        yield [(close.end(), close.end(), f"{gap}{word}")]
