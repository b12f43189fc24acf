"""A gate's test and all that it uses, cut out of the source: local definitions, helpers, constants, classes.

What is cut is text. It says by which statements each name is bound; which of them run is found out where it runs
(`inside`). What cannot be cut is a value that nobody knows, with the reason where it may read the device.
"""

# Paths are plain strings here, as in `link`.
# ruff: noqa: PTH113, PTH118, PTH119

from __future__ import annotations

import ast
import os
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from bwlint.confirm.slicing.inside import absolute
from bwlint.evaluate.names import guess
from bwlint.findings import Claim, Region
from bwlint.readers.errors import ReadError
from bwlint.readers.python import parse
from bwlint.readers.python.gates import asked_key
from bwlint.sources.read import Text, Unread, decode, read_bytes
from bwlint.sources.tree import import_roots, module_name, package_root

MAX_STATEMENTS = 600
MAX_TEXT = 400_000
"""Statements and characters of a slice."""
MAX_SECONDS = 10.0
"""Time after which nothing more is followed: a file can be made to take long."""
MAX_WHOLE_CLASS = 60
"""Lines of a class that is cut as a whole; of a longer one come the members that something in the slice names."""
_LOGS = re.compile(r"_*(?:logger|logging|log|warnings|warn|warning_once)$", re.IGNORECASE)
"""What writes for people and decides nothing."""
_MUTATORS = frozenset({"append", "extend", "insert", "remove", "pop", "clear", "update", "add", "discard", "sort"})
_Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_GATE = "__gate__"


@dataclass(slots=True)
class Plan:
    """What is cut out of one module. `elsewhere` are names that a star import brings, with their module, `missing`
    names that cannot be cut, with the reason; `defined` are all names that its statements bind."""

    package: str
    statements: list[tuple[str, list[str]]] = field(default_factory=list)
    elsewhere: dict[str, str] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    defined: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Slice:
    """A gate with all that it uses. `form` says what is asked of it: test, or completes for a call that may not return.

    `devices` are names in it that are called like a device.
    """

    module: str
    form: str
    modules: dict[str, Plan]
    devices: frozenset[str]

    @property
    def text(self) -> str:
        """The gate as it is run."""
        return self.modules[self.module].statements[0][0]


def cut(real: str, claim: Claim) -> Slice | str:
    """The slice of a claim about a gate in the Python file at `real`; a string says why there is none."""
    source = _source(real)
    if isinstance(source, Unread):
        return f"the file is not readable any more: {source.reason}"
    if claim.at is None:
        return "the claim names no place"
    folder = package_root(real)
    try:
        home = _file(module_name(real, folder), os.path.basename(real) == "__init__.py", source)
        return _cut(home, source, folder, claim)
    except ReadError as error:
        return f"the file does not parse: {error}"
    except RecursionError:
        return "the test is nested too deep to be cut out"


def _cut(home: File, source: str, folder: str, claim: Claim) -> Slice | str:
    assert claim.at is not None
    found = _expression(home.tree, Text(source), claim.at)
    if found is None:
        return "no expression of Python stands where the claim points"
    way, node = found
    if isinstance(node, ast.List | ast.Tuple | ast.Set | ast.Dict):
        return "the list is declared, and no test of it stands there: there is nothing to run"
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
    files = Files([folder, *import_roots(folder)])
    files.add(home)
    cutter = Cutter(files, _owner(way))
    cutter.gate(home, _function(way, expression))
    cutter.run()
    return Slice(home.dotted, form, cutter.plans, frozenset(name for name in cutter.names if guess(name) is not None))


def _expression(tree: ast.Module, text: Text, at: Region) -> tuple[list[ast.AST], ast.expr] | None:
    """The expression at a place, and the nodes around it from the module inwards."""

    def search(way: list[ast.AST]) -> tuple[list[ast.AST], ast.expr] | None:
        for child in ast.iter_child_nodes(way[-1]):
            if isinstance(child, ast.expr) and text.region(*_span(child)) == at:
                return way, child
            if _may_hold(child, text, at):
                found = search([*way, child])
                if found is not None:
                    return found
        return None

    return search([tree])


