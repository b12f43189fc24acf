"""Resolve Python names: what a name means, and what it leads to."""

# Paths are plain strings here, as in `sources.tree`.

from __future__ import annotations

import builtins
import os
import re
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from bwlint.chips import EVERY, ChipSet, instructions
from bwlint.chips.operations import OperationFamily, operation
from bwlint.chips.wording import kib, plain, refused_but
from bwlint.model.details import Tiles
from bwlint.model.expr import Span
from bwlint.model.facts import Hop, Module, Use
from bwlint.model.outline import Outline
from bwlint.sources.recorder import memory
from bwlint.sources.search import Search
from bwlint.sources.tree import package_root
from bwlint.sources.walk import SourceFile
from bwlint.world.gates import Judged
from bwlint.world.libraries import PROOF, Libraries
from bwlint.world.outlines import Outlines
from bwlint.world.proofs import Edge, Key, NeedProof, Node, one_of
from bwlint.world.tree import Tree

if TYPE_CHECKING:
    from bwlint.world.native import Native

MAX_LOOSE = 120
"""How many definitions are looked at that one may lead to, surely or not."""
_MAX_NAMES = 12
_BY_NAME = re.compile(
    rb"getattr\(\s{0,20}([A-Za-z_][\w.]{0,80}), {0,4}f[\"'](\w{0,40})\{[\w.]{1,80}\}(\w{0,40})[\"'][,)]"
)
_CALLED = ".__call__"
_LEAST_TEXT = 3
"""Letters of a text that is looked for."""
_BUILTIN = frozenset(vars(builtins))
_WORDS = {
    "list": "code that names {} in its decorator",
    "build": "code that is built for {}",
    "gate": "code that refuses {}",
}
MAX_FUNCTIONS = 8
"""A name with more functions behind it is no one's."""
_ARGUMENTS = rb"([^()]{0,400}(?:\([^()]*\)[^()]{0,400}){0,8})"
_REGISTERING = (b"custom_op(", b"triton_op(", b"register_kernel(", b"impl(")
_DECORATED = re.compile(
    rb"^[ \t]*@[\w.]{0,120}\b(?:\w{0,60}custom_op|triton_op|register_kernel|impl)\("
    + _ARGUMENTS
    + rb"\)[ \t]*(?:#[^\n]*)?\n"
    rb"(?:[ \t]*@[^\n]*\n){0,8}[ \t]*(?:async )?def (\w+)",
    re.MULTILINE,
)
"""`@custom_op("ns::op", ...)`, `@torch.library.impl(library, "op", "CUDA")` and the function below."""
_GIVEN_BY_CALL = re.compile(
    rb"\b\w*register_custom_op\w*\(\s*(?:op_name\s*=\s*)?[\"\']([\w:]+)[\"\']\s*,\s*(?:op_func\s*=\s*)?(\w+)\s*[,)]"
)
"""`direct_register_custom_op(op_name="op", op_func=function)`."""
_QUOTED = re.compile(rb"[\"\']((?:\w+::)?\w+)[\"\']")
_NOT_CUDA = re.compile(rb"[\"\'](?:Meta|CPU|Autograd\w*|XPU|MPS|HIP)[\"\']")
Behind = Mapping[str, tuple[tuple[str, SourceFile, str], ...]]
"""By the name of an operation: its namespace ("" where it is not said), a file, and the function in it."""


