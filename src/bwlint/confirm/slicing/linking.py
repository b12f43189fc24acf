"""The text of a slice, rewritten to use helpers of ours, and its modules in one run. This runs in the child.

A name is bound when it is asked for. In the place of Python's own a slice has builtins that compute, and operations on
a value that nobody knows.
"""

from __future__ import annotations
import __future__

import ast
import builtins
import inspect
from collections.abc import Callable, Mapping, Sequence
from types import CodeType, FunctionType, ModuleType
from typing import Any, Protocol

from bwlint.confirm.slicing.standins import LibrariesOnChip, Properties
from bwlint.confirm.slicing.syntax import absolute, assign, call
from bwlint.confirm.slicing.unread import NotReached, UnknownValue, among, related

_NAMES = (
    *("abs", "all", "any", "bool", "bytes", "callable", "chr", "classmethod", "complex", "dict"),
    *("divmod", "enumerate", "filter", "float", "frozenset", "getattr", "hash", "hex", "int"),
    *("issubclass", "iter", "list", "map", "max", "min", "next", "object", "ord", "pow", "property"),
    *("range", "repr", "reversed", "round", "set", "slice", "sorted", "staticmethod", "str", "sum"),
    *("super", "tuple", "type", "zip", "True", "False", "None", "NotImplemented", "Ellipsis"),
    *("__build_class__", "__debug__"),
)


def reduced(world: LibrariesOnChip) -> dict[str, Any]:
    """Those that compute; those that want a plain value give an unknown one for an unknown one."""
    found = {name: getattr(builtins, name) for name in _NAMES if hasattr(builtins, name)}
    found |= {
        name: value
        for name, value in vars(builtins).items()
        if isinstance(value, type) and issubclass(value, BaseException)
    }

    def has(owner: Any, name: str) -> Any:
        if isinstance(owner, UnknownValue):
            # every build of PyTorch has this module, whatever it is built for
            return True if (owner._bw_key, name) == ("torch", "cuda") else related("hasattr", owner, name)
        answer = hasattr(owner, name)
        if isinstance(owner, Properties):
            world.assumed[f"PyTorch's properties of a device have `{name}`"] = None
        return answer

    for name in ("len", "isinstance", "issubclass", "callable", "all", "any", "repr", "round", "range", "chr", "ord"):
        found[name] = _careful(name, getattr(builtins, name))
    found |= {"hasattr": has, "print": lambda *_, **__: None}
    return found | {kind.__name__: _converting(kind) for kind in (int, str, float)}


def _careful(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any) -> Any:
        if any(isinstance(arg, UnknownValue) for arg in args):
            return related(name, args[0], args[1] if len(args) > 1 else None)
        return real(*args)

    return call


def _converting(kind: type) -> type:
    """`int`, `str` or `float`, which leave a value that nobody knows as it is; still what `isinstance` asks for."""

    class _Converting(type):
        def __call__(cls, *args: Any, **keywords: Any) -> Any:
            if args and isinstance(args[0], UnknownValue):
                return related(kind.__name__, args[0], None)
            return kind(*args, **keywords)

        def __instancecheck__(cls, value: object) -> bool:
            return isinstance(value, kind)

        def __subclasscheck__(cls, other: type) -> bool:
            return issubclass(other, kind)

        def __eq__(cls, other: object) -> bool:
            return other is kind or other is cls

        def __hash__(cls) -> int:
            return hash(kind)

    return _Converting(kind.__name__, (kind,), {})


def plain(value: Any) -> Any:
    """Python's own type where a slice has ours."""
    return value.__mro__[1] if isinstance(value, type) and type(value).__name__ == "_Converting" else value


def _is(left: Any, right: Any, negated: bool) -> Any:
    if isinstance(left, UnknownValue) or isinstance(right, UnknownValue):
        return related("is", left, right, negated)
    left, right = plain(left), plain(right)
    return (left is not right) if negated else (left is right)


def _in(item: Any, container: Any, negated: bool) -> Any:
    if isinstance(item, UnknownValue) and not isinstance(container, UnknownValue):
        return among(item, container, negated)
    if isinstance(container, UnknownValue):
        return related("in", item, container, negated)
    return (item not in container) if negated else (item in container)


