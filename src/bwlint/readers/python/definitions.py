"""Functions and classes of one module: a function as an expression, a class as its attributes."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from bwlint.evaluate.names import SKIPPING_MARKS
from bwlint.model.expr import NONE, Expr, negate, unknown
from bwlint.model.facts import HANDLER, Class, Function, Path, Side
from bwlint.model.kinds import Compares, FunctionKind, GateKind
from bwlint.readers.nodes import below, defaults, parameters
from bwlint.readers.python import lists, sides
from bwlint.readers.python.blocks import is_none
from bwlint.readers.python.gates import Where
from bwlint.readers.python.lower import LoweringScope
from bwlint.readers.python.marking import is_decorator, marks_made, skipped, stops_of
from bwlint.readers.python.sides import dotted
from bwlint.readers.spans import span

if TYPE_CHECKING:
    from bwlint.readers.python.flow import Flow

_MAX_DOC = 600
_SKIPIF = Expr("import", ("pytest.mark", "skipif"))
MAX_VALUES = 6
"""Assignments to one attribute that are told apart."""
_PYTEST = ("pytest.", "unittest.", "parametrize", "mark.")
_KINDS: dict[str, FunctionKind] = {
    "staticmethod": "staticmethod",
    "classmethod": "classmethod",
    "property": "property",
    "cached_property": "property",
}


Decorated = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def define(flow: Flow, node: ast.FunctionDef | ast.AsyncFunctionDef, rest: Sequence[ast.stmt]) -> bool:
    qualname = node.name if flow.qualname == "<module>" else f"{flow.qualname}.{node.name}"
    if not flow.hit(node) and not (flow.classes_open and _is_short_property(node)):
        flow.lowerer.scope.env[node.name] = Expr("opaque", (qualname,), span(node))
        return False
    _decorators(flow, node)
    flow.functions[qualname] = _function(flow, node, qualname)
    is_manager = any(dotted(one).rpartition(".")[2] == "contextmanager" for one in node.decorator_list)
    reference = unknown(node.name) if is_manager else Expr("function", (qualname,), span(node))
    flow.lowerer.scope.env[node.name] = reference
    return False


def _is_short_property(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """A property that gives one expression, such as `self.vendor == "nvidia"`: others of its class rest on it."""
    body = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
    named = [dotted(one) for one in node.decorator_list]
    return named == ["property"] and len(body) == 1 and isinstance(body[0], ast.Return)


def _function(flow: Flow, node: ast.FunctionDef | ast.AsyncFunctionDef, qualname: str) -> Function:
    lowerer = flow.lowerer
    arguments = node.args
    params = parameters(node)
    given = dict(defaults(node))
    lowered = {name: lowerer.lower(default) for name, default in given.items()}
    for name, default in given.items():
        flow.sizes.default(name, default, qualname)
    kind = _kind(flow, [dotted(decorator) for decorator in node.decorator_list])
    saved = (lowerer.scope, flow.returns, flow.path, flow.qualname, flow.body)
    outer_yields, lowerer.yields = lowerer.yields, False
    lowerer.scope = LoweringScope(qualname, {p: Expr("param", (qualname, p)) for p in params}, saved[0])
    if arguments.vararg is not None:
        lowerer.scope.env[arguments.vararg.arg] = Expr("param", (qualname, "*"))
    if arguments.kwarg is not None:
        lowerer.scope.env[arguments.kwarg.arg] = unknown(f"**{arguments.kwarg.arg}")
    flow.returns, flow.path, flow.qualname, flow.body = [], [], qualname, node.body
    left = flow.block(node.body, ())
    if not left:
        flow.returning(NONE)
    if lowerer.yields:
        flow.returns = [((), unknown(f"{qualname} yields"))]
    if is_decorator(node) and (marks := _stopped_by(flow, node, qualname)):
        stops = marks[0] if len(marks) == 1 else Expr("or", (marks,), span(node))
        flow.returns = [((), Expr("call", (_SKIPIF, (stops,)), span(node)))]
    result = Function(
        qualname,
        kind,
        params,
        tuple(map(lowered.get, params)),
        tuple(sorted(flow.returns, key=_is_of_a_handler)),
        span(node),
        doc=(ast.get_docstring(node) or "")[:_MAX_DOC],
        spread=len(arguments.posonlyargs) + len(arguments.args) if arguments.vararg is not None else None,
    )
    lowerer.scope, flow.returns, flow.path, flow.qualname, flow.body = saved
    lowerer.yields = outer_yields
    return result


def _stopped_by(flow: Flow, node: ast.FunctionDef | ast.AsyncFunctionDef, qualname: str) -> tuple[Expr, ...]:
    """The tests on which the decorator that is walked skips what it decorates, or raises in front of it."""
    made = [negate(flow.quietly(test)) if fails else flow.quietly(test) for test, fails in marks_made(node)]
    inner = (function for name, function in flow.functions.items() if name.startswith(f"{qualname}."))
    return tuple(dict.fromkeys((*made, *(test for function in inner for test in stops_of(function, flow.slots)))))


def _kind(flow: Flow, decorators: Sequence[str]) -> FunctionKind:
    """What a function is that stands where the walk is now."""
    for decorator in decorators:
        if kind := _KINDS.get(decorator.rpartition(".")[2]):
            return kind
    return "method" if flow.classes_open and flow.classes_open[-1] == flow.qualname else "function"


def _decorators(flow: Flow, node: Decorated) -> None:
    """What each decorator says; of several marks that skip, each stands behind the others."""
    several = node.decorator_list if len(node.decorator_list) > 1 else []
    marks = [(one, skips) for one in several if (skips := _skips(flow, one, node)) is not None]
    outer = flow.path
    for decorator in node.decorator_list:
        flow.path = [*outer, *(negate(skips) for one, skips in marks if one is not decorator)]
        known = len(flow.gates.found)
        _decorator(flow, decorator, node)
        if len(flow.gates.found) == known:
            _own_mark(flow, decorator, node)
            for check in _handed(decorator):
                _handed_check(flow, check, node)
    flow.path = outer
    for call, body in skipped(node) if isinstance(node, ast.FunctionDef) else ():
        mark(flow, call, node.name, partial(_scattered, flow, body))


def _scattered(flow: Flow, body: Sequence[ast.stmt]) -> Side:
    """The side of statements between which others stand."""
    return replace(sides.block(body, flow.imports, flow.quietly), at=None)


def _skips(flow: Flow, decorator: ast.expr, node: Decorated) -> Expr | None:
    """The test on which a decorator skips; None where it is no mark that does."""
    if not isinstance(decorator, ast.Call) or not dotted(decorator.func).endswith(SKIPPING_MARKS):
        return _stops_by_own_mark(flow, decorator, node)
    if not decorator.args:
        return None
    test = flow.quietly(decorator.args[0])
    return negate(test) if dotted(decorator.func).endswith("skipUnless") else test


def _decorator(flow: Flow, decorator: ast.expr, node: Decorated) -> None:
    if not isinstance(decorator, ast.Call):
        return
    if dotted(decorator.func).endswith(SKIPPING_MARKS):
        mark(flow, decorator, node.name, lambda: sides.block(node.body, flow.imports, flow.quietly))
        return
    bounds = lists.bounds(decorator, flow.quietly)
    said: list[tuple[GateKind, Expr | None, ast.expr]] = [("assert", *bounds)] if bounds else []
    for label, value in lists.arguments(decorator, flow.own):
        said.append(("list", lists.declared(label, value, flow.lowerer.lower(value), flow.own), value))
    tests = [(kind, test, at) for kind, test, at in said if test is not None]
    if not tests:
        return  # most decorators say nothing of a device, and a body is long
    behind = sides.block(node.body, flow.imports, flow.quietly)
    for kind, test, at in tests:
        flow.add(kind, test, at, behind, Side(ends="raise"), node.name)


def _handed(decorator: ast.expr) -> Iterator[ast.expr]:
    """What a decorator may call before it calls what it decorates: `constraints=[at_least(9, 0), has_tensor_cores]`."""
    given = [*decorator.args, *(one.value for one in decorator.keywords)] if isinstance(decorator, ast.Call) else []
    for value in given:
        several = value.elts if isinstance(value, (ast.List, ast.Tuple)) else [value]
        yield from (one for one in several if isinstance(one, (ast.Call, ast.Name, ast.Attribute)))


def _handed_check(flow: Flow, check: ast.expr, node: Decorated) -> None:
    """A function that refuses, or one that makes such a function, among what a decorator is given."""
    if isinstance(check, ast.Call):
        _own_mark(flow, check, node)
        return
    at = span(check)
    called = Expr("call", (flow.lowerer.lower(check), (unknown(node.name),)), at)
    if flow.gates.reads(called):
        behind = sides.block(node.body, flow.imports, flow.quietly)
        flow.add("helper-call", Expr("completes", (called,), at), check, behind, Side(ends="raise"), dotted(check))


def _own_mark(flow: Flow, decorator: ast.expr, node: Decorated) -> None:
    stops = _stops_by_own_mark(flow, decorator, node)
    if stops is None:
        return
    behind = sides.block(node.body, flow.imports, flow.quietly)
    if node.name.startswith("test") or isinstance(node, ast.ClassDef):
        flow.add("skipif", stops, decorator, Side(ends="skip"), behind, node.name)
    else:
        flow.add("condition", stops, decorator, Side(ends="raise"), behind, node.name)


def _stops_by_own_mark(flow: Flow, decorator: ast.expr, node: Decorated) -> Expr | None:
    """`@requires_capability(9)`: a decorator of the tree that gives a mark which skips a test, or an error."""
    name = dotted(decorator.func if isinstance(decorator, ast.Call) else decorator)
    tests = isinstance(node, ast.ClassDef) and any(dotted(base).endswith("TestCase") for base in node.bases)
    if isinstance(node, ast.ClassDef) and not (tests or node.name.startswith("Test")):
        return None
    if name.startswith(_PYTEST) or name.endswith(SKIPPING_MARKS):
        return None
    lowered = flow.lowerer.lower(decorator)
    if lowered.op == "var":
        return None  # a mark that has a name is told of where it is made
    at = span(decorator)
    given = lowered if isinstance(decorator, ast.Call) else Expr("call", (lowered, (unknown(node.name),)), at)
    return Expr("cmp", ("is", (given, Expr("const", (True,), at))), at) if flow.gates.reads(given) else None


def mark(flow: Flow, call: ast.Call, name: str, look_behind: Callable[[], Side]) -> None:
    """`pytest.mark.skipif(condition, reason=...)` and unittest's forms."""
    if not call.args:
        return
    test = flow.lowerer.lower(call.args[0])
    if not flow.gates.reads(test):
        return  # of most marks the device is no reason, and a body is long
    behind = look_behind()
    reason = next(
        (k.value for k in call.keywords if k.arg == "reason"),
        call.args[1] if len(call.args) > 1 else None,
    )
    skip = sides.message(reason, "skip")
    if dotted(call.func).endswith("skipUnless"):
        flow.add("skipif", test, call.args[0], behind, skip, name)
    else:
        flow.add("skipif", test, call.args[0], skip, behind, name)


