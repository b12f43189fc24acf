"""A gate's test and all that it uses, cut out of the source: names are followed through the tree until none is missing.

What is cut is text. It says by which statements each name is bound; which of them run is found out where it runs
(`inside`). What cannot be cut is a value that nobody knows, with the reason where it may read the device.
"""

from __future__ import annotations

import ast
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from bwlint.confirm.slicing.enclosing import as_function, keep, owner_of
from bwlint.confirm.slicing.modules import File, Files, home_of, source_of
from bwlint.confirm.slicing.syntax import GATE, bound, changed, imported, loads, variable
from bwlint.evaluate.names import guess
from bwlint.model.findings import Claim, Region
from bwlint.readers.python.carriers import defined, may_call
from bwlint.readers.python.gates import asked_key
from bwlint.readers.python.sides import dotted
from bwlint.readers.spans import span
from bwlint.sources.read import SourceText

MAX_STATEMENTS = 600
MAX_TEXT = 400_000
"""Statements and characters of a slice."""
MAX_SECONDS = 10.0
"""Time after which nothing more is followed: a file can be made to take long."""
_LOGS = re.compile(r"_*(?:logger|logging|log|warnings|warn|warning_once)$", re.IGNORECASE)
"""What writes for people and decides nothing."""


@dataclass(slots=True)
class Cutout:
    """What is cut out of one module. `elsewhere` are names that a star import brings, with their module, `missing`
    names that cannot be cut, with the reason; `defined` are all names that its statements bind."""

    package: str
    statements: list[tuple[str, list[str]]] = field(default_factory=list)
    elsewhere: dict[str, str] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    defined: tuple[str, ...] = ()


