"""Names that carry a device query's answer, found by data flow."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from bwlint.evaluate.names import DEVICE
from bwlint.evaluate.sources import ATTRIBUTE_CALLS, PRINTING_CALLS, asking_names, asks_smi
from bwlint.readers.nodes import AnyFunction, below, children
from bwlint.readers.python.marking import asks_what_it_is_given, is_decorator
from bwlint.readers.python.sides import dotted, statements, statements_here
from bwlint.readers.reads import CONVERTERS

MAX_ROUNDS = 5
"""Steps from helper to helper that are followed in one file."""
SHORT = 40
"""Lines of a function whose constants are an answer to what it tests."""
_ANSWER = re.compile(r"_*(?:is|has|supports?|can)_")
_MACHINE = re.compile("platform|device|gpu|cuda|arch|capab|hardware|accelerat|machine", re.IGNORECASE)
_SHORT_NAME = 3
"""Names of so many letters are too common to be followed through a file."""
_MODULE = ""
_OTHER_FACTS = re.compile(r"count|memory|size|name|clock|bytes|gcn")
"""Parts of a device's properties that say nothing of its capability."""
Parameter = tuple[str, str]
"""A function's qualified name, and what it calls the parameter."""
LinesWith = Callable[[Iterable[str]], set[int]]
"""The 1-based numbers of the lines that name one of some words."""
_QUESTIONS = ast.Compare | ast.BoolOp | ast.UnaryOp | ast.Call


@dataclass(slots=True)
class Carriers:
    """`words` carry wherever they stand in the file, `parameters` in their function."""

    words: set[str]
    parameters: set[Parameter] = field(default_factory=set)
    lines: set[int] = field(default_factory=set)
    """Lines of the definitions that something carrying is handed to."""
    picked: set[str] = field(default_factory=set)
    """Attributes to which a test of the device gives a text or an object, as `self.name`."""
    picked_parameters: set[Parameter] = field(default_factory=set)
    takers: dict[str, list[tuple[str, list[str]]]] = field(default_factory=dict)
    """Functions with such parameters, by the name that they are called by: qualified name, and places in order."""


@dataclass(slots=True)
class _Definitions:
    """What can be called in a file, by its last name."""

    functions: list[tuple[str, AnyFunction, str]] = field(default_factory=list)
    """Qualified names, nodes, and the class around."""
    classes: dict[str, ast.ClassDef] = field(default_factory=dict)
    called: dict[str, list[tuple[str, AnyFunction, bool]]] = field(default_factory=dict)
    """By name: what is run, and whether it is bound to an instance first."""
    imported: set[str] = field(default_factory=set)
    parts: dict[ast.stmt, list[ast.Call | ast.NamedExpr]] = field(default_factory=dict)

    def parts_of(self, node: ast.stmt) -> list[ast.Call | ast.NamedExpr]:
        """The calls of what the file defines in one statement, and the names that it binds on the way."""
        if node not in self.parts:
            inner = (item for value in children(node) if isinstance(value, ast.expr) for item in below(value))
            self.parts[node] = [
                item
                for item in inner
                if isinstance(item, ast.NamedExpr) or (isinstance(item, ast.Call) and self._is_of_file(item))
            ]
        return self.parts[node]

    def _is_of_file(self, call: ast.Call) -> bool:
        name = dotted(call.func).rpartition(".")[2]
        return name in self.called or name in self.classes or name == "cls"


def trace(
    tree: ast.Module,
    lines_with: LinesWith,
    hits: set[int],
    given: frozenset[str],
    handed: frozenset[Parameter] = frozenset(),
    asked: Iterable[str] | None = None,
) -> Carriers:
    """The carriers of a file; `hits` are lines with a device word, `given` imports and `handed` parameters of it.

    `asked` are those of `asking_names` that stand in the file, where these are known.
    """
    filters = {node.name for node in tree.body if isinstance(node, ast.FunctionDef) and asks_what_it_is_given(node)}
    found = Carriers(_helper_words(tree, hits) | filters | given, set(handed))
    asking = lines_with({*(asking_names() if asked is None else asked), *given})
    if not asking and not handed:
        return found
    definitions = defined(tree)
    taking = {qualname for qualname, _ in handed}
    found.lines |= {node.lineno for qualname, node, _ in definitions.functions if qualname in taking}
    lines = asking | lines_with(found.words)
    for _ in range(MAX_ROUNDS):
        before = len(found.words), len(found.parameters), len(found.picked_parameters)
        _Walk(definitions, found).module(tree, lines | found.lines)
        if (len(found.words), len(found.parameters), len(found.picked_parameters)) == before:
            break
        lines = asking | lines_with(found.words)
    found.lines |= lines_with(found.picked)
    return found


