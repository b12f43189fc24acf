"""The syntax tree of a file whose functions are `Unparsed`: their bodies are parsed when somebody asks for them."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

from bwlint.sources.errors import ReadError

Parse = Callable[[str], ast.Module]
"""Raises `ReadError` where a text is not Python."""
_DEFINED = re.compile(rb"def[ \t]+\w+[ \t]*\(")
_MARK = re.compile(rb"[()\[\]{}]|#[^\n]*|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'")
_OPENS = frozenset((b"(", b"[", b"{"))
_CLOSES = frozenset((b")", b"]", b"}"))
_REST_OF_HEAD = re.compile(rb"[^:#\n]*:[ \t]*(?:#[^\n]*)?\n")
_AROUND = "async def _():\n"
"""What the lines of a body stand in while they are parsed: it holds whatever any function may."""
_LEAST = 80
"""Bytes of a body that is worth a second look."""


class _Body(NamedTuple):
    """The lines of a body as bytes of a file, to the end of its code, and whether it holds a wanted word."""

    start: int
    end: int
    is_wanted: bool


class Unparsed:
    """What both kinds of functions have whose bodies are not parsed."""

    _text: str
    is_wanted: bool
    _above: int
    _parse: Parse
    _statements: list[ast.stmt] | None

    @property
    def body(self) -> list[ast.stmt]:
        """The statements, parsed now; none where the text is not Python."""
        if self._statements is None:
            try:
                around = self._parse("\n" * (self._above - 1) + _AROUND + self._text).body[0]
                self._statements = around.body if isinstance(around, ast.AsyncFunctionDef) else []
            except (ReadError, RecursionError):
                self._statements = []
        return self._statements


_PASSED_BY = tuple(name for name in ast.FunctionDef._fields if name != "body")


class UnparsedFunction(ast.FunctionDef, Unparsed):
    _fields = _PASSED_BY


class UnparsedAsync(ast.AsyncFunctionDef, Unparsed):
    _fields = _PASSED_BY


def parsed(node: ast.stmt) -> Sequence[ast.stmt]:
    """The statements of a definition that is looked into with its file."""
    body: Sequence[ast.stmt] = getattr(node, "body", ()) if not isinstance(node, Unparsed) or node.is_wanted else ()
    return body


def let_go(node: ast.stmt) -> None:
    """Forget the statements of a body, which take thirty times what its text does."""
    if isinstance(node, Unparsed):
        node._statements = None


def skim(source: str, wanted: re.Pattern[bytes], parse: Parse) -> ast.Module:
    """The syntax tree of a file; `wanted` tells the bodies that are looked into with it. Raises what `parse` does."""
    data = source.encode("utf-8", "surrogatepass")
    bodies = list(_bodies(data, wanted)) if b"\r" not in data and b"\f" not in data else []
    if not bodies:
        return parse(source)
    try:
        tree = parse(_without(bodies, data))
    except ReadError:
        return parse(source)
    left = {line: (body, above) for body, above, line in _lines(bodies, data)}
    _put_off(tree.body, left, data, parse)
    return parse(source) if left else tree


def _bodies(data: bytes, wanted: re.Pattern[bytes]) -> Iterator[_Body]:
    """The bodies of functions, as far as they can be told without parsing."""
    position = 0
    for match in _DEFINED.finditer(data):
        line = data.rfind(b"\n", 0, match.start()) + 1
        before = data[line : match.start()]
        if line < position or before.strip() not in (b"", b"async"):
            continue
        start = _after_head(data, match.end())
        if start is None:
            continue
        dedent = _dedent(len(before) - len(before.lstrip())).search(data, start - 1)
        position = dedent.start() if dedent else len(data)
        end = _end_of_code(data, start, position)
        if end - start >= _LEAST and _stands_alone(data, start, end):
            yield _Body(start, end, wanted.search(data, start, end) is not None)


def _after_head(data: bytes, position: int) -> int | None:
    """Where the lines of a body begin, behind the open bracket of its parameters; None where it has none of its own."""
    depth = 1
    for mark in _MARK.finditer(data, position):
        depth += (mark[0] in _OPENS) - (mark[0] in _CLOSES)
        if not depth:
            rest = _REST_OF_HEAD.match(data, mark.end())
            return rest.end() if rest else None
    return None


@cache
def _dedent(column: int) -> re.Pattern[bytes]:
    """The end of a line before one of code that begins at a column or left of it."""
    return re.compile(rb"\n(?=[ \t]{0,%d}[^ \t\n#])" % column)


def _end_of_code(data: bytes, start: int, stop: int) -> int:
    """Where the last line of code of a stretch ends."""
    while stop > start:
        begin = max(data.rfind(b"\n", start, stop) + 1, start)
        line = data[begin:stop].strip()
        if line and not line.startswith(b"#"):
            return begin + len(data[begin:stop].rstrip())
        stop = begin - 1
    return start


def _stands_alone(data: bytes, start: int, end: int) -> bool:
    """Whether a body ends where its last line does, and no text that it opens goes on behind it."""
    last = data[data.rfind(b"\n", start, end) + 1 : end]
    ends = b"#" not in last and not last.endswith((b";", b"\\"))
    return ends and not (data.count(b'"""', start, end) % 2 or data.count(b"'''", start, end) % 2)


