"""Questions of Python to the driver about a device's memory that unified memory has no answer to.

Each comes out as an operation of kind memory-query: `name` is a call that raises there (nvmlDeviceGetMemoryInfo), or a
column of nvidia-smi (memory.total) or of its table (Memory-Usage) whose text is read as a number. One that is `checked`
is expected to fail, and then the whole device is given up.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeGuard

from bwlint.chips.products import memory_queries
from bwlint.model.facts import Operation
from bwlint.readers.nodes import below, whole
from bwlint.readers.python import answers
from bwlint.readers.python.sides import dotted
from bwlint.readers.spans import span

(_TABLE,) = memory_queries("table")
_CALLS = memory_queries("call")
_COLUMNS = re.compile("|".join(rf"(?<![\w.]){re.escape(name)}(?![\w.])" for name in sorted(memory_queries("column"))))
_QUERY = re.compile(r"(?:--query-gpu=|--format=|--id=|nvidia-smi|[\w.,= -])*")
_CALL_BYTES = tuple(name.encode() for name in sorted(_CALLS))
_READS = frozenset({"int", "float"})
_LOOKS = frozenset(
    {"isdigit", "isnumeric", "isdecimal", "match", "fullmatch", "search", "findall", "finditer", "to_numeric"}
)
_ASKS = frozenset({"get", "pop", "setdefault"})
_UNKNOWN = re.compile(r"N/A|not.?supported|unified|integrated|gb10|spark", re.I)
_SHARED = re.compile(r"unified|integrated|gb10|spark", re.I)
_OF_DEVICE = frozenset({"nvmlDeviceGetCount", "nvmlDeviceGetName", "nvmlDeviceGetUUID"})
_PASSES = frozenset(
    {
        *("ImportError", "ModuleNotFoundError", "FileNotFoundError", "KeyboardInterrupt", "TimeoutExpired"),
        *("CalledProcessError", "OSError"),
    }
)
"""Errors of other kinds than a refusal, and than that of a text."""
_OF_PARTS = frozenset({"IndexError", "KeyError", "AttributeError"})
"""Errors of a text that has no such part: no refusal, nor what a text is that is no number."""
_LONGEST = 200
_ROUNDS = 3

_NOTHING = frozenset(
    {"return", "return None", "return []", "return {}", "return False", "return 0", "return (None, None)"}
)
_OFF = " = False"
_WAYS = (ast.If, ast.Match, ast.Try, ast.Return, ast.Continue, ast.Break)
_Function = ast.FunctionDef | ast.AsyncFunctionDef


ANCHORS = (*_CALL_BYTES, b"nvidia-smi")


def may_hold(data: bytes) -> bool:
    """The prefilter: whether a file may ask for the memory of a device."""
    return any(name in data for name in ANCHORS)


def operations(tree: ast.Module, source: str) -> Iterator[Operation]:
    """The questions of a parsed file to which nobody expects a refusal, one a function."""
    kept = {dotted(node.targets[0]): node.value for node in tree.body if isinstance(node, ast.Assign)}
    places = list(_places(tree.body, "", kept))
    places.append(_Asking(ast.Module([node for node in tree.body if not _is_definition(node)], []), "<module>"))
    asked, bindings = _asked_for(places) if "nvidia-smi" in source else None, _bindings(tree)
    for place in places:
        at = place.called(bindings) or (place.read_as_number(asked) if asked is not None else None)
        expected = at is None or place.knows or _expected(place, places)
        if expected:
            at = _given_up(place, places, bindings) or (place.left_out(asked) if asked is not None else None)
        if at is None or place.name in _CALLS:
            continue
        last = dotted(at.func).rpartition(".")[2] if isinstance(at, ast.Call) else ""
        called = bindings.get(last, last)
        name = called if called in _CALLS else _column(at) or _TABLE
        yield Operation("memory-query", name, span(at), qualname=place.qualname, checked=expected)


def guarded(source: str, name: str) -> list[bool]:
    """Whether a refusal is caught around each call of a function in another file's text."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return [False]
    places = [*_places(tree.body, "", {}), _Asking(tree, "<module>")]
    calls = {id(call): id(call) in place.guarded for place in reversed(places) for call in place.calls_of(name)}
    return list(calls.values())


