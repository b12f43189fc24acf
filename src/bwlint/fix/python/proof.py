"""The proof of an edit: the edited text is read again, and its gates run on every chip again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any

from bwlint.chips import spelling
from bwlint.evaluate.objects import ClassValue, EvaluationFrame
from bwlint.fix.change import shifted
from bwlint.fix.edited import apply, outline
from bwlint.fix.edited import edited as edited_module
from bwlint.fix.python.place import Candidate, ConditionPlace
from bwlint.model.expr import Expr, Span, walk
from bwlint.model.facts import Gate, Module
from bwlint.model.findings import Edit, NoFix, Proof
from bwlint.readers import ReadError
from bwlint.sources.read import SourceText
from bwlint.world.tree import Sets


def prove(place: ConditionPlace, candidate: Candidate, evidence: str) -> Proof | NoFix:
    """The proof that the edits change the gate as wanted and nothing else; `NoFix` says what is wrong."""
    module = place.module
    if place.gate not in module.gates:
        return NoFix("the gate is not found again in the file")
    try:
        edited = edited_module(module, apply(place.source, candidate))
    except ReadError as error:
        return NoFix(f"the edited file does not parse: {error}", technical=True)
    pairs = _paired(place, edited, candidate)
    here = next((new for old, new in pairs or () if old == place.gate), None)
    if pairs is None or here is None:
        return NoFix("the edited file has other checks than before", technical=True)
    # alone, since an interpreter that has met a definition before does not report its clashes again
    after = place.tree.edited(edited).sets(edited, here)
    if after is None:
        return NoFix("the edited test does not read the device any more", technical=True)
    if missing := _unknown_member(place, edited, here):
        return missing
    before = place.sets
    proof = Proof(before.may.names, before.must.names, after.may.names, after.must.names, evidence)
    return _differs(place, after) or _others(place, edited, pairs) or proof


def _unknown_member(place: ConditionPlace, edited: Module, gate: Gate) -> NoFix | None:
    """Why a test cannot run where it names a member that an enum of the tree does not have."""
    tree = place.tree.edited(edited)
    for node in walk(gate.test):
        if node.op != "attr" or not spelling.member(str(node.args[1])):
            continue
        owner = tree.interpreter.evaluate(node.args[0], EvaluationFrame(edited)).only()
        if isinstance(owner, ClassValue) and node.args[1] not in owner.body.names:
            return NoFix(f"`{owner.body.qualname}` has no member `{node.args[1]}`")
    return None


def _paired(place: ConditionPlace, edited: Module, candidate: Candidate) -> list[tuple[Gate, Gate]] | None:
    """The gates of the file with what has become of them; None where one came or went beside the edits."""
    old, new = place.module.gates, edited.gates
    before, after = [outline(gate) for gate in old], [outline(gate) for gate in new]
    if before == after:
        return list(zip(old, new, strict=True))
    lines = written(candidate)
    pairs: list[tuple[Gate, Gate]] = []
    for kind, start, end, new_start, new_end in SequenceMatcher(None, before, after, False).get_opcodes():
        if kind == "equal":
            pairs += zip(old[start:end], new[new_start:new_end], strict=True)
            continue
        gone, come = old[start:end], new[new_start:new_end]
        if not all(_touched(gate, candidate) for gate in gone) or not all(_in_lines(g, lines) for g in come):
            return None
    return pairs


def _differs(place: ConditionPlace, after: Sets) -> NoFix | None:
    change, before = place.change, place.sets
    if change.kind == "type" and any(clash.certain for clash in after.clashes):
        return NoFix("the edited comparison can still never be true", technical=True)
    if change.kind == "type" and before.clashes and len(after.clashes) >= len(before.clashes):
        return NoFix("the edited comparison is still wrong", technical=True)
    return change.missed(before, after)


def _others(place: ConditionPlace, edited: Module, pairs: Sequence[tuple[Gate, Gate]]) -> NoFix | None:
    """Other gates stay as they are, save the uses of a flag or list that is edited at its definition."""
    module = place.module
    tree, tree_after = place.tree.afresh(module), place.tree.edited(edited)
    for gate, gate_after in pairs:
        old, new = tree.sets(module, gate), tree_after.sets(edited, gate_after)
        if gate == place.gate or old == new:
            continue
        if old is None or new is None:
            return NoFix(f"the edit would change the test at line {gate.at[0]}")
        if old.live & old.may and not new.live & new.may:
            return NoFix(f"the edit would leave nothing to the test at line {gate.at[0]}")
        chips = shifted(old, new)
        rests_on_edited = any(node.at == place.span for node in reached(gate.test, module))
        if chips and not (chips <= place.change.chips and rests_on_edited):
            return NoFix(f"the edit would also change the test at line {gate.at[0]}")
    return None


def compares_limit(gate: Gate, span: Span, module: Module) -> bool:
    """Whether the comparison at `span` has a queried limit of shared memory as an operand."""
    comparisons = [
        node for node in reached(gate.test, module) if node.op == "cmp" and node.at is not None and span.holds(node.at)
    ]
    return any(_is_limit(node) for test in comparisons for node in reached(test, module))


def _is_limit(node: Expr) -> bool:
    if node.op == "attr":
        return "shared_memory" in node.args[1]
    return node.op == "source" and node.args[0] == "smem-optin"


def _touched(gate: Gate, candidate: Candidate) -> bool:
    """Whether a gate stands on lines that an edit rewrites."""
    regions = (edit.region for edit in candidate)
    return any(region.line <= gate.at[0] and gate.at[2] <= region.end_line for region in regions)


def written(candidate: Iterable[Edit]) -> list[tuple[int, int]]:
    """The lines of the edited text that an edit wrote, first and last."""
    found, shift = [], 0
    for edit in sorted(candidate, key=lambda edit: (edit.region.line, edit.region.column)):
        lines = len(SourceText(edit.text).lines) - 1 if edit.text else 0
        first = edit.region.line + shift
        found.append((first, first + lines))
        shift += lines - (edit.region.end_line - edit.region.line)
    return found


def _in_lines(gate: Gate, lines: Sequence[tuple[int, int]]) -> bool:
    return any(first <= gate.at[0] and gate.at[2] <= last for first, last in lines)


def reached(node: Any, module: Module) -> Iterator[Expr]:
    """Every node below `node`, through definitions too: of names, and of attributes of the classes here."""
    stack, seen = [node], set()
    while stack:
        item = stack.pop()
        if not isinstance(item, Expr):
            stack.extend(reversed(item) if isinstance(item, tuple) else ())
            continue
        yield item
        stack.extend(reversed(item.args))
        key = (item.op, item.args[-1])
        if item.op in ("var", "name", "attr", "function") and key not in seen:
            seen.add(key)
            stack.extend(_definitions(item, module))


def _definitions(node: Expr, module: Module) -> Iterator[Expr]:
    if node.op == "var":
        yield module.slots[node.args[0]]
    elif node.op == "name" and node.args[0] in module.names:
        yield module.names[node.args[0]]
    elif node.op == "function" and node.args[0] in module.functions:
        body = module.functions[node.args[0]]
        yield from (part for path, value in body.returns for part in (*path, value))
    elif node.op == "attr":
        yield from (one.names[node.args[1]] for one in module.classes.values() if node.args[1] in one.names)
