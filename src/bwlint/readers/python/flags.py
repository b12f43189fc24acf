"""Flags that are named after compile targets: `has_sm120`, `capabilities.get("sm_90a")`, `"compute_121" in archs`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from bwlint.chips import spelling
from bwlint.readers.python.vocabulary import JOINED

MANY = 2
"""As many flags beside one another speak of targets; one alone may be named after a kernel."""
_NAME = re.compile(rf"_*(?:(?i:has|is|build|enable|with|want|for|target)_)?({spelling.IN_NAMES}{spelling.TARGET})$")
_HOLDS_TARGETS = re.compile(r"arch|capab|(?:^|_)(?:sms?|ccs?)(?:_|$)|gencode|targets?$", re.IGNORECASE)


def target_of(node: ast.expr) -> str | None:
    """The target that a flag is named after ("120", "90a"), None where a node is no such flag."""
    if isinstance(node, ast.Name):
        return _named_after(node.id)
    if isinstance(node, ast.Attribute):
        return _named_after(node.attr)
    if isinstance(node, ast.Subscript):
        return _keyed(node.value, node.slice)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get" and node.args:
        return _keyed(node.func.value, node.args[0])
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.In):
        return _keyed(node.comparators[0], node.left)
    return None


def targets_of(names: Iterable[str]) -> set[str]:
    """The targets after which names are called."""
    found = {_named_after(name) for name in names if "sm" in name or "SM" in name}
    return {target for target in found if target is not None}


def operand_targets(node: ast.expr) -> Iterator[str]:
    """The targets of the flags in a condition."""
    if isinstance(node, ast.BoolOp):
        for value in node.values:
            yield from operand_targets(value)
    elif isinstance(node, ast.UnaryOp):
        yield from operand_targets(node.operand)
    elif (target := target_of(node)) is not None:
        yield target


def _keyed(base: ast.expr, key: ast.expr) -> str | None:
    """`capabilities["sm120"]`: a text that spells a target, in something that is named after targets."""
    name = base.attr if isinstance(base, ast.Attribute) else base.id if isinstance(base, ast.Name) else ""
    if not _HOLDS_TARGETS.search(name) or not isinstance(key, ast.Constant) or not isinstance(key.value, str):
        return None
    return _known(key.value)


def _named_after(name: str) -> str | None:
    match = _NAME.match(name)
    return _known(match[1]) if match else None


def _known(text: str) -> str | None:
    found = spelling.spelled(text)
    return found.target if found is not None and not found.dotted and found.number in JOINED else None
