"""The release of CUDA that a file asks for a target: `has_sm("compute_121", "12.9")`.

Each comes out as an operation of kind floor: `name` is the target, `qualname` who is told so.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from itertools import islice

from bwlint.chips.spelling import spelled
from bwlint.model.details import LeastRelease
from bwlint.model.facts import Operation
from bwlint.readers.nodes import last_name, text_of, whole
from bwlint.readers.spans import span

ANCHORS = (b"_12", b"sm12", b"SM12", b'"12.', b"'12.")
_ROW = re.compile(rb"[\"'](?:[Ss][Mm]_?|compute_)1[0-9]\.?[0-9][af]?[\"']\s{0,40},\s{0,40}[\"']1[0-9]\.")
_OF_CUDA = re.compile(r"(?i)cuda|nvcc|toolkit|ctk")
_RELEASE = re.compile(r"1[0-9]\.[0-9]{1,2}")
_MOST = 100


def may_hold(data: bytes) -> bool:
    """The prefilter: literals first, since few files have a target beside a release."""
    return _ROW.search(data) is not None


def operations(tree: ast.Module, source: str) -> tuple[Operation, ...]:
    functions = {node.name: node for node in whole(tree) if isinstance(node, ast.FunctionDef)}
    calls = (node for node in whole(tree) if isinstance(node, ast.Call))
    return tuple(islice((one for call in calls for one in _called(call, functions)), _MOST))


def _called(node: ast.Call, functions: Mapping[str, ast.FunctionDef]) -> Iterator[Operation]:
    """A call that says a target and a release, of a function that speaks of CUDA's."""
    if len(node.args) != 2:
        return
    target, release = (text_of(one) for one in node.args)
    known = spelled(target)
    if known is None or not known.prefix or not _RELEASE.fullmatch(release):
        return
    name = last_name(node.func)
    body = functions.get(name)
    if _OF_CUDA.search(name) or (body is not None and _OF_CUDA.search(ast.unparse(body))):
        yield Operation("floor", known.target, span(node), detail=LeastRelease(release), qualname=name)
