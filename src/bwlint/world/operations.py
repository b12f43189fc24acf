"""Operations of torch that Python registers: `torch.ops.ns.op`, and the function that stands behind it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping

from bwlint.sources.search import Search
from bwlint.sources.walk import SourceFile

MAX_FUNCTIONS = 8
"""A name with more functions behind it is no one's."""
_ARGUMENTS = rb"([^()]{0,400}(?:\([^()]*\)[^()]{0,400}){0,8})"
_REGISTERING = (b"custom_op(", b"triton_op(", b"register_kernel(", b"impl(")
_DECORATED = re.compile(
    rb"^[ \t]*@[\w.]{0,120}\b(?:\w{0,60}custom_op|triton_op|register_kernel|impl)\("
    + _ARGUMENTS
    + rb"\)[ \t]*(?:#[^\n]*)?\n"
    rb"(?:[ \t]*@[^\n]*\n){0,8}[ \t]*(?:async )?def (\w+)",
    re.MULTILINE,
)
"""`@custom_op("ns::op", ...)`, `@torch.library.impl(library, "op", "CUDA")` and the function below."""
_GIVEN = re.compile(
    rb"\b\w*register_custom_op\w*\(\s*(?:op_name\s*=\s*)?[\"\']([\w:]+)[\"\']\s*,\s*(?:op_func\s*=\s*)?(\w+)\s*[,)]"
)
"""`direct_register_custom_op(op_name="op", op_func=function)`."""
_TEXT = re.compile(rb"[\"\']((?:\w+::)?\w+)[\"\']")
_NOT_CUDA = re.compile(rb"[\"\'](?:Meta|CPU|Autograd\w*|XPU|MPS|HIP)[\"\']")
Behind = Mapping[str, tuple[tuple[str, SourceFile, str], ...]]
"""By the name of an operation: its namespace ("" where it is not said), a file, and the function in it."""


def registered(search: Search) -> Behind:
    """What the Python files of a project register."""
    found: defaultdict[str, list[tuple[str, SourceFile, str]]] = defaultdict(list)
    for file, operation, function in _registrations(search):
        space, _, name = operation.rpartition("::")
        found[name].append((space, file, function))
    return {name: tuple(behind) for name, behind in found.items() if len(behind) <= MAX_FUNCTIONS}


def _registrations(search: Search) -> Iterator[tuple[SourceFile, str, str]]:
    for file, match in search.matches("python", _DECORATED, _REGISTERING):
        name = _TEXT.search(match[1])
        if name is not None and not _NOT_CUDA.search(match[1]):
            yield file, name[1].decode(), match[2].decode("utf-8", "replace")
    for file, match in search.matches("python", _GIVEN, (b"register_custom_op",)):
        yield file, match[1].decode(), match[2].decode("utf-8", "replace")
