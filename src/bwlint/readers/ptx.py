"""PTX: whole files into facts, fragments of inline assembly into statements, in linear time. Nothing fails."""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from math import prod
from typing import NamedTuple

from bwlint.chips.instructions import Form, forms_of, parse
from bwlint.model.expr import Span, const
from bwlint.model.facts import Carry, Module, Operation
from bwlint.model.kinds import OperationKind

_HIDDEN = re.compile(r'"[^"\n]*"|//[^\n]*|/\*[^*]*(?:\*(?!/)[^*]*)*(?:\*/|\Z)')
_HIDDEN_IN_FRAGMENT = re.compile(r"//(?:(?!\\n)[^\n])*|/\*[^*]*(?:\*(?!/)[^*]*)*(?:\*/|\Z)|\\[nrtvf]|\\\r?\n")
_SPACE = re.compile(r"\s*")
_LABEL = re.compile(r"[A-Za-z_$%][\w$%=]*\s*:(?!:)")
_HEAD = re.compile(r"(?:@\s*(?:!\s*)?%?\w+\s+)?([\w.:]+)")
_WORD = re.compile(r"[\w$%]+")
_DOT_WORD = re.compile(r"\.(\w*)")
_KERNEL = re.compile(r"\.(entry|func)\s*(?:\([^()]*\)\s*)?([\w$%]+)")
_TUNING = re.compile(
    r"\.(reqnctapercluster|maxclusterrank|explicitcluster|blocksareclusters|minnctapersm|maxntid|reqntid)"
    r"(?!\w)((?:[\s,]*\d\w*)*)"
)
_NUMBER = re.compile(r"0[xX][0-9a-fA-F]+|\d+")
_ARRAY = re.compile(r"(?:\.extern\s+)?\.shared\s+(?:\.align\s+\d+\s+)?(?:\.v([24])\s+)?\.[a-z]+(\d+)\s+([\w$%]+)")
_EXTENT = re.compile(r"\[\s*(\w*)\s*\]")
_TARGET = re.compile(r"\.target\s+sm_(\w+)")
_LINKAGE = frozenset({"visible", "extern", "weak", "common", "entry", "func"})
_WHOLE_LINE = frozenset({"version", "target", "address_size", "file", "loc", "noreturn"})
_LAUNCH = ("maxntid", "reqntid", "minnctapersm")


def may_matter(data: bytes, own: frozenset[str] = frozenset()) -> bool:
    """Whether the bytes are PTX that names its target."""
    return b".target" in data


def statements(text: str) -> Iterator[tuple[str, int, int]]:
    """The instructions of a fragment with their offsets in `text`, no semicolons; the last may be cut off."""
    clean = _HIDDEN_IN_FRAGMENT.sub(_blanks, text)
    for token in _tokens(clean, set()):
        if token.kind == "instruction":
            body = _closed(clean[token.start : token.end])
            yield " ".join(body.split()), token.start, token.start + len(body)


def _closed(body: str) -> str:
    """A statement without the braces that close the block around it."""
    body = body.rstrip()
    surplus = body.count("}") - body.count("{")
    while surplus > 0 and body.endswith("}"):
        body = body[:-1].rstrip()
        surplus -= 1
    return body


def _blanks(match: re.Match[str]) -> str:
    """Blanks for a comment or string; the lines stay, and an escaped line end becomes one."""
    text = match[0]
    if text == "\\n":
        return " \n"
    if "\n" not in text and "\r" not in text:
        return " " * len(text)
    return re.sub(r"[^\r\n]", " ", text)


class _Token(NamedTuple):
    """An instruction, line directive, declaration or header of a kernel; `kernel` is the one around, or ""."""

    kind: str
    start: int
    end: int
    kernel: str


def _tokens(text: str, dull: set[str]) -> Iterator[_Token]:
    """The parts of a text without comments. Statements that begin with a word in `dull` are left out."""
    depth, kernel, end = 0, "", -1
    for piece in text.split(";"):
        at = end + 1
        end = at + len(piece)
        words = piece.split(None, 1)
        if not words or words[0] in dull:
            continue
        while True:
            at, depth = _lead(text, at, end, depth)
            kernel = kernel if depth > 0 else ""
            if at >= end:
                break
            if text[at] != ".":
                yield _Token("instruction", at, end, kernel)
                break
            name = _DOT_WORD.match(text, at)[1]  # type: ignore[index]
            if name in _WHOLE_LINE:
                line_end = text.find("\n", at, end)
                line_end = end if line_end < 0 else line_end
                yield _Token(name, at, line_end, kernel)
                at = line_end
                continue
            brace = text.find("{", at, end)
            if name in _LINKAGE and brace >= 0 and (header := _KERNEL.search(text, at, brace)):
                depth, kernel = 1, header[2]
                yield _Token(header[1], at, brace, kernel)
                at = brace + 1
            elif name == "section" and brace >= 0:
                closing = text.find("}", brace, end)
                at = end if closing < 0 else closing + 1
            else:
                yield _Token("declaration", at, end, kernel)
                break


def _lead(text: str, at: int, end: int, depth: int) -> tuple[int, int]:
    """Where a statement begins, behind white space, labels and braces of blocks; and how deep that is."""
    while at < end:
        char = text[at]
        if char.isspace():
            at = _SPACE.match(text, at, end).end()  # type: ignore[union-attr]
        elif char == "{":
            at, depth = at + 1, depth + 1
        elif char == "}":
            at, depth = at + 1, depth - 1
        elif label := _LABEL.match(text, at, end):
            at = label.end()
        else:
            break
    return at, depth


