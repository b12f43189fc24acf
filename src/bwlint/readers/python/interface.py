"""What a Python file offers importers: re-exported names, definitions, tables of backends."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from bwlint.model.expr import Span
from bwlint.readers.nodes import below, parameters
from bwlint.readers.python import parse
from bwlint.readers.python.calls import Call, calls, compared
from bwlint.readers.python.given import arguments_of
from bwlint.readers.python.sides import Imports, arm_of_others, dotted
from bwlint.readers.python.sides import statements as within
from bwlint.readers.spans import span
from bwlint.sources.errors import ReadError

MAX_MEMBERS = 400
"""Rows of one table that are read; a longer one lists data, not backends."""

MAX_PATH = 300
"""Letters of a dotted path."""

MAX_STEPS = 40
"""Statements of a function that only computes."""
_ARITHMETIC = frozenset({"min", "max", "int", "abs", "round", "cdiv", "next_power_of_2"})
_CHECK = re.compile(r"check|require|support|valid|guard", re.IGNORECASE)
_REGISTERS = re.compile(r"_*register_?(.*)")
_PATH = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*[.:][A-Za-z_]\w*")


@dataclass(frozen=True, slots=True)
class BackendChoice:
    """One backend of an operation or a table: its name, and the dotted local name or path of what stands for it."""

    name: str
    stands_for: str
    at: Span


@dataclass(frozen=True, slots=True)
class Offer:
    """A function or class at the top of a file.

    `choices` are the backends that a decorator has a check for, `checks` functions that a decorator asks on every
    call, `decorators` where decorators stand, `given` the names that they are given. `parameters` are those of a call
    (of a class, its `__init__` without `self`), `options` the strings that one of them may be. `gives_numbers`: all
    that it does is arithmetic.
    """

    name: str
    kind: str
    at: Span
    bases: tuple[str, ...] = ()
    decorators: tuple[Span, ...] = ()
    choices: tuple[BackendChoice, ...] = ()
    checks: tuple[str, ...] = ()
    options: tuple[tuple[str, tuple[str, ...]], ...] = ()
    methods: frozenset[str] = frozenset()
    parameters: tuple[str, ...] = ()
    given: frozenset[str] = frozenset()
    only_raises: bool = False
    gives_numbers: bool = False


@dataclass(frozen=True, slots=True)
class Binding:
    """One of several ways in which a name is bound: the dotted path of an import, or a definition; neither is any
    other value.
    """

    at: Span
    target: str = ""
    offer: Offer | None = None


@dataclass(frozen=True, slots=True)
class Interface:
    """`imports` map a local name to the dotted path that it was imported from, names that the file loads when they
    are asked for included; `inner` do so for names imported within a function. `calls` are by function, methods as
    `Class.method`. `declared` is `__all__` where that is a plain list, else None. `tables` are enumerations
    and dicts of paths, `registered` what decorators such as `@register_backend("name")` enter, by registry. `several`
    are the names that are bound in more than one way, by the function ("" is none) in which they are: each is an arm's.
    `caught` are the statements of the file whose errors somebody handles.
    """

    offers: dict[str, Offer] = field(default_factory=dict)
    imports: dict[str, str] = field(default_factory=dict)
    inner: dict[tuple[str, str], str] = field(default_factory=dict)
    calls: dict[str, tuple[Call, ...]] = field(default_factory=dict)
    stars: tuple[str, ...] = ()
    declared: tuple[str, ...] | None = None
    tables: dict[str, tuple[BackendChoice, ...]] = field(default_factory=dict)
    registered: dict[str, tuple[BackendChoice, ...]] = field(default_factory=dict)
    several: dict[tuple[str, str], tuple[Binding, ...]] = field(default_factory=dict)
    caught: tuple[Span, ...] = ()


def interface(source: str, name: str, is_package: bool) -> Interface:
    """The interface of one source; `name` is its dotted module name. Raises `ReadError`."""
    tree = parse(source)
    try:
        return _interface(tree, name if is_package else name.rpartition(".")[0])
    except RecursionError as error:
        raise ReadError("nested too deep to analyse") from error


def _interface(tree: ast.Module, package: str) -> Interface:
    statements = list(_top(tree.body))
    offers = {node.name: _offer(node) for node in statements if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    own = {node.name: node for node in statements if isinstance(node, ast.FunctionDef)}
    answers: dict[str, bool] = {}
    offers |= {name: replace(offers[name], gives_numbers=True) for name in own if _gives_numbers(name, own, answers)}
    imports: dict[str, str] = {}
    stars: list[str] = []
    for node in statements:
        for local, target in _imported(node, package):
            if local == "*":
                stars.append(target)
            else:
                imports[local] = target
    tables = dict(_tables(statements))
    if "__getattr__" in offers:
        for choice in (choice for name in tables if name not in offers for choice in tables[name]):
            imports.setdefault(choice.name, _absolute(choice.stands_for, package))
    declared = next((_strings(value) for target, value in _assigned(statements) if target == "__all__"), None)
    functions = dict(_functions(statements))
    known = {name: frozenset(offer.parameters) for name, offer in offers.items()}
    inner = {
        (name, local): target
        for name, node in functions.items()
        for item in within(node.body)
        for local, target in _imported(item, package)
    }
    made = {name: calls(node, known[name.partition(".")[0]]) for name, node in functions.items()}
    several = dict(_several("", statements, package))
    for name, node in functions.items():
        several |= _several(name, within(node.body), package)
    caught = tuple(span(node) for node in statements if isinstance(node, ast.Try) and node.handlers)
    registered = _registered(statements)
    return Interface(offers, imports, inner, made, tuple(stars), declared, tables, registered, several, caught)


def _gives_numbers(name: str, functions: Mapping[str, ast.FunctionDef], known: dict[str, bool]) -> bool:
    """Whether a function returns what it computes of numbers and of its arguments, by itself or by such functions; one
    that calls itself does not. `known` are the answers so far."""
    if name not in known:
        known[name] = False
        known[name] = _computes(functions[name], functions, known)
    return known[name]


def _computes(node: ast.FunctionDef, functions: Mapping[str, ast.FunctionDef], known: dict[str, bool]) -> bool:
    body = node.body[ast.get_docstring(node, clean=False) is not None :]
    if not body or not isinstance(body[-1], ast.Return) or len(body) > MAX_STEPS:
        return False
    nodes = [node for item in body for node in ast.walk(item)]
    values = [node.value for node in nodes if isinstance(node, ast.Return)]
    numbers = [type(node.value) in (int, float) for node in nodes if isinstance(node, ast.Constant)]
    called = [dotted(node.func).rpartition(".")[2] for node in nodes if isinstance(node, ast.Call)]
    if None in values or not all(numbers) or not (numbers or called):
        return False
    return all(one in _ARITHMETIC or (one in functions and _gives_numbers(one, functions, known)) for one in called)


def _several(
    function: str, statements: Iterable[ast.stmt], package: str
) -> Iterator[tuple[tuple[str, str], tuple[Binding, ...]]]:
    """The names of a block that several imports bind, or several definitions at the top of a file."""
    found: dict[str, list[Binding]] = {}
    for node in statements:
        for local, target in _imported(node, package):
            found.setdefault(local, []).append(Binding(span(node), target))
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not function:
            found.setdefault(node.name, []).append(Binding(span(node), offer=_offer(node)))
        for name in node.targets if isinstance(node, ast.Assign) else ():
            if isinstance(name, ast.Name):
                found.setdefault(name.id, []).append(Binding(span(node)))
    for bound, bindings in found.items():
        if len({(one.target, one.offer) for one in bindings}) > 1:
            yield (function, bound), tuple(bindings)


def _functions(statements: Iterable[ast.stmt]) -> Iterator[tuple[str, ast.FunctionDef]]:
    """The functions of a file and the methods of its classes, by qualified name."""
    for node in statements:
        if isinstance(node, ast.FunctionDef):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from ((f"{node.name}.{item.name}", item) for item in node.body if isinstance(item, ast.FunctionDef))


def _top(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that run when a file is imported, those under tests and in `try` included."""
    for node in body:
        yield node
        others = arm_of_others(node)
        if isinstance(node, (ast.If, ast.Try, ast.With)):
            yield from _top(node.body if node.body is not others else ())
        if isinstance(node, (ast.If, ast.Try)):
            yield from _top(node.orelse if node.orelse is not others else ())
        for case in node.cases if isinstance(node, ast.Match) else ():
            yield from _top(case.body)


