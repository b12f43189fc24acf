"""What each branch of a gate does: names used, strings chosen, messages, how it ends."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import dropwhile
from typing import Any

from bwlint.chips import frameworks
from bwlint.model.expr import Expr, Span
from bwlint.model.facts import Prose, Side, Use
from bwlint.model.kinds import ASSERTED, ATTEMPTED, LEAVING, NUMBER, REFUSING, Ends, How
from bwlint.readers.nodes import below, children
from bwlint.readers.python.given import arguments, deciding
from bwlint.readers.skim import parsed
from bwlint.readers.spans import span

MAX_USES = 80
_NODES_A_USE = 40
_TEST = ("test_", "Test")
"""How that begins which runs by being there."""
MAX_DEPTH = 100
SKIPS = frozenset({"skip", "skipTest", "SkipTest", "xfail"})
_AWAITS_ERROR = frozenset({"raises", "assertRaises", "assertRaisesRegex", "suppress"})
"""What is around a block that is there to fail."""
_IMPORTING = frozenset({"importorskip", "import_module"})
_DOTS = (ast.Attribute, ast.Subscript)
_AMOUNTS = frozenset({"numel", "shape", "size", "len"})
_RUNNERS = frozenset({"spawn", "start_processes", "Process", "Thread", "submit", "starmap", "apply_async"})
"""What runs the function that it is handed."""
_CALLED = ".__call__"
_OF_OTHERS = re.compile(r"(?i)(?:^|[_.])(?:rocm|hip|amd|xpu|npu|hpu|tpu|musa|mps)(?:[_.]|$)")
"""Parts of the names of tests by which a device of another maker is asked for."""
_EXITS = frozenset({"exit", "_exit", "quit", "SystemExit"})
SPEAKS = frozenset(
    [
        *("warning", "warn", "warning_once", "warn_once", "info", "info_once", "debug", "debug_once", "error"),
        *("error_once", "print", "log", "critical", "exception", "print_warning_once", "logger_warning", "rank0_log"),
        *("log_info_on_rank0",),
    ]
)
"""Calls that tell somebody something and do nothing."""


def dotted(node: ast.AST) -> str:
    """`a.b.c` of a name or attribute chain; calls inside the chain are looked through; else ""."""
    if isinstance(node, ast.Name):  # most of them
        return node.id
    parts: list[str] = []
    while not isinstance(node, ast.Name):
        if isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        elif isinstance(node, ast.Call):
            node = node.func
        else:
            return ".".join(reversed(parts))
    return ".".join((node.id, *reversed(parts)))


def instances(results: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """The names that hold an instance of one class and no other, and that class by its name."""
    alone = {name: called[0] for name, called in results.items() if len(called) == 1}
    return {name: called for name, called in alone.items() if called.rpartition(".")[2][:1].isupper()}


def called(node: ast.Call) -> ast.expr:
    """What a call calls: of `kernel[grid](x)` the kernel."""
    return node.func.value if isinstance(node.func, ast.Subscript) else node.func


_ALONE = (
    ast.Expr,
    ast.Assign,
    ast.AnnAssign,
    ast.AugAssign,
    ast.Return,
    ast.Raise,
    ast.Assert,
    ast.Import,
    ast.ImportFrom,
)
"""Statements in which no others stand."""
_CLOSED = (*_ALONE, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def statements(
    body: Iterable[ast.stmt], but: Callable[[ast.stmt], object] = lambda _: None, closed: tuple[type, ...] = _ALONE
) -> Iterator[ast.stmt]:
    """All parsed statements of a block, nested blocks included, but for the block that `but` gives of a statement and
    what stands in `closed` ones."""
    waiting = list(body)[::-1]
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, closed):
            continue
        left_out = but(node)
        blocks = [parsed(node), getattr(node, "orelse", ()), getattr(node, "finalbody", ())]
        blocks += [part.body for part in getattr(node, "handlers", None) or getattr(node, "cases", None) or ()]
        for block in reversed(blocks):
            waiting += reversed(block if block is not left_out else ())


def statements_here(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a block and of those within it, but not of definitions within it."""
    return statements(body, closed=_CLOSED)


