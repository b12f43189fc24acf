"""Where a project uses a definition, and the chips that reach those places.

A program runs on one device from start to end. So a function runs on a chip only where something that names the
function does; a method, a nested function and a class likewise, and a method only where its object could be made.
Every mention of the name in the project counts, in doubt also one that means something else. What is handed to the
outside, by name or to a decorator that may keep it, and what nobody is seen to use, is reached by every chip. Chips are
only ever kept away by a test that was evaluated.

    arrives(d) = passes the tests around d  &  the union over its uses: passes the tests around the use & arrives there

Of a circle of definitions this is the least solution: who only ever comes round it does not get in. An answer does not
depend on what was asked before.
"""

# Paths are plain strings here, as in `sources.tree`.
# ruff: noqa: PTH119

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from bwlint.chips import EVERY, NONE, ChipSet
from bwlint.evaluate.objects import ClassValue
from bwlint.model.expr import Span
from bwlint.model.facts import Module
from bwlint.readers.python.occurrences import Index, NameScope, Occurrence, index
from bwlint.sources.recorder import memory
from bwlint.sources.search import Hit, Search, search_of
from bwlint.sources.tree import is_project, module_name
from bwlint.sources.walk import SourceFile
from bwlint.world.budget import Budget
from bwlint.world.gates import TEST_FILE, Judged, refuses_others
from bwlint.world.refusals import Refusals
from bwlint.world.tree import Tree

MAX_DEPTH = 30
"""Callers of callers that are followed."""
MAX_STEPS = 1000
"""Definitions that are looked at for one question."""
MAX_USES = 40
"""Places that use one definition; what is used in more is reached by every chip."""
_HARMLESS = frozenset(
    {"cache", "lru_cache", "cached_property", "property", "staticmethod", "classmethod", "wraps", "abstractmethod"}
    | {"override", "final", "no_grad", "inference_mode", "contextmanager", "dataclass", "compile", "jit", "kernel"}
    | {"runtime_checkable", "total_ordering", "setter", "enable_grad", "disable", "typing_extensions"}
)
"""Decorators that hand nothing on to anybody else."""
_REGISTERING = ("custom_op", "triton_op", "custom_fwd", "custom_bwd")
"""Decorators under which a function is used by its own name, of torch's operations too."""
MAX_BASES = 8
"""Bases of a class whose constructors are looked at."""
_MAKING = ("__init__", "__post_init__")
_PLAIN_BASES = frozenset({"object", "ABC", "Protocol", "Generic"})


@dataclass(frozen=True, slots=True)
class Stop:
    """A test that keeps chips away, and where it stands."""

    path: str
    at: Span
    module: Module = field(compare=False)


@dataclass(frozen=True, slots=True)
class Arrival:
    """The chips that may get somewhere, and the tests that keep the others away."""

    chips: ChipSet
    stops: tuple[Stop, ...] = ()


ANY = Arrival(EVERY)
NOBODY = Arrival(NONE)


class Untold(Exception):
    """Nobody can tell who uses something: of a common name, in too large a project, or where a file cannot be read."""


Source = Callable[[str], str | None]
"""The text of a file by its real path; None where it cannot be read."""


@dataclass(slots=True)
class _MentioningFile:
    """A file that mentions something, by its real path."""

    real: str
    root: str
    name: str
    index: Index
    source: str

    def around(self, at: Span) -> str:
        """The qualified name of the innermost definition around a place; "" for the module itself."""
        held = [scope for scope in self.index.scopes.values() if scope.at.holds(at)]
        return max(held, key=lambda scope: scope.at[:2]).qualname if held else ""


@dataclass(frozen=True, slots=True)
class User:
    """A place that uses a definition: its file with the text, and the function or class around it, "" for none."""

    real: str
    source: str
    use: Occurrence