def read(path: str, source: str, name: str, is_package: bool, own: frozenset[str] = frozenset()) -> Module:
    """Facts of a `.ptx` file: instructions that the table speaks of, directives, static shared memory in bytes."""
    operations, carries = facts(source)
    return Module(
        path=path,
        name=name,
        is_package=is_package,
        language="ptx",
        operations=operations,
        carries=carries,
    )


def facts(source: str) -> tuple[tuple[Operation, ...], tuple[Carry, ...]]:
    """What a PTX module asks for, in its order, and the targets that it is for (one, if it names any)."""
    scan = _Scan(source)
    return tuple(sorted(scan.operations, key=lambda operation: operation.at)), tuple(scan.carries)


class _Scan:
    """One pass over a module. `source` is its text; offsets become spans of it."""

    def __init__(self, source: str) -> None:
        self.operations: list[Operation] = []
        self.carries: list[Carry] = []
        self._source = source
        self._text = _HIDDEN.sub(_blanks, source)
        self._dull = {".reg", ".local", ".param", ".pragma"}
        self._searched: dict[int, bool] = {}
        self._version = ""
        self._arrays: dict[str, list[tuple[_Token, int]]] = {}
        self._common: dict[str, tuple[_Token, int]] = {}
        self._kernels: list[tuple[str, int]] = []
        for token in _tokens(self._text, self._dull):
            self._take(token)
        self._static_shared()

    def _take(self, token: _Token) -> None:
        if token.kind == "instruction":
            self._instruction(token)
        elif token.kind == "declaration":
            self._declaration(token)
        elif token.kind == "version":
            self._version = " ".join(self._text[token.start : token.end].split()[1:2])
        elif token.kind == "target":
            self._target(token)
        elif token.kind in ("entry", "func"):
            self._kernels.append((token.kernel if token.kind == "entry" else "", token.start))
            self._tuning(token)

    def _instruction(self, token: _Token) -> None:
        text = self._text
        head = _HEAD.match(text, token.start, token.end)
        if head is None or head[1] in self._dull:
            return
        if not any(self._occurs(form) for form in forms_of(parse(head[1]), operands=False)):
            self._dull.add(head[1])
            return
        statement = " ".join(text[head.start(1) : token.end].split())
        if forms_of(parse(statement)):
            at = self._span(*head.span(1))
            self.operations.append(Operation("instruction", statement, at, qualname=token.kernel))

    def _occurs(self, form: Form) -> bool:
        """Whether what a row asks of operands stands anywhere in the text: most `mov`s can be passed over."""
        if form.operands is None:
            return True
        if id(form) not in self._searched:
            self._searched[id(form)] = form.operands.search(self._text) is not None
        return self._searched[id(form)]

    def _target(self, token: _Token) -> None:
        found = _TARGET.match(self._text, token.start, token.end)
        if found is not None and not self.carries:
            at = self._span(found.start(1) - len("sm_"), found.end(1))
            self.carries.append(Carry("file", "", (), (found[1],), at, text=self._version))

    def _tuning(self, token: _Token) -> None:
        """What the header of a kernel says of clusters, and of threads together with blocks an SM."""
        launch = {}
        for match in _TUNING.finditer(self._text, token.start, token.end):
            numbers = [_number(digits) for digits in _NUMBER.findall(match[2])][:3]
            if match[1] in _LAUNCH:
                launch[match[1]] = (match, numbers)
            else:
                self._add("cluster", f".{match[1]}", match.span(), numbers, token.kernel)
        threads = launch.get("reqntid") or launch.get("maxntid")
        blocks = launch.get("minnctapersm")
        if threads is not None and blocks is not None and threads[1] and blocks[1]:
            amounts = [prod(threads[1]), blocks[1][0]]
            self._add("launch-bounds", ".minnctapersm", blocks[0].span(), amounts, token.kernel)

    def _declaration(self, token: _Token) -> None:
        array = _ARRAY.search(self._text, token.start, token.end)
        if array is None or "extern" in array[0]:
            return
        extents = _EXTENT.findall(self._text, array.end(), token.end)
        if any(not _NUMBER.fullmatch(extent) for extent in extents):
            return
        size = prod(map(_number, extents)) * int(array[2]) // 8 * int(array[1] or 1)
        if token.kernel:
            self._arrays.setdefault(token.kernel, []).append((token, size))
        else:
            self._common[array[3]] = (token, size)

    def _static_shared(self) -> None:
        """For each entry that names any: bytes of its shared arrays, without what alignment adds."""
        ends = [*(start for _, start in self._kernels), len(self._text)]
        for (kernel, start), end in zip(self._kernels, ends[1:], strict=True):
            words = frozenset(_WORD.findall(self._text, start, end)) if self._common else frozenset()
            arrays = self._arrays.get(kernel, []) + [self._common[name] for name in sorted(self._common.keys() & words)]
            if kernel and arrays:
                token, _ = max(arrays, key=lambda array: array[1])
                self._add("static-shared", kernel, (token.start, token.end), [sum(s for _, s in arrays)], kernel)

    def _add(self, kind: OperationKind, name: str, at: tuple[int, int], amounts: Sequence[int], kernel: str) -> None:
        numbers = tuple(const(amount) for amount in amounts)
        self.operations.append(Operation(kind, name, self._span(*at), amounts=numbers, qualname=kernel))

    @cached_property
    def _lines(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer("\r\n|\r|\n", self._source))]

    def _span(self, start: int, end: int) -> Span:
        return Span(*self._place(start), *self._place(end))

    def _place(self, offset: int) -> tuple[int, int]:
        line = bisect.bisect_right(self._lines, offset) - 1
        return line + 1, len(self._source[self._lines[line] : offset].encode("utf-8", "surrogatepass"))


def _number(digits: str) -> int:
    return int(digits, 16) if digits[:2] in ("0x", "0X") else int(digits[:18])