def ours(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """As `statements`, without what stands in arms for devices of another maker."""
    return statements(body, arm_of_others)


def arm_of_others(node: ast.stmt) -> list[ast.stmt]:
    """The arm of an `if` that is for devices of another maker: `if USE_ROCM: ... else: ...`; mostly there is none."""
    if not isinstance(node, ast.If):
        return []
    denied = isinstance(node.test, ast.UnaryOp) and isinstance(node.test.op, ast.Not)
    named = dotted(node.test.operand if isinstance(node.test, ast.UnaryOp) else node.test)
    return [] if _OF_OTHERS.search(named) is None else node.orelse if denied else node.body


def names_others(node: ast.expr) -> bool:
    """Whether a text within an expression names another maker's devices: `vendors={"amd"}`."""
    texts = (one.value for one in below(node) if isinstance(one, ast.Constant) and isinstance(one.value, str))
    return any(_OF_OTHERS.search(text) for text in texts)


@dataclass(frozen=True, slots=True)
class Imports:
    """Local names and what they were imported as, in a module of `package`.

    `numbers` are names that hold numbers wherever the module sets them: they tell a size and no way to go. `texts` are
    its constants that hold a text, by how that is written.
    """

    names: dict[str, str]
    package: str
    numbers: frozenset[str] = frozenset()
    texts: Mapping[str, str] = field(default_factory=dict)

    def bind(self, local: str, target: str) -> None:
        """Note an import; a name that is imported in two ways stands for itself."""
        known = self.names.get(local)
        self.names[local] = target if known in (None, target) else local

    def absolute(self, node: ast.ImportFrom) -> str:
        """The dotted module that a `from` import names."""
        if not node.level:
            return node.module or ""
        parts = self.package.split(".") if self.package else []
        base = parts[: len(parts) - (node.level - 1)]
        return ".".join([*base, node.module] if node.module else base)

    def brought(self, node: ast.stmt) -> Iterator[tuple[str, str, str | None]]:
        """What an import brings: a local name, the module, and its name there; None for the module itself."""
        if isinstance(node, ast.Import):
            for alias in node.names:
                local = alias.asname or alias.name.partition(".")[0]
                yield local, alias.name if alias.asname else local, None
        elif isinstance(node, ast.ImportFrom):
            module = self.absolute(node)
            yield from ((alias.asname or alias.name, module, alias.name) for alias in node.names)


def imported(node: ast.Assign) -> tuple[str, str] | None:
    """The name and the module of `name = pytest.importorskip("module")`, and of `import_module`."""
    call, target = node.value, node.targets[0]
    if not isinstance(call, ast.Call) or not call.args or not isinstance(target, ast.Name):
        return None
    module = call.args[0].value if isinstance(call.args[0], ast.Constant) else None
    made = dotted(call.func).rpartition(".")[2] in _IMPORTING and isinstance(module, str) and not module.startswith(".")
    return (target.id, str(module)) if made else None


def marks_of_all(node: ast.stmt) -> Sequence[ast.expr]:
    """`pytestmark = ...`: the marks of every test of a file or a class."""
    if not isinstance(node, ast.Assign) or dotted(node.targets[0]) != "pytestmark":
        return ()
    return node.value.elts if isinstance(node.value, (ast.List, ast.Tuple)) else (node.value,)


def target_names(target: ast.expr) -> list[str]:
    """Names that a loop binds."""
    if isinstance(target, ast.Name):
        return [target.id]
    return [e.id for e in target.elts if isinstance(e, ast.Name)] if isinstance(target, (ast.Tuple, ast.List)) else []


def bound_names(body: Iterable[ast.stmt]) -> set[str]:
    names: set[str] = set()
    for node in statements(body):
        targets: list[ast.expr] = []
        if isinstance(node, ast.Assign):
            targets = list(node.targets)
        elif isinstance(node, (ast.AnnAssign, ast.AugAssign, ast.For, ast.AsyncFor)):
            targets = [node.target]
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            targets = [item.optional_vars for item in node.items if item.optional_vars is not None]
        while targets:
            target = targets.pop()
            if isinstance(target, ast.Name):
                names.add(target.id)
            elif isinstance(target, (ast.Tuple, ast.List)):
                targets.extend(target.elts)
            elif isinstance(target, ast.Starred):
                targets.append(target.value)
            elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
                names.add(target.value.id)
    return names


def role_of(target: ast.expr) -> str:
    """What an assignment is to: a dotted name, or the key of `table["key"]`."""
    if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant):
        return str(target.slice.value)
    return dotted(target)


