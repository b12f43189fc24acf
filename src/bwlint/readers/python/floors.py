"""The release of CUDA that a file asks for a target: `has_sm("compute_121", "12.9")`, `MIN_CUDA = {"sm_121": "12.9"}`.

Each comes out as an operation of kind floor: `name` is the target, `qualname` who is told so.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from bwlint.chips.spelling import spelled
from bwlint.model.details import LeastRelease
from bwlint.model.facts import Operation
from bwlint.readers.nodes import last_name, text_of, whole
from bwlint.readers.spans import span

ANCHORS = (b"_12", b"sm12", b"SM12", b'"12.', b"'12.", b"(12,")
_ROW = re.compile(
    rb"[\"'](?:[Ss][Mm]_?|compute_)?1[0-9]\.?[0-9][af]?[\"']\s{0,40}[,:]\s{0,40}(?:\w{1,30}\()?[\"'(]{0,2}1[0-9][.,]"
    rb"|\(1[0-9],\s{0,4}[0-9]\)\s{0,4}:\s{0,4}(?:\w{1,30}\()?[\"'(]{0,2}1[0-9][.,]"
)
_OF_CUDA = re.compile(r"(?i)cuda|nvcc|toolkit|ctk")
_RELEASE = re.compile(r"1[0-9]\.[0-9]{1,2}")
_MOST = 100


def may_hold(data: bytes) -> bool:
    """The prefilter: literals first, since few files have a target beside a release."""
    return _ROW.search(data) is not None


def operations(tree: ast.Module, source: str) -> tuple[Operation, ...]:
    functions = {node.name: node for node in whole(tree) if isinstance(node, ast.FunctionDef)}
    found: list[Operation] = []
    for node in whole(tree):
        if isinstance(node, ast.Call):
            found += _called(node, functions)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)) and isinstance(node.value, ast.Dict):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            found += _table(last_name(target), node.value)
    return tuple(found[:_MOST])


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


def _table(name: str, node: ast.Dict) -> Iterator[Operation]:
    """A table from targets to releases, which says so by its name."""
    if not _OF_CUDA.search(name):
        return
    rows = [(_target(key), _release(value), key) for key, value in zip(node.keys, node.values, strict=True)]
    if not all(target and release for target, release, _ in rows):
        return
    for target, release, key in rows:
        if key is not None:
            yield Operation("floor", target, span(key), detail=LeastRelease(release), qualname=name)


def _target(node: ast.expr | None) -> str:
    if isinstance(node, ast.Tuple):
        numbers = _numbers(node)
        return f"{numbers[0]}{numbers[1]}" if len(numbers) == 2 else ""
    text = str(node.value) if isinstance(node, ast.Constant) else ""
    known = spelled(text)
    return known.target if known is not None else ""


def _release(node: ast.expr) -> str:
    if isinstance(node, ast.Call) and len(node.args) == 1:
        node = node.args[0]
    numbers = _numbers(node) if isinstance(node, ast.Tuple) else ()
    text = ".".join(map(str, numbers)) if numbers else str(node.value) if isinstance(node, ast.Constant) else ""
    return text if _RELEASE.fullmatch(text) else ""


def _numbers(node: ast.Tuple) -> tuple[int, ...]:
    values = [one.value for one in node.elts if isinstance(one, ast.Constant)]
    numbers = tuple(value for value in values if isinstance(value, int) and not isinstance(value, bool))
    return numbers if len(numbers) == len(node.elts) else ()
