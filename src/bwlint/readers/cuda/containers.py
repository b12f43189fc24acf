"""Maps and sets of C++: what is written down in them, and what asks whether they have a key.

`m.count(k)`, `m.contains(k)` and `m.find(k) != m.end()` are `k in m`; `m.at(k)` and `m[k]` are what a map has of a key,
the one with an error where there is none, the other with a value that says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache

from bwlint.model.expr import Expr
from bwlint.readers.cuda.expressions import Resolve, lower
from bwlint.readers.cuda.lexer import Code, matching
from bwlint.readers.cuda.scopes import Scopes
from bwlint.readers.spans import any_within

MAX_WRITTEN = 20_000
MAX_TOKENS = 4000
_DECLARED = re.compile(
    r"\b(?P<kind>(?:\w+_)?(?:map|set)|vector|array)\s*<"
    r"(?P<types>(?:[^;={}()]|\(\*\)\s*\([^;={}()]{0,300}\)){1,300})>\s*(?:const\s+)?(?P<name>[A-Za-z_]\w*)\s*=?\s*(?=\{)"
)
_BEGUN = re.compile(r">\s*(?:const\s+)?[A-Za-z_]\w*\s*=?\s*\{")
_HELPER = (
    r"(?:is_?)?(?:(?:[eE]lem(?:ent)?|[mM]ember)(?:_?[oO]f)?|(?:[oO]ne|[aA]ny)_?[oO]f|[iI]n(?:_?(?:[lL]ist|[sS]et))?)"
)
_ASKS = re.compile(rf"\b(?:at|count|contains|find|c?end|{_HELPER})\s*\(")
_KEYED = re.compile(r"map\s{0,4}<\s{0,4}(?:std::)?(?:u?int\w{0,6}|unsigned|pair)\b")
_MEMBERSHIP = re.compile(rf"contains|{_HELPER}")
_TURNED = {"==": "not in", "!=": "in"}
Followed = Callable[[Expr], Expr]
"""What a name stands for."""


def written(code: Code, text: str, start: int, end: int, resolve: Resolve) -> Iterator[tuple[str, int, Expr]]:
    """What is written down in containers in a stretch of blanked text: names, places and values."""
    if _BEGUN.search(text, start, end) is None:
        return
    for match in _DECLARED.finditer(text, start, end):
        close = matching(text, match.end(), MAX_WRITTEN)
        if close < 0:
            continue
        rows = lower(code, match.end(), close + 1, resolve, limit=MAX_TOKENS)
        value = _of_map(rows) if match["kind"].endswith("map") else rows
        if value is not None and match["kind"].endswith("set"):
            value = rows._replace(op="set")
        if rows.op == "tuple" and value is not None:
            yield match["name"], match.start("name"), value


def has_tables(text: str) -> bool:
    """Whether a text has maps with a number as the key."""
    return _KEYED.search(text) is not None


def outside(code: Code, text: str, scopes: Scopes, resolve: Resolve) -> dict[str, Expr]:
    """Those that stand in no function."""
    found = written(code, text, 0, len(text), resolve)
    return {name: value for name, at, value in found if scopes.function(at) is None}


def _of_map(rows: Expr) -> Expr | None:
    pairs = [row.args[0] for row in (rows.args[0] if rows.op == "tuple" else ()) if row.op == "tuple"]
    if not pairs or any(len(pair) != 2 for pair in pairs):
        return None
    keys, values = zip(*pairs, strict=True)
    return Expr("dict", (keys, values), rows.at)


def may_be_asked(text: str, start: int, end: int) -> bool:
    """Whether a stretch has the name of something that looks into a container."""
    return any_within(_questions(text), start, end)


@lru_cache(maxsize=4)
def _questions(text: str) -> list[int]:
    return [match.start() for match in _ASKS.finditer(text)]


def asked(node: Expr, followed: Followed) -> Expr:
    """An expression with what a container has in the place of the call or comparison that asks it."""
    if node.op == "call":
        return _called(node)
    if node.op == "cmp" and node.args[0] in _TURNED:
        sides = [followed(side) for side in node.args[1]]
        for found, other in (sides, sides[::-1]):
            sought, end = _sought(found), _owner(other, "end")
            if sought is not None and end is not None and sought[1][:2] == end[:2]:
                return Expr("cmp", (_TURNED[node.args[0]], sought), node.at)
    return node


def _sought(node: Expr) -> tuple[Expr, Expr] | None:
    """What is looked for, and where: `m.find(k)`, `std::find(v.begin(), v.end(), k)`."""
    key = _asks(node, "find")
    if key is not None:
        return key, node.args[0].args[0]
    if node.op == "call" and node.args[0].args[-1] == "find" and len(node.args[1]) == 3:
        first, _, key = node.args[1]
        owner = _owner(first, "begin")
        return (key, owner) if owner is not None else None
    return None


def _called(node: Expr) -> Expr:
    if node.args[0].op in ("name", "static") and _MEMBERSHIP.fullmatch(node.args[0].args[-1]):
        return _of_helper(node)
    for name in ("count", "contains"):
        key = _asks(node, name)
        if key is not None:
            return Expr("cmp", ("in", (key, node.args[0].args[0])), node.at)
    return node


def _of_helper(node: Expr) -> Expr:
    """`elem(sm, {80, 90})`, `is_one_of(sm, 80, 90)`: a helper of the program, called after what it asks."""
    if len(node.args[1]) < 2:
        return node
    sought, *rest = node.args[1]
    if len(rest) == 1 and sought.op == "tuple":
        sought, rest = rest[0], [sought]
    members = rest[0].args[0] if len(rest) == 1 and rest[0].op == "tuple" else rest
    if not members or any(one.op not in ("const", "tuple") for one in members):
        return node
    return Expr("cmp", ("in", (sought, Expr("tuple", (tuple(members),)))), node.at)


def looked_up(node: Expr) -> Expr | None:
    """The test that the key of a strict look-up is there; None where a node is none."""
    key = _asks(node, "at")
    return Expr("cmp", ("in", (key, node.args[0].args[0])), node.at) if key is not None else None


def _asks(node: Expr, method: str) -> Expr | None:
    """The one argument of a call of a method."""
    if node.op != "call" or node.args[0].op != "attr" or node.args[0].args[1] != method or len(node.args[1]) != 1:
        return None
    key: Expr = node.args[1][0]
    return key


def _owner(node: Expr, method: str) -> Expr | None:
    """Whose method without arguments is called."""
    if node.op != "call" or node.args[0].op != "attr" or node.args[1]:
        return None
    owner: Expr = node.args[0].args[0]
    return owner if node.args[0].args[1] in (method, f"c{method}") else None