def _without(bodies: Iterable[_Body], data: bytes) -> str:
    """The text with a name in place of the last line of each body, as long as that line, and nothing before it."""
    parts: list[bytes] = []
    position = 0
    for start, end, _ in bodies:
        last = data.rfind(b"\n", start, end) + 1 or start
        code = data[last:end]
        name = b"_" * len(code.lstrip())
        lines = b"\n" * data.count(b"\n", start, last)
        parts += (data[position:start], lines, code[: len(code) - len(name)], name)
        position = end
    parts.append(data[position:])
    return b"".join(parts).decode("utf-8", "surrogatepass")


def _lines(bodies: Iterable[_Body], data: bytes) -> Iterator[tuple[_Body, int, int]]:
    """Each body with the number of lines above it and the 1-based number of its last line."""
    above = position = 0
    for body in bodies:
        above += data.count(b"\n", position, body.start)
        inside = data.count(b"\n", body.start, body.end)
        yield body, above, above + inside + 1
        above, position = above + inside, body.end


_SIMPLE = (ast.Expr, ast.Assign, ast.AnnAssign, ast.Import, ast.ImportFrom, ast.Return)


def _put_off(block: list[ast.stmt], left: dict[int, tuple[_Body, int]], data: bytes, parse: Parse) -> None:
    """Put an `Unparsed` for each function whose body is left out, and take it from what is `left`."""
    for index, node in enumerate(block):
        if isinstance(node, _SIMPLE):
            continue
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            only = node.body[0]
            named = isinstance(only, ast.Expr) and isinstance(only.value, ast.Name) and not only.value.id.strip("_")
            if named and len(node.body) == 1 and only.lineno in left:
                block[index] = _unparsed(node, *left.pop(only.lineno), data, parse)
                continue
        for name in ("body", "orelse", "finalbody"):
            _put_off(getattr(node, name, None) or [], left, data, parse)
        for part in getattr(node, "handlers", None) or getattr(node, "cases", None) or ():
            _put_off(part.body, left, data, parse)


def _unparsed(
    node: ast.FunctionDef | ast.AsyncFunctionDef, body: _Body, above: int, data: bytes, parse: Parse
) -> ast.stmt:
    kind: type[UnparsedFunction | UnparsedAsync]
    kind = UnparsedFunction if isinstance(node, ast.FunctionDef) else UnparsedAsync
    made = kind.__new__(kind)
    vars(made).update(vars(node))
    del vars(made)["body"]
    made.is_wanted, made._above, made._parse, made._statements = body.is_wanted, above, parse, None
    made._text = data[body.start : body.end].decode("utf-8", "surrogatepass")
    return made
