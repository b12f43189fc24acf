"""Architectures that a class fixes as an attribute, and constructors that overwrite them.

Operations come out of two kinds, with `Class.attribute` as their name:

pinned     a number or a name of a target that a class gives it, in its body or in front of `super().__init__()`, and
           that nothing of the class sets again behind
set-anew   an assignment of a constructor that hangs on no test and on nothing that it is given
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from bwlint.model.details import Pinned
from bwlint.model.facts import Operation
from bwlint.model.kinds import OperationKind
from bwlint.readers.nodes import below, whole
from bwlint.readers.spans import span

_NAMES = r"(?:sm_?|target_?|gpu_?|cuda_?|device_?)?(?:arch|capability|compute_capability|sm_version)"
_ATTRIBUTE = re.compile(_NAMES)
_SET = re.compile(rf"(?:^[ \t]+|\bself\.){_NAMES}[ \t]*(?::[^=\n]{{1,40}})?=(?!=)".encode(), re.M)
_BEHIND = (b"=", b":", b" =", b" :", b"  ", b"\t")
ANCHORS = tuple(name + behind for name in (b"arch", b"capability", b"sm_version") for behind in _BEHIND)
_MAKING = "__init__"


def may_hold(data: bytes) -> bool:
    """The prefilter: whether a class may set such an attribute."""
    return b"class " in data and _SET.search(data) is not None


def operations(tree: ast.Module, source: str) -> Iterator[Operation]:
    """Those of a file, in its order."""
    for node in whole(tree):
        if isinstance(node, ast.ClassDef):
            yield from _of_class(node)


def _of_class(owner: ast.ClassDef) -> Iterator[Operation]:
    init = next((one for one in owner.body if isinstance(one, ast.FunctionDef) and one.name == _MAKING), None)
    body = init.body if init is not None else []
    asks = next((place for place, one in enumerate(body) if _base_made(one) is not None), None)
    for one in owner.body if owner.bases and (init is None or asks is not None) else ():
        for name, value in _assigned(one, ""):
            if isinstance(value, ast.Constant) and not (init is not None and _sets(init, name)):
                yield _operation("pinned", owner, name, one, value.value)
    if init is None:
        return
    given = {argument.arg for argument in below(init.args) if isinstance(argument, ast.arg)}
    for place, one in enumerate(body):
        for name, value in _assigned(one, "self"):
            in_front = asks is not None and place < asks
            if in_front and isinstance(value, ast.Constant) and not _handed_or_set(body[asks or 0 :], name, value):
                yield _operation("pinned", owner, name, one, value.value)
            elif not in_front and not any(isinstance(part, ast.Name) and part.id in given for part in below(value)):
                yield _operation("set-anew", owner, name, one, None)


def _operation(kind: OperationKind, owner: ast.ClassDef, name: str, node: ast.stmt, value: object) -> Operation:
    detail = Pinned(value) if value is not None else None
    return Operation(kind, f"{owner.name}.{name}", span(node), detail=detail)


def _assigned(node: ast.stmt, owner: str) -> Iterator[tuple[str, ast.expr]]:
    """The attributes that a statement gives a value: names of a class's body, or those of `self`."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    value = node.value if isinstance(node, (ast.Assign, ast.AnnAssign)) else None
    for target in targets if value is not None else ():
        name = target.id if isinstance(target, ast.Name) and not owner else ""
        if owner and isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
            name = target.attr if target.value.id == owner else ""
        if value is not None and _ATTRIBUTE.fullmatch(name):
            yield name, value


def _base_made(node: ast.stmt) -> ast.Call | None:
    """The call `super().__init__(...)` that is a statement."""
    call = node.value if isinstance(node, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr != _MAKING:
        return None
    return call


def _sets(init: ast.FunctionDef, name: str) -> bool:
    """Whether a constructor sets an attribute of its object anywhere, or hands it on under its name."""
    return any(
        (isinstance(part, ast.Attribute) and part.attr == name) or (isinstance(part, ast.keyword) and part.arg == name)
        for part in below(init)
    )


def _handed_or_set(behind: list[ast.stmt], name: str, value: ast.Constant) -> bool:
    """Whether the call of the base gets a value, or what stands behind it asks for the attribute by `self`."""
    for part in (part for one in behind for part in below(one)):
        if isinstance(part, ast.keyword) and part.arg == name:
            return True
        if isinstance(part, ast.Attribute) and part.attr == name and isinstance(part.ctx, ast.Store):
            return True
        if isinstance(part, ast.Constant) and part.value == value.value:
            return True
    return False
