"""Tests of what a product or its processor is called, from which code guesses what connects the GPUs."""

from __future__ import annotations

import ast
import re
from collections.abc import Set as AbstractSet
from typing import NamedTuple

_ARM = frozenset({"aarch64", "arm64"})
_PROCESSORS = _ARM | {"x86_64", "amd64"}
_DEVICE_NAME = re.compile(r"(?i)(?:device|gpu|card|product)_?name|getname$")
_BARE_NAME = re.compile(r"(?i)_?name$")


class NameGuess(NamedTuple):
    """What decides: the name of the product (`how` contains or startswith) or the processor, and the text asked for.

    `denied`: it holds where the answer is no.
    """

    how: str
    text: str
    denied: bool

    def turned(self) -> NameGuess:
        return self._replace(denied=not self.denied)


def of(test: ast.expr, words: AbstractSet[str]) -> NameGuess | None:
    """The guess that a test is; `words` are those of the function around."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = _plain(test.operand, words)
        return inner.turned() if inner is not None else None
    return _plain(test, words)


def _plain(test: ast.expr, words: AbstractSet[str]) -> NameGuess | None:
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        return _of_processor(test) or _of_name(test, words)
    if isinstance(test, ast.Call) and isinstance(test.func, ast.Attribute) and test.func.attr == "startswith":
        text = _text(test.args[0]) if test.args else ""
        return NameGuess("startswith", text, False) if text and _is_name(test.func.value, words) else None
    return None


def _of_processor(test: ast.Compare) -> NameGuess | None:
    """A comparison with the name of a processor; it is denied where it does not hold on an ARM one."""
    parts = (test.left, test.comparators[0])
    texts = {text.lower() for part in parts for text in _texts(part)}
    if not texts or not texts <= _PROCESSORS:
        return None
    asks_arm, turned = bool(texts & _ARM), isinstance(test.ops[0], ast.NotEq | ast.NotIn)
    return NameGuess("processor", "", asks_arm is turned)


def _of_name(test: ast.Compare, words: AbstractSet[str]) -> NameGuess | None:
    """`"PCIe" not in name`."""
    text = _text(test.left)
    if not text or not isinstance(test.ops[0], ast.In | ast.NotIn) or not _is_name(test.comparators[0], words):
        return None
    return NameGuess("contains", text, isinstance(test.ops[0], ast.NotIn))


def _is_name(node: ast.expr, words: AbstractSet[str]) -> bool:
    """Whether a value is what the device calls itself."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("lower", "upper"):
        node = node.func.value
    last = node.func if isinstance(node, ast.Call) else node
    name = last.attr if isinstance(last, ast.Attribute) else last.id if isinstance(last, ast.Name) else ""
    if _DEVICE_NAME.search(name):
        return True
    return _BARE_NAME.match(name) is not None and any(map(_DEVICE_NAME.search, words))


def _texts(node: ast.expr) -> list[str]:
    items = node.elts if isinstance(node, ast.Tuple | ast.List | ast.Set) else [node]
    return [text for item in items if (text := _text(item))]


def _text(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
