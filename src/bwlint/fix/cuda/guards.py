"""Spellings of a guard of the preprocessor: the missing part beside its twin, or the family's range."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from bwlint.chips import Chip
from bwlint.fix.cuda.terms import Change, Term, bracketed, offsets, separator, terms, twin_text
from bwlint.model.expr import Expr, walk
from bwlint.readers.cuda.lexer import Code, matching

_ARCH = "__CUDA_ARCH__"
_FAMILY = "__CUDA_ARCH_FAMILY_SPECIFIC__"
_SHORT_FORM = re.compile(r"\b(?P<el>el)?if(?P<n>n?)def(?=[ \t])[ \t]*\Z")
_WORD = re.compile(r"[A-Za-z_]\w*")
_LEAVES = frozenset({"cmp", "defined", "macro"})
_ORDERS = ("<", "<=", ">", ">=")
_OPPOSITE = {"==": ("&&", ">=", "<"), "!=": ("||", "<", ">=")}


@dataclass(frozen=True, slots=True)
class Widening:
    """`chip` is to pass a guard as `twin` does; `known` tells macros that the tree defines."""

    twin: Chip
    chip: Chip
    known: Callable[[str, str], bool]


def widened(code: Code, test: Expr, want: Widening) -> Iterator[list[Change]]:
    """What the text of a guard may become, the most idiomatic first."""
    found = _terms(code, test)
    simple = [term for term in found if term.node.op in _LEAVES]
    named = [term for term in found if _is_exact(term.node) and _names(code, term, want)]
    for term in simple:
        if not _beside_others(term):
            yield from _ranges(code, term, want)
    for term in reversed(named):
        yield from twins(code, term, want)
    for term in simple:
        yield from _ranges(code, term, want)


def suffixed(code: Code, test: Expr, chips: tuple[Chip, ...]) -> Iterator[list[Change]]:
    """The family targets of `chips` beside what asks for their a targets, or for those of another family."""
    asked = " || ".join(f"{_FAMILY} == {chip.joined}0" for chip in chips)
    written = f"(defined({_FAMILY}) && {f'({asked})' if len(chips) > 1 else asked})"
    for term in reversed(_terms(code, test)):
        text = code.text[term.start : term.end]
        named = any(f"{chip.joined}" in text for chip in chips) or "_FEAT_SM" in text or "SPECIFIC__ ==" in text
        if term.node.op in _LEAVES and named:
            yield from _joined(code, term, written)


def bounded(code: Code, test: Expr, end: int) -> Iterator[list[Change]]:
    """A lower bound of the architecture with the upper bound `end` beside it, or the opposite."""
    for term in _terms(code, test):
        subject, op, value = _comparison(term.node)
        if subject == _ARCH and op in _ORDERS and isinstance(value, int) and value < end:
            rest = f"&& {subject} < {end}" if op in (">=", ">") else f"|| {subject} >= {end}"
            text = f"{code.source[term.start : term.end]} {rest}"
            alone = term.parent is None or bracketed(code, term) != (term.start, term.end)
            yield [(term.start, term.end, text if alone else f"({text})")]


def raised(code: Code, test: Expr, start: int, end: int) -> Iterator[list[Change]]:
    """An upper bound of the architecture that is not above `start` moved to `end`."""
    for term in _terms(code, test):
        subject, op, value = _comparison(term.node)
        upper = op == "<" and isinstance(value, int) and value <= start
        if subject == _ARCH and upper and term.node.args[1][1].at:
            yield [(*offsets(code, term.node.args[1][1].at), str(end))]


def border(test: Expr) -> int:
    """The architecture at which a guard parts two ways; 0 where it is not one alone."""
    found = [value for node in walk(test) for subject, op, value in [_comparison(node)] if subject == _ARCH and op]
    return found[0] if len(found) == 1 and isinstance(found[0], int) else 0


def leaves(code: Code, test: Expr) -> Iterator[Term]:
    """The operands that are no conditions of others."""
    return (term for term in _terms(code, test) if term.node.op in _LEAVES)


def _terms(code: Code, test: Expr) -> tuple[Term, ...]:
    """The operands of a guard: every bracket in a directive is part of its condition."""
    if test.at is None:
        return ()
    return terms(code, test, (code.line_start(code.offset(*test.at[:2])), len(code.text)))


def _is_exact(node: Expr) -> bool:
    """Whether a term asks for one part: a macro, an equality, or such with conditions beside it."""
    if node.op in ("and", "not"):
        return any(map(_is_exact, node.args[0] if node.op == "and" else node.args))
    return node.op in ("defined", "macro", "bin") or (node.op == "cmp" and node.args[0] in _OPPOSITE)


def _names(code: Code, term: Term, want: Widening) -> bool:
    text = code.text[term.start : term.end]
    return twin_text(text, want.twin, want.chip) != text


def _comparison(node: Expr) -> tuple[str, str, object]:
    """The macro, the operator and the number of a comparison; nothing for any other node."""
    if node.op != "cmp" or len(node.args[1]) != 2:
        return "", "", None
    op, (left, right) = node.args
    if left.op == "const" and op in _OPPOSITE:
        left, right = right, left
    if left.op != "macro" or right.op != "const":
        return "", "", None
    return left.args[0], op, right.args[0]


def _beside_others(term: Term) -> bool:
    """Whether the same macro is compared with another number beside a term: a list, to which one more is added."""
    subject, op, _ = _comparison(term.node)
    if term.parent is None or not op or not (term.inside("or") or term.inside("and")):
        return False
    others = (node for node in term.parent.node.args[0] if node != term.node)
    return any(_comparison(node)[:2] == (subject, op) for node in others)


def _ranges(code: Code, term: Term, want: Widening) -> Iterator[list[Change]]:
    """`X == 1200` to `X >= 1200 && X < 1300`, `X != 1200` to its opposite; `X < 1210` and `X <= 1200` to `X < 1300`."""
    subject, op, value = _comparison(term.node)
    first, end = want.twin.major * 100, want.twin.major * 100 + 100
    if (op, value) in (("<", want.chip.joined * 10), ("<=", want.twin.joined * 10)):
        yield [(term.start, term.end, f"{subject} < {end}")]
    if op not in _OPPOSITE or value != want.twin.joined * 10:
        return
    join, low, high = _OPPOSITE[op]
    text = f"{subject} {low} {first} {join} {subject} {high} {end}"
    alone = term.parent is None or bracketed(code, term) != (term.start, term.end)
    yield [(term.start, term.end, text if alone else f"({text})")]


def twins(code: Code, term: Term, want: Widening) -> Iterator[list[Change]]:
    """The same term for the missing part, beside the one there is."""
    start, end = bracketed(code, term)
    text = code.source[start:end]
    if "//" in text or "/*" in text:
        return
    written = twin_text(text, want.twin, want.chip)
    new, old = _WORD.findall(written), _WORD.findall(text)
    if len(new) != len(old) or not all(a == b or want.known(a, b) for a, b in zip(new, old, strict=True)):
        return
    yield from _joined(code, term, written)


def _joined(code: Code, term: Term, written: str) -> Iterator[list[Change]]:
    """A term behind another one: with `||`, and with `&&` where what is named is refused."""
    short = _SHORT_FORM.search(code.text, code.line_start(term.start), term.start)
    if short is not None:
        yield [_long_form(code, term, short, written)]
        return
    start, end = bracketed(code, term)
    whole = term.node.op == "and" and (start, end) == (term.start, term.end)
    for sign, op in (("||", "or"), ("&&", "and")):
        added = f"{separator(code, term, sign, len(written), directive=True)}{written}"
        if whole:
            yield [(start, end, f"({code.source[start:end]}) {sign} ({written})")]
        elif term.parent is None or term.inside(op) or term.inside("not"):
            yield [(end, end, added)]
        elif (start, end) != (term.start, term.end):
            yield [(term.end, term.end, f" {sign} {_bare(written)}")]
        else:
            yield [(start, start, "("), (end, end, f"{added})")]


def _bare(written: str) -> str:
    """A term without the brackets around all of it."""
    return written[1:-1].strip() if written.startswith("(") and matching(written, 0) == len(written) - 1 else written


def _long_form(code: Code, term: Term, short: re.Match[str], written: str) -> Change:
    """`#ifdef A` has room for one macro."""
    word = "elif" if short["el"] else "if"
    mark, sign = ("!", "&&") if short["n"] else ("", "||")
    name = written.removeprefix("defined(").removesuffix(")")
    first = f"defined({code.source[term.start : term.end]})"
    other = f"defined({name})" if _WORD.fullmatch(name) else written
    return short.start(), term.end, f"{word} {mark}{first} {sign} {mark}{other}"