class Cutter:
    """Collects the statements that a test in the module `home` at `real` needs, from the modules of the tree. `owner`
    is the class around it."""

    def __init__(self, home: File, real: str, owner: str = "") -> None:
        self._files = Files(home, real)
        self._home = home
        self._owner = owner
        self.plans: dict[str, Cutout] = {}
        self.names: set[str] = set()
        """Every identifier of the slice."""
        self._seen: set[tuple[str, str]] = set()
        self._taken: set[tuple[str, int]] = set()
        self._work: list[tuple[File, str]] = []
        self._parts: list[ClassPart] = []
        self._handed: dict[str, File] = {}
        self._size = self._count = 0
        self._deadline = time.monotonic() + MAX_SECONDS

    @property
    def devices(self) -> frozenset[str]:
        """Names in the slice that are called like a device."""
        return frozenset(name for name in self.names if guess(name) is not None)

    def run(self, function: ast.FunctionDef) -> None:
        """Follow the names of a test until nothing is missing, or the slice is too large."""
        self._add(self._home, function, [GATE])
        if self._owner:
            self._need(self._home, self._owner)
        while self._work:
            file, name = self._work.pop(0)
            self._resolve(file, name)
            if not self._work:
                self._more_members()
        for part in self._parts:
            self._plan(part.file).statements.append((ast.unparse(part.reduced()), [part.node.name]))

    def _plan(self, file: File) -> Cutout:
        if file.dotted not in self.plans:
            known = tuple(name for name in file.bindings if name not in file.written)
            self.plans[file.dotted] = Cutout(file.package, defined=known)
        return self.plans[file.dotted]

    def _need(self, file: File, name: str) -> None:
        if (file.dotted, name) not in self._seen:
            self._seen.add((file.dotted, name))
            self._work.append((file, name))

    def _resolve(self, file: File, name: str) -> None:
        plan = self._plan(file)
        if _LOGS.match(name):
            return
        if name in file.written:
            return  # what functions assign is not known, and free: nothing is bound
        indices = file.bindings.get(name)
        if indices is None:
            self._from_stars(file, name)
            return
        if self._size > MAX_TEXT or self._count > MAX_STATEMENTS or time.monotonic() > self._deadline:
            plan.missing[name] = f"`{name}` needs more of the tree than a slice may hold"
            return
        for index in indices:
            node = file.tree.body[index]
            if isinstance(node, ast.Import | ast.ImportFrom):
                self._add(file, _only(node, name), [name])
            elif isinstance(node, ast.If | ast.Try | ast.With | ast.For | ast.While):
                for part in keep(node, {name}):
                    self._add(file, part, [name])
            elif (file.dotted, index) not in self._taken:
                self._taken.add((file.dotted, index))
                self._take(file, node)

    def _from_stars(self, file: File, name: str) -> None:
        for star in file.stars:
            other = self._files.find(star)
            if other is not None and other is not file and (name in other.bindings or other.stars):
                if name not in other.bindings and not any(
                    (deeper := self._files.find(inner)) is not None and name in deeper.bindings for inner in other.stars
                ):
                    continue
                self._plan(file).elsewhere[name] = star
                self._need(other, name)
                self._plan(other)
                return

    def _take(self, file: File, node: ast.stmt) -> None:
        own = isinstance(node, ast.ClassDef) and (file.dotted, node.name) == (self._home.dotted, self._owner)
        if isinstance(node, ast.ClassDef) and (own or not is_small(node)):
            part = ClassPart(file, node)
            self._parts.append(part)
            for base in node.bases:
                self._visit(file, base)
            return
        self._add(file, node, sorted({*bound(node), *changed(node)}))

    def _add(self, file: File, node: ast.stmt, names: list[str]) -> None:
        source = ast.unparse(ast.fix_missing_locations(node))
        self._size += len(source)
        self._count += 1
        self._plan(file).statements.append((source, names))
        self._visit(file, node)

    def _more_members(self) -> None:
        """Members of large classes and of modules that are values, and values given to attributes: those that something
        in the slice has named by now."""
        for file in list(self._handed.values()):
            for name in sorted(self.names & file.bindings.keys()):
                self._need(file, name)
        for part in list(self._parts):
            for member in part.wanted(self.names):
                self._size += (member.end_lineno or 0) - member.lineno  # lines: a bound, and no measure
                self._visit(part.file, member)
            for attribute, function in part.attributes(self.names):
                self._add(part.file, function, [f"__attribute_{part.node.name}_{attribute}"])

    def _visit(self, file: File, node: ast.AST) -> None:
        """Ask for everything that a node reads."""
        local = dict(imported(node, file.package))
        for name in loads(node):
            self.names.add(name)
            if name not in local:
                self._need(file, name)
        for each in ast.walk(node):
            if isinstance(each, ast.Attribute):
                self.names.add(each.attr)
                self._chain(file, each, local)
            elif isinstance(each, ast.arg):
                self.names.add(each.arg)
            elif isinstance(each, ast.Name):
                self.names.add(each.id)
            elif isinstance(each, ast.Constant) and isinstance(each.value, str) and each.value.isidentifier():
                self.names.add(each.value)
        for module, name in local.values():
            self._import(module, name)

    def _import(self, dotted: str, name: str) -> None:
        """Ask for what `from dotted import name` brings; "" is the module itself."""
        found = self._files.find(dotted)
        if found is not None:
            self._plan(found)
            if name:
                self._need(found, name)
            else:
                self._handed[found.dotted] = found
        if name and (found is None or name not in found.bindings):
            inner = self._files.find(f"{dotted}.{name}")
            if inner is not None:
                self._plan(inner)
                self._handed[inner.dotted] = inner

    def _chain(self, file: File, node: ast.Attribute, local: dict[str, tuple[str, str]]) -> None:
        """Ask for `name` of `module.name`, where the module is one of the tree."""
        names = [node.attr]
        base: ast.expr = node.value
        while isinstance(base, ast.Attribute):
            names.insert(0, base.attr)
            base = base.value
        if not isinstance(base, ast.Name):
            return
        origin = local.get(base.id) or self._imported(file, base.id)
        if origin is None:
            return
        dotted = ".".join(part for part in origin if part)
        for name in names:
            module = self._files.find(dotted)
            if module is None:
                return
            self._plan(module)
            if name in module.bindings or module.stars:
                self._need(module, name)
                return
            dotted = f"{dotted}.{name}"
            if self._files.find(dotted) is not None:
                self._plan(self._files.find(dotted))  # type: ignore[arg-type]

    def _imported(self, file: File, name: str) -> tuple[str, str] | None:
        for index in file.bindings.get(name, ()):
            found = dict(imported(file.tree.body[index], file.package)).get(name)
            if found is not None:
                return found
        return None