class Definitions:
    """The Python definitions of one run."""

    def __init__(self, tree: Tree, outlines: Outlines, libraries: Libraries, native: Native) -> None:
        self._refusals = native.refusals
        self._native = native
        self._tree = tree
        self._libraries = libraries
        self.outlines = outlines
        self._operations: dict[str, Behind] = memory()
        self._asked_by_name: dict[str, tuple[tuple[SourceFile, str], ...]] = memory()

    def definition(self, module: Module, use: Use) -> Node | None:
        """The definition that a use in a file leads to; None where it is not in the tree or not known."""
        found = self._meant(module, use)
        return None if found is None else _at_arguments(found, use)

    def _meant(self, module: Module, use: Use) -> Node | None:
        if module.language != "python" or use.how == "text":
            return None
        root, _, rest = use.name.partition(".")
        if not root:
            return self._absolute(rest, 0, module.path) or self._in_some_package(module.path, rest)
        known = module.names.get(root)
        if rest and root not in ("self", "cls") and (known is None or known.op == "import"):
            return self._absolute(use.name, 0, module.path)  # imports stand in uses by their full names
        if known is None and root in _BUILTIN:
            return None
        outline = self.outline(module)
        return self._resolved(outline, use.name, use.at) if outline is not None else None

    def outline(self, module: Module) -> Outline | None:
        return self.outlines.of(module.path, module.name)

    def around(self, module: Module, qualname: str) -> Node | None:
        """The definition of a file by its qualified name."""
        outline = self.outline(module)
        found = outline.definitions.get(qualname) if outline is not None else None
        return Node(outline, found) if outline is not None and found is not None else None

    def named(self, outline: Outline, name: str) -> Node | None:
        """What a dotted name stands for at the top of a file."""
        return self._resolved(outline, name, None)

    def heritage(self, node: Node) -> Iterator[Node]:
        """A class and those of its bases that are in the tree, nearest first."""
        waiting, seen = deque([node]), set[Key]()
        while waiting and len(seen) < _MAX_NAMES:
            here = waiting.popleft()
            if here.key not in seen:
                seen.add(here.key)
                yield here
                bases = (self._named(here.outline, base) for base in here.definition.bases)
                waiting.extend(base for base in bases if base is not None)

    def methods(self, module: Module, owner: str) -> Iterator[Node]:
        """The methods of a class of a file."""
        start = self.around(module, owner)
        yield from self.methods_of(start) if start is not None else ()

    def methods_of(self, start: Node) -> Iterator[Node]:
        """The methods of a class, its own and its bases', without what only those that it replaces use."""
        if start.definition.kind != "class":
            return
        kept, replaced = dict[str, Node](), list[Node]()
        for one in self.heritage(start):
            for name in sorted(_methods(one)):
                found = Node(one.outline, one.outline.definitions[f"{one.definition.qualname}.{name}"])
                if name in kept:
                    replaced.append(found)
                elif found.definition.kind != "class":
                    kept[name] = found
        unused = {name for node in replaced for name in _of_itself(node)}
        while unused:
            used = {name for node in kept.values() for name in _of_itself(node)}
            unused = {name for name in unused - used if name in kept and not _is_own(start, kept[name])}
            unused = {name for one in unused for name in _of_itself(kept.pop(one))}
        yield from kept.values()

    def entries(self, start: Node) -> Iterator[Node]:
        """The methods of a class that others call: no underscore hides them, and no method of the class uses them."""
        methods = list(self.methods_of(start))
        own = {name for node in methods for name in _of_itself(node)}
        for node in methods:
            name = node.definition.qualname.rpartition(".")[2]
            if name not in own and (name == "__call__" or not name.startswith("_")):
                yield node

    def shown(self, node: Node) -> tuple[NeedProof, ...]:
        """What a definition shows by itself, in its file, in what it compiles and in the libraries that it uses."""
        return (*self._own(node), *self._generated(node), *self._used_libraries(node))

    def leads(self, node: Node) -> tuple[Edge, ...]:
        """The definitions that one surely reaches, in Python or bound in C++; of a class, what making one runs."""
        found = []
        for use in _sure(node):
            after = self._after(node, use)
            if after:
                hop = Hop(node.outline.path, use.at, f"`{node.definition.qualname}` uses `{use.name}`")
                found.append(Edge(after, hop, self._passing(node, use.at)))
        found.extend(one_of(node, [self._after(node, use) for use in node.definition.choices]))
        made = self.made(node)
        parts = (made, *self._inherited(node)) if made is not None else tuple(self._inherited(node))
        return (*found, *(Edge((part,)) for part in parts))

    def may_lead(self, start: Node) -> Iterator[Node]:
        """A definition and those that it may lead to, surely or not, nearest first."""
        seen, waiting = {start.key}, deque([start])
        while waiting:
            here = waiting.popleft()
            yield here
            calls = (use for use in here.definition.uses if use.how == "call")
            for after in (self.made(here), *(self._resolved(here.outline, use.name, use.at) for use in calls)):
                if after is not None and after.key not in seen and len(seen) < MAX_LOOSE:
                    seen.add(after.key)
                    waiting.append(after)

    def calls(self, node: Node) -> Iterator[tuple[Span, Node]]:
        """What the calls in a definition may run, each with its call: also of a class, and the backward of an apply."""
        for use in (use for use in node.definition.uses if use.how == "call"):
            for after in self._after(node, use):
                yield use.at, after
                for name in ("__init__", "__post_init__", "__call__") if after.definition.kind == "class" else ():
                    method = self._member(after, name)
                    if method is not None:
                        yield use.at, method
            owner, _, last = use.name.rpartition(".")
            backward = self._resolved(node.outline, f"{owner}.backward", use.at) if last == "apply" and owner else None
            if backward is not None:
                yield use.at, backward

    def gates(self, place: Node) -> Iterator[Judged]:
        module = self._facts(place.outline)
        for judged in self._refusals.judged(module) if module is not None else ():
            if place.definition.at.holds(judged.gate.at):
                yield judged

    def made(self, node: Node) -> Node | None:
        """What runs when a class is called."""
        if node.definition.kind != "class":
            return None
        return self._member(node, "__init__") or self._member(node, "__post_init__")

    def _inherited(self, node: Node) -> Iterator[Node]:
        """The bases of a class that does what they do: none of their methods is another one in it."""
        for base in node.definition.bases if node.definition.kind == "class" else ():
            owner = self._named(node.outline, base)
            if owner is not None and owner.key != node.key and not self._overrides(node, owner):
                yield owner

    def _overrides(self, node: Node, owner: Node) -> bool:
        own, its = (_methods(one) for one in (node, owner))
        return bool(own & its - {"__init__"})

    def bound(self, path: str, use: Use) -> tuple[Node, ...]:
        """What is behind an operation of torch (`torch.ops.ns.op`), in either language, or in a compiled module."""
        if use.how != "call" or "." not in use.name:
            return ()
        name = self._kept(use.name)
        if "ops." in name:
            return self._native.definitions(name, path) or tuple(self._registered(path, name))
        return self._native.compiled(name, path)

    def behind_text(self, path: str, use: Use) -> Iterator[Node]:
        """The functions of the project that ask whether a name is a text, as they run where it is."""
        role = use.role.rpartition(".")[2]
        if not role.isidentifier() or len(use.name) < _LEAST_TEXT:
            return
        held = f"{role}={use.name!r}", f".{role}={use.name!r}"
        asks = re.compile(rf"\b{role} (?:==|in) .*[\"']{re.escape(use.name)}[\"']")
        for hit in self._native.search(path).word("python", use.name):
            here = "_" in role or hit.file.real == path  # any class may have a `mode`
            outline = self.outlines.of_file(hit.file) if here and asks.search(hit.text) else None
            around = _around(outline, hit.line) if outline is not None else ""
            if outline is not None and outline.instances is not None and around:
                yield from (Node(outline, one) for one in outline.instances(around, held, lambda test: None))

    def made_of_text(self, path: str, text: str) -> Iterator[Node]:
        """The definitions that the project gets by a name with a text in it: `getattr(runners, f"run_{name}")`."""
        root = package_root(path)
        if root not in self._asked_by_name:
            found = self._native.search(path).matches("python", _BY_NAME, (b"getattr(",))
            self._asked_by_name[root] = tuple(
                (file, match.expand(rb"\1.\2 \3").decode()) for file, match in found if match[2] or match[3]
            )
        for file, name in self._asked_by_name[root]:
            outline = self.outlines.of_file(file)
            node = self._resolved(outline, name.replace(" ", text), None) if outline is not None else None
            if node is not None:
                yield node

    def _kept(self, dotted: str) -> str:
        """What a module of the tree keeps under a name, by its own name: `run = ops.run` of another file."""
        for _ in range(_MAX_NAMES):
            module, _, name = dotted.rpartition(".")
            outline = self.outlines.named(module) if module else None
            if outline is None or name not in outline.imports:
                break
            dotted = outline.imports[name]
        return dotted

    def _registered(self, path: str, name: str) -> Iterator[Node]:
        """The Python functions that are registered under the name of an operation."""
        root = package_root(path)
        if root not in self._operations:
            self._operations[root] = registered(self._native.search(path))
        space, _, operation = name.removesuffix(".default").rpartition("ops.")[2].rpartition(".")
        for said, file, function in self._operations[root].get(operation, ()):
            outline = self.outlines.of_file(file) if said in ("", space) else None
            for qualname in outline.definitions if outline is not None else ():
                if outline is not None and qualname.rpartition(".")[2] == function:
                    yield Node(outline, outline.definitions[qualname])

    def _after(self, node: Node, use: Use) -> tuple[Node, ...]:
        after = self._resolved(node.outline, use.name, use.at) if use.how == "call" else None
        if after is not None:
            return (_at_arguments(after, use),)
        return self._picked(node, use) or self.bound(node.outline.path, self._held(node, use))

    def _picked(self, node: Node, use: Use) -> tuple[Node, ...]:
        """What `self.kernel(...)` makes or calls, where its class gives the name one of several."""
        root, _, name = use.name.removesuffix(_CALLED).partition(".")
        owner = node.definition.qualname.rpartition(".")[0]
        names = node.outline.picked.get(f"{owner}.{name}", ()) if root == "self" else ()
        called = _CALLED if use.name.endswith(_CALLED) else ""
        found = [self._named(node.outline, one + called) for one in names]
        return tuple(one for one in found if one is not None) if all(found) else ()

    def _held(self, node: Node, use: Use) -> Use:
        """`cls.kernel` by the name of the operation that the class holds under it."""
        root, _, name = use.name.partition(".")
        owner = node.definition.qualname.rpartition(".")[0]
        held = node.outline.imports.get(f"{owner}.{name}", "") if root in ("self", "cls") else ""
        return replace(use, name=held) if held else use

    def _used_libraries(self, node: Node) -> Iterator[NeedProof]:
        """What is known of the names that no definition of the tree stands for."""
        path = node.outline.path
        for use in (self._held(node, use) for use in _sure(node)):
            short = use
            if use.how != "text" and self._tree.file(use.name.partition(".")[0]):
                if use.how == "import":
                    continue  # a module of the tree is no library, whatever it is called
                short = replace(use, name=use.name.rpartition(".")[2])
            row = self._libraries.need(path, short)
            if row is None or row.strength != PROOF:
                continue
            if use.how == "call" and self._resolved(node.outline, use.name, use.at) is not None:
                continue
            hop = Hop(path, use.at, f"`{node.definition.qualname}` uses `{use.name}`")
            name, chips = short.name.rpartition(".")[2], self._passing(node, use.at)
            yield NeedProof(row.legal, "library", row.what, row.source, (hop,), arriving=chips, where=name)

    def operation(self, outline: Outline | None, use: Use) -> OperationFamily | None:
        """The hardware operation that a name stands for; an enumeration of the tree with such a name is none."""
        row = operation(use.name)
        found = self._resolved(outline, use.name, use.at) if row is not None and outline is not None else None
        return None if found and any(base.endswith("Enum") for base in found.definition.bases) else row

    def _passing(self, place: Node, at: Span) -> ChipSet:
        module = self._facts(place.outline)
        return EVERY if module is None else self._refusals.passing(module, at)

    def _own(self, place: Node) -> Iterator[NeedProof]:
        """What the file of a definition says of it: its hardware operations, and what it refuses."""
        module = self._facts(place.outline)
        if module is None:
            return
        name, at = place.definition.qualname, place.definition.at
        for use in module.uses.get(name.partition(".")[0], ()):
            row = self.operation(place.outline, use)
            if row is not None and at.holds(use.at):
                hop = Hop(module.path, use.at, f"`{use.name}` works on {row.chips}")
                source, chips = f"{use.name} in {module.name}.{name}", self._refusals.passing(module, use.at)
                yield NeedProof(row.chips, "operation", row.what, source, (hop,), arriving=chips, where=name)
        yield from _assembled(module, name)
        yield from _tiled(module, name)
        for refusal in (one for one in self._refusals.of(module, name, place.definition.given) if one.kind != "skip"):
            hop = Hop(module.path, refusal.at, refusal.text)
            says = refused_but if refusal.kind == "gate" else plain
            what = _WORDS[refusal.kind].format(says(refusal.legal))
            yield NeedProof(refusal.legal, refusal.kind, what, f"the gate of {module.name}.{name}", (hop,), where=name)

    def _generated(self, place: Node) -> tuple[NeedProof, ...]:
        """What is in the files that a generator hands to the compiler."""
        hands = any(use.how == "text" and use.name.endswith(".cu") for use in place.definition.uses)
        return self._native.generated(place.outline.path, place.definition.qualname) if hands else ()

    def _facts(self, outline: Outline) -> Module | None:
        return self._tree.at(outline.path, outline.name)

    # -- names

    def _resolved(self, outline: Outline, name: str, at: Span | None, depth: int = 0) -> Node | None:
        """The definition that a dotted name means in a file, at a place in it (None: from outside)."""
        root, _, rest = name.partition(".")
        if at is not None:
            inner = self._inside(outline, root, rest, at)
            if inner is not None or root in ("self", "cls", "super"):
                return inner
        found = outline.definitions.get(root)
        if found is not None:
            return self._part(Node(outline, found), rest)
        if root in outline.imports and depth < _MAX_NAMES:
            target = outline.imports[root]
            if target == root:
                return self._absolute(name, depth + 1, outline.path)
            local = target.partition(".")[0]
            inside = local in outline.definitions and (depth > 0 or target == local)
            full = f"{target}.{rest}" if rest else target
            self._tree.expect(outline.path, full)
            if inside:
                return self._resolved(outline, full, None, depth + 1)
            return self._absolute(full, depth + 1, outline.path)
        for star in outline.stars if depth < _MAX_NAMES else ():
            other = self.outlines.named(star, outline.path)
            found_there = self._resolved(other, name, None, depth + 1) if other is not None else None
            if found_there is not None:
                return found_there
        return self._absolute(name, depth + 1, outline.path) if at is not None and rest else None

    def _absolute(self, dotted: str, depth: int, near: str) -> Node | None:
        """A definition by its module's dotted name and its own, as a file sees it."""
        parts = dotted.split(".")
        for cut in range(len(parts) - 1, 0, -1):
            outline = self.outlines.named(".".join(parts[:cut]), near)
            if outline is not None:
                return self._resolved(outline, ".".join(parts[cut:]), None, depth) if depth < _MAX_NAMES else None
        return None

    def _in_some_package(self, path: str, name: str) -> Node | None:
        """A definition by a name that begins with no package: that of the one module of the project so called."""
        module, _, last = name.rpartition(".")
        files = self._native.search(path).files("python")
        ending = tuple(os.sep + module.replace(".", os.sep) + end for end in (".py", f"{os.sep}__init__.py"))
        outlines = [self.outlines.of_file(file) for file in files if file.real.endswith(ending)]
        found = [self._resolved(one, last, None) for one in outlines if one is not None]
        known = [one for one in found if one is not None]
        return known[0] if len(known) == 1 else None

    def _inside(self, outline: Outline, root: str, rest: str, at: Span) -> Node | None:
        """A name as the definitions around a place mean it: `self`, and what they define themselves."""
        around = [name for name, place in outline.places.items() if place.holds(at)]
        if root in ("self", "cls"):
            owner = next((name for name in reversed(around) if name in outline.classes), None)
            return self._of_self(Node(outline, outline.definitions[owner]), rest) if owner and rest else None
        for outer in reversed(around):
            name = f"{outer}.{root}"
            if name in outline.definitions and outer not in outline.classes:
                return self._part(Node(outline, outline.definitions[name]), rest)
        return None

    def _of_self(self, owner: Node, rest: str) -> Node | None:
        """A method of an object, or of what one of its attributes is an instance of."""
        name, _, more = rest.partition(".")
        if not more:
            return self._member(owner, name)
        target = owner.outline.imports.get(f"{owner.definition.qualname}.{name}")
        return self._resolved(owner.outline, f"{target}.{more}", owner.definition.at) if target else None

    def _part(self, place: Node, rest: str) -> Node | None:
        """An attribute of a definition; a function has none."""
        if not rest:
            return place
        name, _, more = rest.partition(".")
        if place.definition.kind != "class" or more:
            return None
        run = self._member(place, "forward") if name == "apply" else None  # else an apply of its own
        return run or self._member(place, name)

    def _member(self, place: Node, name: str, depth: int = 0) -> Node | None:
        """A method of a class or of the nearest base that has it."""
        found = place.outline.definitions.get(f"{place.definition.qualname}.{name}")
        if found is not None:
            return Node(place.outline, found)
        held = place.outline.imports.get(f"{place.definition.qualname}.{name}")
        target = self._named(place.outline, held) if held and depth < _MAX_NAMES else None
        if target is not None and target.definition.kind == "function":
            return target
        for base in place.definition.bases if depth < _MAX_NAMES else ():
            owner = self._named(place.outline, base)
            if owner is None or owner.key == place.key or (name == "__call__" and self._overrides(place, owner)):
                continue  # what `__call__` calls may be another method here
            member = self._member(owner, name, depth + 1)
            if member is not None:
                return member
        return None

    def _named(self, outline: Outline, name: str) -> Node | None:
        """What a name of a file's top level, or an absolute one, stands for."""
        return self._resolved(outline, name, None, 1) or self._absolute(name, 1, outline.path)


