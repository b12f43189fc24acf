"""Files of CUDA's libraries that Python loads or looks for by a version: `CDLL("libcudart.so.12")`.

Each library comes out once, as an operation of kind soname, where the file knows no newer or unversioned name of it:
`name` is the file's; one that is `checked` is looked for first, or may fail.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from bwlint.chips.surroundings import sonames
from bwlint.model.details import Soname
from bwlint.model.facts import Operation
from bwlint.readers.nodes import below, children, whole
from bwlint.readers.spans import span

ANCHORS = (b".so.1",)
_FILE = re.compile(rf"lib({'|'.join(sorted(sonames(), key=len, reverse=True))})\.so(?:\.(\d{{1,3}}))?")
_LOADS = re.compile(r"(?i)CDLL|PyDLL|load_?library|dlopen")
_ASKS_VERSION = re.compile(r"(?i)version|cuda_?major|cu1[0-9]")
_ASKS_FILE = re.compile(r"(?i)exists|is_file|isfile|find|glob")


@dataclass(frozen=True, slots=True)
class _Named:
    """A file name in a string; "" is the number of one that is open or put together."""

    file: str
    number: str
    node: ast.expr


def may_hold(data: bytes) -> bool:
    return _FILE.search(data.decode("latin-1")) is not None


def operations(tree: ast.Module, source: str) -> tuple[Operation, ...]:
    prose = {id(node.value) for node in whole(tree) if isinstance(node, ast.Expr)}
    named: dict[str, list[_Named]] = defaultdict(list)
    for node in whole(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
            for found in _FILE.finditer(node.value) if " " not in node.value else ():
                named[found[1]].append(_Named(found[0], found[2] or "", node))
    return tuple(_judged(tree, named))


def _judged(tree: ast.Module, named: Mapping[str, list[_Named]]) -> Iterator[Operation]:
    around = {id(child): node for node in below(tree) for child in children(node)} if named else {}
    for files in named.values():
        newest = max((int(one.number) for one in files if one.number), default=0)
        if not newest or any(not one.number for one in files):
            continue
        last = [one for one in files if int(one.number) == newest][-1]
        above = list(_above(last.node, around))
        if any(
            isinstance(node, (ast.If, ast.IfExp)) and _ASKS_VERSION.search(ast.unparse(node.test)) for node in above
        ):
            continue
        loads = any(isinstance(node, ast.Call) and _LOADS.search(ast.unparse(node.func)) for node in above)
        tried = any(isinstance(node, (ast.Try, ast.If, ast.IfExp, ast.For)) for node in above)
        checked = tried or not loads
        if loads or any(_handles_files(node) for node in above):
            yield Operation("soname", last.file, span(last.node), detail=Soname(newest), checked=checked)


def _handles_files(node: ast.AST) -> bool:
    """Whether something looks for a file, or makes its path."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        return True
    return isinstance(node, ast.Call) and _ASKS_FILE.search(ast.unparse(node.func)) is not None


def _above(node: ast.AST, around: Mapping[int, ast.AST]) -> Iterator[ast.AST]:
    """The nodes that one stands in, innermost first, as far as its function."""
    above = around.get(id(node))
    while above is not None and not isinstance(above, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Module)):
        yield above
        above = around.get(id(above))
