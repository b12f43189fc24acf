"""Tables of rows that a loop goes through or searches (`for (const Variant& v : variants)`): walked once a row."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from bwlint.readers.cuda.given import arguments
from bwlint.readers.cuda.lexer import matching

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
    for begin, end in arguments(text, opening + 1, close):
        part = text[begin:end]
        if part.strip():
            yield begin + len(part) - len(part.lstrip()), begin + len(part.rstrip())


def _written(text: str, parts: list[Stretch], names: list[str]) -> Iterator[tuple[str, Stretch]]:
    for place, (begin, end) in enumerate(parts):
        named = _NAMED.match(text, begin, end)
        if named is not None:
            yield named["name"], (named.end(), end)
        elif place < len(names):
            yield names[place], (begin, end)