def _may_hold(node: ast.AST, text: Text, at: Region) -> bool:
    """Whether a place may be in a node: arguments and loops of comprehensions have no place of their own."""
    if isinstance(node, ast.stmt):
        first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))])
        return first <= at.line and at.end_line <= (node.end_lineno or 0)
    if not isinstance(node, ast.expr):
        return True
    around = text.region(*_span(node))
    start, end = (around.line, around.column), (around.end_line, around.end_column)
    return start <= (at.line, at.column) and (at.end_line, at.end_column) <= end


def _span(node: ast.expr) -> tuple[int, int, int, int]:
    return node.lineno, node.col_offset, node.end_lineno or node.lineno, node.end_col_offset or 0


# -- what stands above a test in its function


def _function(way: Sequence[ast.AST], expression: ast.expr) -> ast.FunctionDef:
    """A function without parameters that gives the value of an expression as it is where it stands."""
    needed = set(loads(expression))
    body: list[ast.stmt] = [ast.Return(expression)]
    current: list[ast.stmt] = []  # what comes before `body` in the innermost scope, in order
    owner = _owner(way)
    for index in range(len(way) - 1, 0, -1):
        node, above, inner = way[index], way[index - 1], way[index + 1] if index + 1 < len(way) else None
        current = [*_free(_bound_around(node, inner), needed), *_walrus(node, inner, needed), *current]
        enters = isinstance(node, _Scope) and inner in node.body
        if isinstance(node, _Scope) and enters:
            current = [*_locals(node, needed, owner), *current]
        # the names of a class are not those of its methods
        block = None if isinstance(above, ast.ClassDef) and enters else _block_with(above, node)
        if block is not None and not isinstance(above, ast.Module):
            before = block[: next(i for i, each in enumerate(block) if each is node)]
            current = [*_kept(before, needed), *current]
    return ast.FunctionDef(
        _GATE, ast.arguments([], [], None, [], [], None, []), [*current, *body], [], None, lineno=1, col_offset=0
    )


def _owner(way: Sequence[ast.AST]) -> str:
    """The class of the module in whose method a test stands, "" for none."""
    if len(way) > 2 and isinstance(way[1], ast.ClassDef) and isinstance(way[2], ast.FunctionDef | ast.AsyncFunctionDef):
        return way[1].name
    return ""


def _walrus(node: ast.AST, inner: ast.AST | None, needed: set[str]) -> list[ast.stmt]:
    """The test of an `if` above that names one of its values on the way."""
    if not isinstance(node, ast.If) or inner is node.test:
        return []
    named = {each.target.id for each in ast.walk(node.test) if isinstance(each, ast.NamedExpr)}
    if not named & needed:
        return []
    needed |= set(loads(node.test))
    return [ast.Expr(node.test)]


def _locals(scope: _Scope, needed: set[str], owner: str) -> list[ast.stmt]:
    """What gives a value to names of a scope that nothing kept binds for sure: parameters, and what is bound later."""
    found: list[ast.stmt] = []
    if not isinstance(scope, ast.ClassDef):
        arguments = scope.args
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
        names = [argument.arg for argument in every if argument is not None]
        for place, name in enumerate(names):
            if name not in needed:
                continue
            if place == 0 and owner and name in ("self", "cls"):
                made = ast.Constant(name == "self")
                found.append(_assign(name, ast.Call(_load("__bw_self__"), [ast.Constant(owner), made], [])))
            else:
                found.append(_unknown(name))
        needed -= set(names)
    later = {name for node in scope.body for name in bound(node)} & needed
    found += [_unknown(name) for name in sorted(later)]
    needed -= later if not isinstance(scope, ast.ClassDef) else set()
    return found


def _free(names: set[str], needed: set[str]) -> list[ast.stmt]:
    """Statements that say of names that nobody knows them, whatever was before."""
    found = sorted(names & needed)
    needed -= names
    return [_unknown(name) for name in found]


def _bound_around(node: ast.AST, inner: ast.AST | None) -> set[str]:
    """Names to which a node gives values that nobody knows where the test stands: of loops, handlers."""
    if isinstance(node, ast.For | ast.AsyncFor | ast.While | ast.Match):
        return set(bound(node))
    if isinstance(node, ast.With | ast.AsyncWith):
        return {name for item in node.items if item.optional_vars for name in _targets(item.optional_vars)}
    if isinstance(node, ast.ExceptHandler):
        return {node.name} if node.name else set()
    if isinstance(node, ast.Try) and isinstance(inner, ast.ExceptHandler):
        return {name for each in node.body for name in bound(each)}
    if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
        return {name for generator in node.generators for name in _targets(generator.target)}
    if isinstance(node, ast.Lambda):
        return {argument.arg for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)}
    return set()


