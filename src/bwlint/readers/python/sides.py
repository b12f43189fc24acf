"""What the ways out of a gate do: names used, strings chosen, messages shown, how they end."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from bwlint.model.expr import Expr, Span
from bwlint.model.facts import Ends, How, Prose, Side, Use

MAX_USES = 80
_NODES_A_USE = 40
MAX_DEPTH = 100
SKIPS = frozenset({"skip", "skipTest", "SkipTest", "importorskip", "xfail"})
_EXITS = frozenset({"exit", "_exit", "quit", "SystemExit"})
_SPEAKS = frozenset(
    [
        "warning",
        "warn",
        "warning_once",
        "warn_once",
        "info",
        "info_once",
        "debug",
        "debug_once",
        "error",
        "error_once",
        "print",
        "log",
        "critical",
        "exception",
        "print_warning_once",
        "logger_warning",
        "rank0_log",
        "log_info_on_rank0",
    ]
)


def span(node: ast.AST) -> Span:
    return Span(node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]


def dotted(node: ast.AST) -> str:
    """`a.b.c` of a name or attribute chain; calls inside the chain are looked through; else ""."""
    parts: list[str] = []
    while True:
        if isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        elif isinstance(node, ast.Call):
            node = node.func
        elif isinstance(node, ast.Name):
            parts.append(node.id)
            return ".".join(reversed(parts))
        else:
            return ".".join(reversed(parts)) if parts else ""


def statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """All statements of a block, nested blocks included, expressions left alone: far fewer than `ast.walk`."""
    for node in body:
        yield node
        for name in ("body", "orelse", "finalbody"):
            inner = getattr(node, name, None)
            if inner:
                yield from statements(inner)
        for part in getattr(node, "handlers", None) or getattr(node, "cases", None) or ():
            yield from statements(part.body)


@dataclass(frozen=True, slots=True)
class Imports:
    """Local names and what they were imported as, in a module of `package`."""

    names: dict[str, str]
    package: str

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


def target_names(target: ast.expr) -> list[str]:
    """Names that a loop binds."""
    if isinstance(target, ast.Name):
        return [target.id]
    return [e.id for e in target.elts if isinstance(e, ast.Name)] if isinstance(target, ast.Tuple | ast.List) else []


def bound_names(body: Iterable[ast.stmt]) -> set[str]:
    """Names that a block assigns by statements."""
    names: set[str] = set()
    for node in statements(body):
        targets: list[ast.expr] = []
        if isinstance(node, ast.Assign):
            targets = list(node.targets)
        elif isinstance(node, ast.AnnAssign | ast.AugAssign | ast.For | ast.AsyncFor):
            targets = [node.target]
        elif isinstance(node, ast.With | ast.AsyncWith):
            targets = [item.optional_vars for item in node.items if item.optional_vars is not None]
        while targets:
            target = targets.pop()
            if isinstance(target, ast.Name):
                names.add(target.id)
            elif isinstance(target, ast.Tuple | ast.List):
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
        made: Mapping[str, str] | None = None,
    ) -> None:
        """`most` bounds the calls, and the rest. With `past_exits` what follows a check that leaves is as sure as the
        check, unless it asks for a string, as who picks a backend does. `made` are local names and what they are
        instances of.
        """
        self.imports = imports
        self.uses: list[Use] = []
        self._most = most
        self._calls = 0
        self._past_exits = past_exits
        self._made = made or {}
        self.texts: list[Prose] = []
        self._nodes = self._depth = 0
        self._nested = True
        self._role = role
        self._callee = ""

    def statements(self, body: Iterable[ast.stmt], sure: bool = True, nested: bool = True) -> None:
        """`nested` says whether statements under a further condition are as sure as their surroundings."""
        self._nested = nested
        for statement in body:
            if self._full:
                return
            self._statement(statement, sure)
            if isinstance(statement, ast.If) and self._turns_off(statement):
                sure = False  # what follows is not reached on every path

    @property
    def _full(self) -> bool:
        return self._nodes > self._most * _NODES_A_USE or self._calls > self._most

    def _turns_off(self, node: ast.If) -> bool:
        if not _leaves(node.body):
            return False
        return not self._past_exits or (not isinstance(node.body[-1], ast.Raise) and _asks_for_text(node.test))

    def _statement(self, node: ast.stmt, sure: bool) -> None:
        if isinstance(node, ast.If):
            inner, texts = sure and self._nested, len(self.texts)
            self.statements(node.body, inner, self._nested)
            self.statements(node.orelse, inner, self._nested)
            del self.texts[texts:]  # said under a further condition
        elif isinstance(node, ast.For | ast.While | ast.AsyncFor):
            self.statements(node.body, sure, self._nested)
        elif isinstance(node, ast.With | ast.AsyncWith):
            for item in node.items:
                self.expression(item.context_expr, sure)
            self.statements(node.body, sure, self._nested)
        elif isinstance(node, ast.Try):
            self.statements(node.body, sure, self._nested)
            for handler in node.handlers:
                self.statements(handler.body, False, self._nested)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            self._add(node.name, "define", node, sure)
            self.statements(node.body, False, self._nested)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                self._add(alias.name, "import", node, sure)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                self._add(f"{self.imports.absolute(node)}.{alias.name}".strip("."), "import", node, sure)
        elif isinstance(node, ast.Raise):
            if node.exc is not None:
                self._message(node.exc)
        elif isinstance(node, ast.Assert):
            if node.msg is not None:
                self._message(node.msg)
            self.expression(node.test, False)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return
        else:
            if isinstance(node, ast.Assign | ast.AnnAssign):
                self._role = role_of(node.targets[0] if isinstance(node, ast.Assign) else node.target)
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.expr):
                    self.expression(child, sure)
            self._role = ""

    def expression(self, node: ast.expr, sure: bool) -> None:
        self._nodes += 1
        if self._full or self._depth > MAX_DEPTH:
            return
        self._depth += 1
        self._expression(node, sure)
        self._depth -= 1

    def _expression(self, node: ast.expr, sure: bool) -> None:
        if isinstance(node, ast.Call):
            self._call(node, sure)
        elif isinstance(node, ast.Attribute):
            name = dotted(node)
            if name:
                self._add(name, "name", node, sure)
            else:
                self.expression(node.value, sure)
        elif isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Load):
                self._add(node.id, "name", node, sure)
        elif isinstance(node, ast.Constant):
            if isinstance(node.value, str) and 1 < len(node.value) <= 40 and " " not in node.value:
                self._add(node.value, "text", node, sure)
        elif isinstance(node, ast.BoolOp):
            self.expression(node.values[0], sure)
            for value in node.values[1:]:
                self.expression(value, False)
        elif isinstance(node, ast.List | ast.Set) and len(node.elts) > 1:
            for item in node.elts:
                self.expression(item, sure and isinstance(item, ast.Call))  # names to choose from are not chosen
        elif isinstance(node, ast.IfExp):
            self.expression(node.body, False)
            self.expression(node.orelse, False)
        elif isinstance(node, ast.Compare):
            return  # a question about a backend is no use of it
        else:
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.expr):
                    self.expression(child, sure)
                elif isinstance(child, ast.keyword | ast.comprehension):
                    for inner in ast.iter_child_nodes(child):
                        if isinstance(inner, ast.expr):
                            self.expression(inner, sure)

    def _call(self, node: ast.Call, sure: bool) -> None:
        name = dotted(node.func)
        last = name.rpartition(".")[2]
        if last in _SPEAKS or last in SKIPS:
            self._message(node)
            return
        if name:
            self._add(name, "call", node, sure)
        else:
            self.expression(node.func, sure)
        if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Call):
            self._call(node.func.value, sure)
        outer = self._role, self._callee
        self._role = self._callee = last
        for argument in node.args:
            self.expression(argument, sure)
        for keyword in node.keywords:
            self._role = keyword.arg or last
            self.expression(keyword.value, sure)
        self._role, self._callee = outer

    def _message(self, node: ast.expr) -> None:
        text = literal_text(node)
        if text:
            self.texts.append(Prose(text[:600], span(node)))

    def _add(self, name: str, how: How, node: ast.AST, sure: bool) -> None:
        if how == "call" or how == "name":
            root, dot, rest = name.partition(".")
            if rest and root in self._made:
                root, dot, rest = f"{self._made[root]}.{rest}".partition(".")
            name = self.imports.names.get(root, root) + dot + rest
            self._calls += how == "call"
        if how == "call" or how == "import" or len(self.uses) - self._calls < self._most:
            role, callee = (self._role, self._callee) if how == "text" else ("", "")
            self.uses.append(Use(name, how, span(node), sure=sure, role=role, call=callee))


def literal_text(node: ast.expr) -> str:
    """All string pieces below `node`, joined: implicit concatenation, f-strings, arguments of a call."""
    pieces: list[tuple[int, int, str]] = []
    for item in ast.walk(node):
        if isinstance(item, ast.Constant) and isinstance(item.value, str):
            pieces.append((item.lineno, item.col_offset, item.value))
    return "".join(text for _, _, text in sorted(pieces))


def _asks_for_text(test: ast.expr) -> bool:
    """Whether a test compares with a string or with a member of an enum: it picks one of several."""
    for node in ast.walk(test):
        if isinstance(node, ast.Compare):
            for operand in (node.left, *node.comparators):
                if isinstance(operand, ast.List | ast.Tuple | ast.Set) or _is_member(operand):
                    return True
                if isinstance(operand, ast.Constant) and isinstance(operand.value, str):
                    return True
    return False


def _is_member(node: ast.expr) -> bool:
    """`Kind.FAST` and not `x.ndim`: a member of an enum is written so."""
    return isinstance(node, ast.Attribute) and (node.attr.isupper() or dotted(node.value)[:1].isupper())


def _leaves(body: Sequence[ast.stmt]) -> bool:
    return bool(body) and isinstance(body[-1], ast.Return | ast.Raise | ast.Continue | ast.Break)


def ending(body: Sequence[ast.stmt]) -> Ends:
    """How a block leaves: raise, skip, exit, return, continue or fall."""
    for node in body:
        if isinstance(node, ast.Raise):
            exc = dotted(node.exc) if node.exc is not None else ""
            last = exc.rpartition(".")[2]
            return "skip" if last in SKIPS else "exit" if last in _EXITS else "raise"
        if isinstance(node, ast.Return):
            return "return"
        if isinstance(node, ast.Continue | ast.Break):
            return "continue"
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            last = dotted(node.value.func).rpartition(".")[2]
            if last in SKIPS:
                return "skip"
            if last in _EXITS:
                return "exit"
            if last == "fail":
                return "raise"
        if isinstance(node, ast.If) and node.orelse:
            first, second = ending(node.body), ending(node.orelse)
            if first != "fall" and second != "fall":
                return second if first == "raise" else first
        if isinstance(node, ast.With | ast.Try):
            inner = ending(node.body)
            if inner != "fall":
                return inner
    return "fall"


def _returned(body: Sequence[ast.stmt]) -> ast.expr | None:
    for node in body:
        if isinstance(node, ast.Return):
            return node.value or ast.Constant(value=None, lineno=node.lineno, col_offset=node.col_offset)
    return None


def _only_literals(body: Sequence[ast.stmt]) -> bool:
    """Assignments of numbers, booleans and tuples of them: tuning, not dispatch."""
    if not body:
        return False
    for node in body:
        value = node.value if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Return) else None
        if value is None or not _is_number(value):
            return False
    return True


def _is_number(node: ast.expr) -> bool:
    """A number, or arithmetic, dictionaries and tuples of numbers and names."""
    for item in ast.walk(node):
        if isinstance(item, ast.Constant):
            if not isinstance(item.value, int | float) or isinstance(item.value, bool):
                return False
        elif isinstance(item, ast.Call):
            last = dotted(item.func).rpartition(".")[2]
            if last not in ("min", "max", "dict", "Config", "len", "int"):
                return False
        elif isinstance(item, ast.Attribute | ast.Lambda | ast.IfExp | ast.MatMult):
            return False
    return not isinstance(node, ast.Name)


def block(
    body: Sequence[ast.stmt],
    imports: Imports,
    lower: Callable[[ast.expr], Expr],
    rest: Sequence[ast.stmt] = (),
) -> Side:
    """The side made of `body`, and of `rest` where the other side leaves and this one does not."""
    collector = Collector(imports)
    collector.statements(body)
    returned = _returned(body)
    if not body and returned is None:
        returned = _returned(rest[:1])
    collector.statements(rest, nested=False)
    meaningful = [node for node in body if not _is_filler(node)]
    where = span((body or rest)[0]).through(span((rest or body)[-1])) if body or rest else None
    return Side(
        ends=ending(body) if body else ("fall" if not rest else ending(rest[:1])),
        at=where,
        value=lower(returned) if returned is not None else _assigned(meaningful, lower),
        uses=tuple(collector.uses),
        texts=tuple(collector.texts),
        empty=not meaningful and not rest,
        tuning=_only_literals(meaningful),
        rest=not body and bool(rest),
    )


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
    return Side(ends=ends, at=span(node), texts=(Prose(text[:600], span(node)),) if text else ())
