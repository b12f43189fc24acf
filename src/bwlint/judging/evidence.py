"""The code behind each side of a gate, and the chips on which it works.

Evidence comes from names that are used, strongest first: an operation of the hardware in a definition of the tree
that a name leads to; the callee's own gate; the library table. Names alone are weak and stay weak.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import reduce

from bwlint.chips import NO_TARGET, NONE, ChipSet, TargetSet
from bwlint.chips.atoms import atom
from bwlint.chips.instructions import parse, verdict
from bwlint.chips.operations import operation, operation_in
from bwlint.chips.wording import plain
from bwlint.judging import claims
from bwlint.judging.claims import Claimed
from bwlint.model.expr import Span, is_text, walk
from bwlint.model.facts import Hop, Module, Side, Use
from bwlint.model.findings import Claim
from bwlint.model.naming import called_by, spoken
from bwlint.model.outline import Definition, Outline
from bwlint.sources.recorder import memory
from bwlint.sources.walk import SourceFile
from bwlint.world.definitions import Definitions
from bwlint.world.gates import Judged
from bwlint.world.libraries import PROOF, Libraries, Need, is_question
from bwlint.world.native import Native, admits
from bwlint.world.proofs import RANK, Graph, NeedProof, Node
from bwlint.world.tree import Tree

_NAMES = frozenset({"name", "import", "function", "class", "opaque", "attr", "param"})


class Evidence:
    """Looks uses up, in the tree first and in the library table after it. `targets` are the chips asked about."""

    def __init__(
        self, tree: Tree, definitions: Definitions, graph: Graph, libraries: Libraries, native: Native, targets: ChipSet
    ) -> None:
        self._tree = tree
        self._native = native
        self.libraries = libraries
        self._definitions = definitions
        self._graph = graph
        self._targets = targets
        self._memo: dict[tuple[int, str, str], Need | None] = memory()

    def of(self, module: Module, side: Side, sure: bool = True) -> Iterator[Need]:
        """The needs of a side, in the order in which the code names them."""
        for use in handed_out(side):
            if use.sure or not sure:
                found = self.of_use(module, use) or self._of_whole(module, side, use)
                if found is not None:
                    yield found
        for found in (self._of_text(module, side), self._of_choices(module, side)):
            if found is not None:
                yield found

    def _of_text(self, module: Module, side: Side) -> Need | None:
        """What the function needs that somebody gets by a name with the text in it that a side gives."""
        value = side.value
        text = value.args[0] if module.language == "python" and value is not None and value.op == "const" else None
        if value is None or not isinstance(text, str) or not text.isidentifier():
            return None
        use = Use(text, "text", value.at or side.at or Span(1, 0, 1, 0))
        return self._of_nodes(self._definitions.made_of_text(module.path, text), use)

    def _of_choices(self, module: Module, side: Side) -> Need | None:
        """What all that a side may end in needs: it works where one of them does."""
        needs = [self.of_use(module, use) for use in side.choices]
        found = [need for need in needs if need is not None]
        if not found or len(found) < len(needs):
            return None
        legal = reduce(ChipSet.__or__, (need.legal for need in found))
        weakest = next((need for need in found if need.strength != PROOF), found[0])
        return replace(weakest, legal=legal)

    def of_use(self, module: Module, use: Use) -> Need | None:
        """What a use needs; a need that all targets meet says that its author admits them."""
        if is_question(use.name):
            return None  # asking whether something is there is no use of it
        local = module.language == "cuda" or use.name.partition(".")[0] in ("self", "cls")
        key = (id(module), use.name, f"{use.how} {use.role} {use.call} {use.given} {use.at[:2] if local else 0}")
        if key not in self._memo:
            here = self._in_cpp if module.language == "cuda" else self._in_tree
            self._memo[key] = here(module, use) or self._in_table(module, use)
        found = self._memo[key]
        return None if found is None else replace(found, use=use)

    def _of_whole(self, module: Module, side: Side, use: Use) -> Need | None:
        """What a side needs further on: as an object that it makes, or as a text by which somebody picks a way."""
        if use.how == "text" and use.role and not use.call and module.language == "python":
            return self._of_nodes(self._definitions.behind_text(module.path, use), use)
        whole = use.how == "call" and side.value is not None and side.value.at == use.at
        return self.of_object(module, use) if whole else None

    def of_object(self, module: Module, use: Use) -> Need | None:
        """What a class needs that is picked to make an object of: what one of its methods surely reaches."""
        place = self._definitions.definition(module, use) if module.language == "python" else None
        return self._of_nodes(self._definitions.methods_of(place), use) if place is not None else None

    def of_entries(self, module: Module, use: Use) -> Need | None:
        """What the objects of a class need: what at least half of its methods surely reach that others may call.

        A method that refuses says so itself.
        """
        place = self._definitions.definition(module, use) if module.language == "python" else None
        entries = list(self._definitions.entries(place)) if place is not None else []
        found = (self._of_nodes((node,), use) for node in entries)
        needs = [need for need in found if need is not None and need.kind != "gate"]
        return needs[0] if len(needs) * 2 >= len(entries) and needs else None

    def _of_nodes(self, nodes: Iterable[Node], use: Use) -> Need | None:
        """What the first of some definitions needs that does not work on a target."""
        for node in nodes:
            proof = None if is_question(node.definition.qualname) else self._chosen(self._graph.proofs(node))
            if proof is not None and self._targets & proof.against:
                return _need(proof, use)
        return None

    def proofs(self, module: Module, use: Use) -> tuple[NeedProof, ...]:
        """What the definition that a use leads to surely shows, nearest first."""
        place = self._definitions.definition(module, use)
        return self._graph.proofs(place) if place is not None else ()

    def methods(self, module: Module, owner: str) -> Iterator[tuple[str, tuple[NeedProof, ...]]]:
        """The methods of a class of a file, each with what it surely shows, nearest first."""
        here = self._native if module.language == "cuda" else self._definitions
        for node in here.methods(module, owner):
            yield node.definition.qualname.rpartition(".")[2], self._graph.proofs(node)

    def heritages(self, module: Module) -> Iterator[list[Node]]:
        """The classes of a file that have bases, each with those of them that are in the tree, nearest first."""
        outline = self._definitions.outline(module)
        for found in map(outline.definitions.__getitem__, outline.classes) if outline is not None else ():
            if outline is not None and found.bases:
                yield list(self._definitions.heritage(Node(outline, found)))

    def outline(self, path: str, name: str) -> Outline | None:
        """What a Python file defines, by its real path and dotted name."""
        return self._definitions.outlines.of(path, name)

    def shown(self, module: Module, use: Use) -> tuple[NeedProof, ...]:
        """The same in either language, with what is bound to an operation of torch."""
        if module.language == "cuda":
            return self._of_cpp(module, use)
        return self.proofs(module, use) or self._graph.agreed(self._definitions.bound(module.path, use))

    def of_node(self, node: Node) -> tuple[NeedProof, ...]:
        """What a test shows that runs; that it skips or refuses a chip is none of it."""
        own = node.definition.qualname
        return tuple(one for one in self._graph.proofs(node) if one.kind != "gate" or one.where != own)

    def of_test(self, node: Node, use: Use) -> Need | None:
        proof = self._chosen(self.of_node(node))
        return _need(proof, use) if proof is not None else None

    def backend_above(self, judged: Judged) -> Need | None:
        """`if backend == "trtllm_mla":` around a gate says what the gate guards: what that backend needs."""
        tests = (test for test in reversed(judged.gate.path[-3:]) if test.op != "not")
        asked = (node for test in tests for node in walk(test) if node.op == "cmp" and node.args[0] in ("==", "in"))
        texts = (inner.args[0] for node in asked for inner in walk(node) if is_text(inner))
        needs = (self.libraries.by_text(judged.module.path, text, judged.at) for text in texts)
        return next(filter(None, needs), None)

    def works(self, module: Module, side: Side) -> Need | None:
        """What a side uses of a library, and not of the tree itself, that is known to work on 12.x."""
        return self.libraries.works(module.path, (self._last_if_ours(module, use) for use in side.uses))

    def calls_in(self, file: SourceFile, name: str) -> Iterator[Use]:
        """The calls of a name in the definitions of a Python file."""
        outline = self._definitions.outlines.of_file(file)
        for found in outline.definitions.values() if outline is not None else ():
            yield from (use for use in found.uses if use.how == "call" and use.name.rpartition(".")[2] == name)

    def gates(self, module: Module, use: Use) -> Iterator[Judged]:
        """The gates in the definitions that a use may lead to, nearest first."""
        place = self._definitions.definition(module, use)
        for node in self._definitions.may_lead(place) if place is not None else ():
            yield from self._definitions.gates(node)

    def definition(self, module: Module, use: Use) -> Node | None:
        return self._definitions.definition(module, use)

    def leads_to(self, module: Module, use: Use) -> Iterator[tuple[str, Definition]]:
        """The definitions that a use may lead to, nearest first, each with the path of its file."""
        place = self._definitions.definition(module, use)
        for node in self._definitions.may_lead(place) if place is not None else ():
            yield node.outline.path, node.definition

    def own_gates(self, module: Module, use: Use) -> Iterator[Judged]:
        place = self._definitions.definition(module, use)
        yield from self._definitions.gates(place) if place is not None else ()

    def marks(self, module: Module, use: Use) -> tuple[str, ...]:
        """What the decorators use of what is called in Python: `triton.jit`."""
        place = self._definitions.definition(module, use)
        return tuple(mark.name for mark in place.definition.marks) if place is not None else ()

    def _in_cpp(self, module: Module, use: Use) -> Need | None:
        """What the C++ definition that a call leads to shows, or the operation that an enumerator is called after."""
        proof = self._chosen(self._of_cpp(module, use))
        if proof is not None:
            return _need(proof, use)
        picked = operation_in(spoken(use.name.rpartition(".")[2])) if use.how == "call" else None
        return Need(picked.chips, PROOF, picked.what, use.name, use, kind="operation") if picked is not None else None

    def _of_cpp(self, module: Module, use: Use) -> tuple[NeedProof, ...]:
        is_call = use.how == "call"
        return self._graph.agreed(self._native.definitions(use.name, module.path, use.given, use.at)) if is_call else ()

    def _in_tree(self, module: Module, use: Use) -> Need | None:
        """What the definition that a use leads to shows, or an operation of the hardware in the use itself."""
        direct = operation_in(use.name) if use.how != "text" else None
        if direct is not None:
            return Need(direct.chips, PROOF, direct.what, use.name, use, kind="operation")
        if not use.is_a("call", "import"):
            return None
        place = self._definitions.definition(module, use)
        places = self._definitions.bound(module.path, use) if place is None else (place,)
        proof = self._chosen(self._graph.agreed(places))
        if proof is not None:
            return _need(proof, use)
        return self._named_in(place, use) if place is not None else None

    def _named_in(self, place: Node, use: Use) -> Need | None:
        """An operation that a definition names, or that something named in it does, on whatever way through it."""
        owner = self._tree.at(place.outline.path, place.outline.name)
        top, _, inner = place.definition.qualname.partition(".")
        within = place.definition.at if inner else None
        return self._operation(owner, top, use, within) if owner is not None else None

    def _chosen(self, proofs: Sequence[NeedProof]) -> NeedProof | None:
        """The strongest that keeps a target out; else a list that names them all."""
        against = [proof for proof in proofs if self._targets & proof.against]
        if against:
            return min(against, key=lambda proof: RANK.index(proof.kind))
        return next((proof for proof in proofs if proof.kind == "list"), None)

    def _in_table(self, module: Module, use: Use) -> Need | None:
        """What the library table says of a name, unless it is built for all targets in the tree itself."""
        use = replace(use, name=use.name.removeprefix("."))
        found = self.libraries.of_user(use) or self.libraries.need(module.path, self._last_if_ours(module, use))
        if found is None or use.how != "call" or (found.strength == PROOF and module.language != "cuda"):
            return found
        return None if self.is_made_for_all(module, use) else found

    def is_made_for_all(self, module: Module, use: Use) -> bool:
        """Whether what a name stands for admits all targets, whatever it is called."""
        return admits(
            self._of_cpp(module, use) if module.language == "cuda" else self.proofs(module, use), self._targets
        )

    def _last_if_ours(self, module: Module, use: Use) -> Use:
        """Only the last name of a path through the tree's own modules: a module's name is no library."""
        root = use.name.partition(".")[0]
        own = module.names.get(root)
        defined = own is not None and own.op != "import"
        if use.how == "text" or (self._tree.module(root) is None and not defined):
            return use
        return replace(use, name=use.name.rpartition(".")[2])

    def _operation(self, module: Module, name: str, use: Use, within: Span | None = None) -> Need | None:
        """The first operation in a definition to which one of the targets comes, past the definition's own tests."""
        outline = self._definitions.outline(module)
        for found in module.uses.get(name, ()):
            row = self._definitions.operation(outline, found) if within is None or within.holds(found.at) else None
            coming = self._native.refusals.passing(module, found.at) if row is not None else NONE
            if row is not None and coming & self._targets:
                hop = Hop(module.path, found.at, f"`{found.name}` works on {row.chips}")
                source = f"{found.name} in {module.name}.{name}"
                return Need(row.chips, PROOF, row.what, source, use, (hop,), coming, kind="operation")
        return None

    def near_needs(self, module: Module, at: Span) -> Iterator[Need]:
        """Operations that a module names, or that a definition has which it imports at module level."""
        yield from file_operations(module)
        for node in module.names.values():
            if node.op == "import" and node.args[1] is not None and not is_question(node.args[1]):
                owner = self._tree.module(node.args[0], module.path)
                imported = owner and self._operation(owner, node.args[1], Use(node.args[1], "import", node.at or at))
                if imported:
                    yield imported