def _text(*parts: Any) -> Any:
    """An f-string: its texts, and values with their conversions and formats."""
    for part in parts:
        if isinstance(part, tuple) and isinstance(part[0], UnknownValue):
            return related("text", part[0], None)
    return "".join(part if isinstance(part, str) else _formatted(*part) for part in parts)


def _formatted(value: Any, conversion: int, spec: str) -> str:
    if conversion == ord("r"):
        value = repr(value)
    elif conversion == ord("s"):
        value = str(value)
    return format(value, spec)


def _caught(types: Any) -> Any:
    """What an `except` catches: nobody here raises an exception that nobody knows."""
    if isinstance(types, tuple):
        return tuple(each for each in types if not isinstance(each, UnknownValue))
    return () if isinstance(types, UnknownValue) else types


OPERATIONS: dict[str, Callable[..., Any] | type] = {
    "__bw_is__": _is,
    "__bw_in__": _in,
    "__bw_type__": lambda value: related("type", value, None) if isinstance(value, UnknownValue) else type(value),
    "__bw_text__": _text,
    "__bw_decorator__": lambda found: (lambda thing: thing) if isinstance(found, UnknownValue) else found,
    "__bw_caught__": _caught,
    "__bw_bases__": lambda *bases: tuple(plain(base) for base in bases if not isinstance(base, UnknownValue)),
    "__bw_NotReached__": NotReached,
}


Units = dict[str, tuple[list[tuple[CodeType, list[str]]], dict[str, Any]]]
"""By module: its statements, compiled, with the names that they bind; and the rest of the module's plan."""


class Space(dict[str, Any]):
    """The names of a module: what binds one runs when it is asked for."""

    def __init__(self, linker: Linker, dotted: str, statements: list[tuple[CodeType, list[str]]], plan: Any) -> None:
        super().__init__()
        self._linker, self._dotted, self._statements, self._plan = linker, dotted, statements, plan
        self._done: set[int] = set()
        self.update(linker.helpers(self))
        self["__builtins__"] = linker.builtins
        self["__name__"] = dotted

    def __missing__(self, name: str) -> Any:
        for index, (code, names) in enumerate(self._statements):
            if name in names and index not in self._done:
                self._done.add(index)
                self._bind_class_names(code)
                exec(code, self)
                self._assume(names)
        if name in self:
            return self[name]
        if name in self._plan["elsewhere"]:
            return self._linker.imported(self._plan["elsewhere"][name], name)
        if name in self._linker.builtins:
            raise KeyError(name)
        why = self._plan["missing"].get(name, "")
        if not why and hasattr(builtins, name):
            self._linker.world.choices.lose(f"it asks for `{name}`, which a slice does not have")
        if why:
            return self._linker.world.unread(name, why)
        return self._linker.world.outside(name)

    def _bind_class_names(self, code: CodeType) -> None:
        """A class body looks for names where `__missing__` is not asked: they are there before it runs."""
        for inner in code.co_consts:
            if not isinstance(inner, CodeType):
                continue
            if not inner.co_flags & inspect.CO_OPTIMIZED:
                for name in inner.co_names:
                    if name not in self and name not in self._linker.builtins and self._knows(name):
                        self[name] = self[name]
            self._bind_class_names(inner)

    def _knows(self, name: str) -> bool:
        """Whether asking for a name is no mistake: attributes of a class body are among its names."""
        return self.binds(name) or name in self._plan["elsewhere"] or not hasattr(builtins, name)

    def _assume(self, names: Sequence[str]) -> None:
        """Functions of the tree that the table of sources knows: what they cannot find out here, the table says."""
        for name in names:
            found = self.get(name)
            if isinstance(found, FunctionType):
                self[name] = self._linker.world.assumed_of(f"{self._dotted}.{name}", found)

    def binds(self, name: str) -> bool:
        return name in self or any(name in names for _, names in self._statements)

    def attribute(self, name: str) -> Any:
        """A name of the module for one outside it."""
        if self.binds(name) or name in self._plan["elsewhere"] or name in self._plan["missing"]:
            try:
                return self[name]
            except KeyError:
                return self._linker.world.unread(f"{self._dotted}.{name}")
        if name in self._plan["defined"]:
            return self._linker.world.unread(name, f"`{self._dotted}.{name}` was not cut out")
        inner = f"{self._dotted}.{name}"
        return self._linker.proxy(inner) if self._linker.has(inner) else self._linker.world.outside(inner)