def _imported(node: ast.stmt, package: str) -> Iterator[tuple[str, str]]:
    for local, module, name in Imports({}, package).brought(node):
        whole = ".".join(filter(None, (module, name)))
        yield local, module if name == "*" else whole


def _absolute(path: str, package: str) -> str:
    """`module:attribute` and `.module:attribute` as one dotted path."""
    path = path.replace(":", ".")
    return f"{package}{path}" if path.startswith(".") else path


def _assigned(statements: Iterable[ast.stmt]) -> Iterator[tuple[str, ast.expr]]:
    for node in statements:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            yield node.targets[0].id, node.value
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            yield node.target.id, node.value


def _strings(node: ast.expr) -> tuple[str, ...] | None:
    """The members of a list of strings; None where something else is among them."""
    if not isinstance(node, (ast.List, ast.Tuple)):
        return None
    found = [item.value for item in node.elts if isinstance(item, ast.Constant) and isinstance(item.value, str)]
    return tuple(found) if len(found) == len(node.elts) else None


def _offer(node: ast.FunctionDef | ast.ClassDef) -> Offer:
    above = [decorator for decorator in node.decorator_list if isinstance(decorator, ast.Call)]
    is_class = isinstance(node, ast.ClassDef)
    functions = [node] if isinstance(node, ast.FunctionDef) else []
    methods = [item for item in node.body if is_class and isinstance(item, ast.FunctionDef)]
    called = next((item for item in (*functions, *methods) if item is node or item.name == "__init__"), None)
    first_run = next((item for item in node.body if not isinstance(item, ast.Expr)), None)
    return Offer(
        node.name,
        "class" if is_class else "function",
        span(node),
        tuple(base for item in getattr(node, "bases", ()) if (base := dotted(item))),
        tuple(map(span, node.decorator_list)),
        tuple(choice for call in above for choice in _choices(call)),
        tuple(check for call in above for check in _checks(call)),
        () if called is None else _options(called, methods or [called]),
        frozenset(item.name for item in methods),
        () if called is None else parameters(called)[1 if is_class else 0 :],
        frozenset(value.id for call in above for value in arguments_of(call) if isinstance(value, ast.Name)),
        only_raises=not is_class and isinstance(first_run, ast.Raise),
    )


