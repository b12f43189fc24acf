"""Resolve a name to C++ definitions and their instructions, errors and builds.

A definition in another file is found by its name alone, since headers say little of where a function is built. So a
claim holds only where every definition of that name agrees with it; a name with many definitions says nothing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import PurePath

from bwlint.chips import EVERY, ChipSet, Target, frameworks, spelling
from bwlint.chips.atoms import atom, builder
from bwlint.chips.instructions import parse, verdict
from bwlint.chips.wording import listed, plain
from bwlint.evaluate.objects import EvaluationFrame
from bwlint.model.expr import Expr, Span, walk
from bwlint.model.facts import Carry, Hop, Module
from bwlint.model.kinds import NAMED
from bwlint.model.outline import Definition, Outline
from bwlint.sources.read import Unread, read_bytes, text_of
from bwlint.sources.recorder import Read, memory, read
from bwlint.sources.search import Search, search_of
from bwlint.sources.tree import package_root
from bwlint.world.bodies import compiled_at, left_of
from bwlint.world.builds import Builds, ends_in, exactly_one_of, pairs_of, runs_on
from bwlint.world.outlines import PartsAsked, head
from bwlint.world.proofs import Edge, NeedProof, Node, one_of
from bwlint.world.refusals import Refusals
from bwlint.world.tree import Tree
from bwlint.world.unbuilt import Unbuilt

MAX_DEFINITIONS = 8
"""How many definitions a name may have: what has more says nothing."""
MAX_FILES = 16
"""How many files may name a function that is looked up: one that more do is a common word."""
MAX_READ = 600
"""How many files are outlined in one run."""
MAX_MACROS = 3
"""Macros that stand for each other."""
MAX_SOURCES = 100
"""How many sources of one generator are looked at."""
_SHORTEST = 6
_TRAP = "__trap"
_NOWHERE = Module(path="", language="cuda")
_NUMBERS = frozenset(str(chip.joined * factor) for chip in EVERY for factor in (1, 10))
_COMPILED = (".cu",)
_DEVICE_CODE = re.compile(rf"<<<|__global__|__device__|\basm\b|\.cuh[\">]|{frameworks.piece('device_code')}")
_QUOTED = re.compile(rb"[\"'.](\w+)[\"']")
_PYBIND = re.compile(r"PYBIND11_MODULE\((\w+)")
_OPS = re.compile(rf"(?:{frameworks.piece('operations')}\.)?ops\.(?P<name>\w+\.\w+)(?:\.default)?$")


@dataclass(frozen=True)
class _CppFile:
    outline: Outline
    device: bool
    """Whether something in it may be code for a device."""

    @cached_property
    def methods(self) -> Mapping[str, tuple[str, ...]]:
        """The methods of its classes by their last names."""
        found: dict[str, tuple[str, ...]] = {}
        for name in self.outline.definitions:
            _, dot, short = name.partition("#")[0].rpartition(".")
            if dot:
                found[short] = (*found.get(short, ()), name)
        return found

    def around(self, short: str, at: Span) -> Iterator[Node]:
        """The methods of that name of the class around a place, where it is not in one of them."""
        for name in self.methods.get(short, ()):
            owner = self.outline.places.get(name.partition("#")[0].rpartition(".")[0])
            if owner is not None and owner.holds(at) and not self.outline.places[name].holds(at):
                yield Node(self.outline, self.outline.definitions[name])

    def within(self, at: Span) -> Iterator[Node]:
        for name in (one for names in self.methods.values() for one in names):
            if at.holds(self.outline.places[name]):
                yield Node(self.outline, self.outline.definitions[name])


def _told(file: _CppFile | None) -> str:
    return "" if file is None else f"{head(file.outline)} {file.device}"


@dataclass(slots=True)
class Native:
    """The C++ half of the graph of one run. It grows as it is asked."""

    tree: Tree
    builds: Builds
    refusals: Refusals
    searches: dict[str, Search] = field(default_factory=dict)
    read: Callable[[str], bytes | Unread] = read_bytes
    unbuilt: Unbuilt = field(init=False)
    _files: dict[tuple[str], _CppFile | None] = field(default_factory=partial(memory, "c++ outline", _told))
    _parts: PartsAsked = field(default_factory=partial(PartsAsked, "c++ "))
    _modules: dict[str, Module | None] = field(default_factory=memory)
    _full: dict[str, Module | None] = field(default_factory=memory)
    _generators: dict[str, dict[str, tuple[str, ...]]] = field(default_factory=memory)
    _named: dict[tuple[str, str], tuple[Node, ...]] = field(default_factory=memory)
    _extensions: dict[str, frozenset[str]] = field(default_factory=memory)

    def __post_init__(self) -> None:
        self.unbuilt = Unbuilt(self.searches)

    def text(self, path: str) -> str:
        """The text of a file; "" where it cannot be read."""
        return text_of(self.read(path)) or ""

    def search(self, near: str) -> Search:
        """What the files of the project of a file have in them."""
        return search_of(package_root(near), self.searches)

    def definitions(
        self, name: str, near: str, given: tuple[str, ...] = (), at: Span | None = None
    ) -> tuple[Node, ...]:
        """The definitions that a name may mean, those of the file that uses it first; of a template at what it is
        `given`, and in a method those of its class (`at`: where the name stands). One that only ends in an error
        stands in for the others, and counts where it is alone.

        In Python it means what is registered under it.
        """
        file = self._file(near) if at is not None and "." not in name else None
        found = tuple(file.around(name, at)) if file is not None and at is not None else ()
        found = found or (self._instances(name, near, given) if given else ())
        found = self._taking(found or self._meant(name, near), near, at)
        found = tuple(node for node in found if not node.definition.stub) or found
        return found if len(found) <= MAX_DEFINITIONS else ()

    def _taking(self, found: tuple[Node, ...], near: str, at: Span | None) -> tuple[Node, ...]:
        """Those of several definitions that take as many arguments as a call writes out; the rest have defaults."""
        file = self._file(near) if len(found) > 1 and at is not None else None
        count = file.outline.written(at) if file is not None and at is not None else None
        if count is None:
            return found
        exact = tuple(node for node in found if len(node.definition.parameters) == count)
        return exact or tuple(node for node in found if len(node.definition.parameters) > count) or found

    def _instances(self, name: str, near: str, given: tuple[str, ...]) -> tuple[Node, ...]:
        """A template at the arguments that it is given; one that is given a chip is looked for further away."""
        key = (f"{name}<{','.join(given)}>", near)
        if key not in self._named:
            words = dict.fromkeys((".".join(name.split(".")[-2:]), name.rpartition(".")[2]))
            places = dict.fromkeys(node.outline.path for node in self._meant(name, near))
            if any(map(_is_chip, given)):
                places |= dict.fromkeys((near, *self._where(words, near)))
            found: tuple[Node, ...] = ()
            for path in places:
                outline = self.outline(path)
                if outline is not None and outline.instances is not None:
                    made = (outline.instances(word, given, partial(self._decides, path)) for word in words)
                    found += tuple(Node(outline, one) for each in made for one in each)
                if path == near and found:
                    break
            self._named[key] = found
        return self._named[key]

    def _where(self, words: Iterable[str], near: str) -> Iterator[str]:
        """The files that may have a template: those that a file includes itself, and where its name is not common."""
        module = self.tree.headers.at(near)
        if module is not None:
            yield from self.tree.headers.direct(module)
        for word in (one.partition(".")[0] for one in words):
            if len(word) >= _SHORTEST:
                yield from self.paths_naming(word, near)

    def _decides(self, path: str, test: Expr) -> bool | None:
        """Whether a test of constants of a file holds."""
        asks = any(node.op == "macro" for node in walk(test))
        run, module = self.tree.interpreter, self._facts(path) if asks else None
        run.start()
        value = run.truth(test, EvaluationFrame(module or _NOWHERE)).only()
        return value if isinstance(value, bool) else None

    def _meant(self, name: str, near: str) -> tuple[Node, ...]:
        asked = _OPS.search(name)
        if asked is not None:
            return self._bound(asked["name"], near)
        parts = name.replace("::", ".").split(".")
        if len(parts) > 1 and (members := tuple(self._in_file(".".join(parts[-2:]), near))):
            return members
        if parts[-1] == "operator()":
            kinds = self._meant(".".join(parts[:-1]), near) if len(parts) > 1 else ()
            calls = (node.outline.definitions.get(f"{parts[-2]}.operator()") for node in kinds)
            return tuple(Node(kind.outline, one) for kind, one in zip(kinds, calls, strict=True) if one is not None)
        short, from_python = len(parts[-1]) < _SHORTEST, near.endswith(".py")
        if parts[0] in frameworks.names("namespaces") or parts[-1].isupper() or (short and from_python):
            return ()
        key = (parts[-1], near)
        if key not in self._named and from_python:
            self._named[key] = self._bound(parts[-1], near)
        elif key not in self._named:
            here = tuple(self._in_file(parts[-1], near)) or (() if short else tuple(self._included(parts[-1], near)))
            elsewhere = () if here or short else self._anywhere(parts[-1], near)
            self._named[key] = here or tuple(node for node in elsewhere if self._is_seen(node, near))
        found = self._named[key]
        return tuple(node for node in found if _is_of(node, parts[-2])) or found if len(parts) > 1 else found

    def _is_seen(self, node: Node, near: str) -> bool:
        """Whether a file can mean a definition of another one: no type of a source that it does not include."""
        if node.definition.kind != "class" or not node.outline.path.endswith(_COMPILED):
            return True
        module = self.tree.headers.at(near)
        return module is not None and node.outline.path in self.tree.headers.direct(module)

    def _included(self, short: str, near: str) -> Iterator[Node]:
        """The definitions in the headers that the user of a name includes itself, however many others name it."""
        module = self.tree.headers.at(near)
        for path in self.tree.headers.direct(module) if module is not None else ():
            yield from self._in_file(short, path)

    def compiled(self, name: str, near: str) -> tuple[Node, ...]:
        """What is registered under the last part of a name, where the rest is a module that the project compiles."""
        module, _, short = name.rpartition(".")
        last = module.rpartition(".")[2]
        key = (name, near)
        if key not in self._named:
            found = self._bound(short, near) if self._is_compiled(last, near) else ()
            self._named[key] = found if len(found) <= MAX_DEFINITIONS else ()
        return self._named[key]

    def _is_compiled(self, module: str, near: str) -> bool:
        """Whether a build script or the C++ itself calls an extension by that name."""
        root = package_root(near)
        if root not in self._extensions:
            self._extensions[root] = frozenset(_extensions(self.search(near)))
        return module in self._extensions[root]

    def sources_of(self, path: str, qualname: str) -> tuple[str, ...]:
        """The files of the project (real paths) that a Python function hands to a compiler, such as a JIT generator."""
        if path not in self._generators:
            self._generators[path] = self._kernels(path)
        named = self._generators[path].get(qualname, ())
        files = [file.real for file in self.search(path).files("cuda")] if named else []
        return tuple(dict.fromkeys(real for name in named for real in files if ends_in(real, name)))

    def generated(self, path: str, qualname: str) -> tuple[NeedProof, ...]:
        """What a Python function compiles at run time: kernels that some chips lack instructions for; one is enough."""
        return tuple(
            replace(proof, hops=(Hop(path, Span(1, 0, 1, 0), f"`{qualname}` compiles {_base(real)}"), *proof.hops))
            for real in self.sources_of(path, qualname)[:MAX_SOURCES]
            for proof in self._refused_by_the_compiler(real)
        )

    def _refused_by_the_compiler(self, real: str) -> Iterator[NeedProof]:
        file = self._file(real)
        for definition in file.outline.definitions.values() if file is not None else ():
            if file is not None and definition.kind == "kernel":
                yield from _operations(Node(file.outline, definition))

    def _kernels(self, path: str) -> dict[str, tuple[str, ...]]:
        from bwlint.readers.kernels import kernel_sources
        from bwlint.readers.python import ReadError
        from bwlint.readers.python import parse as parse_python

        try:
            return kernel_sources(parse_python(self.text(path)))
        except (ReadError, RecursionError):
            return {}

    def naming(self, word: str, near: str, folder: str = "") -> tuple[Module, ...]:
        """The facts of the C++ files of a project that name something, read in full; none where too many do."""
        found = (self._in_full(path) for path in self.paths_naming(word, near, folder))
        return tuple(module for module in found if module is not None)

    def _in_full(self, path: str) -> Module | None:
        if path not in self._full:
            from bwlint.readers.cuda import read

            source = text_of(self.read(path))
            self._full[path] = None if source is None else read(path, source)
        return self._full[path]

    def defines(self, name: str, path: str) -> bool:
        """Whether a file has a definition of that name."""
        return any(self._in_file(name, path))

    def methods(self, module: Module, owner: str) -> Iterator[Node]:
        """The methods that a class of a file defines in its body."""
        for node in self._in_file(owner, module.path):
            yield from self._methods(node)

    def _in_file(self, short: str, path: str) -> Iterator[Node]:
        """The free functions, kernels and classes of that name in a file."""
        file = self._file(path)
        if file is None:
            return
        for name in file.outline.definitions:
            if name.partition("#")[0] == short:
                yield Node(file.outline, file.outline.definitions[name])

    def _anywhere(self, short: str, near: str) -> Iterator[Node]:
        for path in self.paths_naming(short, near):
            yield from self._in_file(short, path)

    def outline(self, path: str) -> Outline | None:
        """What a C++ file defines; None where it cannot be read."""
        file = self._file(path)
        return file.outline if file is not None else None

    def paths_naming(self, word: str, near: str, folder: str = "") -> tuple[str, ...]:
        """The C++ files of the project, or of a folder, that name something and are compiled; none of too many."""
        search = self.search(near)
        if not search.complete("cuda"):
            return ()
        named = dict.fromkeys(hit.file.real for hit in search.word("cuda", word))
        here = [path for path in named if not folder or PurePath(path).parent == PurePath(folder)]
        paths = self.unbuilt.live(here, near)
        return paths if len(paths) <= MAX_FILES else ()

    def _bound(self, name: str, near: str) -> tuple[Node, ...]:
        """The definitions that are registered as `op` or `ns.op`."""
        short = name.rpartition(".")[2]
        found: dict[tuple[str, str, int], Node] = {}
        for path in self.paths_naming(short, near):
            file = self._file(path)
            imports = file.outline.imports if file is not None else {}
            symbol = imports.get(name) or imports.get(short)
            if symbol is not None:
                for place in self.definitions(symbol, path):
                    found[(place.outline.path, place.definition.qualname, place.definition.at[0])] = place
        return tuple(found.values())

    def _file(self, path: str) -> _CppFile | None:
        if (path,) not in self._files:
            if len(self._files) >= MAX_READ:
                read("the rest")
                return None
            from bwlint.readers.cuda.outline import outline

            known = self.text(path)
            found = self._noting(outline(path, known)) if known else None
            self._files[path,] = _CppFile(found, bool(_DEVICE_CODE.search(known))) if found is not None else None
        return self._files[path,]

    def _noting(self, outline: Outline) -> Outline:
        """An outline whose parts note that they are asked for; what a template or a call is, the whole file says."""
        made = outline.instances

        def instances(
            name: str, given: tuple[str, ...], decide: Callable[[Expr], bool | None]
        ) -> tuple[Definition, ...]:
            read("file", outline.path)
            return () if made is None else made(name, given, decide)

        def written(at: Span) -> int | None:
            read("file", outline.path)
            return outline.written(at)

        return replace(self._parts.noting(outline), instances=instances, written=written)

    def again(self, said: Read) -> str | None:
        """What an answer about a C++ file comes to now; None of any other."""
        kind, path, *rest = said
        if kind != "c++ outline" and kind not in self._parts.kinds:
            return None
        file = self._file(path)
        if kind == "c++ outline":
            return _told(file)
        return None if file is None else self._parts.again(kind, file.outline, rest)

    def _facts(self, path: str) -> Module | None:
        if path not in self._modules:
            self._modules[path] = self.tree.headers.at(path)
        return self._modules[path]

    # -- the half of the graph

    def shown(self, node: Node) -> tuple[NeedProof, ...]:
        """What a definition shows by itself: operations, an error that it ends in, what its file is compiled for."""
        compiled = (*_operations(node), *self._compiled(node), *_built_kernels(node))
        return (*compiled, *self._refusal(node), *self._build(node))

    def leads(self, node: Node) -> tuple[Edge, ...]:
        """The definitions that one surely calls, and of a class what it is called for, else one of its methods."""
        methods = tuple(self._methods(node))
        methods = tuple(one for one in methods if one.definition.qualname.endswith(".operator()")) or methods
        return (*self._calls(node), Edge(methods)) if methods else tuple(self._calls(node))

    def _calls(self, node: Node) -> Iterator[Edge]:
        for use in node.definition.uses:
            is_call = use.sure and use.how == "call"
            after = self.definitions(use.name, node.outline.path, use.given, use.at) if is_call else ()
            if after:
                hop = Hop(node.outline.path, use.at, f"`{node.definition.qualname}` uses `{use.name}`")
                yield Edge(after, hop, self._passing(node, use.at))
        ends = (self.definitions(use.name, node.outline.path, use.given, use.at) for use in node.definition.choices)
        yield from one_of(node, list(ends))

    def _methods(self, node: Node) -> Iterator[Node]:
        """The methods of a class that show something or call anything: what an object of it is made for."""
        file = self._file(node.outline.path) if node.definition.kind == "class" else None
        inside = file.within(node.definition.at) if file is not None else ()
        for method in (*inside, *(self._outside(node) if file is not None else ())):
            if self.shown(method) or any(self._calls(method)):
                yield method

    def _outside(self, node: Node) -> Iterator[Node]:
        """The methods of a class that are defined outside of it, in whatever file."""
        owner, home = node.definition.qualname.rpartition(".")[2], node.outline.path
        for path in dict.fromkeys((home, *(self.paths_naming(owner, home) if len(owner) >= _SHORTEST else ()))):
            outline = self.outline(path)
            if outline is not None:
                yield from (Node(outline, outline.definitions[name]) for name in outline.outside.get(owner, ()))

    def _passing(self, node: Node, at: Span) -> ChipSet:
        """The chips that the gates and guards within a definition may let reach a place in it."""
        module = self._facts(node.outline.path)
        if module is None:
            return EVERY
        return self.refusals.passing(module, at) & compiled_at(self.tree, module, node.definition.at, at)

    def _compiled(self, node: Node) -> Iterator[NeedProof]:
        """What the compiler makes of device code on each chip."""
        file = self._file(node.outline.path)
        module = self._facts(node.outline.path) if node.definition.kind != "class" and file and file.device else None
        return left_of(self.tree, module, node, partial(self._fails, module)) if module is not None else iter(())

    def _fails(self, module: Module, name: str, steps: int = MAX_MACROS) -> bool:
        """Whether a function, or what a macro stands for, only ends in an error."""
        if name == _TRAP:
            return True
        macros = [one.functions[name] for one in self.tree.headers.definers(module, name)]
        if macros:
            meant = [value.args[0] for macro in macros for _, value in macro.returns if value.op == "macro"]
            return steps > 0 and bool(meant) and all(self._fails(module, one, steps - 1) for one in meant)
        found = self.definitions(name, module.path)
        return bool(found) and all(node.definition.stub for node in found)

    def _refusal(self, place: Node) -> Iterator[NeedProof]:
        """The errors that a function surely ends in on some chips, in itself or in the macros that it uses."""
        name, path = place.definition.qualname, place.outline.path
        if f"{name}#2" in place.outline.definitions:
            return  # the facts of a file hold one function of a name
        module = self._facts(path)
        macros = (use.name for use in place.definition.uses if use.sure and use.how == "call" and use.name.isupper())
        homes = [(home, f"{one}()") for one in macros if module for home in self.tree.headers.definers(module, one)]
        for home, function in ((module, name), *homes) if module is not None else ():
            known = home.functions.get(function) if home is not None else None
            errors = self.refusals.errors(home, function) if home is not None and known and known.exits else ()
            legal = ChipSet.common(error.legal for error in errors)
            if home is not None and legal and errors:
                what = f"code that raises an error on {plain(EVERY - legal)}"
                hops = (Hop(home.path, errors[-1].at, "the error"),)
                yield NeedProof(legal, "gate", what, f"the checks of {function}", hops, where=name)

    def _build(self, place: Node) -> Iterator[NeedProof]:
        """The targets for which the file of a definition is compiled."""
        path, name = place.outline.path, place.definition.qualname
        file = self._file(path)
        placed = self.builds.placed(path) if path.endswith(_COMPILED) and file is not None and file.device else ()
        if not placed:
            return
        carries = [carry for _, carry in placed]
        if not all(map(_known, carries)):
            return
        origin, first = placed[0]
        targets = listed([f"sm_{name}" for name in dict.fromkeys(t for one in carries for t in (*one.sass, *one.ptx))])
        base, script = _base(path), _base(origin)
        hops = (
            Hop(path, place.definition.at, f"`{name}` is defined in {base}"),
            Hop(origin, first.at, f"{base} is compiled for {targets}"),
        )
        pairs = tuple(dict.fromkeys(pair for carry in carries for pair in pairs_of(carry)))
        made = f"is compiled for {targets} only"
        what = f"code that {made}" if place.definition.kind == "kernel" else f"`{base}`, which {made}"
        legal = runs_on(carries) | exactly_one_of(carries)
        yield NeedProof(legal, "build", what, script, hops, where=name, pairs=pairs)


def _operations(place: Node) -> Iterator[NeedProof]:
    """The instructions and atoms that a definition surely has, where some chip has no target with them."""
    for use in place.definition.uses:
        if not use.sure or use.how not in NAMED:
            continue
        row = atom(use.name) if use.how == "atom" else None
        legal = row.legal.chips if row is not None else verdict(use.name).legal.chips
        name = parse(use.name).head if use.how == "instruction" else use.name
        if legal and (row is not None or use.how == "instruction") and legal != EVERY:
            hop = Hop(place.outline.path, use.at, f"`{name}` works on {legal}")
            what = row.what if row is not None else f"`{name}`"
            source = f"{name} in {place.definition.qualname}"
            yield NeedProof(legal, "operation", what, source, (hop,), where=place.definition.qualname, operation=use)


def _built_kernels(place: Node) -> Iterator[NeedProof]:
    """The kernels that a definition has made by CUTLASS's collective builders."""
    for use in place.definition.uses:
        row = builder(use.name) if use.sure and use.how == "builder" else None
        if row is not None:
            hop = Hop(place.outline.path, use.at, f"the collective builder for `arch::{use.name}`")
            name = place.definition.qualname
            yield NeedProof(row.legal.chips, "library", row.what, row.source, (hop,), where=name)


