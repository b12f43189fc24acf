"""What is behind a side of a gate, and on which chips it works.

Evidence comes from names that are used, strongest first: an operation of the hardware in a definition of the tree
that a name leads to; the callee's own gate; the library table. Names alone are weak and stay weak.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache

from bwlint.chips import ChipSet
from bwlint.data import table
from bwlint.evaluate.expr import Expr, Span
from bwlint.evaluate.objects import ClassValue, Frame, FunctionValue
from bwlint.evaluate.values import Ref
from bwlint.facts import Gate, Module, Side, Use
from bwlint.link import Tree

PROOF, NAME = "proof", "name"


_QUESTION = re.compile(
    r"_*(?:is|has|have|can|should|supports?|check|require|skip|needs|use|enable|warn|validate|log|get)_"
)


@dataclass(frozen=True, slots=True)
class Need:
    """Something that works only on `legal`. `use` is where it is named; `far` where it is proved, if elsewhere."""

    legal: ChipSet
    strength: str
    what: str
    source: str
    use: Use
    far: tuple[Module, Use] | None = None


@dataclass(frozen=True, slots=True)
class _Row:
    pattern: re.Pattern[str]
    how: frozenset[str]
    chips: ChipSet
    strength: str
    what: str
    source: str
    role: re.Pattern[str]


@cache
def _rows(kind: str) -> tuple[_Row, ...]:
    return tuple(
        _Row(
            re.compile(rf"(?<![A-Za-z0-9])(?:{row['name']})(?![A-Za-z0-9])"),
            frozenset(row.get("how", ())),
            ChipSet.of(*row["chips"]),
            row.get("strength", PROOF),
            row["what"],
            row["source"],
            re.compile(row.get("role", "")),
        )
        for row in table("libraries")[kind]
    )


class Evidence:
    """Looks uses up, in the tree first and in the library table after it."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._memo: dict[tuple[int, str, str], Need | None] = {}

    def of(self, module: Module, side: Side, sure: bool = True) -> Iterator[Need]:
        """The needs of a side, in the order in which the code names them."""
        for use in side.uses:
            if use.sure or not sure:
                found = self.of_use(module, use)
                if found is not None:
                    yield found

    def of_use(self, module: Module, use: Use) -> Need | None:
        if _QUESTION.match(use.name.rpartition(".")[2]):
            return None  # asking whether something is there is no use of it
        key = (id(module), use.name, f"{use.how} {use.role}")
        if key not in self._memo:
            self._memo[key] = self._in_tree(module, use) or _in_table(self._last_if_ours(module, use))
        found = self._memo[key]
        return None if found is None else Need(found.legal, found.strength, found.what, found.source, use, found.far)

    def _in_tree(self, module: Module, use: Use) -> Need | None:
        """An operation of the hardware in the definition that a call or import leads to."""
        direct = _operation_row(Use(next((p for p in use.name.split(".") if _is_operation(p)), ""), use.how, use.at))
        if direct is not None and use.how != "text":
            _, chips, what = direct
            return Need(chips, PROOF, what, use.name, use, (module, use))
        if use.how not in ("call", "import"):
            return None
        place = self._definition(module, use)
        if place is None:
            return None
        owner, name = place
        return self._operation(owner, name, use)

    def _last_if_ours(self, module: Module, use: Use) -> Use:
        """Only the last name of a path through the tree's own modules: a module's name is no library."""
        root = use.name.partition(".")[0]
        if use.how == "text" or (self._tree.module(root) is None and root not in module.names):
            return use
        return replace(use, name=use.name.rpartition(".")[2])

    def _definition(self, module: Module, use: Use) -> tuple[Module, str] | None:
        """The module and top-level name that a dotted use ends in."""
        run = self._tree.interpreter
        run.start()
        root, *rest = use.name.split(".")
        if use.how == "call" and root in module.names:
            node = Expr("name", (root,))
            for part in rest:
                node = Expr("attr", (node, part))
            value = run.evaluate(node, Frame(module)).only()
            return _place(value) or self._opaque(value)
        for cut in range(len(rest), 0, -1):
            owner = self._tree.module(".".join([root, *rest][:cut]))
            if owner is not None:
                found = run.global_name(owner, rest[cut - 1], outer=True)
                value = found.only()
                return _place(value) or self._opaque(value) or ((owner, rest[cut - 1]) if found.uniform else None)
        return None

    def _opaque(self, value: object) -> tuple[Module, str] | None:
        """A definition that was not lowered, by its dotted name."""
        if not isinstance(value, Ref) or "." not in value.name:
            return None
        dotted, _, name = value.name.rpartition(".")
        owner = self._tree.module(dotted)
        return (owner, name) if owner is not None else None

    def _operation(self, module: Module, name: str, use: Use) -> Need | None:
        for found in module.uses.get(name, ()):
            row = _operation_row(found)
            if row is not None:
                _, chips, what = row
                source = f"{found.name} in {module.name}.{name}"
                return Need(chips, PROOF, what, source, use, (module, found))
        return None

    def near_needs(self, module: Module, at: Span) -> Iterator[Need]:
        """Operations that a module names, or that a definition has which it imports at module level."""
        yield from file_operations(module)
        for node in module.names.values():
            if node.op == "import" and node.args[1] is not None and not _QUESTION.match(node.args[1]):
                owner = self._tree.module(node.args[0])
                imported = owner and self._operation(owner, node.args[1], Use(node.args[1], "import", node.at or at))
                if imported:
                    yield imported

    def callee_gate(self, module: Module, use: Use) -> tuple[Module, Gate] | None:
        """The declared list on the definition that a call leads to: what its author admits."""
        if use.how != "call":
            return None
        place = self._definition(module, use)
        if place is None:
            return None
        owner, name = place
        for gate in owner.gates:
            if gate.kind == "list" and gate.name == name:
                return owner, gate
        return None


