"""Statements of one module: reaching definitions, path conditions, functions as expressions, and gates."""

from __future__ import annotations

import ast
import bisect
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from bwlint.model.expr import Expr, Span, negate, unknown
from bwlint.model.facts import HANDLER, MAX_RETURNS, Class, Function, GateKind, Path, Side, Use
from bwlint.readers.python import definitions, lists, sides
from bwlint.readers.python.gates import Gates, Where
from bwlint.readers.python.lower import Lowerer, LoweringScope, is_arch
from bwlint.readers.python.sides import SKIPS, dotted
from bwlint.readers.python.sizes import Sizes
from bwlint.readers.python.vocabulary import arch_text
from bwlint.readers.spans import span

_CATCHES = re.compile(r"\b(?:KeyError|LookupError|Exception|BaseException)\b")
_QUESTION = re.compile(r"capability_geq|^(?:is|has)_device_capability|^is_family_of$|at_least|_geq$")
MAX_TESTS = 8
"""Tests above an assignment to an attribute that are kept."""


@dataclass(frozen=True, slots=True)
class StatementSite:
    """A statement that somebody asked for: the definition around it, and the tests that hold where it stands."""

    at: Span
    qualname: str
    path: Path


_MAPPINGS = frozenset({"var", "import", "dict", "name", "attr"})
"""What may stand for a mapping that the file or another one writes down."""


MIN_CHOICES = 2
"""One string alone may mean anything."""


def _is_digits(text: ast.expr) -> bool:
    """Whether a string is a number alone: "sm80" is what a path for many chips is called."""
    return isinstance(text, ast.Constant) and isinstance(text.value, str) and text.value.isdecimal()


def _chosen(node: ast.If) -> tuple[list[ast.expr], list[ast.stmt]]:
    """The strings with which every test of a chain compares one name, and what follows where none is met."""
    texts: list[ast.expr] = []
    names: set[str] = set()
    while True:
        left, values = _compared(node.test)
        if left is None or not any(is_arch(left, value) for value in values):
            return [], []
        names.add(dotted(left))
        if len(names) > 1:
            return [], []
        texts += values
        if len(node.orelse) != 1 or not isinstance(node.orelse[0], ast.If):
            return texts, node.orelse
        node = node.orelse[0]


def _compared(test: ast.expr) -> tuple[ast.expr | None, list[ast.expr]]:
    """The name and the texts of `name == "90"` or `name in ("100", "103")`."""
    if not isinstance(test, ast.Compare) or len(test.ops) > 1:
        return None, []
    value = test.comparators[0]
    if isinstance(test.ops[0], ast.Eq):
        return test.left, [value]
    if isinstance(test.ops[0], ast.In) and isinstance(value, ast.Tuple | ast.List | ast.Set) and value.elts:
        return test.left, value.elts
    return None, []


def _mapping_of(node: ast.expr) -> ast.expr:
    """The mapping of `mapping[key]` or `mapping.get(key)`."""
    inner = node.func if isinstance(node, ast.Call) else node
    return inner.value if isinstance(inner, ast.Subscript | ast.Attribute) else node


