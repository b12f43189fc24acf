"""Where the names of a file stand, resolved or not, and what each place does with them: for who calls what."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from bwlint.model.expr import Span
from bwlint.readers.nodes import below, children, text_of
from bwlint.readers.python.given import arguments_of
from bwlint.readers.python.sides import Imports, dotted
from bwlint.readers.spans import span

_DOTTED = re.compile(r"[\w.]+(?::[\w.]+)?")
_LONGEST = 200
_ASKS_TYPE = frozenset({"isinstance", "issubclass"})


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A name at a place.

    `how` is call (it is called), name or attribute (it is read: passed on, or part of a longer name), base (of the
    class `into`), text (the last part of a string), export (in `__all__`), or import (as the local name `into`). `of`
    is what stands in front of it: "?" for an expression, the module of an import.

    `qualname` is the definition around it, "" for the module.
    """

    name: str
    how: str
    at: Span
    qualname: str
    of: str = ""
    into: str = ""


@dataclass(frozen=True, slots=True)
class NameScope:
    """A function or class of a file. `inner` is the qualified name of the definition around it ("" for none)."""

    qualname: str
    kind: str
    at: Span
    inner: str
    decorators: tuple[str, ...] = ()
    bases: tuple[str, ...] = ()
    methods: frozenset[str] = frozenset()
    special: bool = False
    """A class with a metaclass or other keywords: something else than its users may learn of it."""
    handed: tuple[str, ...] = ()
    """What its decorators are given, where that is a name."""


@dataclass(slots=True)
class Index:
    """The occurrences of a file by name, and its definitions by qualified name.

    `imports` maps local names to what they stand for, `stars` are modules of which every name is taken. `built` are
    the beginnings of attribute names that the program puts together itself.
    """

    names: dict[str, list[Occurrence]] = field(default_factory=lambda: defaultdict(list))
    scopes: dict[str, NameScope] = field(default_factory=dict)
    imports: dict[str, str] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)
    assigned: set[str] = field(default_factory=set)
    built: set[str] = field(default_factory=set)


def index(source: str, package: str) -> Index | None:
    """The index of one file of a package; None where it is no Python, or nested too deeply."""
    from bwlint.readers.python import ReadError, parse

    try:
        walker = _Walker(package)
        walker.block(parse(source).body)
    except (ReadError, RecursionError):
        return None
    return walker.index


class _Walker:
    def __init__(self, package: str) -> None:
        self.index = Index()
        self._imports = Imports({}, package)
        self._around = ""

    def block(self, body: Iterable[ast.AST]) -> None:
        for node in body:
            self.node(node)

    def node(self, node: ast.AST) -> None:
        """Dispatch by type; what has no handler is walked through."""
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            self._define(node)
        elif isinstance(node, ast.ClassDef):
            self._class(node)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            self._import(node)
        elif isinstance(node, ast.Name):
            self._name(node, "name")
        elif isinstance(node, ast.Attribute):
            self._attribute(node, "attribute")
        elif isinstance(node, ast.Call):
            self._call(node)
        elif isinstance(node, ast.Constant):
            self._text(node)
        elif isinstance(node, ast.AnnAssign):
            self.block([node.target, *([node.value] if node.value else [])])
        elif isinstance(node, ast.Assign) and "__all__" in (getattr(one, "id", "") for one in node.targets):
            self._exports(node)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return  # a docstring
        else:
            self.block(children(node))

    def _add(self, name: str, how: str, node: ast.AST, of: str = "", into: str = "") -> None:
        at = span(node)
        self.index.names[name].append(Occurrence(name, how, at, self._around, of, into))

    def _qualified(self, name: str) -> str:
        return f"{self._around}.{name}" if self._around else name

    def _define(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.block(node.decorator_list)
        self.block(default for default in (*node.args.defaults, *node.args.kw_defaults) if default is not None)
        qualname = self._qualified(node.name)
        decorators = tuple(dotted(item) for item in node.decorator_list)
        calls = (item for item in node.decorator_list if isinstance(item, ast.Call))
        handed = tuple(dotted(value) for call in calls for value in arguments_of(call))
        self.index.scopes[qualname] = NameScope(
            qualname, "function", span(node), self._around, decorators, handed=handed
        )
        self._inside(qualname, node.body)

    def _inside(self, qualname: str, body: Iterable[ast.AST]) -> None:
        outer, self._around = self._around, qualname
        self.block(body)
        self._around = outer

    def _class(self, node: ast.ClassDef) -> None:
        self.block(node.decorator_list)
        qualname = self._qualified(node.name)
        for base in node.bases:
            name = dotted(base.value if isinstance(base, ast.Subscript) else base)
            front, _, last = name.rpartition(".")
            self._add(last, "base", base, front, qualname)
        self.block(keyword.value for keyword in node.keywords)
        methods = frozenset(n.name for n in node.body if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef)))
        self.index.scopes[qualname] = NameScope(
            qualname,
            "class",
            span(node),
            self._around,
            tuple(dotted(item) for item in node.decorator_list),
            tuple(dotted(base.value if isinstance(base, ast.Subscript) else base) for base in node.bases),
            methods,
            any(keyword.arg != "metaclass" or dotted(keyword.value)[-7:] != "ABCMeta" for keyword in node.keywords),
        )
        self._inside(qualname, node.body)

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        for local, module, name in self._imports.brought(node):
            if name == "*":
                self.index.stars.append(module)
                continue
            self.index.imports[local] = module if name is None else f"{module}.{name}"
            if name is not None:
                self._add(name, "import", node, module, local)

    def _name(self, node: ast.Name, how: str) -> None:
        if isinstance(node.ctx, ast.Load):
            self._add(node.id, how, node)
        elif not self._around:
            self.index.assigned.add(node.id)

    def _attribute(self, node: ast.Attribute, how: str) -> None:
        if isinstance(node.ctx, ast.Load):
            owner = dotted(node.value) if isinstance(node.value, (ast.Name, ast.Attribute)) else ""
            at = span(node)
            place = Span(at[2], max(0, at[3] - len(node.attr.encode())), at[2], at[3])
            self.index.names[node.attr].append(Occurrence(node.attr, how, place, self._around, owner or "?"))
        self.node(node.value)

    def _call(self, node: ast.Call) -> None:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if isinstance(node.func, ast.Name):
            self._name(node.func, "call")
        elif isinstance(node.func, ast.Attribute):
            self._attribute(node.func, "call")
        else:
            self.node(node.func)
        arguments = node.args[:1] if name in _ASKS_TYPE else node.args
        self.block(arguments)
        self.block(keyword.value for keyword in node.keywords)
        if name == "getattr" and len(node.args) > 1:
            self._put_together(node.args[1])

    def _put_together(self, node: ast.expr) -> None:
        """`getattr(x, f"run_{mode}")` may be any name that begins with run_."""
        first = node.values[0] if isinstance(node, ast.JoinedStr) and node.values else node
        first = first.left if isinstance(first, ast.BinOp) else first
        if isinstance(node, (ast.JoinedStr, ast.BinOp)):
            text = text_of(first)
            self.index.built.add(text)

    def _text(self, node: ast.Constant) -> None:
        text = node.value
        if isinstance(text, str) and len(text) <= _LONGEST and _DOTTED.fullmatch(text):
            *front, last = re.split(r"[.:]", text)
            self._add(last, "text", node, ".".join(front))

    def _exports(self, node: ast.Assign) -> None:
        for item in below(node.value):
            if isinstance(item, ast.Constant) and isinstance(item.value, str):
                self._add(item.value, "export", item)
