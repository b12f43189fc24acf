"""Code that handles a capability as text: orders it, or slices its characters.

`cc[0] + cc[2]` of "8.6", `arch[:2]` of "86", `arch < "80"`: what fits numbers of one digit and no others. An expression
comes out as it is, to be evaluated; a tuple of one value is a text of which each name takes one character, a call of
`int` one of which a part is a number.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import partial

from bwlint.chips.digits import Misread, misread
from bwlint.evaluate.names import guess
from bwlint.evaluate.values import Guess
from bwlint.model.expr import Expr, is_text, walk
from bwlint.readers.python.vocabulary import arch_text

_ORDER = frozenset({"<", "<=", ">", ">="})
OF_AMD = "gfx"
"""What names of architectures begin with that have no major and minor like these."""
_PREFIX = len("sm_")
_TEXTS = frozenset({"replace", "removeprefix", "removesuffix", "strip", "lstrip", "rstrip", "lower", "upper", "join"})
_NUMBER_PLACES = frozenset(
    {(_PREFIX,), (_PREFIX + 1,), (_PREFIX, _PREFIX + 1, None), (_PREFIX, _PREFIX + 2, None), (-2, None, None)}
)
"""Of "sm_90" its major, its minor, its number; as an index, and as a slice without a step."""


def by_place(found: Expr) -> bool:
    """Whether an expression may order a text, or takes a part of something by numbers."""
    if found.op == "cmp":
        return found.args[0] in _ORDER and any(is_text(one) and arch_text(one.args[0]) for one in found.args[1])
    if found.op == "index":
        return _is_number(found.args[1])
    return found.op == "slice" and any(map(_is_number, found.args[1:3]))


def _is_number(node: Expr) -> bool:
    return node.op == "const" and type(node.args[0]) is int


def by_spelling(found: Expr) -> Misread | None:
    """`cc[0] + cc[2]`, `f"{arch[0]}.{arch[1:]}"`: nobody takes these of a pair of numbers, so this is a text."""
    parts = tuple(_parts(found))
    pieces = [one for one in parts if one.op in ("index", "slice")]
    places = [place.args[0] for one in pieces for place in one.args[1:] if place.op == "const"]
    of_pair = all(one.op == "index" for one in pieces) and set(places) <= {0, 1}
    names = {_name(one.args[0]) for one in pieces}
    if len(pieces) < 2 or of_pair or len(names) != 1 or guess(*names) is None:
        return None
    plain = all(place is None or type(place) is int for place in places)
    fixed = (place.op == "const" for one in pieces for place in one.args[1:])
    known = plain and all(fixed) and all(one.op == "const" or one in pieces for one in parts)
    return misread(partial(_joined, parts)) if known else None


def _parts(found: Expr) -> Iterator[Expr]:
    """What is put together to a text."""
    if found.op == "bin" and found.args[0] == "+":
        yield from (part for side in found.args[1:] for part in _parts(side))
    else:
        yield from found.args[0] if found.op == "fstr" else (found,)


def _joined(parts: Iterable[Expr], text: str) -> str | None:
    try:
        return "".join(str(one.args[0]) if one.op == "const" else str(_piece(one, text)) for one in parts)
    except IndexError:
        return None


def _piece(one: Expr, text: str) -> str:
    places = [place.args[0] for place in one.args[1:]]
    return text[slice(*places)] if one.op == "slice" else text[places[0]]


def by_join(call: ast.Call, arguments: tuple[Expr, ...]) -> Misread | None:
    """`".".join(arch)` of what somebody hands over as a text."""
    sign = call.func.value if isinstance(call.func, ast.Attribute) and call.func.attr == "join" else None
    is_text = len(arguments) == 1 and (arguments[0].op == "param" and guess(_name(arguments[0])) is not None)
    return misread(".".join) if is_text and isinstance(sign, ast.Constant) and sign.value == "." else None


def _name(node: Expr) -> str:
    return str(node.args[1]) if node.op in ("param", "var", "attr") else str(node.args[0]) if node.op == "name" else ""


def unpacked(target: ast.Tuple | ast.List, value: Expr) -> Expr | None:
    """The text of which each name takes one character: `major, minor = str(sm)`, `[int(c) for c in arch[3:]]`."""
    parts = [guess(one.id) if isinstance(one, ast.Name) else None for one in target.elts]
    asked = [one.lanes[0].part for one in parts if one is not None and isinstance(one.lanes[0], Guess)]
    if len(target.elts) != 2 or asked != ["major", "minor"]:
        return None
    text = _spread(value)
    if _is_piece(text) or text.op == "var":
        return text
    return text if _is_text(text) and any(guess(_name(node)) is not None for node in walk(text)) else None


def _spread(value: Expr) -> Expr:
    """What is taken apart where each part is turned into something: of `map(int, text)` the text."""
    if value.op == "comp" and len(value.args[2]) == 1 and not value.args[4]:
        return _spread(value.args[3])
    called = value.args[0] if value.op == "call" else None
    name = called.args[0] if called is not None and called.op == "name" else ""
    if name in ("map", "list", "tuple") and value.args[1]:
        return _spread(value.args[1][-1])
    return value


def _is_text(value: Expr) -> bool:
    if value.op == "slice":
        return value.args[1].args == (_PREFIX,) or _is_text(value.args[0])
    if value.op != "call":
        return value.op == "fstr"
    function = value.args[0]
    return function.args[-1] == "str" if function.op == "name" else function.op == "attr" and function.args[1] in _TEXTS


def number_of_part(call: Expr) -> bool:
    """`int(arch[3:5])`: a number of characters of what is called like a capability, no pair and nothing split."""
    function, arguments = call.args
    if function.op != "name" or function.args[0] != "int" or len(arguments) != 1:
        return False
    part = arguments[0]
    if part.op not in ("index", "slice") or guess(_name(part.args[0])) is None:
        return False
    places = tuple(one.args[0] if one.op == "const" else ... for one in part.args[1:])
    return places in _NUMBER_PLACES


def asks_length(tests: Iterable[Expr]) -> bool:
    """Whether somebody has asked how long a text is."""
    calls = (node.args[0] for node in walk(tuple(tests)) if node.op == "call")
    return any(function.op == "name" and function.args[0] == "len" for function in calls)


def _is_piece(value: Expr) -> bool:
    """Whether a value is one of the texts that `split` makes of a text."""
    if value.op != "index" or not _is_number(value.args[1]):
        return False
    call = value.args[0]
    return call.op == "call" and call.args[0].op == "attr" and call.args[0].args[1] in ("split", "rsplit")