def _block_with(node: ast.AST, child: ast.AST) -> list[ast.stmt] | None:
    """The statements of a node among which `child` is."""
    for name in ("body", "orelse", "finalbody"):
        block = getattr(node, name, None)
        if isinstance(block, list) and any(each is child for each in block):
            if isinstance(node, ast.Try) and name != "body":
                block = [*node.body, *block]
            return block
    return None


def _kept(block: Sequence[ast.stmt], needed: set[str]) -> list[ast.stmt]:
    """The statements of a block that names in `needed` come from, with what they need in their turn."""
    found: list[ast.stmt] = []
    for node in reversed(block):
        found[:0] = _keep(node, needed)
    return found


def _keep(node: ast.stmt, needed: set[str]) -> list[ast.stmt]:
    names = set(bound(node)) & needed
    if not names and not _changes(node) & needed:
        return []
    if isinstance(node, ast.For | ast.AsyncFor | ast.While | ast.Match):
        return _free(names, needed)
    if isinstance(node, ast.With | ast.AsyncWith):
        inner = _kept(node.body, needed)
        opened = {name for item in node.items if item.optional_vars for name in _targets(item.optional_vars)}
        return [*_free(opened, needed), *inner]
    if isinstance(node, ast.If):
        body, other = _branch(node.body, needed), _branch(node.orelse, needed)
        needed |= set(loads(node.test))
        return [ast.If(node.test, body or [ast.Pass()], other)]
    if isinstance(node, ast.Try):
        handlers = [
            ast.ExceptHandler(each.type, each.name, _branch(each.body, needed) or [ast.Pass()])
            for each in node.handlers
        ]
        final, other = _branch(node.finalbody, needed), _branch(node.orelse, needed)
        for handler in handlers:
            needed |= set(loads(handler.type)) if handler.type is not None else set()
        body = _branch(node.body, needed) or [ast.Pass()]
        return [ast.Try(body, handlers, other if handlers else [], final)]
    if isinstance(node, ast.Assign) and all(isinstance(target, ast.Name) for target in node.targets):
        needed -= names
    if isinstance(node, ast.AnnAssign) and node.value is None:
        return []
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
        node = ast.Assign([node.target], node.value)
    needed |= set(loads(node))
    return [node]


def _branch(block: Sequence[ast.stmt], needed: set[str]) -> list[ast.stmt]:
    """A branch of which names in `needed` come; one that leaves does not reach what comes after it."""
    here = set(needed)  # what a branch binds is still asked for where it is not taken
    kept = _kept(block, here)
    needed |= here
    if block and isinstance(block[-1], ast.Return | ast.Raise | ast.Continue | ast.Break):
        kept.append(ast.Raise(_load("__bw_NotReached__"), None))
    return kept


def _changes(node: ast.stmt) -> set[str]:
    """Names whose value a statement changes without binding them, here or in its branches."""
    found: set[str] = set()
    for each in ast.walk(node):
        target: ast.AST | None = None
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute) and each.func.attr in _MUTATORS:
            target = each.func.value
        elif isinstance(each, ast.Subscript | ast.Attribute) and isinstance(each.ctx, ast.Store | ast.Del):
            target = each.value
        if isinstance(target, ast.Name):
            found.add(target.id)
    return found - {"self", "cls"}


def _unknown(name: str) -> ast.stmt:
    return _assign(name, ast.Call(_load("__bw_free__"), [ast.Constant(name)], []))


def _assign(name: str, value: ast.expr) -> ast.stmt:
    return ast.Assign([ast.Name(name, ast.Store())], value)