def define_class(flow: Flow, node: ast.ClassDef, rest: Sequence[ast.stmt]) -> bool:
    qualname = node.name if flow.qualname == "<module>" else f"{flow.qualname}.{node.name}"
    if held := lists.limits(node):
        flow.bounded.append((Where(qualname, ()), held))
    if not flow.hit(node) and not _is_record(node):
        flow.lowerer.scope.env[node.name] = Expr("opaque", (qualname,), span(node))
        return False
    _decorators(flow, node)
    lowerer = flow.lowerer
    bases = lowerer.many([b for b in node.bases if not isinstance(b, ast.Starred)])
    saved = (lowerer.scope, flow.qualname, flow.path)
    lowerer.scope = LoweringScope(qualname, {}, saved[0], is_class=True)
    flow.qualname, flow.path = qualname, []
    flow.classes_open.append(qualname)
    given = _self_assignments(node)
    late, lowerer.late = lowerer.late, lowerer.late | _late(node, given)
    flow.block(node.body, ())
    lowerer.late = late
    flow.classes_open.pop()
    names = dict(lowerer.scope.env)
    lowerer.scope, flow.qualname, flow.path = saved
    local = _locals(node)
    fields = tuple(dotted(item.target) for item in node.body if isinstance(item, ast.AnnAssign))
    handed = fields if _is_record(node) else ()  # who makes one gives them
    for attribute, values in given.items():
        value = values[0]
        if attribute in handed:
            names[attribute] = unknown(f"self.{attribute}")
        elif len(values) > 1 or value is None or attribute in names or _uses_any(value, local):
            known = flow.attributes.get((qualname, attribute), [])
            whole = len(known) == len(values) <= MAX_VALUES and None not in values
            default = names.get(attribute)
            names[attribute] = _one_of(attribute, known, default) if whole else unknown(f"self.{attribute}")
        else:
            names[attribute] = _self_value(flow, qualname, value)
    flow.classes[qualname] = Class(qualname, bases, names, fields, _compares(node))
    lowerer.scope.env[node.name] = Expr("class", (qualname,), span(node))
    return False


