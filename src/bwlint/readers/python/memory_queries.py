"""Python memory queries that have no answer on unified memory.

Each comes out as an operation of kind memory-query: `name` is a call that raises there (nvmlDeviceGetMemoryInfo), or a
column of nvidia-smi (memory.total) or of its table (Memory-Usage) whose text is read as a number. One that is `checked`
is expected to fail, and then the whole device is given up.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, TypeGuard, cast

from bwlint.chips.products import memory_queries, no_answer
from bwlint.evaluate.interpreter import Interpreter
from bwlint.evaluate.objects import EvaluationFrame, OutsideNames
from bwlint.evaluate.sources import Sources, printed_columns
from bwlint.evaluate.values import Raises, Unknown, Vec
from bwlint.model.expr import Expr
from bwlint.model.facts import Module, Operation
from bwlint.readers.nodes import AnyFunction, below, children, functions, text_of, whole
from bwlint.readers.python.lower import Lowerer
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


ANCHORS = (*_CALL_BYTES, b"nvidia-smi")


def may_hold(data: bytes) -> bool:
    """The prefilter: whether a file may ask for the memory of a device."""
    return any(name in data for name in ANCHORS)


def operations(tree: ast.Module, source: str) -> Iterator[Operation]:
    """The questions of a parsed file to which nobody expects a refusal, one a function."""
    kept = {dotted(node.targets[0]): node.value for node in tree.body if isinstance(node, ast.Assign)}
    places = [_Asking(function, qualname, kept) for function, qualname, _ in functions(tree.body)]
    own = [node for node in tree.body if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))]
    places.append(_Asking(ast.Module(own, []), "<module>"))
    asked, bindings = _asked_for(places) if "nvidia-smi" in source else None, _bindings(tree)
    is_probed = any(place.probes(bindings) for place in places)
    for place in places:
        raises = None if is_probed else place.called(bindings)
        at = raises or (place.read_as_number(asked) if asked is not None else None)
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
    places = [*(_Asking(one, qualname) for one, qualname, _ in functions(tree.body)), _Asking(tree, "<module>")]
    calls = {id(call): id(call) in place.guarded for place in reversed(places) for call in place.calls_of(name)}
    return list(calls.values())


def _bindings(tree: ast.Module) -> Mapping[str, str]:
    """What a file calls its binding of NVML, and what it takes of it."""
    return {
        name.asname or name.name: name.name
        for node in whole(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom))
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


@dataclass(frozen=True)
class _Asking:
    """A function, or what a module does itself; `kept` is what the module keeps under names."""

    node: AnyFunction | ast.Module
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

    def probes(self, bindings: Mapping[str, str]) -> bool:
        """Whether it asks under a handler and drops the answer: to see whether the question is refused."""
        dropped = {id(node.value) for node in self.nodes if isinstance(node, ast.Expr)}
        return any(id(one) in dropped & self.guarded for one in self.asks(bindings))

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
        return failing(self.node, self.kept, caught)

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
    text = text_of(node)
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


_ROW = "| 30%   45C    P8    12W / 350W | {:>19} |   3%   Default |"
_ANSWERS = (("1024MiB / 24576MiB", "1024 MiB"), (no_answer("table"), no_answer("column")))
"""In the table and as a column, of a card with memory of its own and of one without."""
_GREPPED = re.compile(r"nvidia-smi(?:\s*\|\s*grep\s+['\"]?([\w%/]+)['\"]?)?")


def failing(
    block: ast.AST, kept: Mapping[str, ast.expr], caught: Mapping[int, bool]
) -> tuple[ast.expr, bool | None] | None:
    """The first expression that tells one answer from the other, with whether the row is left out (None: error)."""
    trials = [_AnswerTrial(partial(_printed, answers)) for answers in _ANSWERS]
    for name, value in kept.items():
        for trial in trials:
            trial.bind(ast.Name(name), trial.value(value))
    for node in sorted((one for one in below(block) if isinstance(one, ast.stmt)), key=lambda one: one.lineno):
        heads = [one for one in children(node) if isinstance(one, (ast.expr, ast.withitem))]
        parts = [one for head in heads for one in below(head) if isinstance(one, ast.expr)]
        if test := next((one for one in _tests(node, parts) if _tells_apart(one, trials)), None):
            skips = isinstance(node, ast.If) and isinstance(node.body[-1], ast.Continue)
            return test, skips and trials[1].value(test) is True
        for part in reversed(parts):
            if _fails(part, trials):
                return part, caught.get(id(part))
        for target, given in _given(node):
            values = _values(given, trials)
            values = _differing(*values) if isinstance(node, ast.For) else values
            if [trial.bind(target, value) for trial, value in zip(trials, values, strict=True)] == [True, False]:
                return given, caught.get(id(given))
    return None


def _printed(answers: tuple[str, str], command: str) -> Vec | None:
    in_table, in_column = answers
    if table := _GREPPED.fullmatch(command):
        row = _ROW.format(in_table)
        return Vec((row if re.search(table[1] or "", row) else "",))
    memory = Vec((in_column.removesuffix(" MiB") if "nounits" in command else in_column,))
    return printed_columns(command, dict.fromkeys(memory_queries("column"), memory))


class _Nobody:
    """Knows no name outside of a block."""

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *_, **__: None


class _AnswerTrial:
    """The names of a block where commands print one of their answers."""

    def __init__(self, prints: Callable[[str], Vec | None]) -> None:
        self._lowerer = Lowerer([])
        self._run = Interpreter(cast(OutsideNames, _Nobody()), Sources(prints=prints))

    def value(self, node: ast.expr) -> Any:
        found = self._lowerer.lower(node)
        self._run.start()
        module = Module(path="", language="python", slots=tuple(self._lowerer.slots))
        return self._run.evaluate(found, EvaluationFrame(module)).only()

    def bind(self, target: ast.expr, value: Any) -> bool:
        """Names take their parts of a value: whether it has as many."""
        if isinstance(target, ast.Name):
            self._lowerer.scope.env[target.id] = Expr("known", (Vec((value,)),))
        if not isinstance(target, (ast.Tuple, ast.List)):
            return True
        fits = isinstance(value, (list, tuple, str)) and len(value) == len(target.elts)
        parts = value if fits else [Unknown()] * len(target.elts)
        bound = [self.bind(one, part) for one, part in zip(target.elts, parts, strict=True)]
        return fits and all(bound)


def _values(node: ast.expr, trials: Sequence[_AnswerTrial]) -> tuple[Any, Any]:
    having, lacking = (trial.value(node) for trial in trials)
    return having, lacking


def _is_known(value: Any) -> bool:
    return all(map(_is_known, value)) if isinstance(value, (list, tuple)) else not isinstance(value, (Unknown, Raises))


def _fails(node: ast.expr, trials: Sequence[_AnswerTrial]) -> bool:
    if not isinstance(node, (ast.Call, ast.Subscript, ast.ListComp, ast.GeneratorExp)):
        return False
    having, lacking = _values(node, trials)
    if isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice):
        rows, none = _values(node.value, trials)
        if rows and isinstance(rows, list) and none == []:
            return True
    return _is_known(having) and not _is_known(lacking)


def _tests(node: ast.stmt, parts: Sequence[ast.expr]) -> Iterator[ast.expr]:
    if isinstance(node, (ast.If, ast.While, ast.Assert)):
        yield node.test
    for one in parts:
        yield from [one.test] if isinstance(one, ast.IfExp) else one.values[:-1] if isinstance(one, ast.BoolOp) else []


def _tells_apart(test: ast.expr, trials: Sequence[_AnswerTrial]) -> bool:
    """Whether a test has another answer on each, or one that is not known of what is another."""
    having, lacking = _values(test, trials)
    if _is_known(having) or _is_known(lacking):
        return _is_known(lacking) and bool(having) != bool(lacking)
    inner = [one for one in below(test) if isinstance(one, (ast.Name, ast.Call, ast.Subscript))]
    pairs = [pair for pair in (_values(one, trials) for one in inner) if _is_known(pair[0])]
    return any(one != other for one, other in pairs) and all(_is_known(other) for _, other in pairs)


def _given(node: ast.stmt) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The targets of a statement, and what they take."""
    match node:
        case ast.Assign([target], value) | ast.AnnAssign(target, _, ast.expr() as value):
            yield target, value
        case ast.With(items) | ast.AsyncWith(items):
            yield from ((one.optional_vars, one.context_expr) for one in items if one.optional_vars is not None)
        case ast.For(ast.Tuple([_, target]), ast.Call(ast.Name("enumerate"), [rows, *_])) | ast.For(target, rows):
            yield target, rows


def _differing(having: Any, lacking: Any) -> tuple[Any, Any]:
    """The row of an answer that is another on each; a process gives lines."""
    if isinstance(having, str) and isinstance(lacking, str):
        having, lacking = having.splitlines(), lacking.splitlines()
    alike = isinstance(having, list) and isinstance(lacking, list) and len(having) == len(lacking)
    pairs = zip(having, lacking, strict=True) if alike else ()
    return next((pair for pair in pairs if pair[0] != pair[1]), (Unknown(), Unknown()))
