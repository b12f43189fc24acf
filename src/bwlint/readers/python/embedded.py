"""CUDA C++ and PTX that stand in the strings of a Python file, each at its place there.

The text of such strings is laid out as it stands in the file, with blanks for everything else and for escapes, and
read like a file of its own kind: what is found has its lines and columns without a further step. Strings of C++ are
read together, since a source is often put together from several; PTX modules are read together by target.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from bwlint.chips import instructions
from bwlint.model.expr import Span, unknown
from bwlint.model.facts import Module, Operation
from bwlint.readers import ptx
from bwlint.readers.buildfiles.places import Places
from bwlint.readers.nodes import children
from bwlint.readers.python.sides import dotted
from bwlint.readers.spans import any_within

MAX_OPERATIONS = 3000
_WORDS = (b"__global__", b"__device__", b"#include", b".target sm_", b"inline_ptx")
_ASM = re.compile(rb"\basm\b|_asm")
_CUDA = re.compile(
    r"\b__(?:global|device)__\b[^;{(]{0,400}\([^;{]{0,2000}[;{]|^[ \t]*#[ \t]*include[ \t]*[<\"][\w./+-]+[>\"]"
    r"|\basm\s*(?:volatile\s*)?\(\s*\"|\w\s*<<<[^;]{0,300}>>>\s*\(",
    re.MULTILINE,
)
_MODULE = re.compile(r"^[ \t]*\.version\s+\d[^\n]{0,200}\s{1,200}\.target\s+(sm_\w+)", re.MULTILINE)
_STATEMENT = re.compile(r"(?:@!?[%$]?\w+ )?(?P<head>[a-z]\w*(?:\.[\w:]+)*\.?)(?P<operands>[^\w].*)?")
_PROSE = re.compile(r"[A-Za-z]\w* +[A-Za-z]|[a-z][.?!](?: |$)|[\"`']")
_WORTH = re.compile(r";|#[ \t]*include|<<<|asm|ptx|__(?:global|device)__|\.target", re.IGNORECASE)
"""On one line at least of every statement with such a string."""
_BRANCHES = (ast.If, ast.IfExp, ast.Try, ast.While, ast.Match)
_TAKES_CODE = re.compile(r"asm|ptx", re.IGNORECASE)
_ASKS = frozenset(
    [
        *("count", "find", "search", "match", "fullmatch", "findall", "finditer", "index", "startswith", "endswith"),
        *("replace", "split", "sub", "compile", "removeprefix"),
    ]
)
_OPENING = re.compile(r"(?:\s|\\\r?\n|#[^\r\n]*)*([A-Za-z]{0,3})(\"\"\"|'''|\"|')")
_ESCAPE = re.compile(r"\\(?:\r\n|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|N\{[^{}]*\}|[0-7]{1,3}|.)", re.DOTALL)
_ENDED_COMMENT = re.compile(r"//[^\n]*?(?=\\n)")
_HOLE = re.compile(r"(?<=[\w.:])(?:\{[\w.\[\]]*\}|%s|%d)|(?:\{[\w.\[\]]*\}|%s|%d)(?=[\w.])")
_NEWLINE = re.compile(r"\r\n|\r|\n")
_NESTED = re.compile(r"\"\"\".*?\"\"\"|'''.*?'''|\"[^\"\n]*\"|'[^'\n]*'|[{}]", re.DOTALL)


@dataclass(frozen=True, slots=True)
class _String:
    """A string: `given` to a call that takes code, only `asked` for or compared, `tested`: under a test."""

    node: ast.Constant | ast.JoinedStr
    text: str
    qualname: str
    given: bool
    asked: bool
    tested: bool


@dataclass(frozen=True, slots=True)
class _LiteralPiece:
    """The inside of one literal, or of one part of it: where it begins and how it reads."""

    line: int
    column: int
    text: str


ANCHORS = (*_WORDS, b"asm")


def may_hold(data: bytes) -> bool:
    """The prefilter: whether a file has a word of such code."""
    if any(word in data for word in _WORDS):
        return True
    return b"asm" in data and _ASM.search(data) is not None


def code_in_strings(
    path: str, tree: ast.Module, source: str, lines: Sequence[str]
) -> tuple[tuple[Operation, ...], tuple[Module, ...]]:
    """PTX instructions, and modules of C++ and PTX, in the strings of a file; `lines` are of `source`. Never raises."""
    if not may_hold(source.encode("utf-8", "surrogatepass")):
        return (), ()
    cpp: list[_LiteralPiece] = []
    modules: dict[str, list[_LiteralPiece]] = {}
    operations: list[Operation] = []
    literals = _Literals(source, lines)
    for string in _strings(tree, [number for number, line in enumerate(lines, 1) if _WORTH.search(line)]):
        target = _MODULE.search(string.text)
        if target is not None:
            modules.setdefault(target[1], []).extend(literals.of(string.node))
        elif _CUDA.search(string.text):
            cpp += literals.of(string.node)
        elif len(operations) < MAX_OPERATIONS and "." in string.text:
            operations += _fragment(string, literals)
    found = [ptx.read(path, _laid_out(pieces), "", False) for pieces in modules.values()]
    if cpp:
        from bwlint.readers import cuda  # which most Python has no use for

        found.append(cuda.read(path, _laid_out(cpp)))
    saying = (one for one in found if one.gates or one.guards or one.operations or one.carries)
    return tuple(sorted(operations, key=lambda one: one.at)), tuple(saying)


def _strings(tree: ast.Module, worth: Sequence[int]) -> Iterator[_String]:
    """The strings of statements with a line in `worth`, in no order; one that stands alone is prose and left out."""
    stack: list[tuple[ast.AST, str, bool, bool, bool]] = [(tree, "<module>", False, False, False)]
    while stack:
        node, qualname, given, asked, tested = stack.pop()
        if isinstance(node, ast.stmt) and not any_within(worth, node.lineno, (node.end_lineno or node.lineno) + 1):
            continue
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str):
                yield _String(node, node.value, qualname, given, asked, tested)
            continue
        if isinstance(node, ast.JoinedStr):
            parts = [part.value if isinstance(part, ast.Constant) else "." for part in node.values]
            yield _String(node, "".join(map(str, parts)), qualname, given, asked, tested)
            continue
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            qualname = node.name if qualname == "<module>" else f"{qualname}.{node.name}"
            given = asked = tested = False
        elif isinstance(node, ast.Call):
            name = dotted(node.func).rpartition(".")[2]
            given = given or _TAKES_CODE.search(name) is not None
            asked = asked or name in _ASKS
        elif isinstance(node, ast.Compare):
            asked = True
        tested = tested or isinstance(node, _BRANCHES)
        stack += [(child, qualname, given, asked, tested) for child in children(node)]


def _fragment(string: _String, literals: _Literals) -> Iterator[Operation]:
    """The instructions that the table knows, where a string holds nothing else than instructions."""
    if string.asked or not (string.given or ";" in string.text):
        return
    said = [statement for statement, _, _ in ptx.statements(string.text)]
    if not said or not all(map(_is_instruction, said)) or not any(map(instructions.find, said)):
        return
    pieces = literals.of(string.node)
    if not pieces:
        return
    above = pieces[0].line - 1
    text = _HOLE.sub(lambda hole: f".{' ' * (len(hole[0]) - 2)}.", _laid_out(pieces, above))
    places = Places(text)
    for statement, start, end in ptx.statements(text):
        if instructions.find(statement) is not None:
            line, column, end_line, end_column = places.span(start, end)
            at = Span(line + above, column, end_line + above, end_column)
            tests = (unknown("a test around the string"),) if string.tested else ()
            yield Operation("instruction", statement[:300], at, tests=tests, qualname=string.qualname)


def _is_instruction(statement: str) -> bool:
    """Whether a statement reads like one: operands are never two words side by side, nor do they end a sentence."""
    match = _STATEMENT.fullmatch(statement)
    return match is not None and _PROSE.search(match["operands"] or "") is None


def _laid_out(pieces: Iterable[_LiteralPiece], above: int = 0) -> str:
    """Pieces at their lines and byte columns in a text that is blank elsewhere; lines `above` are left out."""
    parts: list[str] = []
    line, column = above + 1, 0
    for piece in sorted(pieces, key=lambda one: (one.line, one.column)):
        if piece.line > line:
            parts.append("\n" * (piece.line - line))
            line, column = piece.line, 0
        parts += (" " * (piece.column - column), piece.text)
        rows = piece.text.count("\n")
        line += rows
        start = 0 if rows else piece.column
        column = start + len(piece.text.rpartition("\n")[2].encode("utf-8", "surrogatepass"))
    return "".join(parts)


class _Literals:
    """The literals of a source, as they are written."""

    def __init__(self, source: str, lines: Sequence[str]) -> None:
        self._source = source
        self._lines = lines
        self._starts = [0, *(match.end() for match in _NEWLINE.finditer(source))]
        self._places = Places(source)

    def of(self, node: ast.Constant | ast.JoinedStr) -> list[_LiteralPiece]:
        """The insides of the literals that a string is written as, in order."""
        at = self._offset(node.lineno, node.col_offset)
        end = self._offset(node.end_lineno or node.lineno, node.end_col_offset or 0)
        pieces: list[_LiteralPiece] = []
        while at < end and (opening := _OPENING.match(self._source, at, end)) is not None:
            prefix, quote = opening[1].lower(), opening[2]
            at, is_raw = opening.end(), "r" in prefix
            parts, at = _insides(self._source, at, end, (_MARKS_OF_F if "f" in prefix else _MARKS)[quote])
            pieces += (self._piece(start, stop, is_raw, "f" in prefix) for start, stop in parts)
        return pieces

    def _piece(self, start: int, end: int, is_raw: bool, is_formatted: bool) -> _LiteralPiece:
        line, column = self._places.span(start, start)[:2]
        text = self._source[start:end]
        if not is_raw:
            text = _ESCAPE.sub(_unescaped, _ENDED_COMMENT.sub(_blanks, text))
        if is_formatted:
            text = _BRACES.sub(lambda found: _READ_AS[found[0]], text)
        return _LiteralPiece(line, column, _NEWLINE.sub("\n", text))

    def _offset(self, line: int, column: int) -> int:
        text = self._lines[line - 1]
        if not text.isascii():
            column = len(text.encode("utf-8", "surrogatepass")[:column].decode("utf-8", "ignore"))
        return self._starts[line - 1] + column


_QUOTES = ('"""', "'''", '"', "'")
_MARKS = {quote: re.compile(rf"\\.|{quote}", re.DOTALL) for quote in _QUOTES}
_MARKS_OF_F = {quote: re.compile(rf"\\[^{{]|\{{\{{?|{quote}", re.DOTALL) for quote in _QUOTES}
_BRACES = re.compile(r"\{\{?|\}\}?")
_READ_AS = {"{{": " {", "}}": "} ", "{": ".", "}": "."}
"""f-strings write a brace twice. A replacement field becomes a point: modifiers that are not known."""