def _load(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def bound(node: ast.AST) -> Iterator[str]:
    """Names that a statement binds in its scope, in all its branches."""
    stack: list[ast.AST] = [node]
    while stack:
        each = stack.pop()
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store | ast.Del):
            yield each.id
        elif isinstance(each, ast.Import | ast.ImportFrom):
            for alias in each.names:
                yield alias.asname or alias.name.partition(".")[0]
        elif isinstance(each, _Scope):
            yield each.name
            continue
        elif isinstance(each, ast.ExceptHandler) and each.name:
            yield each.name
        if not isinstance(each, ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            stack.extend(ast.iter_child_nodes(each))


def _targets(target: ast.expr) -> Iterator[str]:
    return (each.id for each in ast.walk(target) if isinstance(each, ast.Name))


def loads(node: ast.AST) -> Iterator[str]:
    """Names that are read in a node, those of annotations left out."""
    stack: list[ast.AST | None] = [node]
    while stack:
        each = stack.pop()
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load):
            yield each.id
        elif isinstance(each, ast.AugAssign) and isinstance(each.target, ast.Name):
            yield each.target.id
        if isinstance(each, ast.arg):
            continue
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef):
            stack += [*each.decorator_list, each.args, *each.body]
        elif each is not None:
            stack.extend(ast.iter_child_nodes(each))


# -- modules


@dataclass(frozen=True, slots=True)
class File:
    """A module of the tree: its statements, and which of them bind a name."""

    dotted: str
    package: str
    tree: ast.Module
    bindings: dict[str, list[int]]
    stars: tuple[str, ...]
    written: frozenset[str]
    """Names that a function assigns by `global`."""


class Files:
    """The modules that imports of one file may reach."""

    def __init__(self, roots: Sequence[str]) -> None:
        self._roots = tuple(dict.fromkeys(roots))
        self._known: dict[str, File | None] = {}

    def add(self, file: File) -> None:
        self._known[file.dotted] = file

    def find(self, dotted: str) -> File | None:
        if dotted not in self._known:
            self._known[dotted] = self._read(dotted)
        return self._known[dotted]

    def _read(self, dotted: str) -> File | None:
        relative = dotted.replace(".", os.sep)
        for root in self._roots:
            for candidate in (f"{relative}.py", os.path.join(relative, "__init__.py")):
                path = os.path.join(root, candidate)
                source = _source(path) if os.path.isfile(path) else None
                if isinstance(source, str):
                    return _parsed(dotted, candidate.endswith("__init__.py"), source)
        return None


def _source(path: str) -> str | Unread:
    data = read_bytes(path)
    return data if isinstance(data, Unread) else decode(data)


def _parsed(dotted: str, is_package: bool, source: str) -> File | None:
    try:
        return _file(dotted, is_package, source)
    except ReadError:
        return None


# A finding after the other asks for the same files.
@lru_cache(maxsize=64)
def _file(dotted: str, is_package: bool, source: str) -> File:
    """A module by its text. Raises `ReadError`."""
    tree = parse(source)
    package = dotted if is_package else dotted.rpartition(".")[0]
    bindings: dict[str, list[int]] = {}
    stars: list[str] = []
    for index, node in enumerate(tree.body):
        if _for_types(node):
            continue
        for name in {*bound(node), *(_changes(node) if not isinstance(node, _Scope) else ())}:
            bindings.setdefault(name, []).append(index)
        if isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names):
            stars.append(absolute(node, package))
    written = {name for node in ast.walk(tree) if isinstance(node, ast.Global) for name in node.names}
    return File(dotted, package, tree, bindings, tuple(stars), frozenset(written))


def _for_types(node: ast.stmt) -> bool:
    """`if TYPE_CHECKING:`, which never runs."""
    if not isinstance(node, ast.If) or node.orelse:
        return False
    return ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")


# -- the closure


