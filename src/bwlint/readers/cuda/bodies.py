"""Kernels whose whole body stands behind a guard: where it fails, they run and do nothing."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Iterator

from bwlint.model.facts import Operation, Path
from bwlint.readers.cuda.lexer import Code
from bwlint.readers.cuda.preprocessor import Directives
from bwlint.readers.cuda.scopes import CodeScope, Scopes


def operations(code: Code, text: str, directives: Directives, places: Scopes) -> Iterator[Operation]:
    """One operation of kind `body` for each stretch of a kernel that is all behind guards, with its tests."""
    for scope in places.functions:
        if not scope.kernel:
            continue
        paths = _paths(text, directives, scope)
        outside = directives.path(scope.open)
        if paths and outside not in paths:
            name = scope.name.rpartition("::")[2]
            start = max(text.rfind(name, scope.header, scope.open), scope.header)
            at = code.span(start, start + len(name))
            yield from (Operation("body", name, at, path=path, qualname=scope.qualname) for path in paths)


def _paths(text: str, directives: Directives, scope: CodeScope) -> tuple[Path, ...]:
    """The tests in force wherever the body has a word."""
    starts = directives.starts
    first = bisect.bisect_right(starts, scope.open)
    last = bisect.bisect_left(starts, scope.close)
    bounds = [scope.open + 1, *starts[first:last], scope.close]
    found: dict[Path, None] = {}
    for begin, end in itertools.pairwise(bounds):
        if text[begin:end].strip():
            found[directives.path(begin)] = None
    return tuple(found)