def offered(tree: ast.Module, words: Iterable[str]) -> dict[str, frozenset[str]]:
    """What each top-level name brings to those who import it: itself, and of a class the names in it that carry."""
    known = frozenset(words)
    found: dict[str, frozenset[str]] = {}
    for node in _top_level(tree.body):
        if isinstance(node, ast.ClassDef):
            found[node.name] = frozenset(_members(node)) & known
        elif isinstance(node, AnyFunction):
            found[node.name] = known & {node.name}
        elif isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            made = found.get(dotted(node.value), frozenset())  # an instance brings what its class does
            for name in _targets(node):
                found[name] = found.get(name, frozenset()) | made | (known & {name})
    return {name: brought for name, brought in found.items() if brought}


def _top_level(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements of a module, those under its tests too."""
    for node in body:
        yield node
        if isinstance(node, (ast.If, ast.Try)):
            for part in (node.body, node.orelse, *(handler.body for handler in getattr(node, "handlers", ()))):
                yield from _top_level(part)


def _members(node: ast.ClassDef) -> Iterator[str]:
    for item in statements(node.body):
        if isinstance(item, AnyFunction):
            yield item.name
        elif isinstance(item, (ast.Assign, ast.AnnAssign)):
            for target in item.targets if isinstance(item, ast.Assign) else [item.target]:
                for leaf in _leaves(target):
                    yield leaf.attr if isinstance(leaf, ast.Attribute) else dotted(leaf)


def _targets(node: ast.Assign | ast.AnnAssign) -> Iterator[str]:
    for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
        yield from (leaf.id for leaf in _leaves(target) if isinstance(leaf, ast.Name))


def _leaves(target: ast.expr) -> Iterator[ast.expr]:
    if isinstance(target, (ast.Tuple, ast.List)):
        for element in target.elts:
            yield from _leaves(element)
    else:
        yield target.value if isinstance(target, ast.Starred) else target


def defined(tree: ast.Module) -> _Definitions:
    found = _Definitions()
    _enter(found, tree.body, _MODULE, "")
    found.imported = {
        alias.asname or alias.name for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    return found


def _enter(found: _Definitions, body: Sequence[ast.stmt], owner: str, of_class: str) -> None:
    for node in statements_here(body):
        if isinstance(node, ast.ClassDef):
            qualname = f"{owner}.{node.name}".lstrip(".")
            found.classes[node.name] = node
            _enter(found, node.body, qualname, node.name)
        elif isinstance(node, AnyFunction):
            qualname = f"{owner}.{node.name}".lstrip(".")
            found.functions.append((qualname, node, of_class))
            static = any(dotted(one).endswith("staticmethod") for one in node.decorator_list)
            name = of_class if of_class and node.name == "__init__" else node.name
            found.called.setdefault(name, []).append((qualname, node, bool(of_class) and not static))
            _enter(found, node.body, qualname, "")


def _empty_lists(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, (ast.Assign, ast.AnnAssign)) and isinstance(node.value, ast.List) and not node.value.elts:
        yield from _targets(node)


class _Walk:
    """One look at all that may carry, with what is known so far."""

    def __init__(self, definitions: _Definitions, found: Carriers) -> None:
        self._definitions = definitions
        self._found = found
        self._local: set[str] = set()
        self._picked: set[str] = set()
        self._lists: set[str] = set()
        """The names of empty lists that a function begins with."""
        self._closure: dict[str, set[str]] = {}
        self._machines: set[str] = set()
        """The classes that are called after a machine and know the device."""
        self._class = ""
        """The class of the method that is looked at."""

    def module(self, tree: ast.Module, lines: set[int]) -> None:
        self._local = set()
        for node in statements_here(tree.body):
            if not isinstance(node, (AnyFunction, ast.ClassDef)) and _meets(node, lines):
                self._statement(node, shared=True)
        for node in self._definitions.classes.values():
            if _meets(node, lines):
                for item in node.body:
                    if isinstance(item, (ast.Assign, ast.AnnAssign)):
                        self._statement(item, shared=True)
        classes = self._definitions.classes.items()
        self._machines = {
            name
            for name, node in classes
            if _MACHINE.search(name) and any(one in self._found.words or DEVICE.search(one) for one in _members(node))
        }
        for qualname, function, of_class in self._definitions.functions:
            if _meets(function, lines) or self._takes_from_around(qualname, function) or self._makes_one(function):
                self._class = of_class
                self._function(qualname, function)

    def _takes_from_around(self, qualname: str, node: AnyFunction) -> bool:
        """Whether a nested function uses a name of the one around that carries."""
        around = self._closure.get(qualname.rpartition(".")[0])
        return around is not None and any(isinstance(one, ast.Name) and one.id in around for one in below(node))

    def _function(self, qualname: str, node: AnyFunction) -> None:
        self._local = {name for owner, name in self._found.parameters if owner == qualname}
        self._picked = {name for owner, name in self._found.picked_parameters if owner == qualname}
        if around := self._closure.get(qualname.rpartition(".")[0]):
            self._local |= around
            self._found.lines.add(node.lineno)
        written: set[str] = set()
        self._lists = {name for one in node.body for name in _empty_lists(one)}
        tested = refuses = returns = False
        for item in statements_here(node.body):
            if isinstance(item, (ast.Global, ast.Nonlocal)):
                written |= set(item.names)
            elif isinstance(item, ast.Raise):
                refuses = refuses or tested
            elif isinstance(item, ast.Return):
                returns = returns or item.value is not None
                answer = tested and _is_short(node) and (_is_answer(item.value) or self._is_object(item.value))
                given = item.value is not None and (self._is_chosen(item.value) or self.carries(item.value))
                if answer or given or self._is_machine(item.value):
                    self._found.words.add(node.name)
            elif isinstance(item, (ast.If, ast.Assert, ast.Match)):
                asked = item.subject if isinstance(item, ast.Match) else item.test
                tested = tested or self.carries(asked)
            self._statement(item, shared=False)
        checks = refuses and not returns and _is_short(node) and not node.name.startswith("__")
        if checks or (is_decorator(node) and any(map(self.carries, node.body))):
            self._found.words.add(node.name)
        self._found.words |= written & self._local
        self._closure[qualname] = self._local

    def _is_chosen(self, value: ast.expr) -> bool:
        """One of two texts or objects, by a test of the device."""
        if not isinstance(value, ast.IfExp) or not self.carries(value.test):
            return False
        arms = (value.body, value.orelse)
        return all(isinstance(getattr(one, "value", None), str) or self._is_object(one) for one in arms)

    def _makes_one(self, function: AnyFunction) -> bool:
        """Whether a function gives an object of a class that is called after a machine and knows the device."""
        returned = (one.value for one in statements_here(function.body) if isinstance(one, ast.Return))
        return bool(self._machines) and any(map(self._is_machine, returned))

    def _is_machine(self, value: ast.expr | None) -> bool:
        return isinstance(value, ast.Call) and dotted(value.func) in self._machines

    def _is_object(self, value: ast.expr | None) -> bool:
        """A function or class of the file, something that it imports, or one of them with some arguments given."""
        if isinstance(value, ast.Call) and dotted(value.func).rpartition(".")[2] == "partial" and value.args:
            value = value.args[0]
        if isinstance(value, ast.Attribute):
            value = value.value  # a member of an enum
        if not isinstance(value, ast.Name):
            return False
        known = self._definitions
        return value.id in known.called or value.id in known.classes or value.id in known.imported

    def carries(self, node: ast.AST) -> bool:
        """Whether a value comes from a source, as far as it is known."""
        if isinstance(node, ast.Name):
            return node.id in self._local or node.id in self._found.words or node.id in asking_names()
        if isinstance(node, ast.Attribute):
            if node.attr in self._found.words or node.attr in asking_names():
                return True
            return not _OTHER_FACTS.search(node.attr) and self.carries(node.value)
        if isinstance(node, ast.Call):
            name = dotted(node.func).rpartition(".")[2]
            if self.carries(node.func):
                return True
            handed = [*node.args, *(keyword.value for keyword in node.keywords)]
            made = (
                name in CONVERTERS
                or name in PRINTING_CALLS
                or name in ATTRIBUTE_CALLS
                or name in self._definitions.classes
                or DEVICE.search(name) is not None
            )
            return made and any(self.carries(item) for item in handed)
        if isinstance(node, ast.Constant):
            return asks_smi(node.value)
        if isinstance(node, ast.IfExp) and not isinstance(getattr(node.body, "value", None), bool):
            return self.carries(node.body) or self.carries(node.orelse)  # a number that was picked is no capability
        return any(map(self.carries, children(node)))

    def _statement(self, node: ast.stmt, shared: bool) -> None:
        for item in self._definitions.parts_of(node):
            if isinstance(item, ast.Call):
                self._handed(item)
            elif self.carries(item.value):
                self._take(item.target, shared)
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)) and node.value is not None:
            if self.carries(node.value):
                for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                    self._take(target, shared)
            elif isinstance(node, ast.Assign) and self._is_picked(node.value):
                self._pick(node.targets, known=shared and self._is_chosen(node.value))
        elif isinstance(node, ast.If) and self.carries(node.test):
            self._decided((*node.body, *node.orelse), shared)
        elif isinstance(node, ast.ImportFrom):
            known = asking_names() | self._found.words
            self._found.words |= {alias.asname for alias in node.names if alias.asname and alias.name in known}
        elif isinstance(node, (ast.For, ast.AsyncFor)) and self.carries(node.iter):
            self._take(node.target, shared)
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            for one in node.items:
                if one.optional_vars is not None and self.carries(one.context_expr):
                    self._take(one.optional_vars, shared)
        elif isinstance(node, ast.Match) and self.carries(node.subject):
            captured = (one.name for case in node.cases for one in below(case.pattern) if isinstance(one, ast.MatchAs))
            self._local |= {name for name in captured if name}

    def _decided(self, arms: Iterable[ast.stmt], shared: bool) -> None:
        """Flags that the arms of a test set, attributes that they give a text or an object, lists that get longer."""
        for one in arms:
            if isinstance(one, ast.Expr) and isinstance(one.value, ast.Call):
                owner, _, method = dotted(one.value.func).rpartition(".")
                if method == "append" and owner in self._lists:
                    self._local.add(owner)
            if isinstance(one, ast.Assign) and not isinstance(getattr(one.value, "value", None), bool):
                self._pick(one.targets, known=shared and self._is_object(one.value))
            if isinstance(one, ast.Assign) and isinstance(getattr(one.value, "value", None), bool):
                for target in one.targets:
                    self._take(target, shared)

    def _pick(self, targets: Iterable[ast.expr], *, known: bool) -> None:
        """`known`: a name of the module that is one of several functions, classes or texts, whoever uses it."""
        names = {dotted(one) for one in targets if isinstance(one, (ast.Name, ast.Attribute))}
        self._picked |= names
        self._found.words |= {name for name in names if known and "." not in name and len(name) > _SHORT_NAME}
        self._found.picked |= {name for name in names if name.startswith("self.")}

    def _is_picked(self, node: ast.expr) -> bool:
        """Whether a test of the device decides what a value is, which need be none of the device itself."""
        if isinstance(node, ast.IfExp):
            return self.carries(node.test)
        return isinstance(node, ast.Name) and node.id in self._picked

    def _take(self, target: ast.expr, shared: bool) -> None:
        for leaf in _leaves(target):
            if isinstance(leaf, ast.Attribute):
                self._found.words.add(leaf.attr)
            elif isinstance(leaf, ast.Name):
                (self._found.words if shared else self._local).add(leaf.id)
            elif isinstance(leaf, ast.Subscript) and isinstance(leaf.value, ast.Name):
                self._local.add(leaf.value.id)

    def _handed(self, call: ast.Call) -> None:
        """Note the parameters, or the fields, that take what a call hands on."""
        last = dotted(call.func).rpartition(".")[2]
        last = self._class if last == "cls" else last
        known = [one for one in self._definitions.called.get(last, ()) if may_call(call.func, one[0])]
        fields = self._fields(last) if last in self._definitions.classes and not known else []
        if not known and not fields:
            return
        self._hand_on(call, known, fields, self.carries, self._found.parameters)
        self._hand_on(call, known, [], self._is_picked, self._found.picked_parameters)

    def _hand_on(
        self,
        call: ast.Call,
        known: Sequence[tuple[str, AnyFunction, bool]],
        fields: Sequence[str],
        is_given: Callable[[ast.expr], bool],
        parameters: set[Parameter],
    ) -> None:
        name = dotted(call.func).rpartition(".")[2]
        carried = [index for index, item in enumerate(call.args) if is_given(item)]
        spread = any(isinstance(call.args[index], ast.Starred) for index in carried)
        named = {keyword.arg for keyword in call.keywords if keyword.arg and is_given(keyword.value)}
        if not carried and not named:
            return
        self._found.words |= {one for index, one in enumerate(fields) if index in carried or spread or one in named}
        for qualname, function, bound in known:
            places = [a.arg for a in (*function.args.posonlyargs, *function.args.args)][1 if bound else 0 :]
            taken = {one for index, one in enumerate(places) if index in carried or (spread and index >= carried[0])}
            taken |= named & {a.arg for a in (*function.args.args, *function.args.kwonlyargs)}
            if taken:
                parameters |= {(qualname, one) for one in taken}
                self._found.lines.add(function.lineno)
                if (qualname, places) not in self._found.takers.setdefault(name, []):
                    self._found.takers[name].append((qualname, places))

    def _fields(self, name: str) -> list[str]:
        body = self._definitions.classes[name].body
        return [dotted(item.target) for item in body if isinstance(item, ast.AnnAssign)]


def may_call(function: ast.expr, qualname: str) -> bool:
    """Whether a call may lead to a definition of the file: `built().run()` does not to a function called `run`."""
    return "." in qualname or not isinstance(function, ast.Attribute) or dotted(function).startswith("torch.ops.")


def _meets(node: ast.stmt, lines: set[int]) -> bool:
    return not lines.isdisjoint(range(node.lineno, (node.end_lineno or node.lineno) + 1))


def _helper_words(tree: ast.Module, hits: set[int]) -> set[str]:
    """Names of small predicates and flags of this file that may read the device, without saying so."""
    words: set[str] = set()
    for node in _with_methods(tree.body):
        if isinstance(node, ast.FunctionDef) and _is_short(node) and _meets(node, hits) and _answers(node):
            words.add(node.name)
        elif isinstance(node, ast.Assign) and _may_answer(node.value) and _meets(node, hits):
            words |= {t.id for t in node.targets if isinstance(t, ast.Name)}
    return {word for word in words if len(word) > _SHORT_NAME and not DEVICE.search(word)}


def _may_answer(value: ast.expr) -> bool:
    """A question, or a property that is called like an answer: `platform.is_hopper`."""
    return isinstance(value, _QUESTIONS) or (isinstance(value, ast.Attribute) and bool(_ANSWER.match(value.attr)))


def _is_short(node: AnyFunction) -> bool:
    return (node.end_lineno or node.lineno) - node.lineno < SHORT


def _with_methods(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements, and those of the classes among them: a method answers for `self` and `cls` as a function does."""
    for node in body:
        yield node
        if isinstance(node, ast.ClassDef):
            yield from (item for item in node.body if isinstance(item, ast.FunctionDef))


def _is_answer(value: ast.expr | None) -> bool:
    """`return True`, and with a reason `return False, "needs 10.0"`."""
    if isinstance(value, ast.Tuple) and value.elts:
        return isinstance(value.elts[0], ast.Constant) and isinstance(value.elts[0].value, bool)
    return isinstance(value, ast.Constant)


def _answers(node: ast.FunctionDef) -> bool:
    """A function that returns a condition, skips, or ends in an error on a way of its own."""
    for item in statements(node.body):
        if isinstance(item, ast.If) and any(isinstance(one, ast.Raise) for one in item.body):
            return True
        asked = item.value if isinstance(item, ast.Return) and not isinstance(item.value, ast.Call) else None
        if asked is not None and _may_answer(asked):
            return True
        if isinstance(item, ast.Return) and isinstance(item.value, ast.Constant) and isinstance(item.value.value, bool):
            return True
        if (
            isinstance(item, ast.Expr)
            and isinstance(item.value, ast.Call)
            and dotted(item.value.func).endswith(".skip")
        ):
            return True
    return False
