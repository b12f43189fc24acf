"""Spellings of a guard of the preprocessor: the missing part beside its twin, or the family's range; and guards
that must be edited together, because their code belongs together.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from bwlint.chips import Chip, ChipSet, TargetSet, group, spelling
from bwlint.chips.atoms import atom
from bwlint.chips.wording import plain
from bwlint.fix.cuda.terms import Change, Term, bracketed, offsets, separator, terms, twin_text
from bwlint.judging.guards import Guarded
from bwlint.judging.legality import legal
from bwlint.model.expr import Expr, walk
from bwlint.model.facts import Gate, Operation, Side
from bwlint.model.findings import NoFix
from bwlint.model.kinds import NAMED
from bwlint.readers.cuda.lexer import Code, matching
from bwlint.world.gates import refuses

_ARCH = "__CUDA_ARCH__"
_FAMILY = "__CUDA_ARCH_FAMILY_SPECIFIC__"
_SHORT_FORM = re.compile(r"\b(?P<el>el)?if(?P<n>n?)def(?=[ \t])[ \t]*\Z")
_WORD = re.compile(r"[A-Za-z_]\w*")
_LEAVES = frozenset({"cmp", "defined", "macro"})
_ORDERS = ("<", "<=", ">", ">=")
_OPPOSITE = {"==": ("&&", ">=", "<"), "!=": ("||", "<", ">=")}
_TENSOR_CORES_OF_THEIR_OWN = group("hopper") | ChipSet.where(lambda chip: bool(chip.tmem_per_sm))
_OTHERS = rf"(?:{'|'.join(str(chip.joined) for chip in _TENSOR_CORES_OF_THEIR_OWN)})a?(?![0-9])"
_OF_OTHERS = re.compile(
    rf"\w*(?:(?i:wgmma|tcgen05|hopper)|(?!SM90_(?:TMA|BULK)_){spelling.IN_NAMES}{_OTHERS})\w*"
    rf"|\w+\s*<(?:[^<>;{{}}]*,)?\s*{_OTHERS}\s*[,>][^;{{}}()]*"
)
"""Code that is named or made for a generation whose instructions 12.x lack: `consume_sm90`, `consume<Traits, 90>`.
CuTe's copies by TMA, which 12.x have, are called after the first chip that has it."""
_INTRODUCED = re.compile(
    r"^[ \t]*#[ \t]*define[ \t]+(?P<macro>\w+)"
    r"|\b(?:struct|class|union)\s+(?P<type>\w+)[^;{}()]{0,200}\{"
    r"|(?<![\w.>])(?P<function>\w+)\s*\([^;{}()]{0,400}\)\s*\{",
    re.M,
)
_CONTROL = frozenset({"if", "for", "while", "switch", "catch", "defined"})


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


def opened_together(
    guarded: Guarded, guards: tuple[Guarded, ...], gained: TargetSet
) -> Iterator[tuple[Gate, TargetSet]]:
    """The guards in the same words in front of the same kind of code, with what they are to compile for."""
    kinds = {_kind(one) for one in guarded.operations() if one.kind in NAMED}
    for other in guards:
        same = other.guard.text == guarded.guard.text and other.guard.at != guarded.guard.at
        more = gained & other.sets.live - other.sets.may
        needs = [one for one in other.operations() if one.kind in NAMED]
        if same and more and needs and all(more <= legal(one) and _kind(one) in kinds for one in needs):
            yield other.guard, other.sets.may | more


