"""The child that runs a slice: it makes everything ready, shuts itself in, runs the slice on each chip, and answers.

The job comes as JSON on stdin, the answer goes as JSON to the descriptor that `child.ANSWER` names.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import json
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from types import CodeType, FunctionType, ModuleType
from typing import Any, Protocol

from bwlint.confirm.slicing import seccomp, standins
from bwlint.confirm.slicing.standins import (
    Chip,
    Choices,
    NotReached,
    Properties,
    Skipped,
    Undecided,
    Unread,
    World,
    among,
    load_libraries,
    related,
)

MAX_RUNS = 1 << 6
"""Combinations of values that nobody knows, on one chip."""
TOO_MANY = f"values that nobody knows have more than {MAX_RUNS} combinations"
GATE = "__gate__"

Units = dict[str, tuple[list[tuple[CodeType, list[str]]], dict[str, Any]]]
"""By module: its statements, compiled, with the names that they bind; and the rest of the module's plan."""


def main() -> None:
    """Answer one job. Everything that reads a file or asks the system comes before the filter."""
    job = json.loads(sys.stdin.buffer.read())
    descriptor = int(os.environ["BWLINT_ANSWER"])
    load_libraries()
    try:
        units = _compiled(job)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        _answer(descriptor, {"trouble": f"the slice does not compile: {type(error).__name__}"})
        return
    _leave_streams()
    try:
        _limit(job["seconds"])
        seccomp.install(descriptor)
    except (OSError, ValueError) as error:
        _answer(descriptor, {"refused": str(error)})
        return
    _answer(descriptor, {"chips": {name: _outcomes(job, units, Chip(*chip)) for name, *chip in job["chips"]}})