def _choices(call: ast.Call) -> Iterator[BackendChoice]:
    """A dict of names to functions that a decorator is given."""
    for value in (*call.args, *(keyword.value for keyword in call.keywords)):
        if not isinstance(value, ast.Dict) or len(value.keys) > MAX_MEMBERS:
            continue
        for key, item in zip(value.keys, value.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str) and isinstance(item, _NAMES):
                yield BackendChoice(key.value, dotted(item), span(key))


def _checks(call: ast.Call) -> Iterator[str]:
    """Functions that a decorator is given by keywords which say that they check."""
    for keyword in call.keywords:
        if keyword.arg and _CHECK.search(keyword.arg) and isinstance(keyword.value, _NAMES):
            yield dotted(keyword.value)


def _options(node: ast.FunctionDef, bodies: Iterable[ast.FunctionDef]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Parameters of a function that are declared to be one of some strings, or that `bodies` compare with some."""
    found: dict[str, dict[str, None]] = {}
    for item in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
        if item.annotation is not None and (strings := _literals(item.annotation)):
            found[item.arg] = dict.fromkeys(strings)
    declared = frozenset(found)
    for body in bodies:
        for name, strings in compared(body, frozenset(parameters(node)) - declared).items():
            found.setdefault(name, {}).update(dict.fromkeys(strings))
    return tuple((name, tuple(strings)) for name, strings in found.items())


def _literals(annotation: ast.expr) -> tuple[str, ...]:
    for node in below(annotation):
        if isinstance(node, ast.Subscript) and dotted(node.value).rpartition(".")[2] == "Literal":
            members = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            return tuple(m.value for m in members if isinstance(m, ast.Constant) and isinstance(m.value, str))
    return ()


def _tables(statements: Sequence[ast.stmt]) -> Iterator[tuple[str, tuple[BackendChoice, ...]]]:
    """Enumerations and dicts whose values are dotted paths."""
    for name, value in _assigned(statements):
        if isinstance(value, ast.Dict):
            rows = tuple(_rows(zip(value.keys, value.values, strict=True)))
            if rows:
                yield name, rows
    for node in statements:
        if isinstance(node, ast.ClassDef):
            pairs = ((ast.Constant(target), value, value) for target, value in _assigned(node.body))
            rows = tuple(row for key, value, at in pairs for row in _rows([(key, value)], at))
            if len(rows) > 1:
                yield node.name, rows[:MAX_MEMBERS]


def _rows(pairs: Iterable[tuple[ast.expr | None, ast.expr]], at: ast.expr | None = None) -> Iterator[BackendChoice]:
    for count, (key, value) in enumerate(pairs):
        if count >= MAX_MEMBERS or not (isinstance(key, ast.Constant) and isinstance(key.value, str)):
            return
        path = _path(value)
        if path:
            yield BackendChoice(key.value, path, span(at or key))


def _path(value: ast.expr) -> str:
    """`"module.Class"`, `"module:attribute"` and `("module", "attribute")`; else ""."""
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        text = value.value
        return text if len(text) <= MAX_PATH and _PATH.fullmatch(text.lstrip(".")) else ""
    parts = _strings(value)
    return f"{parts[0]}.{parts[1]}" if parts and len(parts) == 2 and _PATH.fullmatch(".".join(parts).strip(".")) else ""


def _registered(statements: Iterable[ast.stmt]) -> dict[str, tuple[BackendChoice, ...]]:
    """`@register_backend("name")` over a definition, by what stands behind `register`."""
    found: dict[str, list[BackendChoice]] = {}
    for node in statements:
        if not isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            continue
        for decorator in node.decorator_list:
            registry = _registry(decorator)
            if registry and isinstance(decorator, ast.Call):
                names = [arg.value for arg in decorator.args if isinstance(arg, ast.Constant)]
                found.setdefault(registry, []).extend(
                    BackendChoice(name, node.name, span(node))
                    for name in names[:1]
                    if isinstance(name, str) and name and "::" not in name
                )
    return {registry: tuple(choices) for registry, choices in found.items()}


def _registry(decorator: ast.expr) -> str:
    """What a decorator enters things into; "" for one that does not."""
    owner, _, last = dotted(decorator).rpartition(".")
    match = _REGISTERS.fullmatch(last)
    return "" if match is None else match[1] or owner.rpartition(".")[2].lower()


_NAMES = (ast.Name, ast.Attribute)