class Flow:
    """Walks a module once. What it finds lies in `names`, `functions`, `classes`, `gates` and `slots`."""

    def __init__(
        self,
        tree: ast.Module,
        lines: Sequence[str],
        package: str,
        hits: frozenset[int],
        words: re.Pattern[str],
        own: frozenset[str],
        wanted: frozenset[int] = frozenset(),
    ) -> None:
        self.own = own
        self.sites: list[StatementSite] = []
        self._wanted = sorted(wanted)
        self.hits = hits
        self.slots: list[Expr] = []
        self.lowerer = Lowerer(self.slots)
        self.lowerer.on_conditional = self._conditional
        self.lowerer.on_lookup = self._lookup
        self.functions: dict[str, Function] = {}
        self.classes: dict[str, Class] = {}
        self.gates = Gates(lines, self.slots, words)
        self.sizes = Sizes(self.gates)
        self.stars: list[str] = []
        self.imports = sides.Imports({}, package)
        self.returns: list[tuple[tuple[Expr, ...], Expr]] = []
        self.path: list[Expr] = []
        self.qualname = "<module>"
        self._target = ""
        self.classes_open: list[str] = []
        self.attributes: dict[tuple[str, str], list[tuple[Path, Expr]]] = defaultdict(list)
        self._chain = 0
        self._caught = 0
        """How many `try` around here catch an error of a lookup."""
        self._written = _written_globals(lines)
        self.block(tree.body, tree.body)
        self.names = self.lowerer.scope.env

    def add(
        self,
        kind: GateKind,
        test: Expr,
        node: ast.AST,
        yes: Side,
        no: Side,
        name: str = "",
        chain: tuple[int, int] = (0, 0),
    ) -> None:
        self.gates.add(kind, test, node, (yes, no), Where(self.qualname, tuple(self.path)), name, chain)

    def hit(self, node: ast.AST) -> bool:
        first = min([d.lineno for d in getattr(node, "decorator_list", [])] + [node.lineno])  # type: ignore[attr-defined]
        return any(line in self.hits for line in range(first, node.end_lineno + 1))  # type: ignore[attr-defined]

    def _conditional(self, node: ast.IfExp, test: Expr, then: Expr, otherwise: Expr) -> None:
        if self.gates.reads(test):
            self.add(
                "expression",
                test,
                node.test,
                sides.expression(node.body, self.imports, then, self._target),
                sides.expression(node.orelse, self.imports, otherwise, self._target),
            )

    def _lookup(self, node: ast.expr, mapping: Expr, key: Expr, strict: bool) -> None:
        """A mapping that is asked for the device: the keys that it has are the chips that find something."""
        if mapping.op not in _MAPPINGS or not self.gates.reads(key):
            return
        keys = Expr("call", (Expr("attr", (mapping, "keys")), ()))
        test = Expr("cmp", ("in", (key, keys)), span(node))
        missing = Side(ends="raise") if strict and not self._caught else Side(ends="fall", tuning=True)
        self.add("lookup", test, node, Side(ends="fall", empty=True), missing, dotted(_mapping_of(node)))

    def quietly(self, node: ast.expr) -> Expr:
        """Lower without side effects on gates and definitions: for looking at a side before its own walk."""
        lowerer = self.lowerer
        hook, lowerer.on_conditional = lowerer.on_conditional, None
        asked, lowerer.on_lookup = lowerer.on_lookup, None
        env = lowerer.scope.env
        lowerer.scope.env = dict(env)
        try:
            return lowerer.lower(node)
        finally:
            lowerer.on_conditional, lowerer.on_lookup = hook, asked
            lowerer.scope.env = env

    # -- statements

    def block(self, body: Sequence[ast.stmt], siblings: Sequence[ast.stmt]) -> bool:
        """Walk a block; True when it never falls through."""
        for index, node in enumerate(body):
            if self._wanted:
                self._site(node)
            handler = _STATEMENTS.get(type(node))
            if handler is not None and handler(self, node, body[index + 1 :]):
                return True
        return False

    def _site(self, node: ast.stmt) -> None:
        first = min([item.lineno for item in getattr(node, "decorator_list", [])] + [node.lineno])
        index = bisect.bisect_left(self._wanted, first)
        if index < len(self._wanted) and self._wanted[index] <= (node.end_lineno or node.lineno):
            at = Span(first, 0, *span(node)[2:]) if first < node.lineno else span(node)
            self.sites.append(StatementSite(at, self.qualname, tuple(self.path)))

    def _if(self, node: ast.If, rest: Sequence[ast.stmt], chain: int = 0, position: int = 0) -> bool:
        lowerer = self.lowerer
        test = lowerer.lower(node.test)
        self.sizes.limit(node, self.qualname)
        if self.gates.reads(test):
            if not chain:
                self._chain += 1
                chain = self._chain
            self._if_gate(node, test, rest, chain, position)
        elif not position:
            self._choice(node)
        before = dict(lowerer.scope.env)
        depth = len(self.path)
        self.path.append(test)
        left = self.block(node.body, rest)
        del self.path[depth:]
        after_yes = lowerer.scope.env
        lowerer.scope.env = before
        denied = negate(test)
        self.path.append(denied)
        before_no = dict(before)
        lowerer.scope.env = before_no
        if len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
            left_no = self._if(node.orelse[0], rest, chain, position + 1)
        else:
            left_no = self.block(node.orelse, rest)
        after_no = lowerer.scope.env
        del self.path[depth:]
        if left and left_no:
            return True
        if left:
            lowerer.scope.env = after_no
            self.path.append(denied)
        elif left_no:
            lowerer.scope.env = after_yes
            self.path.append(test)
        else:
            lowerer.scope.env = self._merge(test, after_yes, after_no)
        return False

    def _choice(self, node: ast.If) -> None:
        """A chain that compares one name with the digits of architectures, and ends in an error for all others."""
        texts, last = _chosen(node)
        if len(texts) < MIN_CHOICES or sides.ending(last) != "raise" or not all(map(_is_digits, texts)):
            return
        members = Expr("tuple", (self.lowerer.many(texts),))
        test = Expr("cmp", ("in", (Expr("source", ("guess",)), members)), span(node.test))
        no = sides.block(last, self.imports, self.quietly)
        self.add("condition", test, node.test, Side(ends="fall", empty=True), no)

    def _if_gate(self, node: ast.If, test: Expr, rest: Sequence[ast.stmt], chain: int, position: int) -> None:
        yes_leaves = sides.ending(node.body) != "fall"
        no_leaves = bool(node.orelse) and sides.ending(node.orelse) != "fall"
        after = list(rest[:60])
        yes = sides.block(node.body, self.imports, self.quietly, after if no_leaves and not yes_leaves else ())
        no = sides.block(node.orelse, self.imports, self.quietly, after if yes_leaves and not no_leaves else ())
        self.add("condition", test, node.test, yes, no, "", (chain, position))

    def _merge(self, test: Expr, yes: dict[str, Expr], no: dict[str, Expr]) -> dict[str, Expr]:
        merged = dict(no)
        for name in yes.keys() | no.keys():
            a, b = yes.get(name), no.get(name)
            if a == b:
                continue
            missing = unknown(f"unassigned {name}")
            value = Expr("if", (test, a or self._outer(name) or missing, b or self._outer(name) or missing), test.at)
            merged[name] = self.lowerer.define(value)
            self.gates.reads(merged[name])
        return merged

    def _outer(self, name: str) -> Expr | None:
        parent = self.lowerer.scope.parent
        return parent.find(name) if parent else None

    def _assign(self, node: ast.Assign, rest: Sequence[ast.stmt]) -> bool:
        self._target = sides.role_of(node.targets[0])
        value = self.lowerer.lower(node.value)
        self._target = ""
        if node.lineno in self.hits or isinstance(node.value, ast.Call):
            self._call_lists(node.value, rest)
        for target in node.targets:
            self._bind(target, value, node)
            self._size(target, value, node)
        return False

    def _size(self, target: ast.expr, value: Expr, node: ast.stmt) -> None:
        """Note literals that are assigned under a test: a tuple of names takes a tuple member by member."""
        if not self.path and value.op not in ("if", "tuple"):
            return
        if not isinstance(target, ast.Tuple):
            self.sizes.picked(sides.role_of(target).rpartition(".")[2], value, node, tuple(self.path), self.qualname)
            return
        for index, element in enumerate(target.elts):
            name = dotted(element).rpartition(".")[2]
            self.sizes.picked(name, _member(value, index), node, tuple(self.path), self.qualname)

    def _annotated(self, node: ast.AnnAssign, rest: Sequence[ast.stmt]) -> bool:
        if node.value is not None:
            value = self.lowerer.lower(node.value)
            self._bind(node.target, value, node)
            self._size(node.target, value, node)
        return False

    def _augmented(self, node: ast.AugAssign, rest: Sequence[ast.stmt]) -> bool:
        self.lowerer.lower(node.value)
        self._call_lists(node.value, rest)
        if isinstance(node.target, ast.Name):
            self.lowerer.scope.env[node.target.id] = unknown(f"{node.target.id}:{node.lineno}")
        return False

    def _bind(self, target: ast.expr, value: Expr, node: ast.Assign | ast.AnnAssign) -> None:
        env = self.lowerer.scope.env
        if isinstance(target, ast.Name):
            assert node.value is not None
            if self.qualname == "<module>" and target.id in self._written:
                value = unknown(f"{target.id}, assigned by a function")
            env[target.id] = self.lowerer.define(value)
            self.gates.reads(env[target.id])  # in order of definition, so that no chain of names gets deep
            self._named(target.id, node.value, value)
        elif isinstance(target, ast.Tuple | ast.List):
            source = self.lowerer.define(value)
            for index, element in enumerate(target.elts):
                if isinstance(element, ast.Name):
                    item = Expr("index", (source, Expr("const", (index,))), span(element))
                    env[element.id] = self.lowerer.define(item)
        elif isinstance(target, ast.Attribute):
            assert node.value is not None
            name = dotted(target) or target.attr
            self._named(name, node.value, value)
            if self.classes_open and name == f"self.{target.attr}":
                tests = tuple(test for test in self.path if self.gates.reads(test))[-MAX_TESTS:]
                known = (tests, self.lowerer.define(value))
                self.attributes[(self.classes_open[-1], target.attr)].append(known)
        elif isinstance(target, ast.Subscript):
            self.lowerer.lower(target.slice)
            base = target.value
            if isinstance(base, ast.Name) and base.id in env:
                env[base.id] = unknown(f"{base.id} is changed at line {target.lineno}")

    def _named(self, name: str, node: ast.expr, value: Expr) -> None:
        """A flag, or a list or table known by its name or keys."""
        last = name.rpartition(".")[2]
        if _is_question(node) and self.gates.reads(value):
            self.add("flag", value, node, Side(ends="fall"), Side(ends="fall"), last)
        elif isinstance(node, ast.Call) and dotted(node.func).endswith(("skipif", "skipIf", "skipUnless")):
            definitions.mark(self, node, last, Side(ends="fall"))
        else:
            self.sizes.constant(last, node, self.qualname)
            self._declared(last, node, value)

    def _declared(self, name: str, node: ast.expr, value: Expr) -> None:
        if isinstance(node, ast.Dict):
            self.sizes.table(name, node, self.qualname)
        test = lists.declared(name, node, value, self.own)
        if test is not None:
            kind: GateKind = "table" if isinstance(node, ast.Dict) else "list"
            rows = Side(ends="fall", tuning=kind == "table" and lists.holds_numbers(node))
            self.add(kind, test, node, rows, Side(ends="raise"), name)

    def _expression(self, node: ast.Expr, rest: Sequence[ast.stmt]) -> bool:
        value = node.value
        if isinstance(value, ast.Constant):
            return False
        lowered = self.lowerer.lower(value)
        if not isinstance(value, ast.Call):
            return False
        name = dotted(value.func)
        last = name.rpartition(".")[2]
        if last in SKIPS or last in ("exit", "_exit", "fail"):
            self.returning(Expr("raise", (last,), span(value)))
            return True
        self._mutates(value)
        self._call_lists(value, rest)
        if self.gates.device_word(last) and isinstance(value.func, ast.Name | ast.Attribute):
            self._helper_call(value, lowered, last, rest)
        return False

    def _mutates(self, node: ast.Call) -> None:
        """`archs.append(x)` makes `archs` unknown."""
        func = node.func
        if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name):
            mutators = (
                "append",
                "extend",
                "insert",
                "remove",
                "pop",
                "clear",
                "update",
                "add",
                "discard",
                "sort",
            )
            if func.attr in mutators and func.value.id in self.lowerer.scope.env:
                self.lowerer.scope.env[func.value.id] = unknown(f"{func.value.id} is changed at line {node.lineno}")

    def _helper_call(self, node: ast.Call, lowered: Expr, name: str, rest: Sequence[ast.stmt]) -> None:
        """A helper called as a statement skips or raises by itself."""
        test = Expr("completes", (lowered,), span(node))
        after = sides.block(rest[:60], self.imports, self.quietly)
        self.add("helper-call", test, node, after, Side(ends="skip"), name)
        self.path.append(test)

    def _call_lists(self, node: ast.expr, rest: Sequence[ast.stmt]) -> None:
        """Lists passed to calls; what they guard is what follows, and the function that passes them."""
        if not self.hit(node):
            return
        for item in ast.walk(node):
            if not isinstance(item, ast.Call):
                continue
            for name, value in lists.arguments(item, self.own):
                test = lists.declared(name, value, self.lowerer.lower(value), self.own)
                if test is not None:
                    after = rest[:60] if self.qualname != "<module>" else ()
                    behind = sides.block((), self.imports, self.quietly, after)
                    function = Use(self.qualname.rpartition(".")[2], "define", span(value))
                    behind = replace(behind, uses=(*behind.uses, function))
                    at = item if isinstance(node, ast.Call) and node is item and not item.keywords else value
                    self.add("list", test, at, behind, Side(ends="raise"), name)

    def _assert(self, node: ast.Assert, rest: Sequence[ast.stmt]) -> bool:
        test = self.lowerer.lower(node.test)
        if self.gates.reads(test):
            after = sides.block((), self.imports, self.quietly, rest[:60])
            self.add("assert", test, node.test, after, sides.message(node.msg, "raise"))
        self.returns.append(((*self.path, negate(test)), Expr("raise", ("AssertionError",), span(node))))
        self.path.append(test)
        return False

    def _return(self, node: ast.Return, rest: Sequence[ast.stmt]) -> bool:
        value = self.lowerer.lower(node.value)
        if node.value is not None:
            if _is_question(node.value) and self.gates.reads(value):
                name = self.qualname.rpartition(".")[2]
                self.add("predicate", value, node.value, Side(ends="return"), Side(ends="return"), name)
            self._call_lists(node.value, rest)
            if self.path or value.op == "if":
                self.sizes.picked(self.qualname.rpartition(".")[2], value, node, tuple(self.path), self.qualname)
        self.returning(value)
        return True

    def returning(self, value: Expr) -> None:
        if len(self.returns) < MAX_RETURNS:
            self.returns.append((tuple(self.path), value))

    def _raise(self, node: ast.Raise, rest: Sequence[ast.stmt]) -> bool:
        name = dotted(node.exc) if node.exc is not None else "re-raise"
        self.returning(Expr("raise", (name,), span(node)))
        return True

    def _leave(self, node: ast.stmt, rest: Sequence[ast.stmt]) -> bool:
        return True

    def _loop(self, node: ast.For | ast.While | ast.AsyncFor, rest: Sequence[ast.stmt]) -> bool:
        """Names assigned in a loop are unknown in it and after it; a return inside happens or not."""
        changed = {name: unknown(f"{name}, assigned in a loop") for name in sides.bound_names([node])}
        if not isinstance(node, ast.While):
            # what a loop runs over may be called like a capability: its use decides, as for a parameter
            changed |= {name: Expr("param", ("<loop>", name)) for name in sides.target_names(node.target)}
        self.lowerer.scope.env.update(changed)
        if isinstance(node, ast.While):
            self.lowerer.lower(node.test)
        else:
            self.lowerer.lower(node.iter)
        depth = len(self.path)
        self.path.append(unknown(f"loop at line {node.lineno}"))
        self.block(node.body, ())
        del self.path[depth:]
        self.lowerer.scope.env.update(changed)
        self.block(node.orelse, ())
        return False

    def _with(self, node: ast.With | ast.AsyncWith, rest: Sequence[ast.stmt]) -> bool:
        for item in node.items:
            value = self.lowerer.lower(item.context_expr)
            if isinstance(item.optional_vars, ast.Name):
                self.lowerer.scope.env[item.optional_vars.id] = self.lowerer.define(value)
        return self.block(node.body, rest)

    def _try(self, node: ast.Try, rest: Sequence[ast.stmt]) -> bool:
        """The body is taken to succeed, but its tests hold neither in a handler nor after one that goes on."""
        before = dict(self.lowerer.scope.env)
        depth = len(self.path)
        caught = any(handler.type is None or _CATCHES.search(ast.unparse(handler.type)) for handler in node.handlers)
        self._caught += caught
        left = self.block(node.body, rest)
        self._caught -= caught
        after = self.lowerer.scope.env
        passed = self.path[depth:]
        went_on = None
        for handler in node.handlers:
            self.lowerer.scope.env = dict(before)
            self.path[depth:] = [unknown(f"{HANDLER} {handler.lineno}")]
            if not self.block(handler.body, ()) and went_on is None:
                went_on = self.lowerer.scope.env
        self.path[depth:] = passed
        self.lowerer.scope.env = after if not left or went_on is None else went_on
        if not left:
            left = self.block(node.orelse, rest)
        if went_on is not None:
            del self.path[depth:]
        return self.block(node.finalbody, rest) or (left and went_on is None)

    def _match(self, node: ast.Match, rest: Sequence[ast.stmt]) -> bool:
        subject = self.lowerer.lower(node.subject)
        before = dict(self.lowerer.scope.env)
        for case in node.cases:
            self.lowerer.scope.env = dict(before)
            depth = len(self.path)
            test = self._pattern(subject, case)
            if self.gates.reads(test) and case.guard is None:
                side = sides.block(case.body, self.imports, self.quietly)
                self.add("condition", test, case.pattern, side, Side(ends="fall"))
            self.path.append(test)
            self.block(case.body, ())
            del self.path[depth:]
        self.lowerer.scope.env = {
            **before,
            **{n: unknown(f"{n}, assigned in match") for n in sides.bound_names([node])},
        }
        return False

    def _pattern(self, subject: Expr, case: ast.match_case) -> Expr:
        pattern = case.pattern
        options = pattern.patterns if isinstance(pattern, ast.MatchOr) else [pattern]
        if case.guard is None and all(isinstance(o, ast.MatchValue) for o in options):
            values = self.lowerer.many([o.value for o in options if isinstance(o, ast.MatchValue)])
            return Expr("cmp", ("in", (subject, Expr("tuple", (values,)))), span(pattern))
        return unknown(f"case at line {pattern.lineno}", span(pattern))

    def _delete(self, node: ast.Delete, rest: Sequence[ast.stmt]) -> bool:
        for target in node.targets:
            if isinstance(target, ast.Name):
                self.lowerer.scope.env.pop(target.id, None)
        return False

    def _global(self, node: ast.Global | ast.Nonlocal, rest: Sequence[ast.stmt]) -> bool:
        """A module name written by a function is no constant."""
        scope: LoweringScope | None = self.lowerer.scope
        while scope is not None and scope.parent is not None:
            scope = scope.parent
        for name in node.names:
            if scope is not None:
                scope.env[name] = unknown(f"{name}, assigned by {self.qualname}")
        return False

    # -- imports

    def _import(self, node: ast.Import, rest: Sequence[ast.stmt]) -> bool:
        for alias in node.names:
            local = alias.asname or alias.name.partition(".")[0]
            target = alias.name if alias.asname else local
            self.lowerer.scope.env[local] = Expr("import", (target, None), span(node))
            self.imports.bind(local, target)
        return False

    def _import_from(self, node: ast.ImportFrom, rest: Sequence[ast.stmt]) -> bool:
        module = self.imports.absolute(node)
        for alias in node.names:
            if alias.name == "*":
                self.stars.append(module)
                continue
            local = alias.asname or alias.name
            self.lowerer.scope.env[local] = Expr("import", (module, alias.name), span(node))
            self.imports.bind(local, f"{module}.{alias.name}")
        return False