def _bindings(tree: ast.Module) -> Mapping[str, str]:
    """What a file calls its binding of NVML, and what it takes of it."""
    return {
        name.asname or name.name: name.name
        for node in whole(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in node.names
        if "nvml" in name.name
    }


def _asked_for(places: Sequence[_Asking]) -> frozenset[str] | None:
    """The columns that a file asks nvidia-smi for; None where it does not run that (own keys and docstrings do not)."""
    nodes = [node for place in places for node in place.nodes]
    aside = {id(one) for node in nodes for one in _keys(node)}
    texts = [one for one in nodes if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    words = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    if not any("nvidia-smi" in str(one.value) for one in texts if id(one) not in words):
        return None
    return frozenset(_column(one) for one in texts if id(one) not in aside) - {""}


def _keys(node: ast.AST) -> Sequence[ast.expr | None]:
    """What a mapping is asked for, or made of."""
    if isinstance(node, ast.Subscript):
        return (node.slice,)
    if isinstance(node, ast.Dict):
        return node.keys
    is_get = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _ASKS
    return node.args[:1] if is_get and isinstance(node, ast.Call) else ()


def _is_definition(node: ast.stmt) -> bool:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)


def _places(body: Sequence[ast.stmt], prefix: str, kept: Mapping[str, ast.expr]) -> Iterator[_Asking]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield _Asking(node, prefix + node.name, kept)
        elif isinstance(node, ast.ClassDef):
            yield from _places(node.body, f"{prefix}{node.name}.", kept)


@dataclass(frozen=True)
class _Asking:
    """A function, or what a module does itself; `kept` is what the module keeps under names."""

    node: _Function | ast.Module
    qualname: str
    kept: Mapping[str, ast.expr] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.qualname.rpartition(".")[2]

    @cached_property
    def nodes(self) -> list[ast.AST]:
        found = below(self.node)
        named = {one.id for one in found if isinstance(one, ast.Name)} if self.kept else frozenset[str]()
        return [*found, *(one for name in sorted(named & self.kept.keys()) for one in below(self.kept[name]))]

    @cached_property
    def guarded(self) -> frozenset[int]:
        """The nodes that stand where a refusal is caught."""
        found = set[int]()
        for node in self.nodes:
            if _expects_refusal(node):
                found.update(id(one) for part in node.body for one in below(part))
        return frozenset(found)

    @cached_property
    def given_up(self) -> frozenset[int]:
        """The nodes that stand where a refusal loses more than the amount."""
        tries = [node for node in self.nodes if isinstance(node, ast.Try) and _gives_up(node, self.nodes)]
        return frozenset(id(one) for node in tries for part in node.body for one in below(part))

    def asks(self, bindings: Mapping[str, str]) -> Iterator[ast.Call]:
        """The calls that raise; libraries of others have names of NVML too."""
        for one in self._calls({*_CALLS, *(name for name, given in bindings.items() if given in _CALLS)}):
            owner = dotted(one.func).rpartition(".")[0]
            if not owner or owner in bindings or "nvml" in owner.lower():
                yield one

    def called(self, bindings: Mapping[str, str]) -> ast.expr | None:
        """The first call that raises and is not guarded."""
        return next((one for one in self.asks(bindings) if id(one) not in self.guarded), None)

    def left_out(self, asked: frozenset[str]) -> ast.expr | None:
        """The question to nvidia-smi of whose answer a row is skipped that has no number for the memory."""
        skips = self.tried is not None and self.tried[1] and not any(_SHARED.search(word) for word in _said(self.nodes))
        return self.column(asked) if skips else None

    def column(self, asked: frozenset[str]) -> ast.expr | None:
        return next((one for one in self.nodes if isinstance(one, ast.Constant) and _column(one) in asked), None)

    def read_as_number(self, asked: frozenset[str]) -> ast.expr | None:
        """The question to nvidia-smi whose answer is read as a number, with no look at it."""
        reads = (one for one in self._calls(_READS) if id(one) not in self.guarded)
        column = self.column(asked)
        if column is not None and any(True for _ in reads) and not any(True for _ in self._calls(_LOOKS)):
            return column
        return (column or self.tried[0]) if self.tried is not None and self.tried[1] is None else None

    @cached_property
    def tried(self) -> tuple[ast.expr, bool | None] | None:
        """What becomes of nvidia-smi's answer."""
        if not any("nvidia-smi" in word for word in _said(self.nodes)):
            return None
        caught = dict[int, bool]()
        for node in self.nodes:
            takes = [one for one in node.handlers if _catches(one, _PASSES)] if isinstance(node, ast.Try) else []
            if takes and isinstance(node, ast.Try):
                skips = isinstance(takes[0].body[-1], ast.Continue)
                caught.update((id(one), skips) for part in node.body for one in below(part))
        return answers.failing(self.node, self.kept, caught)

    @cached_property
    def knows(self) -> bool:
        """Whether it speaks of devices that give no answer."""
        return any(_UNKNOWN.search(word) for word in _said(self.nodes))

    def calls_of(self, name: str) -> Iterator[ast.Call]:
        return self._calls(frozenset({name}))

    def _calls(self, names: Collection[str]) -> Iterator[ast.Call]:
        for node in self.nodes:
            if isinstance(node, ast.Call) and dotted(node.func).rpartition(".")[2] in names:
                yield node


def _expected(place: _Asking, places: Sequence[_Asking], rounds: int = _ROUNDS) -> bool:
    """Whether all who call a function in its file catch a refusal."""
    callers = [(other, call) for other in places if other is not place for call in other.calls_of(place.name)]
    if not callers or not rounds:
        return False
    return all(id(call) in other.guarded or _expected(other, places, rounds - 1) for other, call in callers)


def _given_up(place: _Asking, places: Sequence[_Asking], bindings: Mapping[str, str]) -> ast.expr | None:
    """The question of a function whose refusal makes it, or one that calls it, do without the device."""
    at = next(place.asks(bindings), None)
    if at is None or place.knows:
        return None
    callers = ((other, call) for other in places if other is not place for call in other.calls_of(place.name))
    given_up = id(at) in place.given_up or any(id(call) in other.given_up for other, call in callers)
    return at if given_up else None


def _gives_up(node: ast.Try, nodes: Sequence[ast.AST]) -> bool:
    """Whether a handler switches something off for good, or ends with nothing what asks for devices too."""
    inside = [one for handler in node.handlers if _catches(handler) for one in below(handler)]
    for text in (ast.unparse(one) for one in inside if isinstance(one, ast.Assign)):
        if text.startswith("self.") and text.endswith(_OFF):
            on = text.removesuffix(_OFF) + " = True"
            return not any(isinstance(one, ast.Assign) and ast.unparse(one) == on for one in nodes)
    returned = {ast.unparse(one) for one in inside if isinstance(one, ast.Return)}
    return (
        bool(returned) and returned <= _NOTHING and not _OF_DEVICE.isdisjoint(_said(below(ast.Module(node.body, []))))
    )


def _expects_refusal(node: ast.AST) -> TypeGuard[ast.Try | ast.With]:
    if isinstance(node, ast.Try):
        return any(map(_catches, node.handlers))
    return isinstance(node, ast.With) and any(map(_suppresses, node.items))


def _catches(handler: ast.ExceptHandler, passes: frozenset[str] = _PASSES | _OF_PARTS) -> bool:
    """Whether a refusal ends here: it does not where all that follows is another error."""
    if isinstance(handler.body[-1], ast.Raise) and not any(isinstance(one, _WAYS) for one in below(handler)):
        return False
    if handler.type is None:
        return True
    types = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(dotted(one).rpartition(".")[2] not in passes for one in types)


def _suppresses(item: ast.withitem) -> bool:
    call = item.context_expr
    return isinstance(call, ast.Call) and dotted(call.func).rpartition(".")[2] in ("suppress", "raises")


def _column(node: ast.expr) -> str:
    """The first column that a text asks nvidia-smi for; "" for a sentence that names one."""
    text = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
    if len(text) > _LONGEST or (" " in text and "--query" not in text) or not _QUERY.fullmatch(text):
        return ""
    found = _COLUMNS.search(text)
    return found[0] if found else ""


def _said(nodes: Sequence[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