def _leave_streams() -> None:
    """Whatever the slice writes goes nowhere."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    os.close(nowhere)


def _limit(seconds: int) -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    for name in (resource.RLIMIT_FSIZE, resource.RLIMIT_NOFILE, resource.RLIMIT_NPROC, resource.RLIMIT_CORE):
        resource.setrlimit(name, (0, 0))


def _answer(descriptor: int, answer: Mapping[str, Any]) -> None:
    data = memoryview(json.dumps(answer).encode())
    while data:
        data = data[os.write(descriptor, data) :]
    os._exit(0)


# -- runs


def _outcomes(job: Mapping[str, Any], units: Units, chip: Chip) -> dict[str, Any]:
    """What the gate gives on one chip: an outcome for each way that the values nobody knows may be."""
    found: list[dict[str, Any]] = []
    assumed: dict[str, None] = {}
    given: list[bool] = []
    while True:
        choices = Choices(tuple(given))
        world = World(chip, job["rows"], frozenset(job["devices"]), choices)
        outcome = _run(job, units, world)
        assumed |= world.assumed
        found.append({"outcome": outcome, "chosen": choices.taken, "guessed": list(choices.guessed)})
        given = list(choices.taken.values())
        while given and not given[-1]:
            given.pop()
        if not given:
            break
        given[-1] = False
        if len(found) == MAX_RUNS:
            found.append({"outcome": f"undecided: {TOO_MANY}", "chosen": {}, "guessed": []})
            break
    return {"runs": found, "assumed": list(assumed)}


def _run(job: Mapping[str, Any], units: Units, world: World) -> str:
    linker = Linker(units, world)
    try:
        gate = linker.module(job["module"])[GATE]
        value = gate()
        outcome = "true" if (True if job["form"] == "completes" else value) else "false"
    except Undecided as error:
        outcome = f"undecided: {error}"
    except NotReached:
        outcome = "not reached"
    except (RecursionError, MemoryError) as error:
        outcome = f"undecided: it ends in a {type(error).__name__}"
    except BaseException as error:
        outcome = _raised(error)
    return f"undecided: {world.choices.lost}" if world.choices.lost else outcome


def _raised(error: BaseException) -> str:
    try:
        text = str(error)
    except BaseException:
        text = "Unread"
    if "Unread" in text:
        return "undecided: a value that nobody knows is handed to something that wants a plain one"
    if isinstance(error, NameError):
        return "undecided: a name is missing in what was cut out"
    if _PARTIAL & set(_WORD.findall(text)):
        return "undecided: something is asked of a class of which only a part was cut out"
    if isinstance(error, TypeError) and _OF_CLASSES.search(text):
        return "undecided: a class of which only a part is there cannot be made"
    if _is_ours(error):
        return f"undecided: a {type(error).__name__} in what stands in for a library"
    return f"raises: {type(error).__name__}: {text}"[:120].strip(": ")


def _is_ours(error: BaseException) -> bool:
    """Whether an exception comes from this program and not from the slice, nor from what a library would raise."""
    if isinstance(error, Skipped | SystemExit):
        return False
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    code = trace.tb_frame.f_code if trace is not None else None
    return code is not None and code.co_filename in _OURS and code not in _SIMULATED


_PARTIAL: set[str] = set()
"""Names of classes of which only a part is in the slice."""
_WORD = re.compile(r"'(\w+)'")
_OF_CLASSES = re.compile(r"metaclass|\bMRO\b|abstract class|bases must be|not an acceptable base type")
_OURS = frozenset({standins.__file__, __file__})
_SIMULATED = frozenset(test.__code__ for test in standins.TESTS.values())


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

    def __init__(self, units: Units, world: World) -> None:
        self._units, self.world = units, world
        self._spaces: dict[str, Space] = {}
        self.builtins = _builtins(world)
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
        """`from dotted import name`"""
        if self.has(dotted):
            return self.module(dotted).attribute(name)
        inner = f"{dotted}.{name}"
        return self.proxy(inner) if self.has(inner) else self.world.outside(inner)

    def helpers(self, space: Space) -> dict[str, Any]:
        """What the text of a slice is rewritten to use."""
        world = self.world

        def named(name: str, value: Any) -> Any:
            if isinstance(value, Unread) and name in world.devices and not value._bw_why:
                return world.unread(name)
            return value

        def taken_apart(names: tuple[str, ...], value: Any) -> Any:
            if not isinstance(value, Unread):
                return value
            parts = [Unread(world, f"{value._bw_key}[{i}]", value._bw_why) for i in range(len(names))]
            return tuple(named(name, part) for name, part in zip(names, parts, strict=True))

        def same(left: Any, right: Any, negated: bool) -> Any:
            if isinstance(left, Unread) or isinstance(right, Unread):
                return related("is", left, right, negated)
            left, right = _plain(left), _plain(right)
            return (left is not right) if negated else (left is right)

        def member(item: Any, container: Any, negated: bool) -> Any:
            if isinstance(item, Unread) and not isinstance(container, Unread):
                return among(item, container, negated)
            if isinstance(container, Unread):
                return related("in", item, container, negated)
            return (item not in container) if negated else (item in container)

        def text(*parts: Any) -> Any:
            for part in parts:
                if isinstance(part, tuple) and isinstance(part[0], Unread):
                    return related("text", part[0], None)
            return "".join(part if isinstance(part, str) else _formatted(*part) for part in parts)

        def decorator(found: Any) -> Any:
            return (lambda thing: thing) if isinstance(found, Unread) else found

        return {
            "__bw_whole__": self.whole,
            "__bw_import__": self.imported,
            "__bw_free__": lambda name, why="": world.unread(name, why),
            "__bw_named__": named,
            "__bw_apart__": taken_apart,
            "__bw_is__": same,
            "__bw_in__": member,
            "__bw_type__": lambda value: related("type", value, None) if isinstance(value, Unread) else type(value),
            "__bw_text__": text,
            "__bw_decorator__": decorator,
            "__bw_caught__": _caught,
            "__bw_bases__": lambda *bases: tuple(_plain(base) for base in bases if not isinstance(base, Unread)),
            "__bw_self__": lambda name, made: _stand_in(space, name, made),
            "__bw_NotReached__": NotReached,
            "__bw_Part__": self._part,
        }


def _caught(types: Any) -> Any:
    """What an `except` catches: nobody here raises an exception that nobody knows."""
    if isinstance(types, tuple):
        return tuple(each for each in types if not isinstance(each, Unread))
    return () if isinstance(types, Unread) else types


def _formatted(value: Any, conversion: int, spec: str) -> str:
    if conversion == ord("r"):
        value = repr(value)
    elif conversion == ord("s"):
        value = str(value)
    return format(value, spec)


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
            _PARTIAL.add(cls.__name__)

        def __getattr__(cls, name: str) -> Any:
            return lookup(cls, None, name)

    class Part(metaclass=Meta):
        def __init__(self, *_: Any, **__: Any) -> None: ...

        def __getattr__(self, name: str) -> Any:
            return lookup(type(self), self, name)

    return Part


def _stand_in(space: Space, name: str, made: bool) -> Any:
    """An object of a class that nobody has initialised (or the class itself)."""
    owner = space[name]
    if isinstance(owner, Unread) or not made:
        return owner
    owner.__abstractmethods__ = frozenset()
    return object.__new__(owner)


# -- builtins


_NAMES = (
    *("abs", "all", "any", "bool", "bytes", "callable", "chr", "classmethod", "complex", "dict"),
    *("divmod", "enumerate", "filter", "float", "frozenset", "getattr", "hash", "hex", "int"),
    *("issubclass", "iter", "list", "map", "max", "min", "next", "object", "ord", "pow", "property"),
    *("range", "repr", "reversed", "round", "set", "slice", "sorted", "staticmethod", "str", "sum"),
    *("super", "tuple", "type", "zip", "True", "False", "None", "NotImplemented", "Ellipsis"),
    *("__build_class__", "__debug__"),
)


def _builtins(world: World) -> dict[str, Any]:
    """Those that compute; those that want a plain value give an unknown one for an unknown one."""
    found = {name: getattr(builtins, name) for name in _NAMES if hasattr(builtins, name)}
    found |= {
        name: value
        for name, value in vars(builtins).items()
        if isinstance(value, type) and issubclass(value, BaseException)
    }

    def careful(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any) -> Any:
            for arg in args:
                if isinstance(arg, Unread):
                    return related(name, args[0], args[1] if len(args) > 1 else None)
            return real(*args)

        return call

    def has(owner: Any, name: str) -> Any:
        if isinstance(owner, Unread):
            # every build of PyTorch has this module, whatever it is built for
            return True if (owner._bw_key, name) == ("torch", "cuda") else related("hasattr", owner, name)
        answer = hasattr(owner, name)
        if isinstance(owner, Properties):
            world.assumed[f"PyTorch's properties of a device have `{name}`"] = None
        return answer

    for name in ("len", "isinstance", "issubclass", "callable", "all", "any", "repr", "round", "range", "chr", "ord"):
        found[name] = careful(name, getattr(builtins, name))
    found["hasattr"] = has
    found["print"] = lambda *_, **__: None
    found["int"] = _converting(int)
    found["str"] = _converting(str)
    found["float"] = _converting(float)
    found["bool"] = bool
    return found


def _converting(kind: type) -> type:
    """`int`, `str` or `float`, which leave a value that nobody knows as it is; still what `isinstance` asks for."""

    class _Converting(type):
        def __call__(cls, *args: Any, **keywords: Any) -> Any:
            if args and isinstance(args[0], Unread):
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


def _plain(value: Any) -> Any:
    """Python's own type where a slice has ours."""
    return value.__mro__[1] if isinstance(value, type) and type(value).__name__ == "_Converting" else value