def _is_record(node: ast.ClassDef) -> bool:
    """A class that is its members: an enum, a dataclass, a named tuple."""
    named = [dotted(one) for one in (*node.bases, *node.decorator_list)]
    return any(name.endswith(("Enum", "NamedTuple", "dataclass")) for name in named)


def _compares(node: ast.ClassDef) -> Compares:
    """What `@dataclass`, `@dataclass(order=True)` and `@total_ordering` make of comparisons."""
    named = {dotted(one.func if isinstance(one, ast.Call) else one).rpartition(".")[2] for one in node.decorator_list}
    given = (one for call in node.decorator_list if isinstance(call, ast.Call) for one in call.keywords)
    ordered = any(one.arg == "order" and getattr(one.value, "value", None) is True for one in given)
    if ordered or "total_ordering" in named:
        return "ordered"
    return "equal" if "dataclass" in named else ""


def _self_value(flow: Flow, qualname: str, value: ast.expr) -> Expr:
    """The value of a single `flow.x = ...`, which names nothing local to its method."""
    told = flow.lowerer.told
    flow.lowerer.told = replace(told, conditional=None)
    saved = flow.lowerer.scope
    owner = f"{qualname}.__init__"
    flow.lowerer.scope = LoweringScope(owner, {"self": Expr("param", (owner, "self"))}, saved)
    try:
        return flow.lowerer.define(flow.lowerer.lower(value))
    finally:
        flow.lowerer.scope = saved
        flow.lowerer.told = told