def handed_out(side: Side) -> Iterator[Use]:
    """The uses of a side; a function or class that it returns or assigns by its bare name counts as called."""
    value = side.value
    if value is not None and value.op == "call" and value.args[0].args[-1] == "partial" and value.args[1]:
        value = value.args[1][0]
    whole = value.at if value is not None and value.op in _NAMES else None
    for use in side.uses:
        yield replace(use, how="call") if use.how == "name" and use.at == whole else use


def _need(proof: NeedProof, use: Use) -> Need:
    shown = (proof.hops, proof.arriving, proof.kind, proof.where, proof.operation, proof.pairs)
    return Need(proof.legal, PROOF, proof.what, proof.source, use, *shown)


def claimed(need: Need, module: Module, chips: ChipSet) -> Claimed:
    """What can be tested of a need on chips on all of which it works, or on none."""
    works = chips & need.legal
    if need.operation is not None and need.hops:
        return Claimed(_of_operation(need.operation, TargetSet.native(chips)), need.hops[-1].at, need.hops[-1])
    if need.pairs and need.hops and not works:
        return Claimed(claims.build(need.pairs, chips), need.hops[-1].at, need.hops[-1])
    if need.use.how == "text" and _is_refused(need.use.name, TargetSet.native(chips)):
        return Claimed(claims.instruction(need.use.name, TargetSet.native(chips)))  # a text is no place of it
    name = need.use.name if need.use.how == "text" else called_by(need.use.name)
    what = f"the code that `{name}` names" if need.use.how == "define" else f"`{name}`"
    what = f"the code behind {what}" if need.hops else what
    says = f"{what} works on {plain(chips)} too" if works else f"{what} does not work on {plain(chips)}"
    return Claimed(claims.need(name, chips, works, says), need.use.at, module)


def _is_refused(text: str, targets: TargetSet) -> bool:
    """Whether a text is the head of an instruction that none of the targets has."""
    found = verdict(text)
    return bool(found.forms) and found.statement.head == text and not found.legal & targets


def _of_operation(use: Use, targets: TargetSet) -> Claim:
    """Whether an instruction or atom assembles for targets, or for those of them for which it does."""
    row = atom(use.name) if use.how == "atom" else None
    name = use.name if use.how == "atom" else parse(use.name).head
    works = targets & (verdict(use.name).legal if use.how == "instruction" else row.legal if row else NO_TARGET)
    if works:
        return claims.legal(name, works, wrapped=use.how == "atom")
    return claims.instruction(name, targets, wrapped=use.how == "atom")


def file_operations(module: Module) -> Iterator[Need]:
    """Hardware operations named anywhere in a file: what a file's only predicate stands in front of."""
    for uses in module.uses.values():
        for found in uses:
            row = operation(found.name)
            if row is not None:
                yield Need(row.chips, PROOF, row.what, f"{found.name} in this file", found)