def _around(outline: Outline, line: int) -> str:
    """The innermost definition around a line; "" where there is none."""
    return next((name for name, at in reversed(list(outline.places.items())) if at.line <= line <= at.end_line), "")


def _methods(owner: Node) -> frozenset[str]:
    """The names of the methods that a class defines itself."""
    around = f"{owner.definition.qualname}."
    within = (name for name in owner.outline.places if name.startswith(around))
    return frozenset(name[len(around) :] for name in within if "." not in name[len(around) :])


def _of_itself(node: Node) -> Iterator[str]:
    """The names of what a method uses of its own object."""
    named = (use.name.split(".") for use in node.definition.uses if use.name.startswith("self."))
    return (parts[1] for parts in named)


def _is_own(owner: Node, method: Node) -> bool:
    """Whether a class defines a method itself."""
    return method.outline is owner.outline and method.definition.qualname.startswith(f"{owner.definition.qualname}.")


def _sure(node: Node) -> Iterator[Use]:
    return (use for use in node.definition.uses if use.sure and use.is_a("call", "import", "text"))


def _assembled(module: Module, name: str) -> Iterator[NeedProof]:
    """The instructions that the strings of a function hand to the assembler on every way through it."""
    for one in module.operations:
        if one.kind != "instruction" or one.qualname != name or one.tests:
            continue
        legal, head = instructions.verdict(one.name).legal.chips, instructions.parse(one.name).head
        if legal and legal != EVERY:
            hop = Hop(module.path, one.at, f"`{head}` works on {legal}")
            yield NeedProof(legal, "operation", f"`{head}`", f"{head} in {module.name}.{name}", (hop,), where=name)