def owners_in(name: str) -> tuple[str, ...]:
    """By which names the methods of a class keep something: in the object, or in the class."""
    return ("self", "cls", name)


def _late(node: ast.ClassDef, given: Mapping[str, Sequence[ast.expr | None]]) -> set[str]:
    """Attributes that are None at first, and something else once a method has asked."""
    body = node.body
    fields = (one for one in body if isinstance(one, (ast.Assign, ast.AnnAssign)) and is_none(one.value))
    empty = {dotted(one.targets[0] if isinstance(one, ast.Assign) else one.target) for one in fields}
    several = (name for name, values in given.items() if len(values) > 1 and any(map(is_none, values)))
    return {f"{owner}.{name}" for name in empty.intersection(given).union(several) for owner in owners_in(node.name)}


def _one_of(attribute: str, known: Sequence[tuple[Path, Expr]], default: Expr | None) -> Expr:
    """Any of the values that methods give to an attribute, each where its tests let it; None is not one yet, and what
    a caller hands over stands in for what a class that begins with None finds out."""
    made = [item for item in known if item[1].args != NONE.args]
    late = default is not None and default.args == NONE.args
    rest = [item for item in made if item[1].op != "param" or not late] or made or list(known)
    default = None if late and rest else default
    known = rest[:]
    found = default
    if found is None:
        first = next((item for item in known if not item[0]), known[0])
        rest.remove(first)
        found = first[1]
    for index, (path, value) in enumerate(rest):
        maybe = unknown(f"self.{attribute}, assigned at {index}")
        found = Expr("if", (Expr("and", ((*path, maybe),)), value, found))
    return found


def _locals(node: ast.ClassDef) -> set[str]:
    """Parameters and local names of a class's methods, less `self` and `cls`."""
    names: set[str] = set()
    for function in node.body:
        if isinstance(function, ast.FunctionDef):
            names |= sides.bound_names(function.body)
            names |= {*parameters(function)}
    return names - {"self", "cls"}


def _uses_any(node: ast.expr, names: set[str]) -> bool:
    return any(isinstance(item, ast.Name) and item.id in names for item in below(node))


def _self_assignments(node: ast.ClassDef) -> dict[str, list[ast.expr | None]]:
    """Attributes assigned through `self` or the class, with their values; None: a part of a value, or a changed one."""
    owners = owners_in(node.name)
    found: dict[str, list[ast.expr | None]] = {}
    for item in sides.statements(node.body):
        if not isinstance(item, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            continue
        value = None if isinstance(item, ast.AugAssign) else item.value
        if isinstance(item, ast.AnnAssign) and value is None:
            continue
        for target in item.targets if isinstance(item, ast.Assign) else [item.target]:
            for leaf, part in _parts(target, value):
                if isinstance(leaf, ast.Attribute) and isinstance(leaf.value, ast.Name) and leaf.value.id in owners:
                    found.setdefault(leaf.attr, []).append(part)
    return found


def _parts(target: ast.expr, value: ast.expr | None) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """A target, or those of an unpacking, each with its part of the value."""
    if not isinstance(target, (ast.Tuple, ast.List)):
        yield target, value
        return
    spread = any(isinstance(leaf, ast.Starred) for leaf in target.elts)
    for index, leaf in enumerate(target.elts):
        part = None if value is None or spread else ast.Subscript(value, ast.Constant(index), ast.Load())
        yield leaf, part if part is None or value is None else ast.fix_missing_locations(ast.copy_location(part, value))


def _is_of_a_handler(returned: tuple[Path, Expr]) -> bool:
    """Whether a value is returned where an attempt fails: what is tried is taken to succeed."""
    path, _ = returned
    return any(test.op == "unknown" and str(test.args[0]).startswith(HANDLER) for test in path)
