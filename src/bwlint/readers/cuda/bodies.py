"""Kernels whose whole body is behind a guard: where the guard is false, they run and do nothing."""

from __future__ import annotations

import bisect
import itertools
import re
from collections.abc import Iterator

from bwlint.model.facts import Operation, Path
from bwlint.model.kinds import OperationKind
from bwlint.readers.cuda.lexer import Code
from bwlint.readers.cuda.scopes import CodeScope, CutText
from bwlint.readers.cuda.statements import FAILS, TRAPS, statements

_IDLE = re.compile(
    r"\b(?:(?:extern\s+)?__shared__|using|typedef|static_assert|(?:static\s+)?constexpr)\b[^;{}]*;"
    r"|\b(?!return\b|throw\b|delete\b|else\b|case\b|goto\b|asm\b)[A-Za-z_][\w:<>, ]*\s[*&]?\w+\s*(?:=[^;(){}]*)?;"
    r"|(?:\(\s*void\s*\)|\bstatic_cast\s*<\s*void\s*>|\bstd::ignore\s*=|\b\w*UNUSED\w*)\s*\(?\s*\w+\s*\)?\s*;"
    r"|\breturn\s*;|[;{}]"
)
"""Declarations that do nothing by themselves, and what only keeps a compiler from warning of names without a use."""
_PRINTS = re.compile(r"printf\s*\(")
_REFUSES = re.compile(r"\b[A-Z_]{0,40}(?:UNSUPPORTED|NOT_SUPPORTED|INVALID|TRAP)[A-Z_]{0,40}\b")


def operations(file: CutText) -> Iterator[Operation]:
    """One operation of kind `body` or `trap` for each stretch of a kernel that is all behind guards, with its tests."""
    for scope in file.places.functions:
        if not scope.kernel:
            continue
        paths = stretches(file, scope)
        if paths and file.found.path(scope.open) not in paths:
            name = scope.name.rpartition("::")[2]
            start = max(file.text.rfind(name, scope.header, scope.open), scope.header)
            at = file.code.span(start, start + len(name))
            for path, only_fails in paths.items():
                kind: OperationKind = "trap" if only_fails else "body"
                yield Operation(kind, name, at, path=path, qualname=scope.qualname)


def stretches(file: CutText, scope: CodeScope) -> dict[Path, bool]:
    """The tests in force wherever the body does something, and whether all that stands there tells of an error."""
    starts = file.found.starts
    first = bisect.bisect_right(starts, scope.open)
    last = bisect.bisect_left(starts, scope.close)
    bounds = [scope.open + 1, *starts[first:last], scope.close]
    found: dict[Path, bool] = {}
    for begin, end in itertools.pairwise(bounds):
        if _IDLE.sub("", file.text[begin:end]).strip():
            path = file.found.path(begin)
            found[path] = found.get(path, True) and _only_fails(file.code, file.text, begin, end)
    return found


def _only_fails(code: Code, text: str, begin: int, end: int) -> bool:
    """Whether a stretch ends in an error and does nothing before but to print what is wrong."""
    body = statements(text, begin, end)
    while len(body) == 1 and body[0].kind in ("if", "block"):
        body = body[0].body
    told = [
        bool(FAILS.search(text, *one) or _REFUSES.match(text, *one) or TRAPS.match(code.source, *one))
        for one in ((entry.start, entry.end) for entry in body)
    ]
    return any(told) and all(
        fails or _PRINTS.match(text, one.start) or (one.kind == "if" and _PRINTS.search(text, one.start, one.end))
        for one, fails in zip(body, told, strict=True)
    )