def _tiled(module: Module, name: str) -> Iterator[NeedProof]:
    """The shared memory that a kernel takes which a function makes."""
    for one in module.operations:
        if isinstance(one.detail, Tiles) and one.qualname == name:
            size = one.detail.size
            fits = ChipSet.where(lambda chip: (chip.smem_per_block_optin or 0) >= size)  # noqa: B023 - used at once
            if fits != EVERY:
                what = f"code that needs at least {kib(size)} of shared memory a block"
                hop = Hop(module.path, one.at, f"the largest of its buffers; it fits on {fits}")
                yield NeedProof(fits, "operation", what, f"{module.name}.{name}", (hop,), where=name)


def _at_arguments(node: Node, use: Use) -> Node:
    """A function as a call runs it that writes out some of its arguments."""
    instances = node.outline.instances if use.given and node.outline.language == "python" else None
    made = instances(node.definition.qualname, use.given, lambda test: None) if instances is not None else ()
    return Node(node.outline, made[0]) if made else node


def registered(search: Search) -> Behind:
    """What the Python files of a project register."""
    found: defaultdict[str, list[tuple[str, SourceFile, str]]] = defaultdict(list)
    for file, registered_as, function in _registrations(search):
        space, _, name = registered_as.rpartition("::")
        found[name].append((space, file, function))
    return {name: tuple(behind) for name, behind in found.items() if len(behind) <= MAX_FUNCTIONS}


def _registrations(search: Search) -> Iterator[tuple[SourceFile, str, str]]:
    for file, match in search.matches("python", _DECORATED, _REGISTERING):
        name = _QUOTED.search(match[1])
        if name is not None and not _NOT_CUDA.search(match[1]):
            yield file, name[1].decode(), match[2].decode("utf-8", "replace")
    for file, match in search.matches("python", _GIVEN_BY_CALL, (b"register_custom_op",)):
        yield file, match[1].decode(), match[2].decode("utf-8", "replace")