def _is_chip(argument: str) -> bool:
    """Whether an argument of a template is a chip: its number, a tag that has it."""
    return argument in _NUMBERS or bool(spelling.numbers(argument.rpartition("::")[2]))


def _extensions(search: Search) -> Iterator[str]:
    """The names that a project gives what it compiles: the strings of its build scripts, and modules of pybind."""
    for file in search.files("python"):
        data = read_bytes(file.real) if _base(file.real) == "setup.py" else None
        if isinstance(data, bytes):
            yield from (found[1].decode() for found in _QUOTED.finditer(data))
    for hit in search.word("cuda", "PYBIND11_MODULE"):
        named = _PYBIND.search(hit.text)
        if named is not None:
            yield named[1]


def _is_of(node: Node, owner: str) -> bool:
    """Whether a definition stands in a namespace, or is a method that a class defines outside of it."""
    outline = node.outline
    return any(outline.places[name] == node.definition.at for name in outline.outside.get(owner, ()))


def _base(path: str) -> str:
    return path.rpartition(os.sep)[2]


def _known(carry: Carry) -> bool:
    """Whether bwlint knows every target of a build."""
    try:
        for name in (*carry.sass, *carry.ptx):
            Target.parse(name)
    except ValueError:
        return False
    return bool(carry.sass or carry.ptx)


def admits(proofs: tuple[NeedProof, ...], chips: ChipSet) -> bool:
    """Whether a build names what was found for all of `chips`, and nothing speaks against them."""
    return any(proof.kind == "build" for proof in proofs) and all(chips <= proof.legal for proof in proofs)
