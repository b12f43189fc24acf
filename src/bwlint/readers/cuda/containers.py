"""Maps, sets and tables of C++: what is written down in them, what asks whether they have a key, and their rows.

`m.count(k)`, `m.contains(k)` and `m.find(k) != m.end()` are `k in m`; `m.at(k)` and `m[k]` are what a map has of a key,
the one with an error where there is none, the other with a value that says nothing. A table of rows that a loop goes
through or searches (`for (const Variant& v : variants)`) is walked once a row.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from bwlint.model.expr import Expr
from bwlint.readers.cuda.expressions import Resolve, lower
from bwlint.readers.cuda.lexer import Code, between_commas, matching, stripped
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


MAX_ROWS = 32
MAX_TABLE = 8000
MAX_STRUCT = 2000
MAX_HEADER = 400
"""Characters of what a loop says between its brackets."""
_OVER = re.compile(r"[^:;]*?(?:(?P<name>\w+)|\[(?P<names>[\w\s,]+)\])\s*:(?!:)\s*(?P<table>[A-Za-z_]\w*)\s*\Z")
_COUNTED = re.compile(r"[^;=]*?(?P<name>\w+)\s*=\s*0\s*;")
_INDEXED = re.compile(r"\b(?P<table>[A-Za-z_]\w*)\s*\[\s*(?P<name>\w+)\s*\]")
_WRITTEN = re.compile(r"\s*(?:\[[^\[\]]{0,40}\]\s*)?=?\s*\{")
_TYPE = re.compile(r"(?:(?P<type>\w+)\s*(?:,\s*\w+\s*)?>?|\})[\s&]*(?:const\s+)?\Z")
_POINTER = re.compile(r"\(\s*\*\s*(?P<name>\w+)\s*\)\s*\(")
_LAST = re.compile(r"(?P<name>\w+)\s*(?:=.*|\{.*)?\Z", re.DOTALL)
_NAMED = re.compile(r"\s*\.(?P<name>\w+)\s*=(?!=)\s*")
Stretch = tuple[int, int]


@dataclass(frozen=True, slots=True)
class NamedRow:
    """What one row has for each field; `name` is what the loop calls the row, "" where it has its fields by name."""

    at: Stretch
    name: str
    table: str
    fields: Mapping[str, Stretch]


def gone_through(text: str, header: Stretch, body: Stretch) -> tuple[NamedRow, ...]:
    """The rows of the table that a loop goes through; none where they are not known."""
    if header[1] - header[0] > MAX_HEADER:
        return ()
    over = _OVER.match(text, *header)
    counted = _COUNTED.match(text, *header) if over is None else None
    if counted is not None:
        found = (one for one in _INDEXED.finditer(text, *body) if one["name"] == counted["name"])
        table = next((one["table"] for one in found), "")
    else:
        asked = over or _INDEXED.search(text, *header)  # `while (table[index].key != -1)`
        table = asked["table"] if asked is not None else ""
    at = _declared(text, table, header[0]) if table else -1
    if at < 0:
        return ()
    own = over["names"] if over is not None else None
    names = [name.strip() for name in own.split(",")] if own else _fields(text, at)
    called = (over["name"] or "") if over is not None else ""
    rows = tuple(NamedRow(row, called, table, fields) for row, fields in _rows(text, at + len(table), names))
    return rows if len(rows) <= MAX_ROWS else ()


def _declared(text: str, table: str, before: int) -> int:
    """Where the name stands of a table that is written down; -1 for none."""
    at = text.rfind(table, 0, before)
    while at >= 0:
        alone = not (text[at - 1 : at].isalnum() or text[at - 1 : at] == "_")
        if alone and _WRITTEN.match(text, at + len(table)):
            return at
        at = text.rfind(table, 0, at)
    return -1


def _fields(text: str, table: int) -> list[str]:
    """The names of what a row of a table is made of, in order."""
    kind = _TYPE.search(text, max(0, table - 200), table)
    if kind is None:
        return []
    if kind["type"] is None:
        stop = kind.start()
        start = next((at for at in _braces(text, stop) if matching(text, at, MAX_STRUCT) == stop), -1)
    else:
        struct = re.search(rf"struct\s+{kind['type']}\s*(?:final\s*)?\{{", text)
        start = struct.end() - 1 if struct is not None else -1
        stop = matching(text, start, MAX_STRUCT) if struct is not None else -1
    return list(_members(text[start + 1 : stop])) if 0 <= start < stop else []


def _braces(text: str, stop: int) -> Iterator[int]:
    return (at for at in range(stop - 1, max(0, stop - MAX_STRUCT), -1) if text[at] == "{")


def _members(body: str) -> Iterator[str]:
    for declared in body.split(";"):
        pointer = _POINTER.search(declared)
        is_method = pointer is None and "(" in declared.partition("<")[0]
        several = pointer is None and "<" not in declared
        for part in () if is_method else declared.split(",") if several else (declared,):
            found = pointer or _LAST.search(part.strip())
            if found is not None:
                yield found["name"]


def _rows(text: str, start: int, names: list[str]) -> Iterator[tuple[Stretch, dict[str, Stretch]]]:
    opening = text.index("{", start)
    close = matching(text, opening, MAX_TABLE)
    parts = list(_parts(text, opening, close)) if close >= 0 else []
    if len(parts) == 1 and text.startswith("{", parts[0][0]):
        inner = list(_parts(text, parts[0][0], parts[0][1] - 1))  # std::array<T, n> = {{ ... }}
        parts = inner if inner and text.startswith("{", inner[0][0]) else parts
    for begin, end in parts:
        if text.startswith("{", begin):
            yield (begin, end), dict(_written(text, list(_parts(text, begin, end - 1)), names))


def _parts(text: str, opening: int, close: int) -> Iterator[Stretch]:
    """What stands between two braces, without white space around it."""
    for begin, end in between_commas(text, opening + 1, close):
        if text[begin:end].strip():
            yield stripped(text, begin, end)


def _written(text: str, parts: list[Stretch], names: list[str]) -> Iterator[tuple[str, Stretch]]:
    for place, (begin, end) in enumerate(parts):
        named = _NAMED.match(text, begin, end)
        if named is not None:
            yield named["name"], (named.end(), end)
        elif place < len(names):
            yield names[place], (begin, end)
