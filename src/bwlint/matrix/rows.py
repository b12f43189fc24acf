"""Collect the rows of the matrix: the operations that a tree offers its users."""

# Paths are plain strings here, as in `sources.tree`.
# ruff: noqa: PTH118, PTH119

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from bwlint.model.expr import Span
from bwlint.readers.python.interface import BackendChoice, Binding, Interface, Offer, interface
from bwlint.readers.python.vocabulary import arch_text
from bwlint.sources import disk
from bwlint.sources.errors import ReadError
from bwlint.sources.read import Unread, decode, read_bytes
from bwlint.sources.tree import import_roots, module_name
from bwlint.sources.walk import SourceFile
from bwlint.world.budget import Budget
from bwlint.world.proofs import Node

MAX_HOPS = 20
"""How often a name may be handed on before it counts as lost."""
MAX_STARS = 500
"""How many modules a name is looked for in that others take whole."""
MAX_EXPORTS = 5000
"""Names of one package that are followed; what hands on more is no interface for people."""

ANSWERS = re.compile(
    r"_*(?:supports?|is|get|check)_(?:\w+_)?(?:compute_)?(?:capability|capabilities|archs?|device|sms?)(?:_supported)?"
    r"|_*(?:is_)?supported(?:_\w+)?|supports?|can_(?:use|run|handle|implement|support)|\w+_verifier"
)
"""Methods by which a class says where it works."""
VALIDATES = re.compile(
    r"_*(?:validate|ensure|verify|require|assert)_(?:\w+_)?(?:capability|arch|device|hardware|gpu|sm)s?"
)
"""Those that end in an error where it does not, and answer nothing."""

_ELSEWHERE = re.compile(
    r"(?:^|[_./\[])(?:rocm|hip|aiter|amd|rdna\d?|cdna\d?|xpu|cpu|amx|tpu|npu|hpu|musa|mps|neuron|ascend)(?:[_./\]]|$)"
    r"|ROCm|Rocm|Aiter|(?:XPU|CPU|TPU|HPU|NPU|MUSA)(?![a-z])",
)
"""Names of what is for processors or GPUs of another maker."""

OUTSIDE = re.compile(
    r"(?:^|/)(?:tests?|testing|benchmarks?|examples?|docs?|scripts|tools|ci|profiler)/"
    r"|(?:^|/)(?:test_[^/]*|[^/]*_test|bench(?:mark)?_[^/]*|conftest|setup)\.py$"
)
"""Files that offer nothing to users."""


@dataclass(frozen=True, slots=True)
class DefinitionSite:
    """A definition and where it stands; `path` is real, `module` dotted."""

    module: str
    path: str
    offer: Offer


@dataclass(frozen=True, slots=True)
class ArmSite:
    """One of the definitions that a name stands for, None outside of the tree; `arms` are the places, each with its
    module, that a chip has to reach for it."""

    site: DefinitionSite | None
    arms: tuple[tuple[str, Span], ...] = ()


@dataclass(frozen=True, slots=True)
class RowEntry:
    """One row to be judged: `name` in `module` as users write it, and `backend` for one of its backends. `backend`
    holds the name and the place that names it; `check` is the definition that stands for it, `parameter` the one that
    chooses it."""

    module: str
    name: str
    site: DefinitionSite | None
    backend: BackendChoice | None = None
    check: DefinitionSite | None = None
    parameter: str = ""
    bound: tuple[Node, ...] = ()
    """The functions of C++ that stand behind a name which a package hands on from a compiled module."""
    by_arm: bool = False
    """Whether there are several definitions, each under a test: `site` is but the last."""


Compiled = Callable[[str, str], tuple[Node, ...]]
"""The functions of C++ that are registered under a dotted name, as the file at a path means it."""