class Arrivals:
    """The users of definitions in one run, and their chips; `targets` are asked for, `searches` made so far."""

    def __init__(
        self,
        tree: Tree,
        refusals: Refusals,
        targets: ChipSet,
        budget: Budget,
        source: Source,
        searches: dict[str, Search],
    ) -> None:
        self._tree = tree
        self._targets = targets
        self._budget = budget
        self._source = source
        self._searches = searches
        self._files: dict[str, _MentioningFile | None] = memory()
        self._refusals = refusals
        self._known: dict[tuple[str, str], tuple[Arrival, int]] = memory()
        """Arrivals, with the steps that they took: a question counts them, whoever took them."""
        self._busy: dict[tuple[str, str], int] = {}
        self._rests_on = 0
        self._steps = 0

    def arriving(self, real: str, root: str, at: Span) -> Arrival:
        """The chips that may get to the definition around a place of a file below the package root `root`."""
        if not is_project(real, root):
            return ANY
        try:
            file = self._file(real, root)
        except Untold:
            return ANY
        self._steps, self._rests_on = 0, 0
        return self._arriving(file, file.around(at))

    def of_name(self, root: str, name: str) -> Arrival:
        """The chips that reach a use of a name that is bound to what lies outside of Python."""
        self._steps, self._rests_on = 0, 0
        return self._of_uses(self._mentioned(root, name))

    def users(self, real: str, root: str, qualname: str) -> tuple[User, ...] | None:
        """The places that use a function or class of a file's top level; None where nobody can tell."""
        try:
            file = self._file(real, root)
            scope = file.index.scopes.get(qualname)
            handing = () if scope is None else (item.rpartition(".")[2] for item in scope.decorators)
            if scope is None or not _HARMLESS.union(_REGISTERING).issuperset(handing):
                return None
            if not self._hits(file, qualname):  # a name that stands in too many places
                return None
            return tuple(User(one.real, one.source, use) for one, use in self._uses(file, scope, None))
        except Untold:
            return None

    def _mentioned(self, root: str, name: str) -> Iterator[tuple[_MentioningFile, Occurrence]]:
        search = search_of(root, self._searches)
        if not search.complete("python"):
            raise Untold
        for hit in dict.fromkeys(hit.file for hit in search.word("python", name)):
            file = self._file(hit.real, hit.root)
            for use in file.index.names.get(name, ()):
                yield file, use

    def passing(self, module: Module, at: Span) -> Arrival:
        """The chips that pass the gates in front of a place, as far as the function around it goes."""
        chips, stops = EVERY, list[Stop]()
        for judged in self._refusals.judged(module):
            for side in (judged.gate.yes, judged.gate.no):
                if not side.holds(at):
                    continue
                through = judged.let_through(side)
                if not self._targets <= through:
                    stops.append(Stop(module.path, judged.gate.at, module))
                chips &= through
        return Arrival(chips, tuple(stops))

    # -- definitions

    def _arriving(self, file: _MentioningFile, qualname: str) -> Arrival:
        scope = file.index.scopes.get(qualname)
        if scope is None:
            return ANY
        key = (file.real, qualname)
        if key in self._known:
            found, steps = self._known[key]
            self._steps += steps
            return found
        if key in self._busy:
            self._rests_on = min(self._rests_on, self._busy[key])
            return NOBODY
        before, depth = self._steps, len(self._busy)
        self._steps += 1
        if depth >= MAX_DEPTH or self._steps > MAX_STEPS:
            self._rests_on = -1
            return ANY
        outer, self._rests_on = self._rests_on, depth
        self._busy[key] = depth
        try:
            found = self._of_scope(file, scope)
        finally:
            del self._busy[key]
        if self._rests_on >= depth:  # nothing in it hangs on a definition that is still being asked
            self._known[key] = found, self._steps - before
            self._rests_on = outer
        else:
            self._rests_on = min(outer, self._rests_on)
        return found

    def _of_scope(self, file: _MentioningFile, scope: NameScope) -> Arrival:
        outer = file.index.scopes.get(scope.inner)
        if outer is not None and outer.kind == "function":
            return self._reaching(file, scope.at, scope.inner)
        defined = self._passing(file, scope.at)
        if outer is not None:
            defined = both(defined, self._made(file, scope, outer))
        others = self._has_other_users(file, scope, outer)
        used = ANY if others else self._of_uses(self._uses(file, scope, outer), is_shipped=not _is_test(file))
        if not self._targets <= used.chips and scope.kind == "class" and self._learned_by_base(file, scope):
            used = ANY
        defined = both(defined, used)
        if outer is None or not defined.chips & self._targets:
            return defined
        return both(defined, self._arriving(file, scope.inner))

    def _made(self, file: _MentioningFile, scope: NameScope, owner: NameScope) -> Arrival:
        """The chips on which an object of a class can be made, of whose methods `scope` is one."""
        name = scope.qualname.rpartition(".")[2]
        if name in ("__new__", *_MAKING) or not {"staticmethod", "classmethod"}.isdisjoint(scope.decorators):
            return ANY
        module = self._tree.module(file.name)
        if module is None or module.path != file.real:
            return ANY
        chips, stops = EVERY, list[Stop]()
        for judged in self._lists(file, module, owner):
            chips &= judged.sets.may
            stops += [] if self._targets <= judged.sets.may else [Stop(module.path, judged.at, module)]
        for home, making in self._constructors(file, module, owner):
            for refusal in self._refusals.of(home, making):
                chips &= refusal.legal
                stops += [] if self._targets <= refusal.legal else [Stop(home.path, refusal.at, home)]
        return Arrival(chips, tuple(sorted(stops, key=lambda stop: stop.at)))

    def _lists(self, file: _MentioningFile, module: Module, owner: NameScope) -> Iterator[Judged]:
        """The lists of a class by whose names a check of the project refuses whoever is not in them."""
        for judged in self._refusals.judged(module):
            gate = judged.gate
            if gate.kind == "list" and gate.qualname == owner.qualname and gate.yes.at is None and gate.name:
                asking = (gate for home in self._homes(file, gate.name) for gate in home.gates)
                word = re.compile(rf"\b{re.escape(gate.name)}\b")
                if any(word.search(one.text) and refuses_others(one) for one in asking):
                    yield judged

    def _homes(self, file: _MentioningFile, name: str) -> Iterator[Module]:
        """The modules of the project that ask for something with `in`."""
        asking = re.compile(rf"\bin\b.*\b{re.escape(name)}\b")
        try:
            found = dict.fromkeys(hit.file for hit in self._lines(file, name) if asking.search(hit.text))
            homes = [self._file(one.real, one.root) for one in found]
        except Untold:
            return
        modules = ((one, self._tree.module(one.name)) for one in homes)
        yield from (module for one, module in modules if module is not None and module.path == one.real)

    def _constructors(self, file: _MentioningFile, module: Module, owner: NameScope) -> Iterator[tuple[Module, str]]:
        """What runs when an object of a class is made, by its file and its name: of bases that it asks, too."""
        own = [f"{owner.qualname}.{making}" for making in sorted(owner.methods.intersection(_MAKING))]
        yield from ((module, making) for making in own)
        body = module.classes.get(owner.qualname)
        if body is None or not all(_asks_base(file, making) for making in own):
            return
        known = [(module, body)]
        for home, one in known:
            bases = (self._tree.value(home, base).only() for base in one.bases)
            for base in (value for value in bases if isinstance(value, ClassValue) and len(known) <= MAX_BASES):
                known.append((base.module, base.body))
                yield from ((base.module, f"{base.body.qualname}.{making}") for making in _MAKING)

    def _of_uses(self, uses: Iterator[tuple[_MentioningFile, Occurrence]], *, is_shipped: bool = False) -> Arrival:
        """What all uses let through. What is shipped has users besides, where tests alone are seen to use it."""
        in_tests_alone = is_shipped

        def arrivals() -> Iterator[Arrival]:
            nonlocal in_tests_alone
            for file, use in uses:
                in_tests_alone = in_tests_alone and _is_test(file)
                yield self._by_use(file, use)

        found = together(arrivals(), self._targets, MAX_USES)
        return ANY if in_tests_alone else found

    def _by_use(self, file: _MentioningFile, use: Occurrence) -> Arrival:
        found = self._reaching(file, use.at, use.qualname)
        if use.how != "base" or not found.chips & self._targets:
            return found
        return both(found, self._arriving(file, use.into))

    # -- who uses it

    def _has_other_users(self, file: _MentioningFile, scope: NameScope, outer: NameScope | None) -> bool:
        """Whether others may use a definition than those who write its name."""
        name = scope.qualname.rpartition(".")[2]
        if any(item.rpartition(".")[2] not in _HARMLESS for item in scope.decorators) or scope.special:
            return True
        if outer is not None:
            return not _called_by_name_alone(file, name, outer)
        if name.startswith("_"):
            return False
        if name == "main" or any(use.how == "export" for use in file.index.names.get(name, ())):
            return True
        try:
            packages = (hit for hit in self._hits(file, name) if os.path.basename(hit.real) == "__init__.py")
            return any(self._hands_on(self._file(hit.real, hit.root), file, name) for hit in packages)
        except Untold:
            return True

    def _uses(
        self, file: _MentioningFile, scope: NameScope, outer: NameScope | None
    ) -> Iterator[tuple[_MentioningFile, Occurrence]]:
        """The places that use a definition, those of its own file first. Raises `Untold`."""
        name = scope.qualname.rpartition(".")[2]
        for hit in self._hits(file, name):
            one = self._file(hit.real, hit.root)
            uses = self._uses_of_global(one, file, name) if outer is None else self._uses_of_method(one, name)
            yield from ((one, use) for use in uses)

    def _uses_of_method(self, file: _MentioningFile, name: str) -> Iterator[Occurrence]:
        for use in file.index.names.get(name, ()):
            if use.qualname.rpartition(".")[2] == name:
                continue  # an override that calls its base is itself reached by another use of the name
            owner = file.index.scopes.get(use.qualname)
            of_class = use.of == "" and owner is not None and owner.kind == "class"
            if use.how == "text" or (use.of and not self._outside(file, use)) or of_class:
                yield use

    def _uses_of_global(self, file: _MentioningFile, home: _MentioningFile, name: str) -> Iterator[Occurrence]:
        locals_ = self._locals(file, home, name)
        for local in sorted(locals_ | {name}):
            for use in file.index.names.get(local, ()):
                if file is home and (use.qualname == name or use.qualname.startswith(f"{name}.")) and use.how != "base":
                    continue  # its own body
                if self._uses_it(file, use, local, locals_):
                    yield use

    def _uses_it(self, file: _MentioningFile, use: Occurrence, local: str, locals_: set[str]) -> bool:
        if use.how == "text":
            return True
        if use.how == "import":
            return not use.qualname and use.into in locals_ - {use.name}  # others may import it under its new name
        if use.how == "export":
            return False
        if not use.of:
            return local in locals_
        return use.of.partition(".")[0] not in ("self", "cls") and not self._outside(file, use)

    def _locals(self, file: _MentioningFile, home: _MentioningFile, name: str) -> set[str]:
        """The names under which a file has something of another one."""
        if file is home:
            return {name}
        own = {
            use.into
            for use in file.index.names.get(name, ())
            if use.how == "import" and self._leads(use.of, name, home)
        }
        if file.index.stars and name not in file.index.scopes and name not in file.index.assigned:
            own.add(name)
        return own

    def _leads(self, dotted: str, name: str, home: _MentioningFile) -> bool:
        """Whether a name of a module may be that of `home`: in doubt it is."""
        if dotted == home.name:
            return True
        if dotted.partition(".")[0] != home.name.partition(".")[0]:
            return not self._foreign(dotted, home)
        real = next((hit for hit in self._hits(home, name) if module_name(hit.real, hit.root) == dotted), None)
        if real is None:
            return True
        index_ = self._file(real.real, real.root).index
        return name not in index_.scopes and name not in index_.assigned

    def _outside(self, file: _MentioningFile, use: Occurrence) -> bool:
        """Whether what stands in front of a name is imported from outside the project."""
        target = file.index.imports.get(use.of.partition(".")[0])
        return target is not None and self._foreign(target, file)

    def _foreign(self, dotted: str, near: _MentioningFile) -> bool:
        return dotted.partition(".")[0] not in search_of(near.root, self._searches).tops

    def _hands_on(self, package: _MentioningFile, home: _MentioningFile, name: str) -> bool:
        """Whether a package offers a name to everybody."""
        return any(
            use.how == "export" or (use.how == "import" and self._leads(use.of, name, home))
            for use in package.index.names.get(name, ())
        )

    def _learned_by_base(self, file: _MentioningFile, scope: NameScope, depth: int = 0) -> bool:
        """Whether a base class of the project takes note of its subclasses, or nobody can tell."""
        if depth > MAX_DEPTH:
            return True
        try:
            return any(self._takes_note(file, base.rpartition(".")[2], scope, depth) for base in scope.bases)
        except Untold:
            return True

    def _takes_note(self, file: _MentioningFile, name: str, below: NameScope, depth: int) -> bool:
        if any(re.search(rf"\b{name}\.__subclasses__", hit.text) for hit in self._lines(file, "__subclasses__")):
            return True
        for hit in self._lines(file, name):
            if not re.match(rf"\s*class {name}\b", hit.text):
                continue
            home = self._file(hit.file.real, hit.file.root)
            for body in home.index.scopes.values():
                if body.kind != "class" or body.qualname.rpartition(".")[2] != name or body is below:
                    continue
                if body.special or "__init_subclass__" in body.methods or self._learned_by_base(home, body, depth + 1):
                    return True
        return False

    # -- places

    def _reaching(self, file: _MentioningFile, at: Span, qualname: str) -> Arrival:
        """The chips that get to a place: past the tests in front of it, and to the definition around it."""
        passed = self._passing(file, at)
        if not passed.chips & self._targets or not qualname:
            return passed
        return both(passed, self._arriving(file, qualname))

    def _passing(self, file: _MentioningFile, at: Span) -> Arrival:
        module = self._tree.module(file.name)
        return ANY if module is None or module.path != file.real else self.passing(module, at)

    # -- files

    def _lines(self, file: _MentioningFile, name: str) -> tuple[Hit, ...]:
        """The lines of the project on which a name stands. Raises `Untold` where they cannot all be known."""
        search = search_of(file.root, self._searches)
        if not search.complete("python"):
            raise Untold
        return search.word("python", name)

    def _hits(self, file: _MentioningFile, name: str) -> list[SourceFile]:
        """The files of the project in which a name stands, its own first. Raises `Untold`."""
        found = dict.fromkeys(hit.file for hit in self._lines(file, name))
        return sorted(found, key=lambda one: (one.real != file.real, one.real))

    def _file(self, real: str, root: str) -> _MentioningFile:
        if real not in self._files:
            self._files[real] = self._read(real, root)
        found = self._files[real]
        if found is None:
            raise Untold
        return found

    def _read(self, real: str, root: str) -> _MentioningFile | None:
        if not self._budget.allows(real):
            return None
        source = self._source(real)
        try:
            name = module_name(real, root)
        except ValueError:
            return None
        if source is None:
            return None
        package = name if os.path.basename(real) == "__init__.py" else name.rpartition(".")[0]
        found = index(source, package)
        return None if found is None else _MentioningFile(real, root, name, found, source)