class Linker:
    """The modules of a slice in one run."""

    def __init__(self, units: Units, world: LibrariesOnChip) -> None:
        self._units, self.world = units, world
        self._spaces: dict[str, Space] = {}
        self.builtins = reduced(world)
        self._part = _part_of(self)

    def has(self, dotted: str) -> bool:
        return dotted in self._units

    def module(self, dotted: str) -> Space:
        if dotted not in self._spaces:
            statements, plan = self._units[dotted]
            self._spaces[dotted] = Space(self, dotted, statements, plan)
        return self._spaces[dotted]

    def proxy(self, dotted: str) -> Proxy:
        return Proxy(self.module(dotted))

    def whole(self, dotted: str) -> Any:
        """`import a.b as c`"""
        return self.proxy(dotted) if self.has(dotted) else self.world.outside(dotted)

    def imported(self, dotted: str, name: str) -> Any:
        if self.has(dotted):
            return self.module(dotted).attribute(name)
        inner = f"{dotted}.{name}"
        return self.proxy(inner) if self.has(inner) else self.world.outside(inner)

    def helpers(self, space: Space) -> dict[str, Any]:
        """What the text of a slice is rewritten to use."""
        world = self.world
        return {
            **OPERATIONS,
            **world.helpers,
            "__bw_whole__": self.whole,
            "__bw_import__": self.imported,
            "__bw_free__": world.unread,
            "__bw_named__": world.named,
            "__bw_apart__": world.taken_apart,
            "__bw_self__": lambda name, made: _stand_in(space, name, made),
            "__bw_Part__": self._part,
        }


class Proxy(ModuleType):
    """A module of the slice as a value."""

    def __init__(self, space: Space) -> None:
        super().__init__("module")
        self.__dict__["_bw_space"] = space

    def __getattr__(self, name: str) -> Any:
        return self.__dict__["_bw_space"].attribute(name)