@dataclass(slots=True)
class Interfaces:
    """The files of a run by dotted name, and others that lie beside them, parsed when they are asked for."""

    files: dict[str, SourceFile]
    budget: Budget
    _roots: tuple[str, ...] = ()
    _known: dict[str, Interface | None] = field(default_factory=dict)
    _paths: dict[str, str] = field(default_factory=dict)
    _sites: dict[tuple[str, str], tuple[ArmSite, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, files: Iterable[SourceFile], budget: Budget) -> Interfaces:
        named: dict[str, SourceFile] = {}
        roots: dict[str, None] = {}
        for file in files:
            named.setdefault(module_name(file.real, file.root), file)
            roots.setdefault(file.root)
            for other in import_roots(file.root):
                roots.setdefault(other)
        return cls(named, budget, tuple(roots))

    def get(self, dotted: str) -> Interface | None:
        """The interface of a module; None where there is none in the tree or it cannot be read."""
        if dotted not in self._known:
            self._known[dotted] = None
            path = self.path(dotted)
            if path and self.budget.allows(path):
                self._known[dotted] = _read(path, dotted)
        return self._known[dotted]

    def path(self, dotted: str) -> str:
        """The real path of a module of the tree, "" where there is none."""
        if dotted not in self._paths:
            self._paths[dotted] = self.files[dotted].real if dotted in self.files else self._beside(dotted)
        return self._paths[dotted]

    def _beside(self, dotted: str) -> str:
        relative = dotted.replace(".", os.sep)
        if not relative or "\0" in relative:
            return ""
        for root in self._roots:
            for candidate in (f"{relative}.py", os.path.join(relative, "__init__.py")):
                path = os.path.join(root, candidate)
                if disk.is_file(path):
                    return disk.real(path)
        return ""

    def find(self, dotted: str, hops: int = MAX_HOPS) -> DefinitionSite | None:
        """The definition that a dotted path ends in, through imports; None where it leaves the tree."""
        return self._last(self._found(dotted, hops))

    def called(self, module: str, qualname: str, name: str) -> DefinitionSite | None:
        """The definition that a call in a function leads to."""
        return self._last(self.ways_called(module, qualname, name))

    def ways_called(self, module: str, qualname: str, name: str) -> tuple[ArmSite, ...]:
        """The definitions that a call in a function may lead to."""
        found = self.get(module)
        if found is None:
            return ()
        first, _, rest = name.partition(".")
        if (qualname, first) in found.several:
            return self._by_arm(module, found.several[qualname, first], rest, MAX_HOPS)
        target = found.inner.get((qualname, first))
        if target is not None:
            return self._found(f"{target}.{rest}" if rest else target, MAX_HOPS)
        return self.ways(module, name)

    def local(self, module: str, name: str) -> DefinitionSite | None:
        """The definition that a name in a module stands for, of several the last."""
        return self._last(self.ways(module, name))

    def ways(self, module: str, name: str, hops: int = MAX_HOPS) -> tuple[ArmSite, ...]:
        """The definitions that a name in a module may stand for."""
        key = (module, name)
        if key not in self._sites:
            self._sites[key] = ()  # a name that is handed on in a circle
            self._sites[key] = self._ways(module, name, hops)
        return self._sites[key]

    def _ways(self, module: str, name: str, hops: int) -> tuple[ArmSite, ...]:
        first, _, rest = name.partition(".")
        for owner in self._with_stars(module) if hops else ():
            found = self.get(owner)
            if found is None:
                continue
            if ("", first) in found.several:
                return self._by_arm(owner, found.several["", first], rest, hops)
            if first in found.offers:
                return () if rest else (ArmSite(DefinitionSite(owner, self.path(owner), found.offers[first])),)
            if first in found.imports:
                target = found.imports[first]
                return self._found(f"{target}.{rest}" if rest else target, hops - 1)
        inner = f"{module}.{first}"
        return self.ways(inner, rest, hops - 1) if rest and hops and self.path(inner) else ()

    def _by_arm(self, module: str, several: Iterable[Binding], rest: str, hops: int) -> tuple[ArmSite, ...]:
        ways = []
        for one in several:
            here = (module, one.at)
            inside = self._found(f"{one.target}.{rest}" if rest else one.target, hops - 1) if one.target else ()
            if one.offer is not None and not rest:
                inside = (ArmSite(DefinitionSite(module, self.path(module), one.offer)),)
            ways += [ArmSite(way.site, (here, *way.arms)) for way in inside or (ArmSite(None),)]
        return tuple(ways)

    def _found(self, dotted: str, hops: int) -> tuple[ArmSite, ...]:
        owner, _, name = dotted.rpartition(".")
        while owner and not self.path(owner):
            owner, _, above = owner.rpartition(".")
            name = f"{above}.{name}"
        return self.ways(owner, name, hops) if owner else ()

    @staticmethod
    def _last(ways: Iterable[ArmSite]) -> DefinitionSite | None:
        return next((way.site for way in reversed(tuple(ways)) if way.site is not None), None)

    def beyond(self, module: str, name: str, hops: int = MAX_HOPS) -> str:
        """The dotted name by which a name of a module leaves the tree; "" where it does not."""
        known = (one for owner in self._with_stars(module) if (one := self.get(owner)) is not None)
        target = next((one.imports[name] for one in known if name in one.imports), "")
        owner, _, last = target.rpartition(".")
        return self.beyond(owner, last, hops - 1) if hops and self.path(owner) else target

    def _with_stars(self, module: str) -> Iterator[str]:
        """A module, and those that it takes whole, nearest first."""
        waiting, seen = [module], {module}
        for owner in waiting:  # grows as it runs
            yield owner
            found = self.get(owner)
            for star in found.stars if found and len(seen) < MAX_STARS else ():
                if star not in seen:
                    seen.add(star)
                    waiting.append(star)


def _read(path: str, dotted: str) -> Interface | None:
    data = read_bytes(path)
    source = data if isinstance(data, Unread) else decode(data)
    if isinstance(source, Unread):
        return None
    try:
        return interface(source, dotted, os.path.basename(path) == "__init__.py")
    except ReadError:
        return None


def entries(
    interfaces: Interfaces, gated: frozenset[str], refusing: frozenset[str], compiled: Compiled
) -> list[RowEntry]:
    """The rows of a tree, by module and name, those of backends after their operation.

    `gated` are dotted names of definitions that declare or answer where they work: public ones are rows though no
    package hands them on. `refusing` are functions that turn devices away: rows in modules of which a package hands
    on something else, or that nobody else imports.
    """
    inside = {name: file for name, file in interfaces.files.items() if not OUTSIDE.search(file.path)}
    names = inside or interfaces.files
    found: dict[tuple[str, str], RowEntry] = {}
    public = dict(_public(interfaces, names))
    packages = any(os.path.basename(file.real) == "__init__.py" for file in interfaces.files.values())
    loose = () if packages else _loose(interfaces, names)
    shared_names = {(dotted.rpartition(".")[0], dotted.rpartition(".")[2]) for dotted in public}
    shared = {site.module for site in public.values()}
    apart = _entry_modules(names, {name.rpartition(".")[0] for name in refusing} - shared)
    gated |= {name for name in refusing if name.rpartition(".")[0] in shared | apart}
    gated |= set(_checked(interfaces, {name.rpartition(".")[0] for name in gated}))
    for dotted, site in (*public.items(), *loose, *_gated(interfaces, names, gated, public)):
        module, _, name = dotted.rpartition(".")
        by_arm = len(interfaces.ways(module, name)) > 1
        found.setdefault((module, name), RowEntry(module, name, site, by_arm=by_arm))
    tables = list(_tables(interfaces, names))
    listed = {(row.check.path, row.check.offer.name) for row in tables if row.check}
    own = [row for key, row in sorted(found.items()) if key in shared_names or _place(row) not in listed]
    own = sorted((*own, *_bound(interfaces, names, compiled)), key=lambda entry: (entry.module, entry.name))
    rows = [row for entry in own for row in (entry, *_backends(interfaces, entry))]
    return [row for row in (*rows, *tables) if not _elsewhere(row)]


def _place(entry: RowEntry) -> tuple[str, str]:
    return (entry.site.path, entry.site.offer.name) if entry.site else ("", "")


def _elsewhere(entry: RowEntry) -> bool:
    """Whether names say that a row is for another maker's devices."""
    site = entry.site or entry.check
    backend = entry.backend.name.lower() if entry.backend else ""
    place = "" if site is None else f"{site.module}.{site.offer.name}"
    return any(_ELSEWHERE.search(name) for name in (entry.name, backend, place))


def _public(interfaces: Interfaces, names: dict[str, SourceFile]) -> Iterator[tuple[str, DefinitionSite]]:
    """What packages hand on, each definition once, by the shortest name."""
    best: dict[tuple[str, str], tuple[tuple[int, str], DefinitionSite]] = {}
    for package, file in names.items():
        if os.path.basename(file.real) != "__init__.py" or _private(package):
            continue
        for name in _exports(interfaces, package):
            site = interfaces.local(package, name)
            if site is None or site.module.partition(".")[0] != package.partition(".")[0]:
                continue
            rank = (package.count("."), f"{package}.{name}")
            key = (site.path, site.offer.name)
            if key not in best or rank < best[key][0]:
                best[key] = (rank, site)
    for (_, dotted), site in best.values():
        yield dotted, site


def _bound(interfaces: Interfaces, names: dict[str, SourceFile], compiled: Compiled) -> Iterator[RowEntry]:
    """What packages hand on from modules that the project compiles, each by its shortest name."""
    found: dict[str, RowEntry] = {}
    for package in sorted(names, key=lambda one: (one.count("."), one)):
        if os.path.basename(names[package].real) != "__init__.py" or _private(package):
            continue
        for name in _exports(interfaces, package):
            target = interfaces.beyond(package, name) if interfaces.local(package, name) is None else ""
            nodes = compiled(target, names[package].real) if "." in target and target not in found else ()
            if nodes:
                found[target] = RowEntry(package, name, None, bound=nodes)
    yield from found.values()


def _exports(interfaces: Interfaces, package: str) -> Sequence[str]:
    """The names that a module hands on, those of the modules that it takes whole included."""
    names: dict[str, None] = {}
    seen, waiting = {package}, [package]
    while waiting and len(names) < MAX_EXPORTS:
        found = interfaces.get(waiting.pop())
        if found is None:
            continue
        if found.declared is not None:
            names.update(dict.fromkeys(found.declared))
            continue
        names.update({name: None for name in (*found.imports, *found.offers) if not name.startswith("_")})
        waiting += [star for star in found.stars if star not in seen]
        seen |= set(found.stars)
    return tuple(names)[:MAX_EXPORTS]


def _loose(interfaces: Interfaces, names: dict[str, SourceFile]) -> Iterator[tuple[str, DefinitionSite]]:
    """Top-level definitions, where there is no package to hand them on."""
    for module in names:
        found = interfaces.get(module)
        for name, offer in ({} if found is None else found.offers).items():
            if not name.startswith("_"):
                yield f"{module}.{name}", DefinitionSite(module, interfaces.path(module), offer)


def _entry_modules(names: dict[str, SourceFile], modules: set[str]) -> set[str]:
    """Modules of packages that no other file imports: users do, and call what they find there."""
    inside = {name for name in modules if name.rpartition(".")[0] in names}
    words = {name.rpartition(".")[2].encode(): name for name in sorted(inside)}
    imported = re.compile(rb"^\s*(?:from|import)\s[^\n]*\b(" + b"|".join(map(re.escape, words)) + rb")\b", re.MULTILINE)
    for module, file in names.items() if words else ():
        data = read_bytes(file.real)
        if not isinstance(data, Unread):
            inside -= {words[found[1]] for found in imported.finditer(data) if words[found[1]] != module}
    return inside


def _gated(
    interfaces: Interfaces, names: dict[str, SourceFile], gated: frozenset[str], public: dict[str, DefinitionSite]
) -> Iterator[tuple[str, DefinitionSite]]:
    known = {(site.path, site.offer.name) for site in public.values()}
    for dotted in sorted(gated):
        module, _, name = dotted.rpartition(".")
        if module not in names or name.startswith("_") or _private(module):
            continue
        site = interfaces.local(module, name)
        if site is not None and (site.path, site.offer.name) not in known:
            yield dotted, site


def _checked(interfaces: Interfaces, modules: Iterable[str]) -> Iterator[str]:
    """Definitions with a check on them, in modules where something declares where it works."""
    for module in modules:
        found = interfaces.get(module)
        for name, offer in ({} if found is None else found.offers).items():
            if offer.choices or offer.checks:
                yield f"{module}.{name}"


def _backends(interfaces: Interfaces, entry: RowEntry) -> Iterator[RowEntry]:
    site = entry.site
    if site is None:
        return
    for choice in site.offer.choices:
        check = interfaces.local(site.module, choice.stands_for)
        parameter = next((name for name, strings in site.offer.options if choice.name in strings), "backend")
        yield RowEntry(entry.module, entry.name, site, choice, check, parameter)
    if not site.offer.choices:
        for parameter, strings in site.offer.options:
            for text in strings:
                if "backend" in parameter and text != "auto" and not arch_text(text):
                    yield RowEntry(
                        entry.module, entry.name, site, BackendChoice(text, "", site.offer.at), None, parameter
                    )


def _tables(interfaces: Interfaces, names: dict[str, SourceFile]) -> Iterator[RowEntry]:
    """Registries: enumerations and dicts of paths, and what decorators register, by name."""
    for module in sorted(names):
        found = interfaces.get(module) if _may_hold(interfaces.path(module)) else None
        if found is None:
            continue
        lazy = "__getattr__" in found.offers  # a table of what the module hands on, and not of backends
        for table, choices in (*(() if lazy else found.tables.items()), *found.registered.items()):
            for choice in choices:
                path = choice.stands_for.replace(":", ".")
                site = interfaces.local(module, path) or interfaces.find(path)
                if site is not None or interfaces.path(path.rpartition(".")[0]):
                    yield RowEntry(module, table, None, choice, site)


_TABLE = re.compile(rb"['\"][A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*[.:][A-Za-z_]\w*['\"]|@[\w.]*register")


def _may_hold(path: str) -> bool:
    data = read_bytes(path)
    return not isinstance(data, Unread) and _TABLE.search(data) is not None


def _private(dotted: str) -> bool:
    return any(part.startswith("_") for part in dotted.split("."))


def span_of(entry: RowEntry) -> Span | None:
    if entry.backend is not None and entry.backend.stands_for:
        return entry.backend.at
    if entry.bound:
        return entry.bound[0].definition.at
    return None if entry.site is None else entry.site.offer.at