@cache
def _operations() -> dict[str, tuple[str, ChipSet, str]]:
    """Operations of the hardware by the word with which their names in a kernel DSL begin."""
    rows = table("libraries")["operation"]
    return {row["begins"]: (row["begins"], ChipSet.of(*row["chips"]), row["what"]) for row in rows}


def _is_operation(part: str) -> bool:
    return part.partition("_")[0] in _operations()


def _operation_row(use: Use) -> tuple[str, ChipSet, str] | None:
    word = use.name.lower()
    return next((row for begins, row in _operations().items() if word.startswith(begins)), None)


def _place(value: object) -> tuple[Module, str] | None:
    if isinstance(value, FunctionValue):
        return value.module, value.function.qualname.partition(".")[0]
    if isinstance(value, ClassValue):
        return value.module, value.body.qualname.partition(".")[0]
    return None


def _in_table(use: Use) -> Need | None:
    text = _borders(use.name)
    for row in _rows("need"):
        if use.how in row.how and _matches(row, use, text):
            return Need(row.chips, row.strength, row.what, row.source, use)
    return None


def by_name(names: Iterable[str], at: Span, how: str = "define") -> Need | None:
    """What the names around a gate (function, class) or the words of a skip reason say is behind it."""
    for name in names:
        for row in _rows("need"):
            found = row.pattern.search(_borders(name)) if row.strength == PROOF and "define" in row.how else None
            if found:
                return Need(row.chips, PROOF, row.what, row.source, Use(found[0], how, at))
    return None


def by_text(text: str, at: Span) -> Need | None:
    """What a backend string stands for, by the library table."""
    return _in_table(Use(text, "text", at))


def instruction(text: str, at: Span) -> Need | None:
    """An instruction that a comment or message names."""
    for row in _rows("instruction"):
        found = row.pattern.search(text)
        if found:
            return Need(row.chips, row.strength, row.what, row.source, Use(found[0], "text", at))
    return None


@cache
def _for_others() -> re.Pattern[str]:
    return re.compile(table("libraries")["for_others"]["names"], re.IGNORECASE)


def named_for_others(text: str) -> bool:
    """Whether names speak of chips or libraries of another generation: a gate that says so means it."""
    return _for_others().search(text) is not None


@cache
def _built_for_others() -> re.Pattern[str]:
    return re.compile(table("libraries")["built_for_others"]["names"], re.IGNORECASE)


def built_for_others(text: str) -> bool:
    """Whether the names of files and functions say that their kernels are another generation's."""
    return _built_for_others().search(text) is not None


def works(uses: Iterable[Use]) -> Need | None:
    """Something that is known to work on 12.x, by the library table."""
    for use in uses:
        text = _borders(use.name)
        for row in _rows("works"):
            if use.how in row.how and _matches(row, use, text):
                return Need(row.chips, row.strength, row.what, row.source, use)
    return None


def _matches(row: _Row, use: Use, text: str) -> bool:
    if use.how == "text":
        return row.pattern.fullmatch(use.name) is not None and row.role.search(use.role) is not None
    return any(row.pattern.fullmatch(part) for part in text.split("."))


def _borders(name: str) -> str:
    return name.replace("-", "_")


def file_operations(module: Module) -> Iterator[Need]:
    """Hardware operations named anywhere in a file: what a file's only predicate stands in front of."""
    for uses in module.uses.values():
        for found in uses:
            row = _operation_row(found)
            if row is not None:
                _, chips, what = row
                yield Need(chips, PROOF, what, f"{found.name} in this file", found)
