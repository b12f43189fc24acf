"""Where a capability is handled as a text: ordered, or taken apart by the places of its characters.

`cc[0] + cc[2]` of "8.6", `arch[:2]` of "86", `arch < "80"`: what fits numbers of one digit and no others. An expression
comes out as it is, to be evaluated; a tuple of one value is a text of which each name takes one character.
"""

from __future__ import annotations

import ast

from bwlint.evaluate.names import guess
from bwlint.evaluate.values import Guess
from bwlint.model.expr import Expr
from bwlint.readers.python.vocabulary import arch_text

_ORDER = frozenset({"<", "<=", ">", ">="})
_FIRST, _AFTER_DOT = 0, 2


def by_place(found: Expr) -> bool:
    """Whether an expression may order a text, or takes a part of something by numbers."""
    if found.op == "cmp":
        return found.args[0] in _ORDER and any(
            one.op == "const" and isinstance(one.args[0], str) and arch_text(one.args[0]) for one in found.args[1]
        )
    if found.op == "index":
        return _is_number(found.args[1])
    return found.op == "slice" and any(map(_is_number, found.args[1:3]))


def _is_number(node: Expr) -> bool:
    return node.op == "const" and type(node.args[0]) is int


def by_spelling(found: Expr) -> bool:
    """`cc[0] + cc[2]`, `f"{cc[0]}{cc[2]}"`: a pair of numbers has no third part, so this is a text."""
    if found.op == "bin" and found.args[0] == "+":
        parts = found.args[1:]
    elif found.op == "fstr":
        parts = tuple(part for part in found.args[0] if part.op == "index")
    else:
        return False
    if len(parts) != 2 or not all(part.op == "index" and _is_number(part.args[1]) for part in parts):
        return False
    places = tuple(part.args[1].args[0] for part in parts)
    (name, other) = (_name(part.args[0]) for part in parts)
    return places == (_FIRST, _AFTER_DOT) and name == other != "" and guess(name) is not None


def _name(node: Expr) -> str:
    return str(node.args[1]) if node.op in ("param", "var", "attr") else str(node.args[0]) if node.op == "name" else ""


def unpacked(target: ast.Tuple | ast.List, value: Expr) -> bool:
    """`major, minor = arch.split("_")[1]`: one of the texts that a split leaves has as many characters as names."""
    if len(target.elts) != 2 or not _is_piece(value):
        return False
    parts = [guess(one.id) if isinstance(one, ast.Name) else None for one in target.elts]
    asked = [one.lanes[0].part for one in parts if one is not None and isinstance(one.lanes[0], Guess)]
    return asked == ["major", "minor"]


def _is_piece(value: Expr) -> bool:
    """Whether a value is one of the texts that `split` makes of a text."""
    if value.op != "index" or not _is_number(value.args[1]):
        return False
    call = value.args[0]
    return call.op == "call" and call.args[0].op == "attr" and call.args[0].args[1] in ("split", "rsplit")
