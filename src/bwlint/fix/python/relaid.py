"""Statements laid out anew as the formatters of the field do, if the old text comes out as it stood."""

from __future__ import annotations

import io
import itertools
import keyword
import token as kinds
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")
_LAYOUT = frozenset({kinds.NEWLINE, kinds.NL, kinds.INDENT, kinds.DEDENT, kinds.ENDMARKER})
_COMPARING = frozenset({"<", ">", "==", "!=", "<=", ">=", "in", "is", "not in", "is not"})
_NOT_KNOWN = frozenset({"for", "lambda", "if", "else", ":=", "yield", "await", "async", ";"})
"""What formatters have rules of their own for, within an expression."""
_ON_ONE_LINE = frozenset({"with", "for"})
"""Statements that are broken by rules of their own."""
_INDENT = "    "
_BREAK = None


@dataclass(frozen=True, slots=True)
class _Leaf:
    """A token, and what stands between it and the one before: `_BREAK` for a new line."""

    text: str
    gap: str | None


_COMMA = _Leaf(",", "")


@lru_cache(maxsize=4)
def statements(source: str) -> tuple[tuple[int, int], ...]:
    """The first and the last line (from 1) of each logical line."""
    found, first = [], 0
    try:
        for one in tokenize.generate_tokens(io.StringIO(source).readline):
            first = first or (one.start[0] if one.type not in _LAYOUT | {kinds.COMMENT} else 0)
            if one.type == kinds.NEWLINE:
                found.append((first, one.start[0]))
                first = 0
    except (tokenize.TokenError, SyntaxError):
        return ()
    return tuple(found)


def relaid(old: str, new: str, limit: int) -> str | None:
    """The new text of a statement that stood as `old`, in lines no longer than `limit`; None to leave it as it is."""
    before, after = _laid(old, limit), _laid(new, limit)
    fit = after is not None and all(len(line) <= limit for line in (*old.split("\n"), *after.split("\n")))
    return after if fit and before == old and after != new else None


def _laid(text: str, limit: int) -> str | None:
    indent = text[: len(text) - len(text.lstrip())]
    leaves = _leaves(text.strip())
    if leaves is None:
        return None
    lines = _Layout(limit).statement(leaves, indent)
    if len(lines) > 1 and leaves[0].text == "assert":
        end = _end_of_test(leaves)
        test, said = f"{indent}{_flat(leaves[: end + 1])} (", leaves[end + 1 :]
        if said and said[0].text != "(" and len(test) <= limit:
            return f"{test}\n{indent}{_INDENT}{_flat(said)}\n{indent})"
    return None if len(lines) > 1 and leaves[0].text in _ON_ONE_LINE else "\n".join(lines)


def _leaves(text: str) -> list[_Leaf] | None:
    """None where there is what this lays out in no other way: comments, texts of several lines, backslashes."""
    found: list[_Leaf] = []
    last = (1, 0)
    lines = text.split("\n")
    try:
        for one in tokenize.generate_tokens(io.StringIO(text).readline):
            if one.type in _LAYOUT:
                continue
            if one.type == kinds.COMMENT or one.start[0] != one.end[0] or "FSTRING" in kinds.tok_name[one.type]:
                return None
            gap = lines[last[0] - 1][last[1] : one.start[1]] if last[0] == one.start[0] else _BREAK
            last = one.end
            if found and (found[-1].text, one.string) in (("not", "in"), ("is", "not")):
                found[-1] = _Leaf(f"{found[-1].text} {one.string}", found[-1].gap)
            else:
                found.append(_Leaf(one.string, gap))
    except (tokenize.TokenError, SyntaxError):
        return None
    if "\\\n" in text or any(leaf.text in _NOT_KNOWN for leaf in found[1:]):
        return None
    return found


def _flat(leaves: Sequence[_Leaf]) -> str:
    """Leaves in one line; the comma goes that a list of one item a line has at its end."""
    text, last = "", ""
    for leaf, after in itertools.zip_longest(leaves, leaves[1:]):
        if leaf.text == "," and after is not None and after.gap is _BREAK and after.text in _CLOSING:
            continue
        tight = last in _OPENING or leaf.text in _CLOSING or leaf.text in (",", ".", ":") or not text
        gap = ("" if tight else " ") if leaf.gap is _BREAK else leaf.gap
        text, last = text + ("" if not text else gap or "") + leaf.text, leaf.text
    return text


def _depths(leaves: Sequence[_Leaf]) -> Iterator[tuple[int, _Leaf, int]]:
    depth = 0
    for at, leaf in enumerate(leaves):
        depth -= leaf.text in _CLOSING
        yield at, leaf, depth
        depth += leaf.text in _OPENING


def _is_spread(leaves: Sequence[_Leaf]) -> bool:
    """Whether a list has a comma behind its last item, so that each item keeps a line of its own."""
    pairs = itertools.pairwise(leaves)
    return any(one.text == "," and two.text in _CLOSING and two.gap is _BREAK for one, two in pairs)


def _has_comma(leaves: Sequence[_Leaf]) -> bool:
    return any(leaf.text == "," and depth == 0 for _, leaf, depth in _depths(leaves))


def _rank(leaf: _Leaf) -> int:
    """What a long line is parted by first."""
    ranks = {",": 9, "and": 7, "or": 7, **dict.fromkeys(_COMPARING, 5), "+": 3, "-": 3, "*": 2, "/": 2, "//": 2, "%": 2}
    return ranks.get(leaf.text, 0)