# -- text


def _compiled(job: Mapping[str, Any]) -> Units:
    units: Units = {}
    for dotted, plan in job["modules"].items():
        statements = []
        for source, names in plan["statements"]:
            tree = _Rewritten(plan["package"], frozenset(job["devices"])).visit(ast.parse(source))
            statements.append((compile(ast.fix_missing_locations(tree), "<slice>", "exec"), names))
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
            found.append(_assign(local, _call("__bw_whole__", ast.Constant(whole))))
        return found

    def visit_ImportFrom(self, node: ast.ImportFrom) -> list[ast.stmt]:
        module = absolute(node, self._package)
        return [
            _assign(alias.asname or alias.name, _call("__bw_import__", ast.Constant(module), ast.Constant(alias.name)))
            for alias in node.names
            if alias.name != "*"
        ] or [ast.Pass()]

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        if len(node.ops) != 1 or not isinstance(node.ops[0], ast.Is | ast.IsNot | ast.In | ast.NotIn):
            return node
        helper = "__bw_is__" if isinstance(node.ops[0], ast.Is | ast.IsNot) else "__bw_in__"
        negated = ast.Constant(isinstance(node.ops[0], ast.IsNot | ast.NotIn))
        return _call(helper, node.left, node.comparators[0], negated)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "type" and len(node.args) == 1 and not node.keywords:
            node.func = ast.Name("__bw_type__", ast.Load())
        return node

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.excepthandler:
        self.generic_visit(node)
        if node.type is not None:
            node.type = _call("__bw_caught__", node.type)
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
        return _call("__bw_text__", *parts)

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        self.generic_visit(node)
        target = node.targets[0]
        if isinstance(target, ast.Name) and target.id in self._devices:
            node.value = _call("__bw_named__", ast.Constant(target.id), node.value)
        elif isinstance(target, ast.Tuple | ast.List) and all(isinstance(part, ast.Name) for part in target.elts):
            names = ast.Tuple([ast.Constant(part.id) for part in target.elts if isinstance(part, ast.Name)], ast.Load())
            node.value = _call("__bw_apart__", names, node.value)
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
        node.decorator_list = [_call("__bw_decorator__", decorator) for decorator in node.decorator_list]
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.stmt:
        around, self._in_class = self._in_class, True
        self.generic_visit(node)
        self._in_class = around
        if node.bases:
            node.bases = [ast.Starred(_call("__bw_bases__", *node.bases), ast.Load())]
        node.keywords = []
        node.decorator_list = [_call("__bw_decorator__", decorator) for decorator in node.decorator_list]
        return node


def absolute(node: ast.ImportFrom, package: str) -> str:
    """The dotted name of the module that an import names from within a package."""
    if not node.level:
        return node.module or ""
    parts = package.split(".")[: len(package.split(".")) - node.level + 1]
    return ".".join([*parts, *([node.module] if node.module else [])])


def _call(name: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), list(arguments), [])


def _assign(name: str, value: ast.expr) -> ast.stmt:
    return ast.Assign([ast.Name(name, ast.Store())], value)


if __name__ == "__main__":
    main()
