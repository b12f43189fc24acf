"""Turn Python expressions into the expression form, with the values that reach them."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from bwlint.chips import spelling
from bwlint.model.expr import NONE, Expr, const, negate, unknown
from bwlint.readers.nodes import text_of
from bwlint.readers.python.sides import SPEAKS, dotted
from bwlint.readers.python.vocabulary import JOINED, arch_text
from bwlint.readers.spans import span

MAX_DEPTH = 120
MANY = 2
"""As many flags beside one another speak of targets; one alone may be named after a kernel."""
_NAME = re.compile(rf"_*(?:(?i:has|is|build|enable|with|want|for|target)_)?({spelling.IN_NAMES}{spelling.TARGET})$")
_HOLDS_TARGETS = re.compile(r"arch|capab|(?:^|_)(?:sms?|ccs?)(?:_|$)|gencode|targets?$", re.IGNORECASE)
_COMPARE = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.In: "in",
    ast.NotIn: "not in",
    ast.Is: "is",
    ast.IsNot: "is not",
}
_BINARY = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.FloorDiv: "//",
    ast.Div: "/",
    ast.Mod: "%",
    ast.BitOr: "|",
    ast.BitAnd: "&",
    ast.BitXor: "^",
    ast.LShift: "<<",
    ast.RShift: ">>",
}


@dataclass(slots=True)
class LoweringScope:
    """A function (or the module, or a class body): its owner id, the definitions that reach here, its parent."""

    owner: str
    env: dict[str, Expr] = field(default_factory=dict)
    parent: LoweringScope | None = None
    is_class: bool = False
    keeps: bool = False
    """Whether something of the device was put at a place of a container here: most functions pay for none of it."""

    def keep(self, place: ast.Subscript, value: Expr) -> None:
        self.keeps = True
        self.env[ast.unparse(place)] = value

    def kept(self, place: ast.Subscript) -> Expr | None:
        """What the function here put at a place of a container that may read the device; None of any other place."""
        return self.env.get(ast.unparse(place)) if self.keeps else None

    def forget(self, name: str) -> None:
        """A name is given anew: the places that it is a part of are others from here on."""
        for place in [place for place in self.env if place.endswith("]")] if self.keeps else ():
            if re.search(rf"\b{re.escape(name)}\b", place):
                del self.env[place]

    def find(self, name: str) -> Expr | None:
        scope: LoweringScope | None = self
        first = True
        while scope is not None:
            if first or not scope.is_class:
                found = scope.env.get(name)
                if found is not None:
                    return found
            first = False
            scope = scope.parent
        return None


SAID = "<said>"
"""The role of what is part of a text that somebody reads, and does nothing."""


@dataclass(frozen=True, slots=True)
class Listener:
    """Who is told of what is lowered."""

    conditional: Callable[[ast.IfExp, Expr, Expr, Expr], None] | None = None
    lookup: Callable[[ast.expr, Expr, Expr, bool], None] | None = None
    """With the mapping, the key, and whether a key that it lacks is an error: it raises, or a part of None is taken."""
    call: Callable[[ast.Call, Expr, tuple[Expr, ...]], None] | None = None
    """With what is called, and the arguments."""
    text: Callable[[ast.expr, Expr], None] | None = None
    """Of what may order a text, or take a part of one by its place."""
    question: Callable[[ast.expr, Expr], None] | None = None
    """Of a comparison, or several of them joined; the parts come before the whole."""


NOBODY = Listener()


class Lowerer:
    """Lowers expressions of one module. `slots` is the module's table of definitions."""

    def __init__(self, slots: list[Expr]) -> None:
        self.slots = slots
        self.scope = LoweringScope("<module>")
        self.told = NOBODY
        self.role: str | None = None
        """What the value is kept or handed on as; None where the statement says that, SAID for part of a text."""
        self.late: frozenset[str] = frozenset()
        """Dotted names that are None until somebody has asked: whether they still are is not known."""
        self.asked: list[Expr] = []
        """The tests of the expressions around, behind which what is lowered stands."""
        self.yields = False
        self._depth = 0
        self._taken_apart: ast.expr | None = None
        """A value of which a part is taken, which nothing has if it is None."""

    def define(self, value: Expr) -> Expr:
        """A reference to a new slot; leaves need none."""
        if value.op in ("const", "param", "var", "import", "function", "class", "opaque", "name"):
            return value
        self.slots.append(value)
        return Expr("var", (len(self.slots) - 1, ""), value.at)

    def lower(self, node: ast.expr | None) -> Expr:
        if node is None:
            return NONE
        if self._depth > MAX_DEPTH:
            return unknown("nested too deep", span(node))
        self._depth += 1
        try:
            method = _TABLE.get(type(node))
            found = method(self, node) if method else unknown(f"{type(node).__name__}:{node.lineno}", span(node))
            if self.told.question is not None and isinstance(node, QUESTIONS):
                self.told.question(node, found)
            return found
        finally:
            self._depth -= 1

    def _as(self, role: str | None, node: ast.expr | None) -> Expr:
        """Lower what is kept or handed on under a name."""
        around, self.role = self.role, role
        try:
            return self.lower(node)
        finally:
            self.role = around

    def many(self, nodes: Sequence[ast.expr | None]) -> tuple[Expr, ...]:
        return tuple([self.lower(node) for node in nodes])

    def _constant(self, node: ast.Constant) -> Expr:
        value = node.value
        if value is None or isinstance(value, (bool, str, float)) or (isinstance(value, int) and abs(value) < 1 << 63):
            return const(value, span(node))
        return unknown(f"constant:{node.lineno}", span(node))

    def _name(self, node: ast.Name) -> Expr:
        found = self.scope.find(node.id)
        target = target_of(node)
        if target is not None and len(targets_of(self.scope.env)) >= MANY:
            return Expr("flag", (self._found(node, found), target), span(node))
        return self._found(node, found)

    def _found(self, node: ast.Name, found: Expr | None) -> Expr:
        if found is None:
            return Expr("name", (node.id,), span(node))
        if found.op == "var":
            return Expr("var", (found.args[0], node.id), span(node))
        return found._replace(at=span(node)) if found.op in ("param", "import", "name") else found

    def _attribute(self, node: ast.Attribute) -> Expr:
        return Expr("attr", (self._parted(node.value), node.attr), span(node))

    def _parted(self, node: ast.expr) -> Expr:
        self._taken_apart = node
        return self.lower(node)

    def _call(self, node: ast.Call) -> Expr:
        parted = self._taken_apart is node
        name = dotted(node.func)
        role = self.role if name in _SAME_ANSWER else SAID if name.rpartition(".")[2] in SPEAKS else ""
        arguments = [
            Expr("star", (self._as(role, a.value),)) if isinstance(a, ast.Starred) else self._as(role, a)
            for a in node.args
        ]
        for keyword in node.keywords:
            value = self._as(keyword.arg, keyword.value)
            if keyword.arg is not None:
                arguments.append(Expr("kw", (keyword.arg, value)))
        if name in _JOINS and len(node.args) == 1 and (parts := self._items(arguments[0])):
            return Expr(_JOINS[name], (parts,), span(node)) if len(parts) > 1 else parts[0]
        function = self.lower(node.func)
        if self.told.lookup is not None and function.op == "attr" and function.args[1] == "get" and arguments:
            self.told.lookup(node, function.args[0], arguments[0], parted and len(arguments) == 1)
        if self.told.call is not None:
            self.told.call(node, function, tuple(arguments))
        return Expr("call", (function, tuple(arguments)), span(node))

    def _items(self, several: Expr) -> tuple[Expr, ...]:
        """The members of a list that is written down; none where there is more to it."""
        while several.op == "var":
            several = self.slots[several.args[0]]
        members: tuple[Expr, ...] = several.args[0] if several.op in ("list", "tuple") else ()
        return () if any(one.op == "star" for one in members) else members

    def condition(self, node: ast.expr) -> Expr:
        """A test, or an operand of one."""
        return unknown(f"{dotted(node)} is asked for", span(node)) if self._is_late(node) else self.lower(node)

    def _is_late(self, node: ast.expr) -> bool:
        return isinstance(node, (ast.Name, ast.Attribute)) and dotted(node) in self.late

    def _compare(self, node: ast.Compare) -> Expr:
        if isinstance(node.ops[0], (ast.Is, ast.IsNot)) and self._is_late(node.left):
            return unknown(f"{dotted(node.left)} is asked for", span(node))
        operators = ",".join(_COMPARE[type(op)] for op in node.ops)
        operands = self.many([node.left, *node.comparators])
        if len(operands) == 2 and _is_arch_choice(node.left, node.comparators[0]):
            operands = (Expr("source", ("guess", operands[0]), operands[0].at), operands[1])
        return self._as_text(node, Expr("cmp", (operators, operands), span(node)))

    def _as_text(self, node: ast.expr, found: Expr) -> Expr:
        if self.told.text is not None:
            self.told.text(node, found)
        return found

    def _boolop(self, node: ast.BoolOp) -> Expr:
        flags = {target for value in node.values for target in operand_targets(value)}
        values = (
            tuple([self._operand(value) for value in node.values])
            if len(flags) >= MANY
            else tuple(map(self.condition, node.values))
        )
        return Expr("and" if isinstance(node.op, ast.And) else "or", (values,), span(node))

    def _operand(self, node: ast.expr) -> Expr:
        """An operand of a condition in which several flags are named after targets."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return Expr("not", (self._operand(node.operand),), span(node))
        lowered = self.lower(node)
        target = target_of(node)
        return lowered if target is None or lowered.op == "flag" else Expr("flag", (lowered, target), span(node))

    def _unary(self, node: ast.UnaryOp) -> Expr:
        if isinstance(node.op, ast.Not):
            return Expr("not", (self.condition(node.operand),), span(node))
        inner = self.lower(node.operand)
        if isinstance(node.op, ast.USub):
            if inner.op == "const" and isinstance(inner.args[0], (int, float)):
                return const(-inner.args[0], span(node))
            return Expr("neg", (inner,), span(node))
        return unknown(f"unary:{node.lineno}", span(node))

    def _binary(self, node: ast.BinOp) -> Expr:
        op = _BINARY.get(type(node.op))
        if op is None:
            return unknown(f"binary:{node.lineno}", span(node))
        return self._as_text(node, Expr("bin", (op, self.lower(node.left), self.lower(node.right)), span(node)))

    def _conditional(self, node: ast.IfExp) -> Expr:
        test = self.lower(node.test)
        told = self.told
        self.told = replace(told, text=None)  # who asks first may have asked how long the text is
        then, otherwise = self._behind(test, node.body), self._behind(negate(test), node.orelse)
        self.told = told
        if told.conditional is not None:
            told.conditional(node, test, then, otherwise)
        return Expr("if", (test, then, otherwise), span(node))

    def _behind(self, test: Expr, node: ast.expr) -> Expr:
        """Lower what is evaluated only where a test holds."""
        self.asked.append(test)
        try:
            return self.lower(node)
        finally:
            self.asked.pop()

    def _subscript(self, node: ast.Subscript) -> Expr:
        kept = self.scope.kept(node)
        if kept is not None:
            return Expr("var", (kept.args[0], ""), span(node)) if kept.op == "var" else kept
        base = self._parted(node.value)
        if isinstance(node.slice, ast.Slice):
            part = node.slice
            bounds = self.many([part.lower, part.upper, part.step])
            return self._as_text(node, Expr("slice", (base, *bounds), span(node)))
        key = self.lower(node.slice)
        if self.told.lookup is not None and isinstance(node.ctx, ast.Load):
            self.told.lookup(node, base, key, True)
        return self._as_text(node, Expr("index", (base, key), span(node)))

    def _sequence(self, node: ast.Tuple | ast.List | ast.Set) -> Expr:
        if len(node.elts) > 400:
            return unknown(f"long:{node.lineno}", span(node))
        items = [
            Expr("star", (self.lower(e.value),)) if isinstance(e, ast.Starred) else self.lower(e) for e in node.elts
        ]
        return Expr(type(node).__name__.lower(), (tuple(items),), span(node))

    def _dict(self, node: ast.Dict) -> Expr:
        if len(node.keys) > 400 or any(key is None for key in node.keys):
            return unknown(f"dict:{node.lineno}", span(node))
        keys = tuple(self.lower(key) for key in node.keys)
        values = tuple(self._as(text_of(key), value) for key, value in zip(node.keys, node.values, strict=True))
        return Expr("dict", (keys, values), span(node))

    def _fstring(self, node: ast.JoinedStr) -> Expr:
        return self._as_text(node, Expr("fstr", (tuple(map(self._part, node.values)),), span(node)))

    def _part(self, node: ast.expr) -> Expr:
        """A part of an f-string; one with a conversion or a format is what `str.format` makes of it."""
        if not isinstance(node, ast.FormattedValue):
            return self.lower(node)
        value, spec = self._as(SAID, node.value), node.format_spec
        if node.conversion < 0 and spec is None:
            return value
        parts = spec.values if isinstance(spec, ast.JoinedStr) else []
        text = "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in parts)
        conversion = f"!{chr(node.conversion)}" if node.conversion > 0 else ""
        form = Expr("attr", (const(f"{{{conversion}:{text}}}"), "format"))
        return Expr("call", (form, (value,)), span(node))

    def _comprehension(self, node: ast.GeneratorExp | ast.ListComp | ast.SetComp | ast.DictComp) -> Expr:
        if len(node.generators) != 1 or node.generators[0].is_async:
            return unknown(f"comprehension:{node.lineno}", span(node))
        generator = node.generators[0]
        iterable = self.lower(generator.iter)
        owner = f"{self.scope.owner}:comp{node.lineno}:{node.col_offset}"
        names = _target_names(generator.target)
        if names is None:
            return unknown(f"comprehension:{node.lineno}", span(node))
        parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        lowered = self._within(owner, names, [*generator.ifs, *parts])
        tests, made = lowered[: len(generator.ifs)], lowered[len(generator.ifs) :]
        element = made[0] if len(made) == 1 else Expr("tuple", (made,), span(node))
        kind = {ast.ListComp: "list", ast.SetComp: "set", ast.DictComp: "dict"}.get(type(node), "any")
        bound = tuple(Expr("const", (name,)) for name in names)
        return Expr("comp", (kind, owner, bound, iterable, tests, element), span(node))

    def _lambda(self, node: ast.Lambda) -> Expr:
        owner = f"{self.scope.owner}:lambda{node.lineno}:{node.col_offset}"
        names = [a.arg for a in (*node.args.posonlyargs, *node.args.args)]
        (body,) = self._within(owner, names, [node.body])
        return Expr("lambda", (owner, tuple(Expr("const", (name,)) for name in names), body), span(node))

    def _within(self, owner: str, names: Sequence[str], nodes: Sequence[ast.expr]) -> tuple[Expr, ...]:
        """Lower the parts of a lambda or comprehension, in which names are its parameters."""
        around = self.scope
        self.scope = LoweringScope(owner, {name: Expr("param", (owner, name)) for name in names}, around)
        try:
            return self.many(nodes)
        finally:
            self.scope = around

    def _walrus(self, node: ast.NamedExpr) -> Expr:
        value = self._as(node.target.id, node.value)
        self.scope.env[node.target.id] = self.define(value)
        return value

    def _value(self, node: ast.Starred | ast.Await) -> Expr:
        return self.lower(node.value)

    def _yield(self, node: ast.Yield | ast.YieldFrom) -> Expr:
        self.yields = True
        self.lower(node.value)
        return unknown(f"yield:{node.lineno}", span(node))


def _target_names(target: ast.expr) -> list[str] | None:
    if isinstance(target, ast.Name):
        return [target.id]
    if isinstance(target, ast.Tuple) and all(isinstance(e, ast.Name) for e in target.elts):
        return [e.id for e in target.elts if isinstance(e, ast.Name)]
    return None


def _is_arch_choice(left: ast.expr, right: ast.expr) -> bool:
    """`backend in ("100", "103", "120")`: a name compared with two or more architecture strings."""
    if not isinstance(right, (ast.Tuple, ast.List, ast.Set)) or len(right.elts) < 2:
        return False
    return all(is_arch(left, item) for item in right.elts)


def is_arch(left: ast.expr, right: ast.expr | None) -> bool:
    """Whether a name is compared with a string that spells an architecture."""
    if not isinstance(left, (ast.Name, ast.Attribute)) or not isinstance(right, ast.Constant):
        return False
    return isinstance(right.value, str) and arch_text(right.value) and "version" not in dotted(left).lower()


QUESTIONS = (ast.Compare, ast.BoolOp, ast.UnaryOp)
_SAME_ANSWER = frozenset({"bool", "int", "any", "all"})
_JOINS = {"all": "and", "any": "or"}
_TABLE: dict[type, Callable[..., Expr]] = {
    ast.Constant: Lowerer._constant,
    ast.Name: Lowerer._name,
    ast.Attribute: Lowerer._attribute,
    ast.Call: Lowerer._call,
    ast.Compare: Lowerer._compare,
    ast.BoolOp: Lowerer._boolop,
    ast.UnaryOp: Lowerer._unary,
    ast.BinOp: Lowerer._binary,
    ast.IfExp: Lowerer._conditional,
    ast.Subscript: Lowerer._subscript,
    ast.Tuple: Lowerer._sequence,
    ast.List: Lowerer._sequence,
    ast.Set: Lowerer._sequence,
    ast.Dict: Lowerer._dict,
    ast.JoinedStr: Lowerer._fstring,
    ast.GeneratorExp: Lowerer._comprehension,
    ast.ListComp: Lowerer._comprehension,
    ast.SetComp: Lowerer._comprehension,
    ast.DictComp: Lowerer._comprehension,
    ast.Lambda: Lowerer._lambda,
    ast.NamedExpr: Lowerer._walrus,
    ast.Starred: Lowerer._value,
    ast.Await: Lowerer._value,
    ast.Yield: Lowerer._yield,
    ast.YieldFrom: Lowerer._yield,
}


def target_of(node: ast.expr) -> str | None:
    """The target that a flag (`has_sm120`, `capabilities.get("sm_90a")`) is named after; None of other nodes."""
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