@dataclass(frozen=True, slots=True)
class _Layout:
    limit: int

    def statement(self, leaves: Sequence[_Leaf], indent: str) -> list[str]:
        """The condition of an `if`, what is returned, assigned or imported may stand in brackets of their own."""
        (start, end), spread, is_import = _optional(leaves), False, leaves[0].text == "from"
        head, inner, tail = leaves[:start], leaves[start:end], leaves[end:]
        if start and inner and inner[0].text == "(" and _match(inner, 0) == len(inner) - 1:
            bare, spread = inner[1:-1], is_import and inner[-2].text == ","
            if bare and (is_import or not _has_comma(bare)):
                inner = [_Leaf(bare[0].text, " "), *(bare[1:-1] if spread else bare[1:])]
        whole = [*head, *inner, *tail]
        plain = self._lines(whole, indent, inside=False)
        fits = max(map(len, plain)) <= self.limit and not self._wants_brackets(inner)
        if not spread and (self._fits(whole, indent) or fits or not (start and inner)):
            return plain
        within = indent + _INDENT
        body = self._items([*inner, _COMMA], within) if is_import else self._lines(inner, within, inside=True)
        return [f"{indent}{_flat(head)} (", *body, f"{indent}){_flat(tail)}"]

    def _fits(self, leaves: Sequence[_Leaf], indent: str) -> bool:
        return not _is_spread(leaves) and len(indent) + len(_flat(leaves)) <= self.limit

    def _wants_brackets(self, inner: Sequence[_Leaf]) -> bool:
        ranks = [_rank(leaf) for at, leaf, depth in _depths(inner) if depth == 0 and at]
        first = max(ranks, default=0)
        return bool(first) and (ranks.count(first) > 1 or inner[-1].text not in _CLOSING)

    def _lines(self, leaves: Sequence[_Leaf], indent: str, *, inside: bool) -> list[str]:
        end = "," if inside and leaves[-1].text == "," else ""
        bare = leaves[:-1] if end else leaves
        if self._fits(leaves, indent):
            return [indent + _flat(leaves)]
        parts = list(_parts(bare)) if inside else []
        if len(parts) > 1:
            lines = [line for part in parts for line in self._lines(part, indent, inside=True)]
            return [*lines[:-1], lines[-1] + end]
        for at in reversed([at for at, leaf, depth in _depths(bare) if depth == 0 and leaf.text in _OPENING]):
            close = _match(bare, at)
            head, body, tail = bare[: at + 1], bare[at + 1 : close], bare[close:]
            if body and max(len(_flat(head)), len(_flat(tail)) + len(end)) + len(indent) <= self.limit:
                spread = body[-1].text == "," or _is_display(bare, at) or not self._fits(body, indent + _INDENT)
                within = indent + _INDENT
                items = self._items(body, within) if spread else self._lines(body, within, inside=True)
                return [indent + _flat(head), *items, f"{indent}{_flat(tail)}{end}"]
        return [indent + _flat(leaves)]

    def _items(self, body: Sequence[_Leaf], indent: str) -> list[str]:
        """What stands in brackets and does not fit in one line, or is not to."""
        bare = body[:-1] if body[-1].text == "," else body
        parts = list(_parts(bare))
        if parts[0][-1].text != "," and body[-1].text != ",":
            return self._lines(bare, indent, inside=True)
        closed = [*parts[:-1], [*parts[-1], _COMMA]]
        return [line for part in closed for line in self._lines(part, indent, inside=True)]


def _is_display(leaves: Sequence[_Leaf], at: int) -> bool:
    """Whether a bracket holds a list, a tuple or the like, whose items get a line each; a call does not."""
    before = leaves[at - 1].text if at else "="
    return not (before in _CLOSING or before.isidentifier()) or keyword.iskeyword(before)


def _optional(leaves: Sequence[_Leaf]) -> tuple[int, int]:
    """Where the expression stands that may have brackets of its own; 0 first: there is none."""
    first = leaves[0].text
    if first in ("if", "elif", "while") and leaves[-1].text == ":":
        return 1, len(leaves) - 1
    if first == "return":
        return 1, len(leaves)
    if first == "assert":
        return 1, _end_of_test(leaves)
    if first == "from":
        return next(at for at, leaf in enumerate(leaves) if leaf.text == "import") + 1, len(leaves)
    equals = [at for at, leaf, depth in _depths(leaves) if depth == 0 and leaf.text == "="]
    return (equals[0] + 1, len(leaves)) if len(equals) == 1 else (0, len(leaves))


def _end_of_test(leaves: Sequence[_Leaf]) -> int:
    """Where the comma of an assert stands that a text follows; its end without one."""
    return next((at for at, leaf, depth in _depths(leaves) if leaf.text == "," and depth == 0), len(leaves))


def _match(leaves: Sequence[_Leaf], start: int) -> int:
    depth = 0
    for at in range(start, len(leaves)):
        depth += (leaves[at].text in _OPENING) - (leaves[at].text in _CLOSING)
        if not depth:
            return at
    return len(leaves) - 1


def _parts(leaves: Sequence[_Leaf]) -> Iterator[list[_Leaf]]:
    """A line parted by what binds least in it: commas stay behind, other signs go in front."""
    ranks = {at: _rank(leaf) for at, leaf, depth in _depths(leaves) if depth == 0 and at}
    first = max(ranks.values(), default=0)
    part: list[_Leaf] = []
    for at, leaf in enumerate(leaves):
        is_border = first > 0 and ranks.get(at) == first
        if is_border and leaf.text != ",":
            yield part
            part = []
        part.append(leaf if part else _Leaf(leaf.text, ""))
        if is_border and leaf.text == ",":
            yield part
            part = []
    if part:
        yield part