class Cutter:
    """Collects the statements that a test needs, from the modules of the tree. `owner` is the class around it."""

    def __init__(self, files: Files, owner: str) -> None:
        self._files = files
        self._owner = owner
        self.plans: dict[str, Plan] = {}
        self.names: set[str] = set()
        """Every identifier of the slice."""
        self._seen: set[tuple[str, str]] = set()
        self._taken: set[tuple[str, int]] = set()
        self._work: list[tuple[File, str]] = []
        self._parts: list[_Part] = []
        self._handed: dict[str, File] = {}
        self._size = self._count = 0
        self._deadline = time.monotonic() + MAX_SECONDS

    def gate(self, home: File, function: ast.FunctionDef) -> None:
        self._home = home.dotted
        self._add(home, function, [_GATE])
        if self._owner:
            self._need(home, self._owner)

    def run(self) -> None:
        """Follow names until nothing is missing, or the slice is too large."""
        while self._work:
            file, name = self._work.pop(0)
            self._resolve(file, name)
            if not self._work:
                self._more_members()
        for part in self._parts:
            self._plan(part.file).statements.append((ast.unparse(part.reduced()), [part.node.name]))

    def _plan(self, file: File) -> Plan:
        if file.dotted not in self.plans:
            known = tuple(name for name in file.bindings if name not in file.written)
            self.plans[file.dotted] = Plan(file.package, defined=known)
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
                for part in _keep(node, {name}):
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
        own = isinstance(node, ast.ClassDef) and (file.dotted, node.name) == (self._home, self._owner)
        if isinstance(node, ast.ClassDef) and (own or not _is_small(node)):
            part = _Part(file, node)
            self._parts.append(part)
            for base in node.bases:
                self._visit(file, base)
            return
        self._add(file, node, sorted({*bound(node), *_changes(node)}))

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
            for name in self.names & file.bindings.keys():
                self._need(file, name)
        for part in list(self._parts):
            for member in part.wanted(self.names):
                self._size += (member.end_lineno or 0) - member.lineno  # lines: a bound, and no measure
                self._visit(part.file, member)
            for attribute, function in part.attributes(self.names):
                self._add(part.file, function, [f"__attribute_{part.node.name}_{attribute}"])

    def _visit(self, file: File, node: ast.AST) -> None:
        """Ask for everything that a node reads."""
        local = dict(_imports(node, file.package))
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
        for dotted, name in local.values():
            self._import(dotted, name)

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
            found = dict(_imports(file.tree.body[index], file.package)).get(name)
            if found is not None:
                return found
        return None


def _imports(node: ast.AST, package: str) -> Iterator[tuple[str, tuple[str, str]]]:
    """Local names that imports in a node bind, with the module and the name in it ("" for the module)."""
    for each in ast.walk(node):
        if isinstance(each, ast.Import):
            for alias in each.names:
                yield (
                    alias.asname or alias.name.partition(".")[0],
                    (
                        alias.name if alias.asname else alias.name.partition(".")[0],
                        "",
                    ),
                )
        elif isinstance(each, ast.ImportFrom):
            module = absolute(each, package)
            for alias in each.names:
                if alias.name != "*":
                    yield alias.asname or alias.name, (module, alias.name)


def _only(node: ast.Import | ast.ImportFrom, name: str) -> ast.stmt:
    """The part of an import that binds one name."""
    aliases = [alias for alias in node.names if (alias.asname or alias.name.partition(".")[0]) == name]
    if isinstance(node, ast.Import):
        return ast.Import(aliases)
    return ast.ImportFrom(node.module, aliases, node.level)


def _is_small(node: ast.ClassDef) -> bool:
    """A class that comes whole: a short one, or one whose members are what it is (a NamedTuple, an enum)."""
    bases = {ast.unparse(base).rpartition(".")[2] for base in node.bases}
    if bases & {"NamedTuple", "Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"}:
        return True
    stored = any(isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store) for each in ast.walk(node))
    return not stored and (node.end_lineno or 0) - node.lineno <= MAX_WHOLE_CLASS and not bases


class _Part:
    """A class of which the members come that the slice names."""

    def __init__(self, file: File, node: ast.ClassDef) -> None:
        self.file, self.node = file, node
        self._members: dict[str, ast.stmt] = {}
        self._done: dict[str, ast.stmt] = {}
        self._assigned = _self_assignments(node)
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
        function = _function([self.file.tree, self.node, *way], statement.value)
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
        bases = [*self.node.bases, _load("__bw_Part__")]
        found = ast.ClassDef(self.node.name, bases, [], body or [ast.Pass()], [])
        return ast.fix_missing_locations(found)


def _self_assignments(node: ast.ClassDef) -> dict[str, list[list[ast.AST] | None]]:
    """By attribute, the way from a method to each statement that assigns it; None where it gets a part of a value."""
    found: dict[str, list[list[ast.AST] | None]] = {}
    for function in node.body:
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            _assignments(function, [function], found)
    return found


def _assignments(node: ast.AST, way: list[ast.AST], found: dict[str, list[list[ast.AST] | None]]) -> None:
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