def _insides(source: str, start: int, end: int, marks: re.Pattern[str]) -> tuple[list[tuple[int, int]], int]:
    """The inside of a literal that begins at `start`, of an f-string the parts between its replacement fields, each
    with the braces next to it, and where what follows it begins."""
    parts: list[tuple[int, int]] = []
    at = start
    while (mark := marks.search(source, at, end)) is not None:
        at = mark.end()
        if mark[0][0] in "\"'":
            return [*parts, (start, mark.start())], at
        if mark[0] == "{":
            parts.append((start, mark.end()))
            at = _field_end(source, at, end)
            start = at - 1
    return [*parts, (start, end)], end


def _field_end(source: str, at: int, end: int) -> int:
    depth = 1
    for match in _NESTED.finditer(source, at, end):
        depth += {"{": 1, "}": -1}.get(match[0], 0)
        if depth == 0:
            return match.end()
    return end


def _unescaped(match: re.Match[str]) -> str:
    r"""As many blanks as an escape has bytes; `\\` and quotes keep their character."""
    text = match[0]
    if text[1] in "\r\n":
        return " \n"
    if text[1] in "\\\"'":
        return f" {text[1]}"
    return " " * len(text.encode("utf-8", "surrogatepass"))


def _blanks(match: re.Match[str]) -> str:
    return " " * len(match[0].encode("utf-8", "surrogatepass"))