def together(uses: Iterator[Arrival], targets: ChipSet, most: int = sys.maxsize) -> Arrival:
    """What all uses let through; every chip where one of them does, or where there is none to be seen, or too many."""
    chips, stops, seen = NONE, list[Stop](), 0
    try:
        for seen, found in enumerate(uses, 1):
            if targets <= found.chips or seen > most:
                return ANY
            chips |= found.chips
            stops += found.stops
    except Untold:
        return ANY
    return Arrival(chips, tuple(dict.fromkeys(stops))) if seen else ANY


def both(first: Arrival, second: Arrival) -> Arrival:
    return Arrival(first.chips & second.chips, tuple(dict.fromkeys((*first.stops, *second.stops))))


def _is_test(file: _MentioningFile) -> bool:
    return TEST_FILE.search(file.real.removeprefix(file.root)) is not None


def _called_by_name_alone(file: _MentioningFile, name: str, owner: NameScope) -> bool:
    """Whether a method is run only where its name is written: no operator, and no library, calls it."""
    if name.startswith("__") or any(name.startswith(start) for start in file.index.built):
        return False
    return name.startswith("_") or all(base.rpartition(".")[2] in _PLAIN_BASES for base in owner.bases)


def _asks_base(file: _MentioningFile, making: str) -> bool:
    """Whether a constructor calls that of a base."""
    at = file.index.scopes[making].at if making in file.index.scopes else None
    lines = file.source.splitlines()[at[0] : at[2]] if at is not None else []
    return any("super()" in line or ".__init__(" in line for line in lines)