class Collector:
    """Collects uses and texts from statements; `imports` maps a local name to what it was imported as."""

    def __init__(
        self,
        imports: Imports,
        role: str = "",
        most: int = MAX_USES,
        *,
        past_exits: bool = False,
        made: Mapping[str, tuple[str, ...]] | None = None,
        held: Mapping[str, str] | None = None,
    ) -> None:
        """`most` bounds the calls, and the rest. With `past_exits` what follows a check that leaves is as sure as the
        check, unless it asks for a string, as who picks a backend does. `made` are local names and the calls
        whose results they are; of a test that is decided by what names are `held` to be, one arm is looked at.
        """
        self.imports = imports
        self.uses: list[Use] = []
        self._most = most
        self._calls = 0
        self._past_exits = past_exits
        self._results = made or {}
        self._made = instances(self._results)
        self._held = {**imports.texts, **(held or {})}
        self._decide = deciding(held) if held else None
        self.texts: list[Prose] = []
        self._awaiting: set[str] = set()
        self._nodes = self._depth = 0
        self._nested = True
        self._asked = ""
        self._role = role
        self._callee = ""

    def statements(self, body: Iterable[ast.stmt], sure: bool = True, nested: bool = True) -> None:
        """`nested` says whether statements under a further condition are as sure as their surroundings."""
        self._nested = nested
        for statement in body:
            if self._full:
                return
            truth = self._decide(statement.test) if self._decide is not None and isinstance(statement, ast.If) else None
            if truth is not None and isinstance(statement, ast.If):
                taken = statement.body if truth else statement.orelse
                self.statements(taken, sure, nested)
                if leaves(taken):
                    return
                continue
            _STATEMENTS.get(type(statement), Collector._parts)(self, statement, sure)
            if isinstance(statement, ast.If) and self._turns_off(statement):
                sure = False  # what follows is not reached on every path

    @property
    def _full(self) -> bool:
        return self._nodes > self._most * _NODES_A_USE or self._calls > self._most

    def _turns_off(self, node: ast.If) -> bool:
        if not leaves(node.body):
            return False
        if isinstance(node.body[-1], ast.Raise):
            return not self._past_exits and _asks_for_text(node.test)  # a check of arguments picks no way
        return not self._past_exits or _asks_for_text(node.test)

    def _parts(self, node: ast.stmt, sure: bool) -> None:
        for child in children(node):
            if isinstance(child, ast.expr):
                self.expression(child, sure)
        self._role = ""

    def _if(self, node: ast.If, sure: bool) -> None:
        texts, start = len(self.texts), len(self.uses)
        asked_before, asked = self._asked, _held_against(node.test)
        is_last = bool(asked) and asked == asked_before and not node.orelse
        self._asked = ""
        self.statements(node.body, sure, self._nested)
        middle = len(self.uses)
        self._asked = asked
        self.statements(node.orelse, sure, self._nested)
        self._asked = asked_before
        if sure and not self._nested and not is_last:
            then, otherwise = self.uses[start:middle], self.uses[middle:]
            both = _called(then) & _called(otherwise)
            filled = _filled(node)
            kept = _fails(node.orelse) or filled is node.body or _is_for_some(node.test)
            then = then if kept else [_doubted(use, both) for use in then]
            kept = _fails(node.body) or filled is node.orelse
            otherwise = otherwise if kept else [_doubted(use, both) for use in otherwise]
            self.uses[start:] = [*then, *otherwise]
        del self.texts[texts:]  # said under a further condition

    def _loop(self, node: ast.For | ast.While | ast.AsyncFor, sure: bool) -> None:
        self.statements(node.body, sure, self._nested)

    def _with(self, node: ast.With | ast.AsyncWith, sure: bool) -> None:
        for item in node.items:
            self.expression(item.context_expr, sure)
        self._tried(node.body, sure, any(self._awaits_error(item.context_expr) for item in node.items))

    def _awaits_error(self, context: ast.expr) -> bool:
        """`pytest.raises(...)`, or a name that may stand for it."""
        return dotted(context).rpartition(".")[2] in _AWAITS_ERROR or dotted(context) in self._awaiting

    def _try(self, node: ast.Try, sure: bool) -> None:
        skips = [handler.type for handler in node.handlers if ending(handler.body) == "skip"]
        self._tried(node.body, sure, any(error is None or not _is_of_imports(error) for error in skips))
        for handler in node.handlers:
            self.statements(handler.body, False, self._nested)

    def _tried(self, body: Sequence[ast.stmt], sure: bool, attempt: bool) -> None:
        """A block, which may be an attempt that is no error where it fails."""
        start = len(self.uses)
        self.statements(body, sure and not attempt, self._nested)
        if attempt:
            self.uses[start:] = [
                replace(use, role=ATTEMPTED) if use.how == "call" else use for use in self.uses[start:]
            ]

    def _definition(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, sure: bool) -> None:
        self._add(node.name, "define", node, sure)
        self.statements(node.body, sure and node.name.startswith(_TEST), self._nested)

    def _import(self, node: ast.Import, sure: bool) -> None:
        for alias in node.names:
            self._add(alias.name, "import", node, sure)

    def _import_from(self, node: ast.ImportFrom, sure: bool) -> None:
        for alias in node.names:
            self._add(f"{self.imports.absolute(node)}.{alias.name}".strip("."), "import", node, sure)

    def _raise(self, node: ast.Raise, sure: bool) -> None:
        self._message(node.exc)

    def _asserted(self, node: ast.expr, sure: bool) -> None:
        """`assert "wgmma" in source`: what a test wants to see."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            self._role, role = ASSERTED, self._role
            self._add(node.value, "text", node, sure)
            self._role = role

    def _assert(self, node: ast.Assert, sure: bool) -> None:
        self._message(node.msg)
        for test in node.test.values if isinstance(node.test, ast.BoolOp) else [node.test]:
            if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.In):
                self._asserted(test.left, sure)
        self.expression(node.test, sure)

    def _alone(self, node: ast.Expr, sure: bool) -> None:
        if not isinstance(node.value, ast.Constant):
            self._parts(node, sure)

    def _assign(self, node: ast.Assign | ast.AnnAssign, sure: bool) -> None:
        self._role = role_of(node.targets[0] if isinstance(node, ast.Assign) else node.target)
        value = node.value
        for one in (value.body, value.orelse) if isinstance(value, ast.IfExp) else (value,):
            if isinstance(one, ast.Call) and self._awaits_error(one):
                self._awaiting.add(self._role)
        self._parts(node, sure)

    def expression(self, node: ast.expr, sure: bool) -> None:
        self._nodes += 1
        if self._full or self._depth > MAX_DEPTH:
            return
        self._depth += 1
        _EXPRESSIONS.get(type(node), Collector._operands)(self, node, sure)
        self._depth -= 1

    def _operands(self, node: ast.expr, sure: bool) -> None:
        for child in children(node):
            inside = isinstance(child, (ast.keyword, ast.comprehension))
            for operand in children(child) if inside else (child,):
                if isinstance(operand, ast.expr):
                    self.expression(operand, sure)

    def _attribute(self, node: ast.Attribute, sure: bool) -> None:
        self._before_dots(node, sure)
        if name := dotted(node):
            self._add(name, "name", node, sure)

    def _before_dots(self, node: ast.expr, sure: bool) -> None:
        """Of `run(x)[0].view` what is called first."""
        while type(node) in _DOTS:
            node = node.value  # type: ignore[attr-defined]
        if type(node) is ast.Call:
            self.expression(node, sure)

    def _name(self, node: ast.Name, sure: bool) -> None:
        if isinstance(node.ctx, ast.Load):
            self._add(node.id, "name", node, sure)

    def _constant(self, node: ast.Constant, sure: bool) -> None:
        if isinstance(node.value, str) and 1 < len(node.value) <= 40 and " " not in node.value:
            self._add(node.value, "text", node, sure)

    def _either(self, node: ast.BoolOp, sure: bool) -> None:
        self.expression(node.values[0], sure)
        for value in node.values[1:]:
            self.expression(value, False)

    def _choice(self, node: ast.List | ast.Set, sure: bool) -> None:
        """Names to choose from are not chosen."""
        for item in node.elts:
            self.expression(item, sure and (len(node.elts) == 1 or isinstance(item, ast.Call)))

    def _item(self, node: ast.Subscript, sure: bool) -> None:
        kept = isinstance(node.ctx, ast.Store) and isinstance(node.slice, ast.Constant)
        for part in (node.value,) if kept else (node.value, node.slice):
            self.expression(part, sure)

    def _record(self, node: ast.Dict, sure: bool) -> None:
        """What is kept under some name is not chosen by it."""
        for value in (*(key for key in node.keys if key and not isinstance(key, ast.Constant)), *node.values):
            self.expression(value, sure)

    def _conditional(self, node: ast.IfExp, sure: bool) -> None:
        truth = self._decide(node.test) if self._decide is not None else None
        if truth is not None:
            self.expression(node.body if truth else node.orelse, sure)
            return
        self.expression(node.body, False)
        self.expression(node.orelse, False)

    def _question(self, node: ast.Compare, sure: bool) -> None:
        """One about a backend is no use of it; what is called for it is."""
        for operand in (node.left, *node.comparators):
            self._before_dots(operand, sure)

    def _call(self, node: ast.Call, sure: bool) -> None:
        name = dotted(called(node))
        last = name.rpartition(".")[2]
        if last in SPEAKS or last in SKIPS:
            self._message(node)
            return
        if isinstance(node.func, ast.Attribute):
            self._before_dots(node.func, sure)
        if isinstance(node.func, ast.Call):
            self._call(node.func, sure)
        elif name:
            self._add(name, "call", node, sure)
        else:
            self.expression(node.func, sure)
        if name and isinstance(node.func, ast.Subscript):
            self.expression(node.func.slice, sure)
        for run in _run_by(node) if last in _RUNNERS else ():
            self._add(dotted(run), "call", run, sure)
        if node.args and self._absolute(name) in frameworks.names("compiles"):
            alone = len(self._results.get(dotted(node.args[0]), ())) <= 1
            for way in _run_of(node.args[0], self._results):
                self._add(way, "call", node.args[0], sure and alone)
        outer = self._role, self._callee
        self._role = self._callee = last
        is_record = last in _ASKS and name.islower()  # `row.get("ratio_over_x")`; a registry is called in capitals
        for argument in node.args[is_record:]:
            self.expression(argument, sure)
        for keyword in node.keywords:
            self._role = keyword.arg or last
            self.expression(keyword.value, sure)
        self._role, self._callee = outer

    def _absolute(self, name: str) -> str:
        root, dot, rest = name.partition(".")
        return self.imports.names.get(root, root) + dot + rest

    def _message(self, node: ast.expr | None) -> None:
        if node is not None and (text := literal_text(node)):
            self.texts.append(Prose(text[:600], of_words(node)))

    def _add(self, name: str, how: How, node: ast.AST, sure: bool) -> None:
        counts = how == "name" and name in self.imports.numbers
        if how == "call" or how == "name":
            root, _, rest = name.partition(".")
            if root in self._made and (rest or how == "call"):
                name = f"{self._made[root]}.{rest or '__call__'}"
            elif how == "call" and not rest and self._results.get(root, ("",))[0].startswith("self."):
                name = self._results[root][0] + _CALLED if len(self._results[root]) == 1 else name
            name = self._absolute(name)
            self._calls += how == "call"
        if how == "call" or how == "import" or len(self.uses) - self._calls < self._most:
            role, callee = (self._role, self._callee) if how == "text" else (NUMBER if counts else "", "")
            given = arguments(node, self._held) if isinstance(node, ast.Call) else ()
            self.uses.append(Use(name, how, span(node), sure=sure, role=role, call=callee, given=given))


_ASKS = frozenset({"get", "pop", "setdefault"})
"""What takes the key of a mapping first."""
_STATEMENTS: dict[type, Callable[[Collector, Any, bool], None]] = {
    ast.If: Collector._if,
    ast.For: Collector._loop,
    ast.AsyncFor: Collector._loop,
    ast.While: Collector._loop,
    ast.With: Collector._with,
    ast.AsyncWith: Collector._with,
    ast.Try: Collector._try,
    ast.FunctionDef: Collector._definition,
    ast.AsyncFunctionDef: Collector._definition,
    ast.ClassDef: Collector._definition,
    ast.Import: Collector._import,
    ast.ImportFrom: Collector._import_from,
    ast.Raise: Collector._raise,
    ast.Assert: Collector._assert,
    ast.Expr: Collector._alone,
    ast.Assign: Collector._assign,
    ast.AnnAssign: Collector._assign,
}
_EXPRESSIONS: dict[type, Callable[[Collector, Any, bool], None]] = {
    ast.Call: Collector._call,
    ast.Attribute: Collector._attribute,
    ast.Name: Collector._name,
    ast.Constant: Collector._constant,
    ast.BoolOp: Collector._either,
    ast.List: Collector._choice,
    ast.Dict: Collector._record,
    ast.Subscript: Collector._item,
    ast.Set: Collector._choice,
    ast.IfExp: Collector._conditional,
    ast.Compare: Collector._question,
}


def _run_by(node: ast.Call) -> Iterator[ast.expr]:
    """The functions that are handed by their names to what runs them."""
    given = [*node.args[:1], *(one.value for one in node.keywords if one.arg in ("target", "fn", "func"))]
    yield from (one for one in given if isinstance(one, (ast.Name, ast.Attribute)))


def _run_of(given: ast.expr, results: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    """What may run of an object that a compiler of kernels makes: the function or method, or its `__call__`."""
    name = dotted(given)
    if isinstance(given, ast.Call):
        yield name + _CALLED
    elif name in results:
        yield from (one + _CALLED for one in results[name] if one)
    elif name:
        yield from (name, name + _CALLED)


def _is_of_imports(error: ast.expr) -> bool:
    """Whether an error says that something is missing, and not that it fails."""
    caught = error.elts if isinstance(error, ast.Tuple) else [error]
    return all(dotted(one) in ("ImportError", "ModuleNotFoundError") for one in caught)


def literal_text(node: ast.expr) -> str:
    """All string pieces below `node`, joined: implicit concatenation, f-strings, arguments of a call."""
    pieces: list[tuple[int, int, str]] = []
    for item in below(node):
        if isinstance(item, ast.Constant) and isinstance(item.value, str):
            pieces.append((item.lineno, item.col_offset, item.value))
    pieces.sort(key=lambda piece: piece[:2])  # before Python 3.12 the parts of a string share its place
    return "".join(text for _, _, text in pieces)


def of_words(node: ast.expr) -> Span:
    """Where the words of a call begin and end: its arguments that have some; of anything else, all of it."""
    given = [*node.args, *(keyword.value for keyword in node.keywords)] if isinstance(node, ast.Call) else []
    told = [span(one) for one in given if literal_text(one)] or [span(node)]
    return Span(*told[0][:2], *told[-1][2:])


def _asks_for_text(test: ast.expr) -> bool:
    """Whether a test compares with a string or with a member of an enum: it picks one of several."""
    compared = (node for node in below(test) if isinstance(node, ast.Compare))
    return any(
        isinstance(one, (ast.List, ast.Tuple, ast.Set))
        or isinstance(getattr(one, "value", None), str)
        or _is_member(one)
        for node in compared
        for one in (node.left, *node.comparators)
    )


def _is_member(node: ast.expr) -> bool:
    """`Kind.FAST` and not `x.ndim`: a member of an enum is written so."""
    return isinstance(node, ast.Attribute) and (node.attr.isupper() or dotted(node.value)[:1].isupper())


def leaves(body: Sequence[ast.stmt]) -> bool:
    """Whether a block ends in a way out."""
    return bool(body) and isinstance(body[-1], (ast.Return, ast.Raise, ast.Continue, ast.Break))


def _filled(node: ast.If) -> list[ast.stmt] | None:
    """The side that is taken the first time, for it fills what the test asks: `if key not in made: made[key] = ...`."""
    test = node.test
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return None
    op, right = test.ops[0], test.comparators[0]
    if isinstance(op, (ast.In, ast.NotIn)):
        side = node.body if isinstance(op, ast.NotIn) else node.orelse
        return (
            side if any(isinstance(one, ast.Subscript) and _same(one.value, right) for one in _targets(side)) else None
        )
    if isinstance(op, (ast.Is, ast.IsNot)) and isinstance(right, ast.Constant) and right.value is None:
        side = node.body if isinstance(op, ast.Is) else node.orelse
        return side if any(_same(one, test.left) for one in _targets(side)) else None
    return None


def _is_for_some(test: ast.expr) -> bool:
    """`x.numel() > 0`, `x.numel()`: who has nothing to work on has no other way."""
    if isinstance(test, ast.Call):
        return dotted(test.func).rpartition(".")[2] in _AMOUNTS
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return all(map(_is_for_some, test.values))
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], (ast.Gt, ast.NotEq)):
        return False
    zero = isinstance(test.comparators[0], ast.Constant) and test.comparators[0].value == 0
    asked = test.left.value if isinstance(test.left, ast.Subscript) else test.left
    return zero and dotted(asked).rpartition(".")[2] in _AMOUNTS


def _targets(body: Iterable[ast.stmt]) -> Iterator[ast.expr]:
    for node in body:
        if isinstance(node, ast.Assign):
            yield from node.targets


def _same(left: ast.expr, right: ast.expr) -> bool:
    return bool(dotted(left)) and dotted(left) == dotted(right)


def _held_against(test: ast.expr) -> str:
    """`self.kernel` of `self.kernel is Wide`: a chain of such tests has an arm for each that it may be."""
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], ast.Is):
        return ""
    return dotted(test.left) if isinstance(test.comparators[0], (ast.Name, ast.Attribute)) else ""


def _called(uses: Sequence[Use]) -> set[str]:
    return {use.name for use in uses if use.sure and use.how == "call"}


def _doubted(use: Use, both: Collection[str]) -> Use:
    """A use in one arm of a test, which is sure only where the other arm has it, too."""
    return use if not use.sure or (use.how == "call" and use.name in both) else replace(use, sure=False)


def _fails(body: Sequence[ast.stmt]) -> bool:
    """Whether a block is there to end in an error: nobody comes past it."""
    return bool(body) and isinstance(body[-1], ast.Raise)


def ending(body: Sequence[ast.stmt]) -> Ends:
    """How a block leaves: raise, skip, exit, return, continue or fall."""
    for node in body:
        if isinstance(node, ast.Raise):
            exc = dotted(node.exc) if node.exc is not None else ""
            last = exc.rpartition(".")[2]
            return "skip" if last in SKIPS else "exit" if last in _EXITS else "raise"
        if isinstance(node, ast.Return):
            return "return"
        if isinstance(node, (ast.Continue, ast.Break)):
            return "continue"
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            last = dotted(node.value.func).rpartition(".")[2]
            if last in SKIPS:
                return "skip"
            if last in _EXITS:
                return "exit"
            if last == "fail":
                return "raise"
            if last == "add_marker" and _is_of_skips(node.value.args[:1]):
                return "skip"
        if isinstance(node, ast.For) and ending(node.body) == "skip":
            return "skip"  # one test after the other
        if isinstance(node, ast.If) and node.orelse:
            first, second = ending(node.body), ending(node.orelse)
            if first != "fall" and second != "fall":
                return second if first == "raise" else first
        if isinstance(node, (ast.With, ast.Try)):
            inner = ending(node.body)
            if inner != "fall":
                return inner
    return "fall"


def _is_of_skips(marks: Sequence[ast.expr]) -> bool:
    """Whether a mark that a test is given skips it: by what it is, or by what the one that has a name is called."""
    return any(word in SKIPS for mark in marks for word in re.split(r"[._]", dotted(mark).lower()))


def is_probe(node: ast.Try) -> bool:
    """Whether a block answers whether something works by trying it: `Op(); return True`, and False of a handler."""
    answers = (getattr(_returned(one.body[-1:]), "value", None) for one in node.handlers)
    if getattr(_returned(node.body[-1:]), "value", None) is not True or False not in answers:
        return False
    calls = (one.value for one in node.body if isinstance(one, (ast.Expr, ast.Assign)))
    return any(isinstance(one, ast.Call) and dotted(one.func).rpartition(".")[2] not in _IMPORTING for one in calls)


def _returned(body: Sequence[ast.stmt]) -> ast.expr | None:
    for node in body:
        if isinstance(node, ast.Return):
            return node.value or ast.Constant(value=None, lineno=node.lineno, col_offset=node.col_offset)
    return None


def _only_literals(body: Sequence[ast.stmt]) -> bool:
    """Assignments of numbers, booleans and tuples of them: tuning, not dispatch."""
    giving = [one for one in body if isinstance(one, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return))]
    values = [one.value for one in giving if one.value is not None]
    return bool(body) and len(values) == len(body) and all(map(_is_number, values))


def _is_number(node: ast.expr) -> bool:
    """A number, or arithmetic, dictionaries and tuples of numbers and names."""
    for item in below(node):
        if isinstance(item, ast.Constant):
            if not isinstance(item.value, (int, float)) or isinstance(item.value, bool):
                return False
        elif isinstance(item, ast.Call):
            last = dotted(item.func).rpartition(".")[2]
            if last not in ("min", "max", "dict", "Config", "len", "int"):
                return False
        elif isinstance(item, (ast.Attribute, ast.Lambda, ast.IfExp, ast.MatMult)):
            return False
    return not isinstance(node, ast.Name)


def block(
    body: Sequence[ast.stmt],
    imports: Imports,
    lower: Callable[[ast.expr], Expr],
    rest: Sequence[ast.stmt] = (),
    asked: str = "",
) -> Side:
    """The side made of `body`, and of `rest` where the other side leaves and this one does not; `asked` is the variable
    that the test asks, which its own branch may take back for other reasons.
    """
    collector = Collector(imports)
    collector.statements(body)
    returned = _returned(body)
    if not body and returned is None:
        returned = _returned(rest[:1])
    collector.statements(rest, nested=False)
    meaningful = [node for node in body if not _is_filler(node)]
    where = span((body or rest)[0]).through(span((rest or body)[-1])) if body or rest else None
    return Side(
        ends=ending(body) if body else _ending_behind(rest),
        at=where,
        value=lower(returned) if returned is not None else _assigned(meaningful, lower),
        uses=tuple(collector.uses),
        texts=tuple(collector.texts),
        empty=not meaningful and not rest,
        tuning=_only_literals(meaningful),
        rest=not body and bool(rest),
        disables=next(filter(None, (_disabled(node, asked) for node in statements(body))), ""),
    )


def _ending_behind(rest: Sequence[ast.stmt]) -> Ends:
    """How what follows leaves: by its first statement, or by an error whose message is put together before."""
    ends = ending([*dropwhile(_is_message, rest)][:1])
    return ends if ends in REFUSING else ending(rest[:1])


def is_one_way(body: Sequence[ast.stmt]) -> bool:
    """Whether a branch leaves with something done or given: one way of several, and no check in front of them."""
    *done, last = body
    if ending(body) not in LEAVING:
        return False
    given = last.value if isinstance(last, ast.Return) else None
    says_no = given is None or (isinstance(given, ast.Constant) and (given.value is None or given.value is False))
    return not says_no or isinstance(last, ast.If) or not all(map(_is_message, done))


def _is_message(node: ast.stmt) -> bool:
    """`msg = f"not on {arch}"`, or a call that says so and goes on."""
    said = isinstance(node, (ast.Assign, ast.Expr)) and literal_text(node.value)
    return bool(said) and ending([node]) == "fall"


def with_chosen(side: Side, blocks: Iterable[Sequence[ast.stmt]], imports: Imports) -> Side:
    """A side with what is done further down for a string that it chooses."""
    collector = Collector(imports)
    for body in blocks:
        collector.statements(body, nested=False)
    return replace(side, uses=(*side.uses, *collector.uses)) if collector.uses else side


def _disabled(node: ast.stmt, asked: str) -> str:
    """What `use_it = False` or `options["fast"] = None` sets, as it is written; "" for other statements."""
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Constant):
        return ""
    if node.value.value is not False and node.value.value is not None:
        return ""
    return next((name for name in map(ast.unparse, node.targets) if name != asked), "")


def _is_filler(node: ast.stmt) -> bool:
    return isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))


def _assigned(body: Sequence[ast.stmt], lower: Callable[[ast.expr], Expr]) -> Expr | None:
    if len(body) == 1 and isinstance(body[0], ast.Assign):
        return lower(body[0].value)
    return None


def expression(node: ast.expr, imports: Imports, value: Expr, role: str) -> Side:
    """The side of a conditional expression with `value`, which is assigned to `role`."""
    collector = Collector(imports, role)
    collector.expression(node, True)
    return Side(
        ends="fall",
        at=span(node),
        value=value,
        uses=tuple(collector.uses),
        texts=tuple(collector.texts),
        tuning=_is_number(node),
    )


def message(node: ast.expr | None, ends: Ends) -> Side:
    """A side that only refuses, with its message."""
    if node is None:
        return Side(ends=ends)
    text = literal_text(node)
    return Side(ends=ends, at=span(node), texts=(Prose(text[:600], of_words(node)),) if text else ())