def _part_of(linker: Linker) -> type:
    """A base for classes of which only a part is in the slice: what is not there is not known."""

    def lookup(owner: type, subject: Any, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        for base in owner.__mro__ if subject is not None else ():
            if linker.has(base.__module__):
                space, wanted = linker.module(base.__module__), f"__attribute_{base.__name__}_{name}"
                if space.binds(wanted):
                    return space[wanted](subject)
        return linker.world.unread(f"{'self' if subject is not None else owner.__name__}.{name}")

    # a class may have bases of the kind that has the most special metaclass of those there are
    class Meta(type(Protocol)):  # type: ignore[misc]
        def __init__(cls, *given: Any, **more: Any) -> None:
            super().__init__(*given, **more)
            PARTIAL.add(cls.__name__)

        def __getattr__(cls, name: str) -> Any:
            return lookup(cls, None, name)

    class SlicePart(metaclass=Meta):
        def __init__(self, *_: Any, **__: Any) -> None: ...

        def __getattr__(self, name: str) -> Any:
            return lookup(type(self), self, name)

    return SlicePart


PARTIAL: set[str] = set()
"""Names of classes of which only a part is in the slice."""


def _stand_in(space: Space, name: str, made: bool) -> Any:
    """An object of a class that nobody has initialised (or the class itself)."""
    owner = space[name]
    if isinstance(owner, UnknownValue) or not made:
        return owner
    owner.__abstractmethods__ = frozenset()
    return object.__new__(owner)


def compiled(job: Mapping[str, Any], keep: Callable[[ast.Module], str | None] = lambda _: None) -> Units:
    """The statements of a job. `keep` names those that stay as they are written, but for their annotations."""
    units: Units = {}
    for dotted, plan in job["modules"].items():
        statements = []
        for source, names in plan["statements"]:
            tree = ast.parse(source)
            kept = keep(tree)
            if kept is None:
                tree = _Rewritten(plan["package"], frozenset(job["devices"])).visit(tree)
            flags = __future__.annotations.compiler_flag if kept else 0
            statements.append((compile(ast.fix_missing_locations(tree), kept or "<slice>", "exec", flags), names))
        units[dotted] = (statements, plan)
    return units


class _Rewritten(ast.NodeTransformer):
    """A statement whose imports are ours, and in which a value that nobody knows can be compared by identity, put into
    text and taken apart. Annotations of functions go: nothing reads them."""

    def __init__(self, package: str, devices: frozenset[str]) -> None:
        self._package, self._devices = package, devices
        self._in_class = False

    def visit_Import(self, node: ast.Import) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        for alias in node.names:
            local = alias.asname or alias.name.partition(".")[0]
            whole = alias.name if alias.asname else local
            found.append(assign(local, call("__bw_whole__", ast.Constant(whole))))
        return found

    def visit_ImportFrom(self, node: ast.ImportFrom) -> list[ast.stmt]:
        module = absolute(node, self._package)
        return [
            assign(alias.asname or alias.name, call("__bw_import__", ast.Constant(module), ast.Constant(alias.name)))
            for alias in node.names
            if alias.name != "*"
        ] or [ast.Pass()]

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        if len(node.ops) != 1 or not isinstance(node.ops[0], ast.Is | ast.IsNot | ast.In | ast.NotIn):
            return node
        helper = "__bw_is__" if isinstance(node.ops[0], ast.Is | ast.IsNot) else "__bw_in__"
        negated = ast.Constant(isinstance(node.ops[0], ast.IsNot | ast.NotIn))
        return call(helper, node.left, node.comparators[0], negated)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "type" and len(node.args) == 1 and not node.keywords:
            node.func = ast.Name("__bw_type__", ast.Load())
        return node

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.excepthandler:
        self.generic_visit(node)
        if node.type is not None:
            node.type = call("__bw_caught__", node.type)
        return node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.expr:
        self.generic_visit(node)
        parts: list[ast.expr] = []
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                spec = part.format_spec or ast.Constant("")
                parts.append(ast.Tuple([part.value, ast.Constant(part.conversion), spec], ast.Load()))
            else:
                parts.append(part)
        return call("__bw_text__", *parts)

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        self.generic_visit(node)
        target = node.targets[0]
        if isinstance(target, ast.Name) and target.id in self._devices:
            node.value = call("__bw_named__", ast.Constant(target.id), node.value)
        elif isinstance(target, ast.Tuple | ast.List) and all(isinstance(part, ast.Name) for part in target.elts):
            names = ast.Tuple([ast.Constant(part.id) for part in target.elts if isinstance(part, ast.Name)], ast.Load())
            node.value = call("__bw_apart__", names, node.value)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        if not self._in_class:
            plain = ast.Pass() if node.value is None else ast.Assign([node.target], node.value)
            return self.visit(plain)  # type: ignore[no-any-return]
        annotation, node.annotation = node.annotation, ast.Constant(None)
        self.generic_visit(node)
        node.annotation = ast.Constant(ast.unparse(annotation))
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        node.returns = None
        for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
            argument.annotation = None
        for extra in (node.args.vararg, node.args.kwarg):
            if extra is not None:
                extra.annotation = None
        around, self._in_class = self._in_class, False
        self.generic_visit(node)
        self._in_class = around
        node.decorator_list = [call("__bw_decorator__", decorator) for decorator in node.decorator_list]
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.stmt:
        around, self._in_class = self._in_class, True
        self.generic_visit(node)
        self._in_class = around
        if node.bases:
            node.bases = [ast.Starred(call("__bw_bases__", *node.bases), ast.Load())]
        node.keywords = []
        node.decorator_list = [call("__bw_decorator__", decorator) for decorator in node.decorator_list]
        return node
