"""The syntax tree of a file in which functions without a wanted word have their bodies parsed when somebody asks.

Five sixths of the nodes of the files that matter lie in functions without a word that any reader looks for. Such a
function is an `Unparsed`: walks over all nodes pass its body by, and who asks for `body` has it parsed at its place.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_left
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
    """The lines of a body as places in the bytes of a file, from the first line to the end of its code."""

    start: int
    end: int


class Unparsed:
    """What both kinds of functions have whose bodies are not parsed."""

    text: str
    _above: int
    _parse: Parse
    _statements: list[ast.stmt] | None

    @property
    def body(self) -> list[ast.stmt]:
        """The statements, parsed now; none where the text is not Python."""
        if self._statements is None:
            try:
                around = self._parse("\n" * (self._above - 1) + _AROUND + self.text).body[0]
                self._statements = around.body if isinstance(around, ast.AsyncFunctionDef) else []
            except (ReadError, RecursionError):
                self._statements = []
        return self._statements

    def let_go(self) -> None:
        """Forget the statements, which take thirty times what their text does."""
        self._statements = None


_PASSED_BY = tuple(name for name in ast.FunctionDef._fields if name != "body")


class UnparsedFunction(ast.FunctionDef, Unparsed):
    _fields = _PASSED_BY


class UnparsedAsync(ast.AsyncFunctionDef, Unparsed):
    _fields = _PASSED_BY


FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, UnparsedFunction, UnparsedAsync)
"""The types of nodes that are functions, for tables by type."""


def parsed(node: ast.stmt) -> Sequence[ast.stmt]:
    """The statements of a definition, as far as they are parsed."""
    body: Sequence[ast.stmt] = () if isinstance(node, Unparsed) else getattr(node, "body", ())
    return body


def skim(source: str, wanted: Sequence[int], parse: Parse) -> ast.Module:
    """The syntax tree of a file. `wanted` are places in its bytes, in order: bodies with one are parsed. Raises what
    `parse` does.
    """
    data = source.encode("utf-8", "surrogatepass")
    bodies = list(_bodies(data, wanted)) if b"\r" not in data and b"\f" not in data else []
    if not bodies:
        return parse(source)
    try:
        tree = parse(_without(bodies, data))
    except ReadError:
        return parse(source)
    left = {line: (above, data[body.start : body.end]) for body, above, line in _lines(bodies, data)}
    _put_off(tree.body, left, parse)
    return parse(source) if left else tree


def _bodies(data: bytes, wanted: Sequence[int]) -> Iterator[_Body]:
    """The bodies of functions without a wanted place, as far as they can be told without parsing."""
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
        first = bisect_left(wanted, start)
        if first < len(wanted) and wanted[first] < position:
            continue
        end = _end_of_code(data, start, position)
        if end - start >= _LEAST and _stands_alone(data, start, end):
            yield _Body(start, end)


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
    for start, end in bodies:
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


def _put_off(block: list[ast.stmt], left: dict[int, tuple[int, bytes]], parse: Parse) -> None:
    """Put an `Unparsed` for each function whose body is left out, and take it from what is `left`."""
    for index, node in enumerate(block):
        if isinstance(node, _SIMPLE):
            continue
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            only = node.body[0]
            named = isinstance(only, ast.Expr) and isinstance(only.value, ast.Name) and not only.value.id.strip("_")
            if named and len(node.body) == 1 and only.lineno in left:
                block[index] = _unparsed(node, *left.pop(only.lineno), parse)
                continue
        for name in ("body", "orelse", "finalbody"):
            _put_off(getattr(node, name, None) or [], left, parse)
        for part in getattr(node, "handlers", None) or getattr(node, "cases", None) or ():
            _put_off(part.body, left, parse)


def _unparsed(node: ast.FunctionDef | ast.AsyncFunctionDef, above: int, text: bytes, parse: Parse) -> ast.stmt:
    kind: type[UnparsedFunction | UnparsedAsync]
    kind = UnparsedFunction if isinstance(node, ast.FunctionDef) else UnparsedAsync
    made = kind.__new__(kind)
    vars(made).update(vars(node))
    del vars(made)["body"]
    made.text, made._above, made._parse = text.decode("utf-8", "surrogatepass"), above, parse
    made._statements = None
    return made
