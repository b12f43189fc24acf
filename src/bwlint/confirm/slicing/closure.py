"""The statements that a test needs, from all modules of the tree: names are followed until none is missing."""

from __future__ import annotations

import ast
import re
import time
from dataclasses import dataclass, field

from bwlint.confirm.slicing.classes import ClassPart, is_small
from bwlint.confirm.slicing.enclosing import keep
from bwlint.confirm.slicing.modules import File, Files
from bwlint.confirm.slicing.syntax import GATE, bound, changed, imported, loads

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
    """Collects the statements that a test needs, from the modules of the tree. `owner` is the class around it."""

    def __init__(self, files: Files, owner: str) -> None:
        self._files = files
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

    def gate(self, home: File, function: ast.FunctionDef) -> None:
        self._home = home.dotted
        self._add(home, function, [GATE])
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
        own = isinstance(node, ast.ClassDef) and (file.dotted, node.name) == (self._home, self._owner)
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