def _only(node: ast.Import | ast.ImportFrom, name: str) -> ast.stmt:
    """The part of an import that binds one name."""
    aliases = [alias for alias in node.names if (alias.asname or alias.name.partition(".")[0]) == name]
    if isinstance(node, ast.Import):
        return ast.Import(aliases)
    return ast.ImportFrom(node.module, aliases, node.level)


MAX_WHOLE_CLASS = 60
"""Lines of a class that is cut as a whole; of a longer one come the members that something in the slice names."""


def is_small(node: ast.ClassDef) -> bool:
    """A class that comes whole: a short one, or one whose members are what it is (a NamedTuple, an enum)."""
    bases = {ast.unparse(base).rpartition(".")[2] for base in node.bases}
    if bases & {"NamedTuple", "Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"}:
        return True
    stored = any(isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store) for each in ast.walk(node))
    return not stored and (node.end_lineno or 0) - node.lineno <= MAX_WHOLE_CLASS and not bases


class ClassPart:
    """A class of which the members come that the slice names."""

    def __init__(self, file: File, node: ast.ClassDef) -> None:
        self.file, self.node = file, node
        self._members: dict[str, ast.stmt] = {}
        self._done: dict[str, ast.stmt] = {}
        self._assigned: dict[str, list[list[ast.AST] | None]] = {}
        for each in node.body:
            if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef):
                _assignments(each, [each], self._assigned)
        self._given: set[str] = set()
        for each in node.body:
            for name in bound(each):
                if name not in self._assigned:
                    self._members[name] = each

    def wanted(self, names: set[str]) -> list[ast.stmt]:
        found = [name for name in self._members if name in names and name not in self._done]
        for name in found:
            self._done[name] = self._members[name]
        return [self._done[name] for name in found]

    def attributes(self, names: set[str]) -> Iterator[tuple[str, ast.FunctionDef]]:
        """Functions that give the value of an attribute which is assigned once."""
        for name, places in self._assigned.items():
            if name not in names or name in self._given:
                continue
            self._given.add(name)
            if len(places) == 1 and (way := places[0]) is not None:
                yield name, self._attribute(name, way)

    def _attribute(self, name: str, way: Sequence[ast.AST]) -> ast.FunctionDef:
        statement = way[-1]
        assert isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None
        function = as_function([self.file.tree, self.node, *way], statement.value)
        # `self` is who is asked, and not another one
        body = [
            each
            for each in function.body
            if not (isinstance(each, ast.Assign) and "__bw_self__" in ast.unparse(each.value))
        ]
        parameters = ast.arguments([], [ast.arg("self")], None, [], [], None, [])
        return ast.FunctionDef(
            f"__attribute_{self.node.name}_{name}", parameters, body, [], None, lineno=1, col_offset=0
        )

    def reduced(self) -> ast.ClassDef:
        body = [each for each in self.node.body if any(each is kept for kept in self._done.values())]
        bases = [*self.node.bases, variable("__bw_Part__")]
        found = ast.ClassDef(self.node.name, bases, [], body or [ast.Pass()], [])
        return ast.fix_missing_locations(found)