def bounded_together(
    code: Code, guarded: Guarded, guards: tuple[Guarded, ...], lost: TargetSet
) -> tuple[tuple[Gate, TargetSet], ...] | NoFix:
    """The guards of the function at the same border, which change with one; none opens other code or an error."""
    at, name = border(guarded.guard.test), guarded.guard.qualname
    alike = [one for one in guards if border(one.guard.test) == at]
    near = [one for one in alike if one.guard.qualname == name]
    outside, end = [], 0
    for one in alike:
        start, stop = _around(code, one)
        outside.append(code.text[end : max(end, start)])
        end = max(end, stop)
    elsewhere = {*_WORD.findall("".join([*outside, code.text[end:]]))}
    mine = _words(code, guarded.guard.yes, guarded.guard.no) - elsewhere
    found: list[tuple[Gate, TargetSet]] = []
    for other in near:
        if other.guard.at == guarded.guard.at or not lost & other.sets.live:
            continue
        compiled = lost & other.sets.may
        lacking = any(compiled - legal(one) for one in other.operations() if one.kind in NAMED)
        if not (lacking or mine & _words(code, other.guard.yes, other.guard.no)):
            continue
        if compiled:
            found.append((other.guard, other.sets.may - lost))
        elif not (harm := _harm(code, other, lost)):
            found.append((other.guard, other.sets.may | (lost & other.sets.live)))
        elif mine & _words(code, other.guard.no):
            return NoFix(f"the #else at line {other.guard.at[0]} uses what is defined here, and {harm}")
    return tuple(found)


def _harm(code: Code, other: Guarded, gained: TargetSet) -> str:
    """Why chips must not be let through a guard that keeps them out: what they have there, or would get."""
    if refuses(other.guard.no):
        return f"ends in an error on {plain(gained.chips)}"
    named = of_another_generation(code, other.guard.yes)
    return f"the code above it is `{named}`, which is not for {plain(gained.chips)}" if named else ""


def of_another_generation(code: Code, side: Side) -> str:
    """What of a branch is made for 9.0 or 10.x alone, by its name or its template's arguments; "" for nothing."""
    named = _OF_OTHERS.search(code.text, *offsets(code, side.at)) if side.at is not None else None
    return named[0] if named else ""


def _kind(operation: Operation) -> str:
    """What an instruction or an atom belongs to: the trigger and the wait of a kernel that begins early are one."""
    found = atom(operation.name) if operation.kind == "atom" else None
    return found.group if found is not None else operation.name.partition(".")[0]


def _words(code: Code, *sides: Side) -> frozenset[str]:
    places = [side.at for side in sides if side.at is not None]
    return frozenset(word for at in places for word in _WORD.findall(code.text, *offsets(code, at)))


def _around(code: Code, guarded: Guarded) -> tuple[int, int]:
    """From where to where a guard and its two sides stand."""
    sides = [side.at for side in (guarded.guard.yes, guarded.guard.no) if side.at is not None]
    return offsets(code, guarded.guard.at)[0], max(offsets(code, at)[1] for at in (guarded.guard.at, *sides))


def not_introduced(code: Code, guarded: Guarded, guards: Sequence[Guarded], gained: TargetSet) -> str | None:
    """A name that the working side of a guard uses, and that the file introduces for others than `gained` alone."""
    at = guarded.working.at
    if at is None:
        return None
    others = (other for other in guards if other.guard.at != guarded.guard.at)
    regions = [region for other in others for region in _regions(code, other)]
    used = set(_WORD.findall(code.text, *offsets(code, at)))
    missing: dict[str, bool] = {}
    for name, place in _introduced(code.text):
        if name in used:
            around = [targets for start, end, targets in regions if start <= place < end]
            lacks = any(gained - targets for targets in around)
            missing[name] = missing.get(name, True) and lacks
    return next((name for name in sorted(missing) if missing[name]), None)


# one file holds many guards
@lru_cache(maxsize=2)
def _introduced(text: str) -> tuple[tuple[str, int], ...]:
    found = ((next(filter(None, match.groups())), match.start()) for match in _INTRODUCED.finditer(text))
    return tuple((name, place) for name, place in found if name not in _CONTROL)


def _regions(code: Code, guarded: Guarded) -> Iterator[tuple[int, int, TargetSet]]:
    """The two sides of a guard, with the targets that they are compiled for."""
    sets, guard = guarded.sets, guarded.guard
    for side, targets in ((guard.yes, sets.may), (guard.no, sets.live - sets.must)):
        if side.at is not None:
            yield (*offsets(code, side.at), targets)