def _member(value: Expr, index: int) -> Expr:
    """One member of a tuple, through a conditional expression."""
    if value.op == "if":
        test, then, otherwise = value.args
        return Expr("if", (test, _member(then, index), _member(otherwise, index)), value.at)
    if value.op == "tuple" and index < len(value.args[0]):
        member: Expr = value.args[0][index]
        return member
    return unknown("one of several")


def _is_question(node: ast.expr) -> bool:
    """A comparison, or a call that compares with what is written out: `cuda_capability_geq(10, 0)`."""
    if isinstance(node, ast.Compare | ast.BoolOp | ast.UnaryOp):
        return True
    if not isinstance(node, ast.Call) or not node.args or node.keywords:
        return False
    return all(map(_is_written, node.args)) and bool(_QUESTION.search(dotted(node.func).rpartition(".")[2]))


def _is_written(node: ast.expr) -> bool:
    """A constant, a tuple, or a member of an enum of architectures."""
    return isinstance(node, ast.Constant | ast.Tuple) or (isinstance(node, ast.Attribute) and arch_text(node.attr))


def _written_globals(lines: Sequence[str]) -> frozenset[str]:
    """Names of `global` statements; functions that are not walked write module names too."""
    found = (line.strip()[7:] for line in lines if "global " in line and line.lstrip().startswith("global "))
    return frozenset(name for names in found for name in re.findall(r"\w+", names))


_STATEMENTS: dict[type, Callable[..., bool]] = {
    ast.If: Flow._if,
    ast.Assign: Flow._assign,
    ast.AnnAssign: Flow._annotated,
    ast.AugAssign: Flow._augmented,
    ast.Expr: Flow._expression,
    ast.Assert: Flow._assert,
    ast.Return: Flow._return,
    ast.Raise: Flow._raise,
    ast.Continue: Flow._leave,
    ast.Break: Flow._leave,
    ast.For: Flow._loop,
    ast.AsyncFor: Flow._loop,
    ast.While: Flow._loop,
    ast.With: Flow._with,
    ast.AsyncWith: Flow._with,
    ast.Try: Flow._try,
    ast.Match: Flow._match,
    ast.Delete: Flow._delete,
    ast.Global: Flow._global,
    ast.Nonlocal: Flow._global,
    ast.Import: Flow._import,
    ast.ImportFrom: Flow._import_from,
    ast.FunctionDef: definitions.define,
    ast.AsyncFunctionDef: definitions.define,
    ast.ClassDef: definitions.define_class,
}