def _assignments(node: ast.AST, way: list[ast.AST], found: dict[str, list[list[ast.AST] | None]]) -> None:
    """By attribute, the way from a method to each statement that assigns it; None where it gets a part of a value."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            continue
        if isinstance(child, ast.Assign | ast.AnnAssign | ast.AugAssign):
            targets = child.targets if isinstance(child, ast.Assign) else [child.target]
            for target in targets:
                for leaf in target.elts if isinstance(target, ast.Tuple | ast.List) else [target]:
                    if isinstance(leaf, ast.Attribute) and isinstance(leaf.value, ast.Name) and leaf.value.id == "self":
                        whole = leaf is target and not isinstance(child, ast.AugAssign) and child.value is not None
                        found.setdefault(leaf.attr, []).append([*way, child] if whole else None)
        elif not isinstance(child, ast.ClassDef):
            _assignments(child, [*way, child], found)


@dataclass(frozen=True, slots=True)
class Slice:
    """A gate with all that it uses. `form` says what is asked of it: test, or completes for a call that may not return.
    `devices` are names in it that are called like a device, `handed` parameters of the file to which calls of the file
    hand something that has to be evaluated: what that is on a chip is not simulated."""

    module: str
    form: str
    modules: dict[str, Cutout]
    devices: frozenset[str]
    handed: frozenset[str] = frozenset()

    @property
    def text(self) -> str:
        """The gate as it is run."""
        return self.modules[self.module].statements[0][0]


def cut(real: str, claim: Claim) -> Slice | str:
    """The slice of a claim about a gate in the Python file at `real`; a string says why there is none."""
    home = home_of(real, _NESTED)
    if isinstance(home, str):
        return home
    if claim.at is None:
        return "the claim names no place"
    try:
        return _cut(home, real, claim, claim.at)
    except RecursionError:
        return _NESTED


_NESTED = "the test is nested too deep to be cut out"


def _cut(home: File, real: str, claim: Claim, at: Region) -> Slice | str:
    found = _expression(home.tree, SourceText(str(source_of(real))), at)
    if found is None:
        return "no expression of Python stands where the claim points"
    way, node = found
    if isinstance(node, ast.List | ast.Tuple | ast.Set | ast.Dict):
        return "the list is declared, and no test of it stands there: there is nothing to run"
    if isinstance(node, ast.Constant):
        return "a bound is declared, and no test of it stands there: there is nothing to run"
    text = ast.unparse(node)
    form, expression = "test", node
    if text[:300] != claim.subject:
        asked = asked_key(node)
        if asked is None:
            return "another text stands where the claim points"
        expression = ast.Compare(asked[1], [ast.In()], [asked[0]])
        if ast.unparse(expression) != claim.subject:
            return "another text stands where the claim points"
    elif isinstance(way[-1], ast.Expr) and isinstance(node, ast.Call):
        form = "completes"
    cutter = Cutter(home, real, owner_of(way))
    cutter.run(as_function(way, expression))
    return Slice(home.dotted, form, cutter.plans, cutter.devices, frozenset(_handed_names(home.tree) & cutter.names))


def _handed_names(tree: ast.Module) -> set[str]:
    called = defined(tree).called
    found: set[str] = set()
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call):
            continue
        named = {keyword.arg for keyword in call.keywords if not isinstance(keyword.value, ast.Constant)}
        for qualname, function, first in called.get(dotted(call.func).rpartition(".")[2], ()):
            if may_call(call.func, qualname):
                places = [one.arg for one in (*function.args.posonlyargs, *function.args.args)][first:]
                given = zip(places, call.args, strict=False)
                found |= {name for name, value in given if not isinstance(value, ast.Constant)}
                found |= {one.arg for one in (*function.args.args, *function.args.kwonlyargs)} & named
    return found


def _expression(tree: ast.Module, text: SourceText, at: Region) -> tuple[list[ast.AST], ast.expr] | None:
    """The expression at a place, and the nodes around it from the module inwards."""

    def search(way: list[ast.AST]) -> tuple[list[ast.AST], ast.expr] | None:
        for child in ast.iter_child_nodes(way[-1]):
            if isinstance(child, ast.expr) and text.region(*span(child)) == at:
                return way, child
            if _may_hold(child, text, at):
                found = search([*way, child])
                if found is not None:
                    return found
        return None

    return search([tree])


def _may_hold(node: ast.AST, text: SourceText, at: Region) -> bool:
    """Whether a place may be in a node: arguments and loops of comprehensions have no place of their own."""
    if isinstance(node, ast.stmt):
        first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))])
        return first <= at.line and at.end_line <= (node.end_lineno or 0)
    if not isinstance(node, ast.expr):
        return True
    around = text.region(*span(node))
    start, end = (around.line, around.column), (around.end_line, around.end_column)
    return start <= (at.line, at.column) and (at.end_line, at.end_column) <= end
